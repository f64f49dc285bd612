"""Rows and columns out of positioned pieces of text, for pages (points) and for aligned plain text (characters).

A line is a tuple of segments from left to right; a blank line is the empty tuple. Positions have any unit. Columns come
from the right edges of the rows that fill all of them; a row with as many values as there are columns is read in order,
because printed text drifts, a row with fewer goes to the nearest columns in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from sliders.documents.tables import Table
from sliders.documents.values import closes_value, is_note, is_period, is_value, is_year, opens_value, tidy_value

_MAX_BLANKS = 2
_MAX_SECTIONS = 3
_MAX_HEADER_LINES = 6
_MAX_TEXT_CELL = 48


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of one line: its text and its horizontal extent."""

    text: str
    left: float
    right: float

    @property
    def center(self) -> float:
        return (self.left + self.right) / 2


Line = tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A table found in lines `first` to `last` (inclusive), its header lines among them."""

    first: int
    last: int
    table: Table


def join_marks(line: Line) -> Line:
    """The line with "$", "(", ")" and "%" joined to their numbers, and runs of numbers taken apart."""
    pieces: list[Segment] = []
    for segment in line:
        pieces.extend(_take_apart(segment))
    joined: list[Segment] = []
    mark = ""
    for piece in pieces:
        text = piece.text
        if joined and not mark and closes_value(text) and joined[-1].text[-1:].isdigit():
            last = joined.pop()
            joined.append(Segment(tidy_value(last.text + text), last.left, last.right))
        elif opens_value(text):
            mark += text
        elif mark and (is_value(text) or is_value(mark + text)):
            joined.append(Segment(tidy_value(mark + text), piece.left, piece.right))
            mark = ""
        else:
            if mark:
                joined.append(Segment(mark, piece.left, piece.left))
                mark = ""
            joined.append(Segment(tidy_value(text), piece.left, piece.right))
    if mark:
        joined.append(Segment(mark, line[-1].left, line[-1].right))
    return tuple(joined)


def find_tables(lines: Sequence[Line]) -> tuple[Region, ...]:
    """The tables of a page in order; regions do not overlap. `lines` come from `join_marks`."""
    regions: list[Region] = []
    floor = 0
    at = 0
    while at < len(lines):
        if not _is_data(lines[at]):
            at += 1
            continue
        last = _extent(lines, at)
        region = _region(lines, floor, at, last)
        if region is not None:
            regions.append(region)
            floor = region.last + 1
        at = last + 1
    return tuple(regions)


def _take_apart(segment: Segment) -> list[Segment]:
    words = segment.text.split()
    if len(words) < 2 or is_value(segment.text):
        return [segment]
    tail = len(words)
    while tail and (is_value(words[tail - 1]) or opens_value(words[tail - 1]) or closes_value(words[tail - 1])):
        tail -= 1
    if tail and opens_value(words[-1]):
        tail = len(words) - 1
    elif tail:
        return [segment]
    step = (segment.right - segment.left) / max(len(segment.text), 1)
    pieces, position = [], 0
    groups = ([" ".join(words[:tail])] if tail else []) + words[tail:]
    for group in groups:
        found = segment.text.find(group, position)
        found = position if found < 0 else found
        position = found + len(group)
        pieces.append(Segment(group, segment.left + found * step, segment.left + position * step))
    return pieces


def _cells(line: Line) -> Line:
    """The segments that lie in value columns: all but a leading label."""
    return line if not line or is_value(line[0].text) else line[1:]


def _is_data(line: Line) -> bool:
    cells = _cells(line)
    values = sum(is_value(cell.text) for cell in cells)
    if not values or values * 2 < len(cells) or (len(cells) == len(line) and len(line) < 2):
        return False
    return all(len(cell.text) <= _MAX_TEXT_CELL for cell in cells)


def _is_year_header(line: Line) -> bool:
    cells = _cells(line)
    label = line[0].text if len(cells) < len(line) else ""
    plain = is_note(label) or is_period(label)
    return bool(cells) and plain and all(is_year(cell.text) for cell in cells) and (len(cells) > 1 or bool(label))


def _extent(lines: Sequence[Line], first: int) -> int:
    """The last line of the run of data rows that begins at `first`, over section rows and blank lines."""
    last, at, blanks, sections = first, first + 1, 0, 0
    seen_body = not _is_year_header(lines[first])
    edge = _value_edge(lines[first])
    while at < len(lines):
        line = lines[at]
        if not line:
            blanks += 1
            if blanks > _MAX_BLANKS:
                break
        elif _is_data(line):
            if seen_body and _is_year_header(line):
                break
            seen_body = seen_body or not _is_year_header(line)
            edge = min(edge, _value_edge(line))
            last, blanks, sections = at, 0, 0
        elif len(line) == 1 and _in_label_area(line[0], edge):
            blanks, sections = 0, sections + 1
            if sections > _MAX_SECTIONS:
                break
        elif not seen_body:
            blanks = 0
        else:
            break
        at += 1
    return last


def _value_edge(line: Line) -> float:
    cells = _cells(line)
    return min(cell.left for cell in cells) if cells else float("inf")


def _in_label_area(segment: Segment, edge: float) -> bool:
    inside = segment.right <= edge or segment.text.endswith(":")
    return not is_value(segment.text) and segment.center < edge and inside


def _region(lines: Sequence[Line], floor: int, first: int, last: int) -> Region | None:
    data = [i for i in range(first, last + 1) if _is_data(lines[i]) and not _is_year_header(lines[i])]
    width = max((len(_cells(lines[i])) for i in data), default=0)
    printed = sum(any(ch.isdigit() for cell in _cells(lines[i]) for ch in cell.text) for i in data)
    if len(data) < (2 if width > 1 else 3) or printed * 2 < len(data):
        return None
    years = [_cells(lines[i]) for i in range(first, data[0]) if _is_year_header(lines[i])]
    columns = _columns([_cells(lines[i]) for i in data], years)
    top, header_lines, notes = _header_lines(lines, floor, data[0], columns)
    in_header = set(header_lines)
    header, label_words = _header([lines[i] for i in header_lines], columns)
    note = " ".join([*notes, *(w for w in label_words if is_note(w))])
    label = " ".join(w for w in label_words if not is_note(w))
    skipped = in_header | {i for i in range(top, data[0]) if _text(lines[i]) in notes}
    body = [i for i in range(top, last + 1) if lines[i] and i not in skipped]
    rows = _join_wrapped([_row(lines[i], columns) for i in body])
    return Region(top, last, Table((label, *header), tuple(rows), note=note))


def _text(line: Line) -> str:
    return " ".join(segment.text for segment in line)


@dataclass(frozen=True, slots=True)
class _Column:
    left: float
    right: float

    @property
    def center(self) -> float:
        return (self.left + self.right) / 2


def _columns(rows: Sequence[Line], years: Sequence[Line]) -> tuple[_Column, ...]:
    """Columns by the rows that fill all of them: the median edges of the first, second, ... value."""
    counts = Counter(len(row) for row in rows)
    enough = max(2, len(rows) // 10)
    width = max((n for n, rows_with in counts.items() if rows_with >= enough), default=max(counts))
    width = max([width, *(len(line) for line in years)])
    full = [row for row in rows if len(row) == width] or [line for line in years if len(line) == width]
    return tuple(
        _Column(median(row[c].left for row in full), median(row[c].right for row in full)) for c in range(width)
    )


def _assign(cells: Line, columns: Sequence[_Column]) -> list[int]:
    """For each cell its column, in order, at the least total distance of right edges or centres."""
    if len(cells) >= len(columns):
        return list(range(len(columns)))[-len(cells) :]
    spare = len(columns) - len(cells)
    best: list[list[tuple[float, tuple[int, ...]]]] = [[(0.0, ())] * (spare + 1)]
    for n, cell in enumerate(cells):
        row: list[tuple[float, tuple[int, ...]]] = []
        for skipped in range(spare + 1):
            column = columns[n + skipped]
            far = min(abs(cell.right - column.right), abs(cell.center - column.center))
            before, path = min(best[-1][s] for s in range(skipped + 1))
            row.append((before + far, (*path, n + skipped)))
        best.append(row)
    return list(min(best[-1])[1])


def _row(line: Line, columns: Sequence[_Column]) -> tuple[str, ...]:
    cells = _cells(line)
    label = line[0].text if len(cells) < len(line) else ""
    if len(line) == 1 and not label:
        cells = line
    extra = max(0, len(cells) - len(columns))
    label = " ".join([label, *(cell.text for cell in cells[:extra])]).strip()
    row = [""] * len(columns)
    for cell, column in zip(cells[extra:], _assign(cells[extra:], columns), strict=True):
        row[column] = cell.text
    return (label, *row)


def _join_wrapped(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Join a label that was broken over two lines: the first line has no values, the second begins in lower case."""
    joined: list[tuple[str, ...]] = []
    for row in rows:
        above = joined[-1] if joined else None
        broken = above is not None and not any(above[1:]) and not above[0].endswith((":", "."))
        if above is not None and broken and row[0][:1].islower() and any(row[1:]):
            joined[-1] = (f"{above[0]} {row[0]}", *row[1:])
        else:
            joined.append(row)
    return joined


