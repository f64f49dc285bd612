"""Words of a PDF page that nobody sees: white words on white, and words that a shape covers."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium_c

from sliders.documents.pdf.characters import Box, Char

_WHITE = 250
_LOWEST = 5.0
_RECTANGLE = 6
_MOST_SHAPES = 500
_MOST_OBJECTS = 20_000


class _Shape(NamedTuple):
    box: Box
    order: int
    white: bool


def unseen_words(page: Any, text_page: Any, chars: Sequence[Char]) -> list[str]:
    """Returns the words of a page that nobody sees. `chars` are the page's characters as the file
    places them.
    """
    shapes, items, white = _drawn(page)
    first = min((order for order, _ in items), default=_MOST_OBJECTS)
    if not white and all(shape.order < first for shape in shapes):
        return []
    texts = {_address(item): order for order, item in items}
    words, word, unseen, right = [], "", False, 0.0
    for char in chars:
        if char.spaced or not word or char.left < right - _LOWEST:
            words += [word] if unseen else []
            x, y = char.middle
            over = [s for s in shapes if s.box[0] < x < s.box[1] and s.box[2] < y < s.box[3]]
            word, unseen = "", False
            if white or any(shape.order > first for shape in over):
                text = _address(pdfium_c.FPDFText_GetTextObject(text_page, char.number))
                covered = any(shape.order > texts.get(text, _MOST_OBJECTS) for shape in over)
                unseen = covered or (
                    texts.get(text) in white and all(shape.white for shape in over)
                )
        word, right = word + char.text, char.right
    return [*words, word] if unseen else words


def _drawn(page: Any) -> tuple[list[_Shape], list[tuple[int, Any]], set[int]]:
    """Returns the filled rectangles and the pictures of a page, its texts with their position in
    the order of drawing, and the positions of the white texts.
    """
    bounds = [ctypes.c_float() for _ in range(4)]
    refs = [ctypes.byref(bound) for bound in bounds]
    shapes: list[_Shape] = []
    texts: list[tuple[int, Any]] = []
    white: set[int] = set()
    for order in range(min(pdfium_c.FPDFPage_CountObjects(page), _MOST_OBJECTS)):
        item = pdfium_c.FPDFPage_GetObject(page, order)
        kind = pdfium_c.FPDFPageObj_GetType(item)
        if kind == pdfium_c.FPDF_PAGEOBJ_TEXT:
            texts.append((order, item))
            if _is_white(item):
                white.add(order)
            continue
        picture = kind == pdfium_c.FPDF_PAGEOBJ_IMAGE
        if len(shapes) == _MOST_SHAPES or not (picture or _is_filled(item, kind)):
            continue
        pdfium_c.FPDFPageObj_GetBounds(item, *refs)
        left, bottom, right, top = (bound.value for bound in bounds)
        if top - bottom >= _LOWEST:
            # A picture may be a stamp that one sees through.
            place, is_white = (-1, False) if picture else (order, _is_white(item))
            shapes.append(_Shape((left, right, bottom, top), place, is_white))
    return shapes, texts, white


def _address(item: Any) -> int:
    return ctypes.cast(item, ctypes.c_void_p).value or 0


def _is_filled(item: Any, kind: int) -> bool:
    """True for a rectangle that hides the page below it."""
    if kind != pdfium_c.FPDF_PAGEOBJ_PATH or pdfium_c.FPDFPath_CountSegments(item) > _RECTANGLE:
        return False
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium_c.FPDFPath_GetDrawMode(item, ctypes.byref(mode), ctypes.byref(stroke))
    known = pdfium_c.FPDFPageObj_GetFillColor(item, *_REFS)
    return mode.value != pdfium_c.FPDF_FILLMODE_NONE and known and _ALPHA.value == 255


_RED, _GREEN, _BLUE, _ALPHA = (ctypes.c_uint() for _ in range(4))
_REFS = [ctypes.byref(part) for part in (_RED, _GREEN, _BLUE, _ALPHA)]


def _is_white(item: Any) -> bool:
    known = pdfium_c.FPDFPageObj_GetFillColor(item, *_REFS)
    return known and _RED.value >= _WHITE and _GREEN.value >= _WHITE and _BLUE.value >= _WHITE
