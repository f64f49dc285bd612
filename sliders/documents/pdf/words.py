"""The printed pieces of a PDF page: characters joined to lines of segments."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2.raw as pdfium_c

from sliders.documents.pdf.characters import OBLIQUE, Char, turned_chars
from sliders.documents.pdf.word_ends import WordEnds
from sliders.documents.rewritten import raised
from sliders.documents.table_grid.segments import Break, Line, Segment

_CELL_GAP = 1.1
_BREAK_GAP = 0.42
_WORD_GAP = 0.18
_SPACED_GAP = 0.03
_SAME_PLACE = 0.1
_FEW, _EVEN, _MOSTLY = 5, 0.05, 0.6
_LINE_OVERLAP = 0.5
_TURNED_HEIGHT = 10.0


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line of a page: its segments from left to right, its top and bottom in points (the top is
    larger), and whether it is bold or invisible.
    """

    segments: Line
    top: float
    bottom: float
    bold: bool = False
    invisible: bool = False

    @property
    def text(self) -> str:
        return "  ".join(segment.text for segment in self.segments)

    @property
    def words(self) -> str:
        """The text of the line."""
        return self.text

    @property
    def height(self) -> float:
        return self.top - self.bottom


Wall = tuple[float, float, float]
"""A vertical stroke between two columns: lower end, upper end and place from the left."""


def printed_lines(
    text_page: Any, chars: Sequence[Char], walls: Sequence[Wall] = ()
) -> list[PrintedLine]:
    """Returns the lines of characters from top to bottom. Turned characters stand below the others,
    each direction as a person reading it sees it. `text_page` is the page's text in pypdfium2, None
    for a scan.
    """
    lines = [_line(text_page, row, walls) for row in _rows([c for c in chars if not c.turn])]
    for turn in sorted({char.turn for char in chars} - {0}):
        group = [char for char in chars if char.turn == turn]
        foot = lines[-1].bottom if lines else 0.0
        for number, text in enumerate(_turned_texts(text_page, group), 1):
            top = foot - 2 * number * _TURNED_HEIGHT
            piece = Segment(text, 0.0, 1.0, (), top - _TURNED_HEIGHT)
            lines.append(PrintedLine((piece,), top, top - _TURNED_HEIGHT))
    return lines


def _turned_texts(text_page: Any, group: Sequence[Char]) -> list[str]:
    """The lines of characters that are turned alike."""
    turn = group[0].turn
    if turn == OBLIQUE:
        return ["".join(f" {c.text}" if c.spaced else c.text for c in group)]
    lines = [_line(text_page, row, ()) for row in _rows(turned_chars(group, turn))]
    return [line.text for line in lines]


def joined_text(lines: Sequence[PrintedLine], ends: WordEnds) -> str:
    """The text of lines that follow each other, with the words put together that were broken at
    their ends.
    """
    text = ""
    for line in lines:
        text = ends.joined(text, line.text)
    return text.replace("\x02", "-")


def _rows(chars: Sequence[Char]) -> list[list[Char]]:
    """Characters clustered to rows by vertical overlap, from top to bottom, each
    row from left to right.
    """
    rows: list[list[Char]] = []
    bounds: list[tuple[float, float]] = []
    extent, home = (0.0, 0.0), 0
    for char in sorted(chars, key=lambda c: -(c.top + c.bottom)):
        if (char.bottom, char.top) != extent:
            extent = char.bottom, char.top
            home = _row_at(extent, bounds)
            if home == len(rows):
                rows.append([])
                bounds.append(extent)
        rows[home].append(char)
    rows = _with_raised(rows)
    for row in rows:
        row.sort(key=lambda c: c.left)
    return rows


def _row_at(extent: tuple[float, float], bounds: Sequence[tuple[float, float]]) -> int:
    """The number of the row in which a character of this bottom and top stands: one of the last
    three, or a new one.
    """
    low, high = extent
    middle, height = (low + high) / 2, high - low
    for r in range(len(bounds) - 1, max(len(bounds) - 4, -1), -1):
        bottom, top = bounds[r]
        inside = bottom <= middle <= top and min(top, high) - max(
            bottom, low
        ) > _LINE_OVERLAP * min(top - bottom, height)
        if inside and abs(middle - (top + bottom) / 2) < 0.45 * max(top - bottom, height):
            return r
    return len(bounds)


def _with_raised(rows: Sequence[list[Char]]) -> list[list[Char]]:
    """Rows with the small characters that are raised above a row's middle (footnote
    marks) put into that row.
    """
    kept: list[list[Char]] = []
    for number, row in enumerate(rows):
        height = max(c.top - c.bottom for c in row)
        home = next(
            (other for other in rows[number + 1 : number + 2] if _is_raised(row, height, other)),
            None,
        )
        if home is None:
            kept.append(row)
        else:
            home.extend(row)
    return kept


