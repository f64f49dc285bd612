"""Tables whose cells are closed by drawn lines. The lines alone make the grid, whatever text stands
in it.

A *region* is an area that lines close: one place of the grid, or several places without lines
between them. Vertical lines that close no cells are *walls*: no piece of a text line crosses them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sliders.documents.pdf.annotations import Note
from sliders.documents.pdf.characters import Char
from sliders.documents.pdf.ruling_lines import Stroke, Strokes
from sliders.documents.pdf.word_ends import WordEnds
from sliders.documents.pdf.words import PrintedLine, Wall, joined_text, printed_lines
from sliders.documents.spanned_tables import Spanned
from sliders.documents.table_grid.segments import Segment
from sliders.values.printed import is_value

_ENDS = WordEnds(())
"""The ends of lines inside a cell: only the author of a table breaks its words."""
_SAME_LINE = 2.0
_SAME_PLACE = 4.0
_MOST_STROKES = 4_000
_COVERED = 0.8
_SLACK = 0.7
_FEW_BANDS = 3
_MOST_LINES = 40
_SAME_COLUMNS = 2.0


@dataclass(frozen=True, slots=True)
class DrawnGrid:
    """A grid of drawn lines: the positions of its vertical lines from left to right (`xs`) and of
    its horizontal lines from top to bottom (`ys`), in points, and the number of the region at each
    row and column.

    `open_sides` says whether the closing line is missing at the left, and at the right.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    regions: tuple[tuple[int, ...], ...]
    open_sides: tuple[bool, bool] = (False, False)

    def at(self, x: float, y: float) -> int | None:
        """The region at a point, None outside the grid."""
        column = bisect_right(self.xs, x) - 1
        row = bisect_right(self.ys, -y, key=lambda height: -height) - 1
        inside = 0 <= column < len(self.xs) - 1 and 0 <= row < len(self.ys) - 1
        return self.regions[row][column] if inside else None


