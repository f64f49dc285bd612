"""A count of what another column lists ("author_count" beside "author"): code counts the names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sliders.extraction.cell import Cell, Grounding, Row
from sliders.schema.types import Column, ColumnType, Table

_COUNT = re.compile(r"(?:number_of_|n_)?(?P<noun>[a-z]+?)s?(?:_count|_number)?")
_MARKED = re.compile(r"^(?:number_of_|n_)|_count$")
_BETWEEN = re.compile(r"\s*(?:;|,? and |,? & |/|,(?!\s*(?:Jr|Sr|II|III|Inc|Ltd|LLC|Ph\.?D|M\.?D)\b))\s*")


def counted_names(rows: Sequence[Row], table: Table) -> list[Row]:
    """The rows whose count of names is read from the list of them, each with only those cells.

    A count that the text itself states with its noun ("three authors") stays.
    """
    pairs = [(count, names) for count in table.columns if (names := _names_of(count, table)) is not None]
    out = []
    for row in rows:
        cells = [cell for count, names in pairs if (cell := _count(row, count, names)) is not None]
        if cells:
            out.append(replace(row, cells=tuple(cells)))
    return out


def _names_of(count: Column, table: Table) -> Column | None:
    """The text column that lists what a column counts."""
    if count.type is not ColumnType.INTEGER or count.pinned or not _MARKED.search(count.name):
        return None
    found = _COUNT.fullmatch(count.name)
    noun = found["noun"] if found else ""
    called = (noun, f"{noun}s", f"{noun}_name", f"{noun}_names")
    return next((c for c in table.columns if c.type is ColumnType.TEXT and c.name in called), None)


def _count(row: Row, count: Column, names: Column) -> Cell | None:
    cell, listed = row.cell(count.name), row.cell(names.name)
    if cell is None or listed is None or not listed.stands:
        return None
    noun = names.name.removesuffix("_name").rstrip("s")
    if cell.absence is None and (noun in cell.printed.casefold() or cell.span == listed.span):
        return None
    several = [part for part in _BETWEEN.split(str(listed.value)) if part.strip()]
    return replace(
        listed, column=count.name, value=len(several), grounding=Grounding.DERIVED, unit="", scale="",
        rationale=f"names listed: {'; '.join(several)}", detail="",
    )  # fmt: skip
