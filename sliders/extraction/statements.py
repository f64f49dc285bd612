"""Tables whose columns are periods, as lines of amounts: every number beside its row label, its section and its period."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sliders.documents.document import Document, Element, TableCell, TableGrid
from sliders.extraction.periods import Period, read_period

_FEWEST_PERIODS = 2
_PER_UNIT = re.compile(r"\bper\s+(?:\w+\s+){0,2}(?:share|unit|stock|ads|warrant)s?\b", re.IGNORECASE)
_SHARES = re.compile(r"\b(?:shares|units)\b", re.IGNORECASE)
_SHARES_IN = re.compile(r"\bshares?\b[^,;()]{0,50}?\bin\s+(thousands|millions|billions)\b", re.IGNORECASE)
_OWN_SCALE = re.compile(r"\((?:in\s+)?(?:millions|thousands|billions|0{3}[’']?s)\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One row of a period table: `label` as printed, the `section` that it stands under, one cell a period.

    `note` is what says the scale of its numbers, with exceptions ("except per share data") already applied.
    """

    label: str
    section: str
    cells: Mapping[Period, TableCell]
    note: str
    table: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A printed table whose value columns are periods; `headers` gives where each period is printed in its rows."""

    element: Element
    caption: str
    periods: tuple[Period, ...]
    lines: tuple[StatementLine, ...]


def statements_of(document: Document) -> tuple[Statement, ...]:
    """The tables of a document whose column headers are at least two different periods."""
    found: list[Statement] = []
    for element in document.elements:
        if element.grid is None:
            continue
        columns = _period_columns(element.grid)
        if len(columns) < _FEWEST_PERIODS:
            continue
        lines = tuple(_lines(element.grid, columns, len(found)))
        if lines:
            found.append(Statement(element, element.grid.caption, tuple(columns), lines))
    return tuple(found)


def _period_columns(grid: TableGrid) -> dict[Period, int]:
    """Column by period; the first of several columns of one period, as the others are its changes and shares."""
    above = " ".join(part for part in (grid.header[0] if grid.header else "",) if part)
    columns: dict[Period, int] = {}
    for place, header in enumerate(grid.header[1:], 1):
        period = read_period(header)
        if period is None:
            continue
        if not period.end and period.months == 12 and (wider := read_period(f"{above} {header}")) is not None:
            period = Period(wider.year, wider.months, wider.end, period.start, period.stop, period.words)
        if all((p.year, p.months, p.end) != (period.year, period.months, period.end) for p in columns):
            columns[period] = place
    return columns


def _lines(grid: TableGrid, columns: Mapping[Period, int], table: int) -> Iterator[StatementLine]:
    section = ""
    for row in grid.rows:
        label = row[0].text.strip()
        cells = {period: row[place] for period, place in columns.items() if place < len(row) and row[place].text.strip()}
        if not cells:
            section = label or section
            continue
        if label:
            yield StatementLine(label, section.rstrip(":"), cells, _note(grid, section, label), table)
            section = "" if label.lower().startswith("total") else section  # a total closes its section


def _note(grid: TableGrid, section: str, label: str) -> str:
    """The words that give the scale of a line: its own, its section's, or the table's where no exception holds."""
    words = f"{section} {label}"
    for part in (label, section):
        if own := _OWN_SCALE.search(part):
            return own.group()
    if _PER_UNIT.search(words):
        return ""
    note = " ".join(dict.fromkeys(part for part in (grid.note, grid.caption) if part))
    if _SHARES.search(words):
        if named := _SHARES_IN.search(note):
            return f"in {named[1]}"
        if re.search(r"except (?:for )?(?:number of )?shares?\b", note, re.IGNORECASE):
            return ""
    return note


def printed_header(document: Document, statement: Statement, period: Period, cell: TableCell) -> tuple[int, int]:
    """Where the year of a cell's column is printed: before the cell, as tables are rendered with their headers beside.

    The cell itself where the header is not repeated in its row.
    """
    assert statement.element.grid is not None
    header = statement.element.grid.header[_period_columns(statement.element.grid)[period]]
    digits = header[period.start : period.stop]
    line = document.text.rfind("\n", 0, cell.start) + 1
    at = document.text.rfind(digits, line, cell.start) if digits else -1
    return (at, at + len(digits)) if at >= 0 else (cell.start, cell.end)