def _header_lines(
    lines: Sequence[Line], floor: int, body: int, columns: Sequence[_Column]
) -> tuple[int, list[int], list[str]]:
    """(first line of the table, its header lines from top to bottom, notes printed among them), reading upwards."""
    edge = columns[0].left
    top, found, notes, blanks = body, list[int](), list[str](), 0
    for at in range(body - 1, max(floor, body - 12) - 1, -1):
        line = lines[at]
        if not line:
            blanks += 1
            if blanks > (_MAX_BLANKS if not found else 0):
                break
            continue
        if is_note(_text(line)):
            # Between header and rows it belongs to the table, above the header it stays where it is printed.
            if not found and _header_above(lines, floor, at, columns):
                notes.append(_text(line))
                top, blanks = at, 0
                continue
            break
        if _is_header(line, columns):
            found.insert(0, at)
        elif found or len(line) > 1 or blanks or not _in_label_area(line[0], edge):
            break
        top, blanks = at, 0
        if len(found) == _MAX_HEADER_LINES:
            break
    if not found:
        top = next((at for at in range(top, body) if lines[at] and _text(lines[at]).endswith(":")), body)
    return top, found, notes


def _header_above(lines: Sequence[Line], floor: int, at: int, columns: Sequence[_Column]) -> bool:
    return at - 1 >= floor and bool(lines[at - 1]) and _is_header(lines[at - 1], columns)


