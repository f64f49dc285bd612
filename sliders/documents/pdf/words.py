"""The printed pieces of a PDF page: characters with their loose boxes, joined to lines of segments.

Loose boxes (the font's extent) keep digits together where tight boxes break a number apart.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import pypdfium2.raw as pdfium_c

from sliders.documents.table_grid.segments import Break, Line, Segment

_CELL_GAP = 1.1
_BREAK_GAP = 0.42
_WORD_GAP = 0.18
_SPACED_GAP = 0.03
_SAME_PLACE = 0.1
_LINE_OVERLAP = 0.5


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line of a page: segments from left to right, top and bottom in points (top is
    larger), and how it is set.
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
    def height(self) -> float:
        return self.top - self.bottom


@dataclass(frozen=True, slots=True)
class _Char:
    text: str
    left: float
    right: float
    bottom: float
    top: float
    index: int
    spaced: bool


def page_lines(page: Any) -> tuple[list[PrintedLine], int]:
    """The printed lines of a pypdfium2 page from top to bottom, none for a page without text; and
    how many letters and digits pdfium's own text of the page has.
    """
    text_page = page.get_textpage()
    try:
        chars = _chars(text_page.raw)
        letters = sum(map(str.isalnum, text_page.get_text_range())) if chars else 0
        return [_line(text_page.raw, row) for row in _rows(chars)], letters
    finally:
        text_page.close()


def _chars(text_page: Any) -> list[_Char]:
    box = pdfium_c.FS_RECTF()
    at = ctypes.byref(box)
    chars = []
    spaced = False
    for index in range(pdfium_c.FPDFText_CountChars(text_page)):
        code = pdfium_c.FPDFText_GetUnicode(text_page, index)
        if code in (0, 10, 13, 32, 0xA0, 0xFFFE, 0xFFFF) or not pdfium_c.FPDFText_GetLooseCharBox(
            text_page, index, at
        ):
            spaced = code in (32, 0xA0)
            continue
        if box.top > box.bottom and box.right > box.left:
            # A pdfium code point above the 16-bit range arrives as a surrogate half and is
            # not text on its own.
            text = chr(code) if not 0xD800 <= code <= 0xDFFF else "\ufffd"
            chars.append(_Char(text, box.left, box.right, box.bottom, box.top, index, spaced))
            spaced = False
    return chars


def _rows(chars: Sequence[_Char]) -> list[list[_Char]]:
    """Characters clustered to rows by vertical overlap, from top to bottom, each
    row from left to right.
    """
    rows: list[list[_Char]] = []
    bounds: list[tuple[float, float]] = []
    open_rows: list[int] = []
    for char in sorted(chars, key=lambda c: -(c.top + c.bottom)):
        middle = (char.top + char.bottom) / 2
        home = None
        for r in reversed(open_rows[-3:]):
            bottom, top = bounds[r]
            inside = bottom <= middle <= top and min(top, char.top) - max(
                bottom, char.bottom
            ) > _LINE_OVERLAP * min(top - bottom, char.top - char.bottom)
            if inside and abs(middle - (top + bottom) / 2) < 0.45 * max(
                top - bottom, char.top - char.bottom
            ):
                home = r
                break
        if home is None:
            open_rows.append(len(rows))
            rows.append([char])
            bounds.append((char.bottom, char.top))
        else:
            rows[home].append(char)
    rows = _with_raised(rows)
    for row in rows:
        row.sort(key=lambda c: c.left)
    return rows


def _with_raised(rows: Sequence[list[_Char]]) -> list[list[_Char]]:
    """Rows with the small characters that are raised above a row's middle (footnote
    marks) put into that row.
    """
    kept: list[list[_Char]] = []
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


def _is_raised(row: Sequence[_Char], height: float, below: Sequence[_Char]) -> bool:
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


def _is_mark(char: _Char, base: _Char) -> bool:
    """Whether a digit is raised behind a digit: a footnote's mark, or a power."""
    height = base.top - base.bottom
    return (
        char.text.isdigit()
        and base.text.isdigit()
        and char.top - char.bottom < 0.8 * height
        and char.bottom > base.bottom + 0.15 * height
    )


def _line(text_page: Any, row: Sequence[_Char]) -> PrintedLine:
    height = median(c.top - c.bottom for c in row)
    base = min(c.bottom for c in row)
    segments: list[Segment] = []
    breaks: list[Break] = []
    buffer, left, right = row[0].text, row[0].left, row[0].right
    previous = base_char = row[0]
    for char in row[1:]:
        gap = char.left - right
        if char.text == previous.text and abs(char.left - previous.left) < _SAME_PLACE * height:
            continue  # bold printed by striking twice
        if gap > _CELL_GAP * height:
            segments.append(Segment(buffer, left, right, tuple(breaks), base))
            buffer, left = char.text, char.left
            breaks.clear()
        elif gap > (_SPACED_GAP if char.spaced else _WORD_GAP) * height:
            breaks.append((right, char.left, len(buffer), gap > _BREAK_GAP * height))
            buffer += " " + char.text
        elif _is_mark(char, base_char):
            buffer += char.text if previous is not base_char else f"^{char.text}"
            right, previous = max(char.right, right), char
            continue
        else:
            buffer += char.text
        base_char = char
        right = max(char.right, right) if gap <= _CELL_GAP * height else char.right
        previous = char
    segments.append(Segment(buffer, left, right, tuple(breaks), base))
    bold, invisible = _is_bold(text_page, row), _is_invisible(text_page, row)
    return PrintedLine(tuple(segments), max(c.top for c in row), base, bold, invisible)


def _is_invisible(text_page: Any, row: Sequence[_Char]) -> bool:
    """Whether the first, the middle or the last character of a row is not drawn."""
    for char in (row[0], row[len(row) // 2], row[-1]):
        drawn = pdfium_c.FPDFText_GetTextObject(text_page, char.index)
        mode = pdfium_c.FPDFTextObj_GetTextRenderMode(drawn) if drawn else None
        if mode == pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE:
            return True
    return False


def _is_bold(text_page: Any, row: Sequence[_Char]) -> bool:
    """The font's name says Bold or Italic (sizes and weights are not reliable)."""
    names = (_font_name(text_page, char.index) for char in (row[0], row[len(row) // 2]))
    return all(
        "bold" in name or "italic" in name or "black" in name or "heavy" in name for name in names
    )


def _font_name(text_page: Any, index: int) -> str:
    buffer = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    size = pdfium_c.FPDFText_GetFontInfo(text_page, index, buffer, 128, ctypes.byref(flags))
    return buffer.value.decode("utf-8", "replace").lower() if 0 < size <= 128 else ""