def _is_raised(row: Sequence[Char], height: float, below: Sequence[Char]) -> bool:
    top, bottom = max(c.top for c in below), min(c.bottom for c in below)
    if (
        height > 0.75 * (top - bottom)
        or len(row) > 20
        or top - min(c.bottom for c in row) < 0.6 * height
    ):
        return False
    return not any(
        a.left < b.right and b.left < a.right and a.bottom < b.top for a in row for b in below
    )


def _is_mark(char: Char, base: Char) -> bool:
    """True for a small character that is raised behind another one: a footnote mark, or a power."""
    height = base.top - base.bottom
    return (
        (char.text.isalnum() or char.text in "()")
        and base.text.isalnum()
        and char.top - char.bottom < 0.8 * height
        and char.bottom > base.bottom + 0.15 * height
    )


def _line(text_page: Any, row: Sequence[Char], walls: Sequence[Wall]) -> PrintedLine:
    height = median(c.top - c.bottom for c in row)
    base = min(c.bottom for c in row)
    places = [x for low, high, x in walls if low < base + height / 2 < high]
    segments: list[Segment] = []
    breaks: list[Break] = []
    buffer, left, right = row[0].text, row[0].left, row[0].right
    previous = base_char = row[0]
    plain, mark = "", ""
    letter_space = _letter_space(text_page, row, height)
    for char in row[1:]:
        gap = char.left - right - letter_space
        if char.text == previous.text and _is_twice(char, previous, height):
            continue
        if gap > _CELL_GAP * height or (
            gap > 1 and any(previous.right - 1 < x < char.left + 1 for x in places)
        ):
            segments.append(Segment(buffer, left, right, tuple(breaks), base))
            buffer, left, right = char.text, char.left, char.right
            breaks.clear()
        elif gap > (_SPACED_GAP if char.spaced and not letter_space else _WORD_GAP) * height:
            breaks.append((right, char.left, len(buffer), gap > _BREAK_GAP * height))
            buffer += " " + char.text
        elif char.bottom > base_char.bottom and _is_mark(char, base_char):
            mark = char.text if previous is base_char else mark + char.text
            plain = plain if previous is not base_char else buffer
            buffer = plain + raised(plain, mark)
            right, previous = max(char.right, right), char
            continue
        else:
            buffer += char.text
        previous = base_char = char
        if char.right > right:
            right = char.right
    segments.append(Segment(buffer, left, right, tuple(breaks), base))
    bold = text_page is not None and _is_bold(text_page, row)
    invisible = text_page is not None and _is_invisible(text_page, row)
    return PrintedLine(tuple(segments), max(c.top for c in row), base, bold, invisible)


def _is_twice(char: Char, previous: Char, height: float) -> bool:
    """True when a character is printed twice to look bold. The letters of a ligature stand in
    exactly the same place, and are not.
    """
    ligature = (
        char.number == previous.number + 1
        and (char.left, char.right) == (previous.left, previous.right)
        and char.text.isalpha()
    )
    return abs(char.left - previous.left) < _SAME_PLACE * height and not ligature


def _letter_space(text_page: Any, row: Sequence[Char], height: float) -> float:
    """The space between all letters of a row that is set wide; 0 for other rows."""
    if any(b.left - a.right <= _WORD_GAP * height for a, b in pairwise(row[: _FEW + 1])):
        return 0.0
    gaps = [b.left - a.right for a, b in pairwise(row)]
    usual = median(gaps) if len(gaps) >= _FEW else 0.0
    if not _WORD_GAP * height < usual < _CELL_GAP * height or text_page is None:
        return 0.0
    even = [b for b, gap in zip(row[1:], gaps, strict=True) if abs(gap - usual) < _EVEN * height]
    if (
        min(gaps) < usual - _EVEN * height
        or len(even) < _MOSTLY * len(gaps)
        or sum(char.text.isalpha() for char in row) * 2 < len(row)
        or any(
            char.spaced and not pdfium_c.FPDFText_IsGenerated(text_page, char.number - 1)
            for char in even
        )
    ):
        return 0.0
    return usual


def _is_invisible(text_page: Any, row: Sequence[Char]) -> bool:
    """True when the first, the middle or the last character of a row is not drawn."""
    for char in (row[0], row[len(row) // 2], row[-1]):
        drawn = pdfium_c.FPDFText_GetTextObject(text_page, char.number)
        mode = pdfium_c.FPDFTextObj_GetTextRenderMode(drawn) if drawn else None
        if mode == pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE:
            return True
    return False


def _is_bold(text_page: Any, row: Sequence[Char]) -> bool:
    """The font's name says Bold or Italic (sizes and weights are not reliable)."""
    names = (_font_name(text_page, char.number) for char in (row[0], row[len(row) // 2]))
    return all(
        "bold" in name or "italic" in name or "black" in name or "heavy" in name for name in names
    )


def _font_name(text_page: Any, index: int) -> str:
    buffer = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    size = pdfium_c.FPDFText_GetFontInfo(text_page, index, buffer, 128, ctypes.byref(flags))
    return buffer.value.decode("utf-8", "replace").lower() if 0 < size <= 128 else ""
