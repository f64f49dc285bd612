"""Columns that say whether something is so, where a model proposed a number: the documents speak of one thing each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sliders.schema.types import Column, ColumnType, Table

_COUNTED = re.compile(r"\bhow many (?:of the )?([a-z]+) (?:were|was|got) ([a-z]+(?:ed|n|t|lost))\b")
_PEOPLE = frozenset("people persons passengers occupants victims".split())
_FEWEST, _REACH = 2, 60


def with_truths(table: Table, question: str, texts: Sequence[str]) -> Table:
    """The table with yes or no for what became of the counted thing, where several documents tell it of one thing
    ("how many lamps were broken": "the lantern was broken") and none of several of the counted ones.

    Args:
        texts: beginnings of documents.
    """
    found = _COUNTED.search(question.lower())
    if found is None or found[1] in _PEOPLE:
        return table
    noun, became = found[1].removesuffix("s"), found[2]
    told = sum(bool(re.search(_one(became), text, re.IGNORECASE)) for text in texts)
    counted = any(re.search(_several(noun, became), text, re.IGNORECASE) for text in texts)
    if told < _FEWEST or counted:
        return table
    return replace(table, columns=tuple(_as_truth(c, noun, became) for c in table.columns))


def _one(became: str) -> str:
    return rf"\b(?:the|an?) [a-z]+ (?:was|is) (?:\w+ )?{became}\b"


def _several(noun: str, became: str) -> str:
    many = r"\d+|two|three|four|five|six|seven|eight|nine|ten|several|many"
    return rf"\b(?:(?:{many}) (?:\w+ )?{noun}s?\b[^.;]{{0,{_REACH}}}?\b{became}|{noun}s (?:were|are) (?:\w+ )?{became})\b"


def _as_truth(column: Column, noun: str, became: str) -> Column:
    words = {word.removesuffix("s") for word in column.name.split("_")}
    own = column.type is ColumnType.INTEGER and became in words and words <= {noun, became, "was", "number", "of"}
    return replace(column, type=ColumnType.BOOLEAN, description="") if own else column
