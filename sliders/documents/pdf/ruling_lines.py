"""The horizontal strokes of a PDF page: what underlines the words of a table's header."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import pypdfium2.raw as pdfium_c

from sliders.documents.pdf.words import PrintedLine

_THICKEST = 3.0
_SHORTEST = 8.0

Stroke = tuple[float, float, float]
"""Left end, right end and height above the page's foot, in points."""


def page_strokes(page: Any) -> list[Stroke]:
    """Thin horizontal paths of a pypdfium2 page, each once; strokes that touch also as one."""
    bounds = [ctypes.c_float() for _ in range(4)]
    refs = [ctypes.byref(bound) for bound in bounds]
    found: set[Stroke] = set()
    for number in range(pdfium_c.FPDFPage_CountObjects(page.raw)):
        item = pdfium_c.FPDFPage_GetObject(page.raw, number)
        if pdfium_c.FPDFPageObj_GetType(item) != pdfium_c.FPDF_PAGEOBJ_PATH:
            continue
        pdfium_c.FPDFPageObj_GetBounds(item, *refs)
        left, bottom, right, top = (bound.value for bound in bounds)
        if top - bottom <= _THICKEST and right - left >= _SHORTEST:
            found.add((round(left, 1), round(right, 1), round(bottom, 1)))
    return sorted(found | _touching(found))


def _touching(strokes: set[Stroke]) -> set[Stroke]:
    """Strokes end to end on one height, as one."""
    joined: set[Stroke] = set()
    left = right = height = -1.0
    for stroke in sorted(strokes, key=lambda s: (s[2], s[0])):
        if stroke[2] == height and stroke[0] <= right + 0.5:
            right = max(right, stroke[1])
            joined.add((left, right, height))
        else:
            left, right, height = stroke
    return {one for one in joined if not any(_inside(one, other) for other in joined)}


def _inside(one: Stroke, other: Stroke) -> bool:
    return (
        one is not other
        and one != other
        and one[2] == other[2]
        and one[0] >= other[0]
        and one[1] <= other[1]
    )


def strokes_below(
    lines: Sequence[PrintedLine], strokes: Sequence[Stroke]
) -> list[list[tuple[float, float]]]:
    """The strokes between each line and the next one (at most a line's height below it)."""
    below: list[list[tuple[float, float]]] = []
    for number, line in enumerate(lines):
        middle = (line.top + line.bottom) / 2
        foot = line.bottom - line.height
        if number + 1 < len(lines) and lines[number + 1].top < line.top:
            following = lines[number + 1]
            foot = max(foot, (following.top + following.bottom) / 2)
        below.append([(left, right) for left, right, height in strokes if foot < height < middle])
    return below
