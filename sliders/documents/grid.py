"""Rows and columns out of positioned pieces of text, for pages (points) and for aligned plain text (characters).

A line is a tuple of segments from left to right; a blank line is the empty tuple. Positions have any unit. Columns come
from the right edges of the rows that fill all of them; a row with as many values as there are columns is read in order,
because printed text drifts, a row with fewer goes to the nearest columns in order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from statistics import median

from sliders.documents.tables import Table
from sliders.documents.values import closes_value, is_note, is_period, is_value, is_year, opens_value, tidy_value

_MAX_BLANKS = 2
_MAX_SECTIONS = 3
_MAX_HEADER_LINES = 6
_MAX_BETWEEN = 4
_MAX_TEXT_CELL = 48
_OPEN_END = re.compile(r"(?:[,/–—]|\b(?:and|or|of|to|for|in|on|the|a|an|with|from|by|at|as|including|net))$", re.IGNORECASE)
_LEADERS = re.compile(r"(.*?\S)?\s*(?:\.\s?){4,}(.*)")


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
    columns: tuple[_Column, ...] = ()
    floor = 0
    at = 0
    while at < len(lines):
        if not _is_data(lines[at]):
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


def _take_apart(segment: Segment) -> list[Segment]:
    leaders = _LEADERS.fullmatch(segment.text) if "..." in segment.text or ". . ." in segment.text else None
    if leaders:
        # Dots lead the eye from a label to its value; they are neither.
        label, value = (leaders[1] or "").rstrip(" ."), leaders[2].strip(" .")
        step = (segment.right - segment.left) / len(segment.text)
        pieces = [Segment(label, segment.left, segment.left + len(label) * step)] if label else []
        return [*pieces, *_take_apart(Segment(value, segment.right - len(value) * step, segment.right))] if value else pieces
    if segment.text[-1:] in "$€£" and len(segment.text) > 4 and segment.text[-2:-1].isalpha():
        cut = segment.right - (segment.right - segment.left) / len(segment.text)
        return [Segment(segment.text[:-1], segment.left, cut), Segment(segment.text[-1], cut, segment.right)]
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
        elif _is_section(lines, at, edge):
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


def _is_section(lines: Sequence[Line], at: int, edge: float) -> bool:
    """True for a line of one piece over the labels: a section's name, or the first part of a long label."""
    line = lines[at]
    if len(line) != 1 or is_value(line[0].text):
        return False
    before_row = at + 1 < len(lines) and _is_data(lines[at + 1]) and line[0].left < edge and not _ends(line[0].text)
    return before_row or _in_label_area(line[0], edge) or _wraps(lines, at, edge)


def _ends(text: str) -> bool:
    return text.endswith((".", ";", "!", "?"))


def _wraps(lines: Sequence[Line], at: int, edge: float) -> bool:
    """True when line `at` is the first part of a label that goes on in the line below."""
    if at + 1 >= len(lines) or not lines[at + 1] or len(lines[at]) != 1 or lines[at][0].left >= edge:
        return False
    above, below = lines[at][0].text, lines[at + 1][0].text
    if above.endswith((".", ":")) or is_value(below) or not (len(lines[at + 1]) == 1 or _is_data(lines[at + 1])):
        return False
    return below[:1].islower() or _goes_on(above)


def _goes_on(text: str) -> bool:
    return _OPEN_END.search(text) is not None


def _continues(
    lines: Sequence[Line], above: Region, region: Region, columns_above: Sequence[_Column], columns: Sequence[_Column]
) -> bool:
    """True when a table without header stands under the columns of the one above it: it is its continuation."""
    between = [line for line in lines[above.last + 1 : region.first] if line]
    if any(region.table.header) or len(columns) != len(columns_above) or len(between) > _MAX_BETWEEN:
        return False
    tolerance = _spacing(columns) / 2
    return all(abs(a.right - b.right) <= tolerance for a, b in zip(columns_above, columns, strict=True))


def _region(
    lines: Sequence[Line], floor: int, first: int, last: int
) -> tuple[Region, tuple[_Column, ...]] | None:
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
    return Region(top, last, Table((label, *header), tuple(rows), note=note)), columns


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
        if above is not None and broken and row[0] and (row[0][:1].islower() or _goes_on(above[0])):
            joined[-1] = (f"{above[0]} {row[0]}", *row[1:])
        else:
            joined.append(row)
    return joined


def _header_lines(
    lines: Sequence[Line], floor: int, body: int, columns: Sequence[_Column]
) -> tuple[int, list[int], list[str]]:
    """(first line of the table, its header lines from top to bottom, notes printed among them), reading upwards."""
    edge = columns[0].left
    top, found, notes, sections, blanks = body, list[int](), list[str](), list[int](), 0
    for at in range(body - 1, max(floor, body - 12) - 1, -1):
        line = lines[at]
        if not line:
            blanks += 1
            if blanks > (1 if found else _MAX_BLANKS):
                break
            continue
        if found and blanks and len(line) != len(columns):
            break
        if len(line) == 1 and is_note(line[0].text):
            # Between header and rows it belongs to the table, above the header it stays where it is printed.
            if not found and _header_above(lines, floor, at, columns):
                notes.append(_text(line))
                top, blanks = at, 0
                continue
            break
        if _is_header(line, columns):
            found.insert(0, at)
        elif found or not _is_section(lines, at, edge) or len(sections) == _MAX_SECTIONS:
            break
        else:
            sections.insert(0, at)
        top, blanks = at, 0
        if len(found) == _MAX_HEADER_LINES:
            break
    return (top if found else _first_section(lines, sections, body)), found, notes


def _first_section(lines: Sequence[Line], sections: Sequence[int], body: int) -> int:
    """Without a header, only what stands directly above the rows and announces them is part of the table."""
    top = body
    while top - 1 in sections:
        top -= 1
    return next((at for at in range(top, body) if _text(lines[at]).endswith(":") or _wraps(lines, at, inf)), body)


def _header_above(lines: Sequence[Line], floor: int, at: int, columns: Sequence[_Column]) -> bool:
    return at - 1 >= floor and bool(lines[at - 1]) and _is_header(lines[at - 1], columns)


def _is_header(line: Line, columns: Sequence[_Column]) -> bool:
    """True when the line's pieces stand over the value columns (a piece over the labels may come first)."""
    if _is_year_header(line):
        return True
    spacing = _spacing(columns)
    # Over drifting text the words of a period stand further left than the values below them.
    reach = spacing * 1.5 if len(line) == 1 and is_period(line[0].text) else spacing / 2
    left, right = columns[0].left - reach, columns[-1].right + spacing / 2
    over = [s for s in line if left <= s.center <= right]
    if not over or len(line) - len(over) > 1 or (len(over) < len(line) and line[0] in over):
        return False
    if _is_data(line) and not all(is_year(s.text) for s in over):
        return False
    wide = max(s.right for s in over) - min(s.left for s in over)
    if len(over) == 1 and len(columns) > 1:
        return wide <= right - left and over[0].right >= columns[0].left - reach and len(over[0].text) <= 80
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
        if len(line) == 1 and is_period(line[0].text) and _is_header(line, columns) and line[0].right >= columns[0].left:
            over = list(line)
        if len(line) == len(columns) and all(is_year(s.text) for s in line):
            over = list(line)
        elif len(line) == len(columns) > 1 and line[0].center >= edge - _spacing(columns) / 2:
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
