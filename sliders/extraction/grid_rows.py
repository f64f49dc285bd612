"""Checks of rows against the printed grid from which they were read: values of another row, lines
that gave no row, totals.

A grid is a run of lines between bars in a text. It contradicts a row only if one line alone holds
the row's name, and another line, with another name, holds the value. Sections, merged cells and
repeated names decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isclose

from sliders.extraction.cell import Cell, How, Scalar
from sliders.extraction.source import Source
from sliders.schema.types import Column, ColumnType, Table
from sliders.sentences import Sentences
from sliders.values.expected import NUMERIC
from sliders.values.folding import fold
from sliders.values.numbers import numbers_in
from sliders.values.parse import parse_value

say = Sentences("extraction")

_BAR = re.compile(r"(?<!\\)\|")
_FEWEST = 2
"""The number of rows that must be read from a grid before a line without a row counts as missed."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """One cell: its text, its folded text, and its place in the text."""

    text: str
    folded: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class GridLine:
    """One line of a grid."""

    start: int
    end: int
    cells: tuple[GridCell, ...]

    def holding(self, words: str, *, whole: bool) -> tuple[int, ...]:
        """The cells that are these folded words, or hold them as whole words."""
        cells = enumerate(self.cells)
        return tuple(
            n
            for n, c in cells
            if c.folded == words or (not whole and f" {words} " in f" {c.folded} ")
        )

    def cell_at(self, offset: int) -> int:
        """The number of the cell at a place."""
        return max((n for n, cell in enumerate(self.cells) if cell.start <= offset), default=0)


@dataclass(frozen=True, slots=True)
class Grid:
    """A run of lines between bars: the lines that name the columns, and the rows. `begun` is True
    when the grid began before the text.
    """

    header: tuple[GridLine, ...]
    rows: tuple[GridLine, ...]
    begun: bool

    def line_of(self, start: int, end: int) -> int | None:
        """The number of the row that holds a place, None for a place that no single row holds."""
        return next(
            (n for n, row in enumerate(self.rows) if row.start <= start and end <= row.end), None
        )


@lru_cache(maxsize=32)
def grids_of(text: str) -> tuple[Grid, ...]:
    """The grids of a text."""
    runs: list[list[GridLine]] = []
    at, inside = 0, False
    for printed in text.split("\n"):
        if printed.startswith("|"):
            if not inside:
                runs.append([])
            runs[-1].append(_line(printed, at))
        inside = printed.startswith("|")
        at += len(printed) + 1
    return tuple(_grid(lines, text) for lines in runs)


def _grid(lines: Sequence[GridLine], text: str) -> Grid:
    rule = next(
        (
            n
            for n, line in enumerate(lines[:3])
            if not set("".join(cell.text for cell in line.cells)) - set("-: ")
        ),
        -1,
    )
    begun = rule < 0 and not text[: lines[0].start].strip()
    return Grid(tuple(lines[: max(rule, 0)]), tuple(lines[rule + 1 :]), begun)


def _line(printed: str, at: int) -> GridLine:
    bars = [match.start() for match in _BAR.finditer(printed)]
    ends = [*bars[1:], len(printed)] if not printed.rstrip().endswith("|") else bars[1:]
    cells = []
    for left, right in zip(bars, ends, strict=False):
        text = printed[left + 1 : right]
        start = at + left + 1 + len(text) - len(text.lstrip())
        cells.append(
            GridCell(
                text.strip(), fold(text) if text.strip() else "", start, start + len(text.strip())
            )
        )
    return GridLine(at, at + len(printed), tuple(cells))


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row that was read: its table, the columns that were asked for, and its cells by column."""

    table: Table
    columns: Mapping[str, Column]
    cells: Mapping[str, Cell]

    def names(self) -> tuple[str, ...]:
        """The columns that tell the row from others: the key, else the first text column."""
        key = tuple(
            n
            for n in self.table.key
            if n in self.columns and self.columns[n].type is not ColumnType.NUMBER
        )
        return (
            key
            or tuple(n for n, column in self.columns.items() if column.type is ColumnType.TEXT)[:1]
        )

    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers that do not name the row."""
        names = self.names()
        return tuple(
            n for n, column in self.columns.items() if column.type in NUMERIC and n not in names
        )


@dataclass(frozen=True, slots=True)
class _Name:
    """The place of a row's name in a grid: its line (None for the header), and its cell."""

    line: int | None
    cell: int


class _RowNames:
    """The names of one column of a table in one grid, by the number of the row that was read."""

    def __init__(self, grid: Grid, rows: Sequence[ReadRow], table: str, column: str) -> None:
        self.places: dict[int, _Name] = {}
        for number, row in enumerate(rows):
            cell = row.cells.get(column)
            if (
                row.table.name == table
                and cell is not None
                and cell.printed
                and cell.how is How.STATED
                and cell.stands
            ):
                place = _only_place(
                    grid, fold(cell.printed), whole=row.columns[column].type is not ColumnType.TEXT
                )
                if place is not None:
                    self.places[number] = place
        self.lines = {place.line for place in self.places.values()} - {None}

    def crowded(self, line: int) -> bool:
        """True when several rows have their names in one line; the line then belongs to none of
        them.
        """
        return sum(place.line == line for place in self.places.values()) > 1

    def owner(self, line: int | None, cell: int) -> int | None:
        """The number of the row whose name stands in this cell; None when no row's name does."""
        return next((n for n, place in self.places.items() if place == _Name(line, cell)), None)