def _is_header(line: Line, columns: Sequence[_Column]) -> bool:
    """True when the line's pieces stand over the value columns (a piece over the labels may come first)."""
    if _is_year_header(line):
        return True
    spacing = _spacing(columns)
    left, right = columns[0].left - spacing / 2, columns[-1].right + spacing / 2
    over = [s for s in line if left <= s.center <= right]
    if not over or len(line) - len(over) > 1 or (len(over) < len(line) and line[0] in over):
        return False
    if _is_data(line) and not all(is_year(s.text) for s in over):
        return False
    wide = max(s.right for s in over) - min(s.left for s in over)
    if len(over) == 1 and len(columns) > 1:
        return wide <= right - left and (over[0].right >= columns[0].left) and len(over[0].text) <= 80
    return len(over) <= len(columns) and all(len(s.text) <= _MAX_TEXT_CELL for s in over)


def _spacing(columns: Sequence[_Column]) -> float:
    gaps = [b.right - a.right for a, b in pairwise(columns)]
    return median(gaps) if gaps else (columns[0].right - columns[0].left) * 2


def _header(lines: Sequence[Line], columns: Sequence[_Column]) -> tuple[tuple[str, ...], list[str]]:
    """Header per column, its lines joined from top to bottom, and the words that stand over the labels."""
    names: list[list[str]] = [[] for _ in columns]
    label_words: list[str] = []
    edge = columns[0].left - _spacing(columns) / 2
    for line in reversed(lines):
        over = [s for s in line if s.center >= edge or (s is not line[0] and len(line) > 1)]
        if len(line) == len(columns) > 1 and line[0].center >= edge - _spacing(columns) / 2:
            over = list(line)
        label_words[:0] = [s.text for s in line if s not in over]
        for column, text in _over_columns(over, columns, all(names)):
            names[column].insert(0, text)
    return tuple(" ".join(parts) for parts in names), label_words


def _over_columns(over: Sequence[Segment], columns: Sequence[_Column], spanning: bool) -> list[tuple[int, str]]:
    if len(over) == len(columns):
        return [(c, s.text) for c, s in enumerate(over)]
    if len(over) == 1 and len(columns) > 1 and over[0].right - over[0].left > _spacing(columns):
        spanning = True
    if not spanning:
        return [(c, s.text) for s, c in zip(over, _assign(tuple(over), columns), strict=True)]
    reach = _spacing(columns) * max(1.0, len(columns) / max(len(over), 1)) * 0.75
    pairs = []
    for c, column in enumerate(columns):
        nearest = min(over, key=lambda s: abs(s.center - column.center)) if over else None
        if nearest is not None and (len(over) == 1 or abs(nearest.center - column.center) <= reach):
            pairs.append((c, nearest.text))
    return pairs
