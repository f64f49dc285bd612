"""The name that a collection itself gives what a document is about: its file's name, where that names the row.

A text introduces its subject by the longest form of the name ("Carla Maria Reyes Ibarra"), its file by the usual one
("Carla_Reyes.txt"). Where the names of most files are names of their rows, the usual form is the row's name; the
printed words stay beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from rapidfuzz import fuzz

from sliders.extraction.cell import Cell, Grounding, Row
from sliders.extraction.dates import dates_in
from sliders.extraction.lexicon import fold
from sliders.schema.types import ColumnType, Table

_FEWEST, _SHARE, _ALIKE = 5, 0.6, 88.0


def titled(rows: Sequence[Row], table: Table, files: Mapping[str, str]) -> list[Row]:
    """The rows whose name becomes that of their document's file, each with only that cell.

    Args:
        rows: all rows of a table with one row a document.
        files: name of the file by document.
    """
    column = next((c.name for c in table.columns if c.type is ColumnType.TEXT and re.search(r"(?:^|_)name$", c.name)), "")
    cells = [(row, cell) for row in rows if (cell := row.cell(column)) and cell.absence is None and cell.printed]
    titles = {row.id: _title(files.get(row.document_id, "")) for row, _ in cells}
    related = [(row, cell) for row, cell in cells if _related(titles[row.id], cell.printed)]
    if len(related) < max(_FEWEST, _SHARE * len(rows)):
        return []
    return [
        replace(row, cells=(_named(cell, titles[row.id]),))
        for row, cell in related
        if cell.value != titles[row.id] and _tokens(cell.printed) != _tokens(titles[row.id])
    ]


def dated(rows: Sequence[Row], table: Table, files: Mapping[str, str]) -> list[Row]:
    """The rows whose date becomes that in the name of their document's file, where most rows have just that date.

    A report also prints the day before its own ("on 20 May, 31 boats were counted"); `daily_2021-05-21.txt` settles it.
    """
    changed: list[Row] = []
    for column in table.columns:
        if column.type is not ColumnType.DATE:
            continue
        cells = [(row, cell, _file_date(files.get(row.document_id, ""))) for row in rows if (cell := row.cell(column.name))]
        agreeing = sum(1 for _, cell, date in cells if date and cell.value == date)
        if agreeing < max(_FEWEST, _SHARE * len(rows)):
            continue
        for row, cell, date in cells:
            if date and cell.absence is None and cell.value != date:
                reason = f"the date in the name of its document, as in {agreeing} of {len(rows)} rows"
                fixed = replace(cell, value=date, grounding=Grounding.DERIVED, rationale=reason)
                changed.append(replace(row, cells=(fixed,)))
    return changed


def _file_date(file: str) -> str:
    full = {date.iso for date in dates_in(_title(file)) if date.full and not date.ambiguous}
    return full.pop() if len(full) == 1 else ""


def _named(cell: Cell, title: str) -> Cell:
    reason = f"{cell.printed!r} is called so by the name of its document"
    return replace(cell, value=title, grounding=Grounding.DERIVED, rationale=reason)


def _title(file: str) -> str:
    return " ".join(PurePath(file).stem.replace("_", " ").split())


def _related(title: str, printed: str) -> bool:
    """Whether a title of at least two words is a short or a variant form of the printed name."""
    one, two = _tokens(title), _tokens(printed)
    if len(one) < 2 or any(token.isdigit() for token in one):
        return False
    initials = any(len(token) == 1 for token in one)  # a file's name shortens what the text spells out
    return set(one) <= set(two) or (not initials and fuzz.ratio(" ".join(one), " ".join(two)) >= _ALIKE)


def _tokens(words: str) -> list[str]:
    return re.findall(r"\w+", fold(words))