def _only_place(grid: Grid, words: str, *, whole: bool) -> _Name | None:
    """The one cell of a grid that holds a name, None when no cell or several hold it."""
    lines = [(None, line) for line in grid.header] + list(enumerate(grid.rows))
    found = [_Name(n, cell) for n, line in lines for cell in line.holding(words, whole=whole)]
    exact = [_Name(n, cell) for n, line in lines for cell in line.holding(words, whole=True)]
    if len(found) == 1:
        return found[0]
    if len(exact) == 1 and len(found) == len(exact):
        return exact[0]
    return None


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A value whose words stand in the line or column of another row's name: the number of its row,
    its column, and the finding.
    """

    row: int
    column: str
    finding: str


def misplaced(source: Source, rows: Sequence[ReadRow]) -> Iterator[Misplaced]:
    """Yields the values of rows that a printed grid shows in the line, or under the header, of
    another row.
    """
    for grid in grids_of(source.text):
        names: dict[tuple[str, str], _RowNames] = {}
        for number, row in enumerate(rows):
            for name in row.names() if row.table.grain == "many" else ():
                known = names.setdefault(
                    (row.table.name, name), _RowNames(grid, rows, row.table.name, name)
                )
                if number in known.places:
                    yield from _of_row(source, grid, rows, number, known)


def _of_row(
    source: Source, grid: Grid, rows: Sequence[ReadRow], number: int, names: _RowNames
) -> Iterator[Misplaced]:
    row = rows[number]
    for column, cell in row.cells.items():
        if (
            column in row.names()
            or cell.span is None
            or not cell.stands
            or cell.how is not How.STATED
        ):
            continue
        start, end = cell.span.start - source.offset, cell.span.end - source.offset
        line = grid.line_of(start, end)
        if line is None:
            continue
        at, words = grid.rows[line].cell_at(start), fold(cell.printed)
        if row.columns[column].type not in NUMERIC and grid.rows[line].cells[at].folded != words:
            continue  # a word of a label is no value of its row
        place = names.places[number]
        other = _header_of(grid, names, place, line, at, words) if place.line is None else ""
        if place.line is not None:
            shared = (
                sum(
                    r.cells[column].span == cell.span
                    for r in rows
                    if r.table == row.table and column in r.cells
                )
                > 1
            )
            other = _line_of(grid, names, place, line, at, words, shared=shared)
        if other:
            yield Misplaced(
                number,
                column,
                say("another_row", words=cell.printed, other=other),
            )


def _line_of(
    grid: Grid, names: _RowNames, place: _Name, line: int, at: int, words: str, *, shared: bool
) -> str:
    """The name of the line in which a value stands, when it should stand in the line of its own
    row; "" when nothing contradicts it.
    """
    assert place.line is not None
    own, there = grid.rows[place.line], grid.rows[line]
    if (
        line == place.line
        or own.holding(words, whole=False)
        or at == place.cell
        or names.crowded(place.line)
    ):
        return ""
    if (
        sum(bool(cell.text) for cell in own.cells) < _FEWEST
        or place.cell >= len(there.cells)
        or not there.cells[place.cell].text
    ):
        return ""  # the heading of a section, or a name that is printed once for several lines
    listed = bool(grid.header) or len(names.lines) >= _FEWEST
    if names.owner(line, place.cell) is None and (shared or not listed):
        return ""
    return there.cells[place.cell].text


def _header_of(grid: Grid, names: _RowNames, place: _Name, line: int, at: int, words: str) -> str:
    """The name under which a value stands, when it should stand under the name of its own row; ""
    when nothing contradicts it.
    """
    there = grid.rows[line].cells
    if (
        at == place.cell
        or not (at and place.cell)
        or names.owner(None, at) is None
        or place.cell >= len(there)
    ):
        return ""
    if f" {words} " in f" {there[place.cell].folded} ":
        return ""
    return next((header.cells[at].text for header in grid.header if at < len(header.cells)), "")


@dataclass(frozen=True, slots=True)
class Unread:
    """A line of a grid that gave no row: the table of the rows from the other lines, the line's
    place in the text (characters), and the finding.

    `values` are the values that the line prints in the columns of the other rows' names and
    numbers, by column.
    """

    table: str
    start: int
    end: int
    finding: str
    values: tuple[tuple[str, Scalar], ...] = ()


def unread(source: Source, rows: Sequence[ReadRow]) -> Iterator[Unread]:
    """Yields each line that gave no row although it looks like the lines around it that did, and is
    no total of them.
    """
    for grid in grids_of(source.text):
        if grid.begun:
            continue
        for table in dict.fromkeys(row.table.name for row in rows if row.table.grain == "many"):
            yield from _unread_of(
                source, grid, [row for row in rows if row.table.name == table], rows
            )


def _unread_of(
    source: Source, grid: Grid, own: Sequence[ReadRow], rows: Sequence[ReadRow]
) -> Iterator[Unread]:
    lines = [_lines_of(source, grid, row) for row in own]
    alone = [next(iter(of_row)) for of_row in lines if len(of_row) == 1]
    read = {line for row in rows for line in _lines_of(source, grid, row)}
    if len(set(alone)) < _FEWEST or len(set(alone)) != len(alone):
        return
    naming = own[0].names()[:1]
    name = next(iter(_cells_of(source, grid, own, naming)), 0)
    columns = _cells_of(source, grid, own, own[0].numbers())
    values = tuple(sorted(columns))
    missed = [
        n for n in range(len(grid.rows)) if n not in read and _alike(grid.rows[n], name, values)
    ]
    if not values or len(missed) > len(alone):
        return
    for number in missed:
        line = grid.rows[number]
        told = {at: total for at in values if (total := _number(line, at)) is not None}
        if told and not any(
            _explained(grid, read, number, at, total) for at, total in told.items()
        ):
            at, total = next(iter(told.items()))
            above = sum(
                filter(None, (_number(grid.rows[n], at) for n in sorted(read) if n < number))
            )
            printed = " | ".join(cell.text for cell in line.cells)
            finding = say("row_not_read", printed=printed, above=above, total=total)
            given = [
                *((column, line.cells[name].text) for column in naming),
                *_values(source, own[0], line, columns),
            ]
            yield Unread(own[0].table.name, line.start, line.end, finding, tuple(given))


def _values(
    source: Source, row: ReadRow, line: GridLine, columns: Mapping[int, str]
) -> Iterator[tuple[str, Scalar]]:
    """Yields the values that a line prints, each with its column."""
    for at, column in columns.items():
        if at < len(line.cells):
            cell = line.cells[at]
            value = parse_value(cell.text, row.columns[column], source.context_at(cell.start)).value
            if value is not None:
                yield column, value


def _lines_of(source: Source, grid: Grid, row: ReadRow) -> set[int]:
    spans = [
        span for cell in row.cells.values() for span in (cell.span, *cell.parts) if span is not None
    ]
    found = (grid.line_of(span.start - source.offset, span.end - source.offset) for span in spans)
    return {line for line in found if line is not None}


def _cells_of(
    source: Source, grid: Grid, rows: Sequence[ReadRow], columns: Sequence[str]
) -> dict[int, str]:
    """Returns the position of the cell for each column, as at least two rows show it whose stated
    values were read from this grid.
    """
    found: list[tuple[int, str]] = []
    for row in rows:
        for name in columns:
            cell = row.cells.get(name)
            span = (
                cell.span if cell is not None and cell.stands and cell.how is How.STATED else None
            )
            line = (
                grid.line_of(span.start - source.offset, span.end - source.offset) if span else None
            )
            if span is not None and line is not None:
                found.append((grid.rows[line].cell_at(span.start - source.offset), name))
    return {at: name for at, name in dict.fromkeys(found) if found.count((at, name)) >= _FEWEST}


def _alike(line: GridLine, name: int, values: Sequence[int]) -> bool:
    """True when a line has a name and a number in the same cells as the lines that gave rows."""
    return (
        name < len(line.cells)
        and bool(line.cells[name].text)
        and any(_number(line, at) is not None for at in values)
    )


def _number(line: GridLine, at: int) -> float | None:
    found = numbers_in(line.cells[at].text) if at < len(line.cells) and at >= 0 else ()
    return float(found[0].value) if len(found) == 1 else None


def _explained(grid: Grid, read: set[int], number: int, at: int, total: float) -> bool:
    """True when a number is a total: the sum of all lines that gave rows, or of those directly
    above or below it, or the mean of all.
    """
    printed = {n: value for n in sorted(read) if (value := _number(grid.rows[n], at)) is not None}
    above, below = (
        [v for n, v in printed.items() if n < number],
        [v for n, v in printed.items() if n > number],
    )
    every = list(printed.values())
    runs = (
        [above[n:] for n in range(len(above))]
        + [below[: n + 1] for n in range(len(below))]
        + ([every] if every else [])
    )
    totals = [sum(run) for run in runs if len(run) >= _FEWEST] + (
        [sum(every) / len(every)] if len(every) > _FEWEST else []
    )
    return any(
        isclose(total, told, rel_tol=1e-9, abs_tol=_slack(grid, number, at)) for told in totals
    )


def _slack(grid: Grid, number: int, at: int) -> float:
    """The difference that rounding allows between a printed total and the sum of its lines: a unit
    of its last decimal, 0 without decimals.
    """
    text = grid.rows[number].cells[at].text
    decimals = re.search(r"[.,](\d{1,2})\)?%?$", text)
    return 10.0 ** -len(decimals[1]) if decimals else 1e-9
