"""What a reply lists: its rows without repetitions, whether they go round in a loop, whether they are too few."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sliders.errors import ModelError
from sliders.extraction.attributed import times_counted, unit_of
from sliders.extraction.numbers import numbers_in
from sliders.extraction.request import naming_first, says_again
from sliders.llm.model import Model, Request, Response
from sliders.schema.types import Column, ColumnType


def counted_in(text: str, columns: Sequence[Column]) -> dict[str, int]:
    """By column whose unit ("points") the text counts in, how often it does so."""
    numbers = [c.name for c in columns if c.type in (ColumnType.INTEGER, ColumnType.NUMBER)]
    times = {name: times_counted(text, unit_of(name)) for name in numbers}
    return {name: count for name, count in times.items() if count}


def too_few(rows: Sequence[dict[str, Any]], times: Mapping[str, int]) -> bool:
    """Whether a list has few rows for the numbers that its text counts; a row with no single number ("6-15") is none."""
    listed = [row for row in rows if all(row.get(name) is None or _is_number(row[name]) for name in times)]
    return len(listed) * _SPARSE < max(times.values(), default=0)


def _is_number(value: object) -> bool:
    return len(list(numbers_in(str(value)))) == 1


_SPARSE = 3
"""So many numbers in the unit of a column may stand for one row."""


def loops(reply: Response | ModelError, request: Request, model: Model) -> bool:
    """Whether most of what a reply lists, or would list up to its limit, was said before."""
    return len(distinct_rows(reply)) * 2 < _rows_at_limit(reply, request, model)


def _listed(reply: Response | ModelError) -> list[dict[str, Any]]:
    data = reply.data if isinstance(reply, Response) else None
    rows = data.get("rows") if isinstance(data, dict) else None
    return [_without_empty(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _without_empty(row: dict[str, Any]) -> dict[str, Any]:
    """The row with null where it says so in words: what may not be null is left out so."""
    return {name: None if value in ("", "null") else value for name, value in row.items()}


def _rows_at_limit(reply: Response | ModelError, request: Request, model: Model) -> float:
    """How many rows a reply has, or would have had at its limit where it was stopped before it."""
    rows = len(_listed(reply))
    if not isinstance(reply, Response) or reply.finish_reason != "length" or not says_again(reply.text):
        return rows
    return rows * max(1.0, request.max_tokens / max(1, model.count_tokens(reply.text)))


def distinct_rows(reply: Response | ModelError, counted: Collection[str] = ()) -> list[dict[str, Any]]:
    """The rows without repetitions: a small model that has nothing more to say says the last row again.

    Args:
        counted: columns whose numbers the text counts: a row without them is said again by one that has them.
    """
    seen: dict[str, dict[str, Any]] = {}
    for row in _listed(reply):
        seen.setdefault(json.dumps(row, sort_keys=True), row)
    rows = list(seen.values())
    return [row for row in rows if not (_is_bare(row, counted) and any(_says_more(other, row) for other in rows))]


def _is_bare(row: dict[str, Any], counted: Collection[str]) -> bool:
    return bool(counted) and all(row.get(name) is None for name in counted)


def _says_more(row: dict[str, Any], than: dict[str, Any]) -> bool:
    return row != than and all(row.get(name) == value for name, value in than.items() if value is not None)


def names_again(rows: Sequence[dict[str, Any]], columns: Sequence[Column]) -> bool:
    """Whether a list ends in rows whose names it had already: it says the same things again with other values."""
    naming = naming_first(columns)[0].name
    names = [str(row.get(naming)) for row in rows]
    last = range(max(0, len(names) - _REPEATED), len(names))
    return len(names) > _REPEATED and all(names[i] in names[:i] for i in last)


_REPEATED = 3
