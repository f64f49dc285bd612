"""Rows and columns out of positioned pieces of text, for pages (points) and for aligned
plain text (characters).

A line is a tuple of segments from left to right; a blank line is the empty tuple. Positions have
any unit. A row with as many values as there are columns is read in order, because printed text
drifts; a row with fewer goes to the nearest columns in order. Headers are read by geometry: strokes
below them, what they overlap, what they stand in the middle of.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from statistics import median

from sliders.documents.table_grid.columns import GridColumn, assign, columns_of, spacing_of
from sliders.documents.table_grid.headers import GridFrame, Rules, find_header, name_columns
from sliders.documents.table_grid.lines import (
    cells_of,
    is_data,
    is_noted,
    is_section,
    is_year_header,
    text_of,
    value_edge,
)
from sliders.documents.table_grid.segments import Line, Segment, char_width, join_marks
from sliders.documents.tables import TextTable
from sliders.values.notes import is_note
from sliders.values.printed import is_value, is_year

__all__ = ["Line", "Region", "Segment", "find_tables", "join_marks"]

_MAX_BLANKS = 2
_MAX_SECTIONS = 4
_MAX_INDENT = 6
_TIGHT = 0.93


@dataclass(frozen=True, slots=True)
class Region:
    """A table that stands in the lines `first` to `last` (inclusive), header lines included."""

    first: int
    last: int
    table: TextTable
    columns: tuple[GridColumn, ...] = ()

    def stands_below(self, above: Region) -> bool:
        """Whether the values stand under the columns of another table."""
        if not self.columns or len(self.columns) != len(above.columns):
            return False
        tolerance = spacing_of(self.columns) / 2
        return all(
            abs(a.right - b.right) <= tolerance
            for a, b in zip(above.columns, self.columns, strict=True)
        )


@dataclass(frozen=True, slots=True)
class _GridRow:
    """A row while its label is put together: `left` and `right` are the ends of its first line's
    label, `base` the height of its last line.
    """

    label: str
    values: tuple[str, ...]
    left: float
    right: float
    base: float


def find_tables(lines: Sequence[Line], rules: Sequence[Rules] = ()) -> tuple[Region, ...]:
    """The tables of a page in order; regions do not overlap. `lines` come from `join_marks`.

    `rules` are the horizontal strokes below each line, where the strokes of the page are known.
    """
    rules = rules or [()] * len(lines)
    regions: list[Region] = []
    floor = at = 0
    while at < len(lines):
        if not is_data(lines[at]):
            at += 1
            continue
        last = _extent(lines, at)
        region = _region(lines, rules, floor, at, last)
        if region is not None:
            if regions and not any(region.table.header) and region.stands_below(regions[-1]):
                table = replace(
                    region.table, header=regions[-1].table.header, note=regions[-1].table.note
                )
                region = replace(region, table=table)
            regions.append(region)
            floor = region.last + 1
        at = last + 1
    return tuple(regions)


def _extent(lines: Sequence[Line], first: int) -> int:
    """The last line of the run of data rows that begins at `first`, over section
    rows and blank lines.
    """
    last, at, blanks, sections = first, first + 1, 0, 0
    seen_body = not is_year_header(lines[first])
    edge = value_edge(lines[first])
    while at < len(lines):
        line = lines[at]
        if not line:
            blanks += 1
            if blanks > _MAX_BLANKS:
                break
        elif is_data(line):
            if seen_body and is_year_header(line):
                break
            seen_body = seen_body or not is_year_header(line)
            edge = min(edge, value_edge(line))
            last, blanks, sections = at, 0, 0
        elif is_section(lines, at, edge):
            blanks, sections = 0, sections + 1
            if sections > _MAX_SECTIONS:
                break
        else:
            break
        at += 1
    return last


def _region(
    lines: Sequence[Line], rules: Sequence[Rules], floor: int, first: int, last: int
) -> Region | None:
    data = [i for i in range(first, last + 1) if is_data(lines[i]) and not is_year_header(lines[i])]
    if data and (
        _heads(lines[data[0]]) or _names_values(lines[data[0]], [lines[i] for i in data[1:]])
    ):
        data = data[1:]
    if not data:
        return None
    label_left = _label_left([lines[i] for i in data])
    cells = {i: _cells(lines[i], label_left) for i in data}
    width = max(len(row) for row in cells.values())
    printed = sum(any(ch.isdigit() for cell in row for ch in cell.text) for row in cells.values())
    if width == 0 or printed * 2 < len(data):
        return None
    years = [
        cells_of(lines[i]) for i in range(first, data[0]) if is_year_header(lines[i], named=True)
    ]
    feet = rules[data[0] - 1] if data[0] else ()
    lefts = tuple(piece.left for piece in lines[max(data[0] - 1, floor)])
    frame = GridFrame(columns_of(list(cells.values())), label_left, rules, feet, lefts, years)
    top, header_lines, notes = find_header(lines, floor, data[0], frame)
    drawn = bool(header_lines) and bool(rules[header_lines[-1]])
    if len(data) < (1 if width > 1 and drawn else 2 if width > 1 else 3):
        return None
    header, stub = name_columns(lines, header_lines, frame)
    note = " ".join([*notes, *(w for w in stub if is_note(w))])
    label = " ".join(w for w in stub if not is_note(w))
    skipped = {*header_lines, *(i for i in range(top, data[0]) if text_of(lines[i]) in notes)}
    body = [
        _row(lines[i], cells.get(i), frame)
        for i in range(top, last + 1)
        if lines[i] and i not in skipped
    ]
    table = _table((label, *header), _join_wrapped(body), note)
    return Region(top, last, table, frame.columns)


def _label_left(rows: Sequence[Line]) -> float:
    """Where labels begin: the leftmost text, or the left edge that the first numbers share."""
    texts = [row[0].left for row in rows if not is_value(row[0].text)]
    firsts = [row[0].left for row in rows]
    aligned = len(rows) > 1 and max(firsts) - min(firsts) < char_width(rows[0][0])
    return min(texts or firsts) if texts or aligned else -inf


def _cells(line: Line, label_left: float) -> Line:
    """The cells of a row that has its label where all labels begin, even if the label
    is a number ("2026").
    """
    at_margin = len(line) > 1 and line[0].left <= label_left + char_width(line[0])
    return line[1:] if at_margin else cells_of(line)


def _heads(line: Line) -> bool:
    return is_year_header(line, named=True) or is_noted(line)


def _names_values(line: Line, rows: Sequence[Line]) -> bool:
    """True for words and years above values that are no years ("Item Plan
    2021"): they name columns.
    """
    cells = cells_of(line)
    below = [
        [
            c.text
            for row in rows
            for c in cells_of(row)
            if c.left < cell.right and cell.left < c.right
        ]
        for cell in cells
    ]
    amounts = all(any(map(is_value, texts)) and not any(map(is_year, texts)) for texts in below)
    return (
        len(cells) < len(line)
        and amounts
        and all(is_year(cell.text) or not is_value(cell.text) for cell in cells)
    )


def _row(line: Line, cells: Line | None, frame: GridFrame) -> _GridRow:
    """The label and the values of a line, each in its column."""
    columns = frame.columns
    if cells is None:
        cells = cells_of(line)
    head = line[: len(line) - len(cells)]
    extra = max(0, len(cells) - len(columns))
    head, cells = (*head, *cells[:extra]), cells[extra:]
    values = [""] * len(columns)
    for cell, column in zip(cells, assign(cells, columns), strict=True):
        values[column] = cell.text
    left = head[0].left if head else columns[0].left
    return _GridRow(
        text_of(head), tuple(values), left, head[-1].right if head else left, line[0].base
    )


def _join_wrapped(rows: Sequence[_GridRow]) -> list[_GridRow]:
    """Joins labels that were broken over lines: a line that goes on in lower case, or stands nearer
    than rows do, belongs to the label above.
    """
    steps = [
        a.base - b.base for a, b in itertools.pairwise(rows) if any(a.values) and any(b.values)
    ]
    pitch = median(steps) if len(steps) > 1 and min(steps) > 0 else 0.0
    limit = max((row.right for row in rows), default=0.0)
    joined: list[_GridRow] = []
    for row in rows:
        above = joined[-1] if joined else None
        if above is None or not above.label or not row.label or above.label.endswith((":", ".")):
            joined.append(row)
            continue
        lower = row.label[:1].islower()
        tight = bool(pitch) and 0 < above.base - row.base < _TIGHT * pitch
        full = _is_full(above, row, limit)
        if not any(above.values) and (lower or (tight and full)):
            joined[-1] = replace(
                row,
                label=f"{above.label} {row.label}",
                left=above.left,
                right=max(above.right, row.right),
            )
        elif any(above.values) and not any(row.values) and lower:
            joined[-1] = replace(above, label=f"{above.label} {row.label}", base=row.base)
        else:
            joined.append(row)
    return joined


def _is_full(above: _GridRow, row: _GridRow, limit: float) -> bool:
    """The first word of `row` would not have stood in the line above it."""
    step = (row.right - row.left) / max(len(row.label), 1)
    return above.right + step * (1 + len(row.label.split()[0])) > limit - step


def _table(header: tuple[str, ...], rows: Sequence[_GridRow], note: str) -> TextTable:
    """The table; without any label its first column names the rows."""
    if len(header) > 2 and not header[0] and not any(row.label for row in rows):
        return TextTable(header[1:], tuple(row.values for row in rows), note=note)
    lefts = sorted(row.left for row in rows if row.label)
    step = min(
        (max(row.right - row.left, 1.0) / len(row.label) for row in rows if row.label), default=1.0
    )
    levels: list[float] = []
    for left in lefts:
        if not levels or left > levels[-1] + 0.6 * step:
            levels.append(left)
    indents = tuple(
        min(sum(level <= row.left for level in levels) - 1, _MAX_INDENT) if row.label else 0
        for row in rows
    )
    return TextTable(
        header, tuple((row.label, *row.values) for row in rows), note=note, indents=indents
    )
