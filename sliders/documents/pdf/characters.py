"""The characters of a PDF page with their loose boxes, and the direction in which they are read.

Loose boxes (the font's extent) keep digits together where tight boxes break a number apart. A page
whose words are mostly printed sideways or upside down is turned until they stand upright.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Sequence
from math import pi
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium_c

OBLIQUE = 4
"""The turn of words that are neither upright nor turned by a quarter."""
_SLANT = 0.09
"""Radians by which words may slant: scans are never quite straight."""
_NO_TEXT = frozenset({0, 10, 13, 32, 0xA0, 0xFFFE, 0xFFFF})
_BLANKS = (32, 0xA0)


class Char(NamedTuple):
    """A character and its box in points: `number` is its place in the page's text, `turn` how many
    quarters clockwise it is turned, `spaced` whether a blank stands before it.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    number: int
    spaced: bool
    turn: int = 0

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2


Box = tuple[float, float, float, float]
"""Left, right, bottom, top."""


def page_chars(text_page: Any) -> list[Char]:
    """The characters of a page's text in the order of the file, with the page turned until most
    words are upright.
    """
    box = pdfium_c.FS_RECTF()
    at = ctypes.byref(box)
    chars: list[Char] = []
    spaced = False
    turn, last_right, last_bottom = 0, 0.0, -1.0
    code_of, place_of = pdfium_c.FPDFText_GetUnicode, pdfium_c.FPDFText_GetLooseCharBox
    for index in range(pdfium_c.FPDFText_CountChars(text_page)):
        code = code_of(text_page, index)
        if code in _NO_TEXT or not place_of(text_page, index, at):
            spaced = code in _BLANKS
            continue
        left, right, bottom, top = box.left, box.right, box.bottom, box.top
        if top > bottom and right > left:
            # Characters that go on to the right are turned as the one before them.
            if turn or bottom != last_bottom or left < last_right - 1:
                turn = _turn(pdfium_c.FPDFText_GetCharAngle(text_page, index))
            last_right, last_bottom = right, bottom
            # A pdfium code point above the 16-bit range arrives as a surrogate half and is
            # not text on its own.
            text = chr(code) if not 0xD800 <= code <= 0xDFFF else "\ufffd"
            chars.append(Char(text, left, right, bottom, top, index, spaced, turn))
            spaced = False
    return chars


def _turn(angle: float) -> int:
    quarters = angle / (pi / 2)
    nearest = round(quarters)
    return nearest % 4 if angle < 0 or abs(quarters - nearest) < _SLANT else OBLIQUE


def main_turn(chars: Sequence[Char]) -> int:
    """The turn of most characters, in quarters clockwise (see `Char.turn`); 0 for a page without
    any.
    """
    turns = Counter(char.turn for char in chars if char.turn != OBLIQUE)
    return turns.most_common(1)[0][0] if turns else 0


def turned_chars(chars: Sequence[Char], turn: int) -> list[Char]:
    """The characters after the page is turned counter-clockwise by `turn` quarters."""
    if not turn:
        return list(chars)
    return [
        Char(
            char.text,
            *turned_box((char.left, char.right, char.bottom, char.top), turn),
            char.number,
            char.spaced,
            (char.turn - turn) % 4 if char.turn != OBLIQUE else OBLIQUE,
        )
        for char in chars
    ]


def turned_box(box: Box, turn: int) -> Box:
    """A box after the page is turned counter-clockwise by `turn` quarters."""
    left, right, bottom, top = box
    if turn == 1:
        return -top, -bottom, left, right
    if turn == 2:
        return -right, -left, -top, -bottom
    return (bottom, top, -right, -left) if turn == 3 else box
