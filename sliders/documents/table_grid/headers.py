"""The header of a printed table: which lines above the rows belong to it, and which words stand
over each column, found by their position on the page.

A *piece* is a stretch of a line between wide spaces (a `Segment`). *Labels* are the words of a
table's first column, *value columns* are the columns beside it. A *stroke* is a drawn horizontal
line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.documents.table_grid.columns import GridColumn, spacing_of
from sliders.documents.table_grid.lines import (
    MAX_TEXT_CELL,
    is_data,
    is_noted,
    is_section,
    is_year_header,
    text_of,
)
from sliders.documents.table_grid.segments import Break, Line, Segment, char_width, split_breaks
from sliders.documents.tables import LEVEL
from sliders.values.notes import is_note
from sliders.values.printed import is_value, is_year

_MAX_BLANKS = 2
_MAX_SECTIONS = 3
_LONGEST = 90

Rules = Sequence[tuple[float, float]]
"""The horizontal strokes directly below a line, each with its left and right end."""


@dataclass(frozen=True, slots=True)
class GridFrame:
    """The position of a table on its page.

    Args:
        columns: the value columns.
        label_left: where the labels begin.
        rules: the strokes below each line of the page.
        feet: the strokes below the header's last line.
        lefts: where the pieces of the header's last line begin.
        years: the header lines that print years.
    """

    columns: tuple[GridColumn, ...]
    label_left: float
    rules: Sequence[Rules]
    feet: Rules = ()
    lefts: tuple[float, ...] = ()
    years: Sequence[Line] = ()

    @property
    def edge(self) -> float:
        """The left edge of the value columns: a piece whose centre is right of it stands over the
        columns.
        """
        first = min(
            [
                self.columns[0].left,
                *(line[0].left for line in self.years if len(line) == len(self.columns)),
            ]
        )
        return first - spacing_of(self.columns) / 2


@dataclass(frozen=True, slots=True)
class _Placed:
    """Words of the header that stand over the columns `first` to `last`."""

    text: str
    first: int
    last: int


def find_header(
    lines: Sequence[Line], floor: int, body: int, frame: GridFrame
) -> tuple[int, list[int], list[str]]:
    """Returns the first line of a table, its header lines from top to bottom, and the notes printed
    among them. The search goes upwards from `body`, the first line of the rows, at most to line
    `floor`.
    """
    top, found, notes, sections, blanks = body, list[int](), list[str](), list[int](), 0
    for at in range(body - 1, max(floor, body - 16) - 1, -1):
        line = lines[at]
        if not line:
            blanks += 1
            if blanks > (1 if found else _MAX_BLANKS):
                break
            continue
        if len(line) == 1 and is_note(line[0].text):
            # A note between header and rows belongs to the table; a note above the header stays
            # where it is printed.
            if not _header_above(lines, at, floor, frame, found):
                break
            notes.append(text_of(line))
        elif _is_header(lines, at, frame, found):
            if found and blanks and not _reaches_over_blanks(lines, at, frame, found):
                break
            found.insert(0, at)
        elif found and _goes_on(lines, at, frame):
            found.insert(0, at)
        elif found or len(sections) == _MAX_SECTIONS:
            break
        elif is_section(lines, at, frame.columns[0].left):
            sections.insert(0, at)
        else:
            break
        top, blanks = at, 0
    first = top if found else _first_section(lines, sections, body)
    return first, _without_rows(lines, found, frame), notes


def _header_above(
    lines: Sequence[Line], at: int, floor: int, frame: GridFrame, below: Sequence[int]
) -> bool:
    """Says whether one of the two lines above is a header line."""
    above = (n for n in range(max(floor, at - 2), at) if lines[n])
    return any(_is_header(lines, n, frame, below) for n in above if not below or len(lines[n]) > 1)


def _reaches_over_blanks(
    lines: Sequence[Line], at: int, frame: GridFrame, below: Sequence[int]
) -> bool:
    """Says whether a header line belongs to the header lines below it although blank lines stand
    between them.
    """
    over_years = len(lines[at]) == 1 and is_year_header(lines[below[0]])
    return over_years or bool(frame.rules[at]) or len(lines[at]) == len(frame.columns)


def _without_rows(lines: Sequence[Line], found: Sequence[int], frame: GridFrame) -> list[int]:
    """Returns the header lines without rows that consist of words. Once a line names the labels and
    all columns, the next such line is a row.
    """
    full = [
        n
        for n in found
        if (pieces := _divide(lines[n], frame))[0] and len(pieces[1]) == len(frame.columns)
    ]
    if not full or full[0] != found[0] or frame.rules[found[-1]]:
        return list(found)
    return [n for n in found if n not in full[1:]]


def _first_section(lines: Sequence[Line], sections: Sequence[int], body: int) -> int:
    """Returns the first line of a table without a header: the line directly above the rows that
    ends with ":", else the first row.
    """
    top = body
    while top - 1 in sections:
        top -= 1
    return next((at for at in range(top, body) if text_of(lines[at]).endswith(":")), body)


def _is_header(lines: Sequence[Line], at: int, frame: GridFrame, below: Sequence[int]) -> bool:
    """True when the pieces of a line stand over the value columns; a first piece may stand over the
    labels.
    """
    line, columns = lines[at], frame.columns
    if is_year_header(line, named=True) or (is_noted(line) and not below):
        return True
    stub, over = _divide(line, frame)
    if not over or (
        is_data(line) and any(is_value(piece.text) and not is_year(piece.text) for piece in over)
    ):
        return False
    if len(line) > len(columns) + 1 or any(len(piece.text) > _LONGEST for piece in over):
        return False
    if any(piece.right > columns[0].left and piece.left < frame.edge for piece in stub):
        return False
    if len(over) > 1 or (len(columns) == 1 and not stub):
        return len(over) <= len(columns) and all(len(p.text) <= MAX_TEXT_CELL for p in over)
    piece, spacing = over[0], spacing_of(columns)
    years = any(is_year_header(lines[n]) for n in below)
    reach = spacing * (1.5 if years else 0.5)
    return piece.left >= columns[0].left - reach and piece.right <= columns[-1].right + reach


def _goes_on(lines: Sequence[Line], at: int, frame: GridFrame) -> bool:
    """True when the words of a line stand over the labels, and so near above the header that they
    belong to the same cell.
    """
    (piece, *others), below = lines[at], lines[at + 1]
    margin = (
        frame.label_left - char_width(piece) <= piece.left <= frame.label_left + char_width(piece)
    )
    near = bool(below) and 0 < piece.base - below[0].base < 2.9 * char_width(piece)
    return (
        near
        and margin
        and not others
        and piece.right < frame.columns[0].left
        and not frame.rules[at]
    )


def _divide(line: Line, frame: GridFrame) -> tuple[list[Segment], list[Segment]]:
    """Returns the pieces over the labels and the pieces over the value columns. A piece over
    several columns is cut at wide spaces.
    """
    columns = frame.columns
    if len(line) == len(columns) > 1 and line[0].left > frame.label_left + spacing_of(columns):
        return [], list(line)
    stub: list[Segment] = []
    over: list[Segment] = []
    for number, whole in enumerate(line):
        for piece in _cut(whole, frame):
            at_margin = piece.left < frame.label_left + 2 * char_width(piece)
            under = number == 0 and (
                piece.center < frame.edge or (at_margin and piece.right < columns[0].right)
            )
            (stub if under and not over else over).append(piece)
    return stub, over


def _cut(segment: Segment, frame: GridFrame) -> list[Segment]:
    """Returns a piece in parts: cut at wide spaces that lie between the middles of two columns, or
    between two strokes.
    """
    kept: list[Break] = []
    start = segment.left
    long = len(segment.text) > MAX_TEXT_CELL
    for gap in segment.breaks:
        apart = sum(column.center < gap[0] for column in frame.columns) != sum(
            c.center < start for c in frame.columns
        )
        if (gap[3] or (long and _meet(gap, frame))) and (apart or gap[1] < frame.columns[0].center):
            kept.append(gap)
            start = gap[1]
    return split_breaks(replace(segment, breaks=tuple(kept))) if kept else [segment]


def _meet(gap: Break, frame: GridFrame) -> bool:
    """True when one stroke ends in the gap and another begins there, or when words of the last line
    begin where the gap ends.
    """
    slack = (gap[1] - gap[0]) / 2
    ends = any(gap[0] - slack <= right <= gap[1] + slack for _, right in frame.feet)
    begins = any(gap[0] - slack <= left <= gap[1] + slack for left, _ in frame.feet)
    return (ends and begins) or any(abs(gap[1] - left) < slack / 2 for left in frame.lefts)


def _holds(rule: tuple[float, float], piece: Segment) -> bool:
    """Says whether a stroke covers a piece from end to end."""
    slack = char_width(piece)
    return rule[0] - slack <= piece.left and piece.right <= rule[1] + slack


def name_columns(
    lines: Sequence[Line], at: Sequence[int], frame: GridFrame
) -> tuple[tuple[str, ...], list[str]]:
    """Returns the words over each column from top to bottom, and the words over the labels.

    Words that stand over several columns are given to each of these, before a " / ".

    Args:
        lines: the lines of the page.
        at: the numbers of the header lines.
        frame: the position of the table.
    """
    divided = [_divide(lines[n], frame) for n in at]
    levels: list[list[_Placed]] = []
    extents = list(frame.columns)
    for number in range(len(at) - 1, -1, -1):
        over = divided[number][1]
        rules = [frame.rules[n] for n in at[number:]]
        placed = [
            _under_rule(piece, over, rules, frame) or span
            for piece, span in zip(over, _by_place(over, extents, levels), strict=True)
        ]
        for piece, (first, last) in zip(over, placed, strict=True):
            if first == last:
                left, right = extents[first].left, extents[first].right
                extents[first] = GridColumn(min(left, piece.left), max(right, piece.right))
        levels.insert(0, [_Placed(p.text, a, b) for p, (a, b) in zip(over, placed, strict=True)])
    names = tuple(_path(levels, c) for c in range(len(frame.columns)))
    return names, [piece.text for stub, _ in divided for piece in stub]


def _path(levels: Sequence[Sequence[_Placed]], column: int) -> str:
    """Returns the words over one column. Words over the same columns are joined to one name; words
    over more columns stand before it.
    """
    names: list[_Placed] = []
    for level in levels:
        for words in level:
            if not words.first <= column <= words.last:
                continue
            same = next(
                (n for n, p in enumerate(names) if (p.first, p.last) == (words.first, words.last)),
                None,
            )
            if same is None:
                names.append(words)
            else:
                names[same] = replace(words, text=_joined(names[same].text, words.text))
    names.sort(key=lambda name: name.first - name.last)
    return LEVEL.join(name.text for name in names)


def _joined(above: str, below: str) -> str:
    return f"{above[:-1]}-{below}" if above.endswith("\x02") else f"{above} {below}"


def _under_rule(
    piece: Segment, over: Sequence[Segment], rules: Sequence[Rules], frame: GridFrame
) -> tuple[int, int] | None:
    """Returns the first and last column under the stroke that underlines a piece: the widest stroke
    that underlines this piece alone. None when there is no such stroke.
    """
    if len(over) == 1 and (drawn := _columns_above(rules[0], frame)) and drawn[1] > drawn[0]:
        edges = [s for s in rules[0] if s[0] > frame.label_left + char_width(piece)]
        if edges and abs(
            (min(edges)[0] + max(s[1] for s in edges)) / 2 - piece.center
        ) < char_width(piece):
            return drawn  # the cell's lower edge is drawn column by column
    for depth, strokes in enumerate(rules):
        # The widest first.
        fitting = sorted((s for s in strokes if _holds(s, piece)), key=lambda s: s[0] - s[1])
        for left, right in fitting:
            inside = [c for c, column in enumerate(frame.columns) if left <= column.center <= right]
            if not inside or left < frame.label_left + char_width(piece):
                continue
            if len(inside) == 1 and not depth and _bare(strokes, over, frame):
                return None
            if depth and depth == len(rules) - 1 and len(inside) == len(frame.columns) > 1:
                continue  # it closes the header, and underlines none of its words
            if not any(left < other.center < right for other in over if other is not piece):
                return inside[0], inside[-1]
    return None


def _bare(strokes: Rules, over: Sequence[Segment], frame: GridFrame) -> bool:
    """True when a stroke that spans a single column has no words above it in the header line. The
    strokes then do not say to which columns the line's words belong.
    """
    single = [
        s for s in strokes if sum(s[0] <= column.center <= s[1] for column in frame.columns) == 1
    ]
    return any(not any(left < piece.center < right for piece in over) for left, right in single)


def _columns_above(strokes: Rules, frame: GridFrame) -> tuple[int, int] | None:
    """Returns the first and the last column with a stroke below it; None when there is no such
    column.
    """
    drawn = [
        c
        for c, col in enumerate(frame.columns)
        if any(left <= col.center <= right for left, right in strokes)
    ]
    return (drawn[0], drawn[-1]) if drawn else None


def _by_place(
    over: Sequence[Segment], columns: Sequence[GridColumn], lower: Sequence[Sequence[_Placed]]
) -> list[tuple[int, int]]:
    """Returns the columns (first, last) that each piece stands over: the columns that it overlaps,
    and the columns around them whose middle it marks.
    """
    count, spacing = len(columns), spacing_of(columns)
    if len(over) == count:
        return [(c, c) for c in range(count)]
    homes = [_overlapped(piece, columns) for piece in over]
    if len(over) > count:
        return homes
    named = {words.first for level in lower for words in level if words.first == words.last}
    if not named and (grouped := _groups(over, columns)):
        return grouped
    years = any(level and all(is_year(words.text) for words in level) for level in lower)
    if years and len(over) == 1:
        return [(0, count - 1)]
    spans: list[tuple[int, int]] = []
    for n, piece in enumerate(over):
        low, limit = spans[-1][1] + 1 if spans else 0, count - len(over) + n
        first = min(max(homes[n][0], low), limit)
        last = max(first, min(homes[n][1], limit))
        high = max(last, min(limit, homes[n + 1][0] - 1 if n + 1 < len(over) else limit))
        best = (first, last)
        wide = sum(piece.left < column.center < piece.right for column in columns) > 1
        if years or wide or is_year(piece.text):
            options = [(a, b) for a in range(low, first + 1) for b in range(last, high + 1)]
            missed = {
                (a, b): abs((columns[a].left + columns[b].right) / 2 - piece.center) / spacing
                for a, b in options
            }
            near = [span for span in options if missed[span] <= min(missed.values()) + 0.3]
            best = max(near, key=lambda span: span[1] - span[0])
        spans.append(best)
    return spans


def _groups(over: Sequence[Segment], columns: Sequence[GridColumn]) -> list[tuple[int, int]]:
    """Returns equally many columns (first, last) for each piece, if every piece stands in the
    middle of its columns; [] otherwise.
    """
    size = len(columns) // max(len(over), 1)
    if size < 2 or size * len(over) != len(columns):
        return []
    spans = [(n * size, n * size + size - 1) for n in range(len(over))]
    for piece, (first, last) in zip(over, spans, strict=True):
        left, right = columns[first].left, columns[last].right
        if abs((left + right) / 2 - piece.center) > 0.3 * (right - left):
            return []
    return spans


def _overlapped(piece: Segment, columns: Sequence[GridColumn]) -> tuple[int, int]:
    """Returns the first and last column whose middle the piece covers; when it covers none, the
    nearest column.
    """
    inside = [c for c, column in enumerate(columns) if piece.left < column.center < piece.right]
    nearest = min(range(len(columns)), key=lambda c: abs(columns[c].center - piece.center))
    return (inside[0], inside[-1]) if inside else (nearest, nearest)