@dataclass(frozen=True, slots=True)
class DrawnTable(PrintedLine):
    """A table among the lines of a page: a line without text that stands at the table's place.

    `rows` are its cells, one for each column; `edges` the positions of the lines between its
    columns, in points; `pages` the pages on which it goes on, each with the number of its rows
    there.
    """

    rows: Sequence[Sequence[Spanned]] = ()
    edges: tuple[float, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()

    @property
    def words(self) -> str:
        """The text of all cells."""
        cells = dict.fromkeys(cell for row in self.rows for cell in row)
        return " ".join(cell.text for cell in cells)

    def goes_on_in(self, other: DrawnTable) -> bool:
        """True when the other table has the same columns."""
        return len(self.edges) == len(other.edges) and all(
            abs(a - b) <= _SAME_COLUMNS for a, b in zip(self.edges, other.edges, strict=True)
        )


def drawn_grids(strokes: Strokes) -> tuple[list[DrawnGrid], list[Wall]]:
    """Returns (grids, walls) of a page: the grids that its lines close, and its vertical lines that
    close no cells.
    """
    if max(len(strokes.across), len(strokes.down)) > _MOST_STROKES or not strokes.down:
        return [], []
    across, down = _merged(strokes.across), _merged(strokes.down)
    grids, walls = [], list[Wall]()
    for rows, columns in _crossing(across, down):
        if len(rows) < 2 or not columns:
            continue
        ys = _places(rows)[::-1]
        xs = [*_open_side(rows, columns, 0), *_places(columns), *_open_side(rows, columns, 1)]
        if len(xs) < 3 or len(ys) < 2:
            continue
        regions = _regions(xs, ys, rows, columns) if len(ys) > 2 else None
        if regions is None:
            walls.extend((max(low, ys[-1]), min(high, ys[0]), x) for low, high, x in columns)
        else:
            open_sides = xs[0] < columns[0][2] - _SAME_PLACE, xs[-1] > columns[-1][2] + _SAME_PLACE
            grids.append(DrawnGrid(tuple(xs), tuple(ys), regions, open_sides))
    return grids, walls


def _merged(strokes: Sequence[Stroke]) -> list[Stroke]:
    """Strokes that lie on one line and touch, as one."""
    merged: list[Stroke] = []
    group: list[Stroke] = []
    for stroke in sorted(strokes, key=lambda s: s[2]):
        if group and stroke[2] - group[0][2] > _SAME_LINE:
            merged.extend(_runs(group))
            group = []
        group.append(stroke)
    return [*merged, *(_runs(group) if group else ())]


def _runs(group: Sequence[Stroke]) -> Iterator[Stroke]:
    place = sum(stroke[2] for stroke in group) / len(group)
    start, end, _ = min(group)
    for low, high, _ in sorted(group):
        if low > end + _SAME_LINE:
            yield start, end, place
            start, end = low, high
        end = max(end, high)
    yield start, end, place


def _crossing(
    across: Sequence[Stroke], down: Sequence[Stroke]
) -> Iterator[tuple[list[Stroke], list[Stroke]]]:
    """Groups of lines that meet each other."""
    home = list(range(len(across) + len(down)))
    for n, (left, right, y) in enumerate(across):
        for m, (low, high, x) in enumerate(down, len(across)):
            if (
                left - _SAME_LINE <= x <= right + _SAME_LINE
                and low - _SAME_LINE <= y <= high + _SAME_LINE
            ):
                home[_root(home, n)] = _root(home, m)
    groups: dict[int, tuple[list[Stroke], list[Stroke]]] = {}
    for n, stroke in enumerate((*across, *down)):
        groups.setdefault(_root(home, n), ([], []))[n >= len(across)].append(stroke)
    yield from groups.values()


def _root(home: list[int], n: int) -> int:
    while home[n] != n:
        home[n] = home[home[n]]
        n = home[n]
    return n


def _places(strokes: Sequence[Stroke]) -> list[float]:
    """Where lines stand, in order."""
    places: list[float] = []
    for _, _, place in sorted(strokes, key=lambda s: s[2]):
        if not places or place - places[-1] > _SAME_PLACE:
            places.append(place)
    return places


def _open_side(rows: Sequence[Stroke], columns: Sequence[Stroke], end: int) -> list[float]:
    """The left (0) or right (1) end of all horizontal lines, when they reach beyond the outermost
    vertical line.
    """
    outermost = (min, max)[end]
    edge = outermost(row[end] for row in rows)
    beyond = abs(edge - outermost(column[2] for column in columns)) > _SAME_PLACE
    same = all(abs(row[end] - edge) <= _SAME_PLACE for row in rows)
    return [edge] if beyond and same else []


def _regions(
    xs: Sequence[float], ys: Sequence[float], rows: Sequence[Stroke], columns: Sequence[Stroke]
) -> tuple[tuple[int, ...], ...] | None:
    """The number of the region at each place; None when a region is no rectangle, or a line around
    the grid is missing.
    """
    around = _is_drawn(rows, ys[0], xs[0], xs[-1]) and _is_drawn(rows, ys[-1], xs[0], xs[-1])
    if not around:
        return None
    width = len(xs) - 1
    home = list(range(width * (len(ys) - 1)))
    for r, (top, bottom) in enumerate(pairwise(ys)):
        for c, (left, right) in enumerate(pairwise(xs)):
            at = r * width + c
            if c and not _is_drawn(columns, left, bottom, top):
                home[_root(home, at)] = _root(home, at - 1)
            if r and not _is_drawn(rows, top, left, right):
                home[_root(home, at)] = _root(home, at - width)
    numbers = [_root(home, n) for n in range(len(home))]
    places: dict[int, list[tuple[int, int]]] = {}
    for n, number in enumerate(numbers):
        places.setdefault(number, []).append(divmod(n, width))
    for held in places.values():
        if len(held) != (held[-1][0] - held[0][0] + 1) * len({c for _, c in held}):
            return None
    return tuple(tuple(numbers[n : n + width]) for n in range(0, len(numbers), width))


def _is_drawn(strokes: Sequence[Stroke], place: float, low: float, high: float) -> bool:
    """True when a line at a place covers the stretch between two ends."""
    return any(
        abs(stroke[2] - place) <= _SAME_PLACE
        and min(stroke[1], high) - max(stroke[0], low) >= _COVERED * (high - low)
        for stroke in strokes
    )


def drawn_table(
    text_page: Any, grid: DrawnGrid, chars: Sequence[Char], notes: Sequence[Note]
) -> DrawnTable | None:
    """Returns the table of a grid with the characters and notes inside it; None when the lines
    close no cells, because each region holds many rows, or hardly any text.
    """
    held: dict[int, list[Char]] = {}
    for word in _words(chars):
        for region, char in zip(_homes(grid, word), word, strict=True):
            held.setdefault(region, []).append(char)
    lines = {region: printed_lines(text_page, inside) for region, inside in held.items()}
    cells = {
        region: Spanned(
            " ".join(joined_text(inside, _ENDS).split()), marked=all(line.bold for line in inside)
        )
        for region, inside in lines.items()
    }
    for note in notes:
        at = grid.at(*note.middle)
        if at is not None:
            known = cells[at].text if at in cells else ""
            cells[at] = Spanned(f"{known} {note.text}".strip())
    if all(cell.marked for cell in cells.values()):
        cells = {region: Spanned(cell.text) for region, cell in cells.items()}
    filled = [row for row in grid.regions if any(n in cells for n in row)]
    full = sum(len({n for n in row if n in cells}) > 1 for row in filled)
    if full < 2 or _holds_rows(filled, lines):
        return None
    blank: dict[int, Spanned] = {}
    rows: list[Sequence[Spanned]] = []
    for number, row in enumerate(filled):
        own = all(row != other for other in filled if other is not row)
        parts = _rows_inside(row, lines) if number and own and len(filled) <= _FEW_BANDS else []
        rows += parts or [[cells.get(n) or blank.setdefault(n, Spanned()) for n in row]]
    place = Segment("", grid.xs[0], grid.xs[-1], (), grid.ys[-1])
    return DrawnTable((place,), grid.ys[0], grid.ys[-1], rows=rows, edges=grid.xs)


def has_labels_outside(grid: DrawnGrid, chars: Sequence[Char]) -> bool:
    """True when words stand at the left of most rows of a grid whose left side is open."""
    if not grid.open_sides[0]:
        return False
    heights = [char.middle[1] for char in chars if char.right <= grid.xs[0] + 1]
    rows = [any(low < y < high for y in heights) for high, low in pairwise(grid.ys)]
    return 2 * sum(rows) >= len(rows)


def _words(chars: Sequence[Char]) -> Iterator[list[Char]]:
    """Characters that follow each other without a blank."""
    word: list[Char] = []
    for char in chars:
        if word:
            last = word[-1]
            near = -1 < char.left - last.right < 0.2 * (char.top - char.bottom)
            if char.spaced or char.turn or char.bottom != last.bottom or not near:
                yield word
                word = []
        word.append(char)
    if word:
        yield word


def _homes(grid: DrawnGrid, word: Sequence[Char]) -> list[int]:
    """The region of each character of a word: one region, unless a line stands between two of its
    characters.
    """
    own = [grid.at(*char.middle) for char in word]
    middle = own[len(own) // 2]
    parted = any(
        one != other and any(left.right - _SLACK <= x <= right.left + _SLACK for x in grid.xs)
        for one, other, left, right in zip(own, own[1:], word, word[1:], strict=False)
    )
    at = middle if middle is not None else next(n for n in own if n is not None)
    return [n if parted and n is not None else at for n in own]


def _rows_inside(row: Sequence[int], lines: dict[int, list[PrintedLine]]) -> list[list[Spanned]]:
    """The rows of text inside one row of the grid, when each of its places has equally many lines
    at the same heights; none when it is one row.
    """
    feet = [[round(line.bottom / _SAME_LINE) for line in lines.get(n, ())] for n in row]
    count = len(feet[0])
    if count < 2 or len(row) + count < 5 or any(other != feet[0] for other in feet):
        return []
    return [[Spanned(" ".join(lines[n][at].text.split())) for n in row] for at in range(count)]


def _holds_rows(rows: Sequence[Sequence[int]], lines: dict[int, list[PrintedLine]]) -> bool:
    """True when one row of the grid holds several rows of a table: values one below the other, and
    labels beside them.
    """
    if any(len(inside) > _MOST_LINES for inside in lines.values()):
        return True
    low = 3 if len(rows) > _FEW_BANDS else 2
    for row in rows:
        held = [lines[n] for n in dict.fromkeys(row) if n in lines]
        values = any(
            len(inside) >= low and all(is_value(line.text) for line in inside) for inside in held
        )
        if values and len(held) > 1 and min(map(len, held)) >= low:
            return True
    return False
