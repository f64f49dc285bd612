"""Rows and columns out of positioned pieces of text, for pages (points) and for aligned plain text (characters).

A line is a tuple of segments from left to right; a blank line is the empty tuple. Positions have any unit. Columns come
from the right edges of the rows that fill all of them; a row with as many values as there are columns is read in order,
because printed text drifts, a row with fewer goes to the nearest columns in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.documents.columns import Column, columns_of, row_of, spacing_of
from sliders.documents.headers import find_header, name_columns
from sliders.documents.lines import cells_of, goes_on, is_data, is_section, is_year_header, text_of, value_edge
from sliders.documents.segments import Line, Segment, join_marks
from sliders.documents.tables import Table
from sliders.documents.values import is_note, is_year

__all__ = ["Line", "Region", "Segment", "find_tables", "join_marks"]

_MAX_BLANKS = 2
_MAX_SECTIONS = 3
_MAX_BETWEEN = 4


@dataclass(frozen=True, slots=True)
class Region:
    """A table found in lines `first` to `last` (inclusive), its header lines among them."""

    first: int
    last: int
    table: Table


def find_tables(lines: Sequence[Line]) -> tuple[Region, ...]:
    """The tables of a page in order; regions do not overlap. `lines` come from `join_marks`."""
    regions: list[Region] = []
    columns: tuple[Column, ...] = ()
    floor = 0
    at = 0
    while at < len(lines):
        if not is_data(lines[at]):
            at += 1
            continue
        last = _extent(lines, at)
        found = _region(lines, floor, at, last)
        if found is not None:
            region, above, columns = found[0], columns, found[1]
            if regions and _continues(lines, regions[-1], region, above, columns):
                table = replace(region.table, header=regions[-1].table.header, note=regions[-1].table.note)
                region = replace(region, table=table)
            regions.append(region)
            floor = region.last + 1
        at = last + 1
    return tuple(regions)


def _extent(lines: Sequence[Line], first: int) -> int:
    """The last line of the run of data rows that begins at `first`, over section rows and blank lines."""
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
        elif not seen_body:
            blanks = 0
        else:
            break
        at += 1
    return last


def _continues(
    lines: Sequence[Line], above: Region, region: Region, columns_above: Sequence[Column], columns: Sequence[Column]
) -> bool:
    """True when a table without header stands under the columns of the one above it: it is its continuation."""
    between = [line for line in lines[above.last + 1 : region.first] if line]
    if any(region.table.header) or len(columns) != len(columns_above) or len(between) > _MAX_BETWEEN:
        return False
    tolerance = spacing_of(columns) / 2
    return all(abs(a.right - b.right) <= tolerance for a, b in zip(columns_above, columns, strict=True))


def _region(lines: Sequence[Line], floor: int, first: int, last: int) -> tuple[Region, tuple[Column, ...]] | None:
    data = [i for i in range(first, last + 1) if is_data(lines[i]) and not is_year_header(lines[i])]
    if data and is_year_header(lines[data[0]], named=True) and not all(_only_years(lines[i]) for i in data):
        data = data[1:]
    width = max((len(cells_of(lines[i])) for i in data), default=0)
    printed = sum(any(ch.isdigit() for cell in cells_of(lines[i]) for ch in cell.text) for i in data)
    if len(data) < (2 if width > 1 else 3) or printed * 2 < len(data):
        return None
    years = [cells_of(lines[i]) for i in range(first, data[0]) if is_year_header(lines[i], named=True)]
    columns = columns_of([cells_of(lines[i]) for i in data], years)
    top, header_lines, notes = find_header(lines, floor, data[0], columns)
    in_header = set(header_lines)
    header, label_words = name_columns([lines[i] for i in header_lines], columns)
    note = " ".join([*notes, *(w for w in label_words if is_note(w))])
    label = " ".join(w for w in label_words if not is_note(w))
    skipped = in_header | {i for i in range(top, data[0]) if text_of(lines[i]) in notes}
    body = [i for i in range(top, last + 1) if lines[i] and i not in skipped]
    rows = _join_wrapped([row_of(lines[i], columns) for i in body])
    return Region(top, last, Table((label, *header), tuple(rows), note=note)), columns


def _only_years(line: Line) -> bool:
    return all(is_year(cell.text) for cell in cells_of(line))


def _join_wrapped(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Join a label that was broken over two lines: the first line has no values, the second begins in lower case."""
    joined: list[tuple[str, ...]] = []
    for row in rows:
        above = joined[-1] if joined else None
        broken = above is not None and not any(above[1:]) and not above[0].endswith((":", "."))
        if above is not None and broken and row[0] and (row[0][:1].islower() or goes_on(above[0])):
            joined[-1] = (f"{above[0]} {row[0]}", *row[1:])
        else:
            joined.append(row)
    return joined
