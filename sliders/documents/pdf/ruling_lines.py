"""Lines that are drawn on a PDF page: under the words of a table's header, and between its
cells.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pypdfium2.raw as pdfium_c

from sliders.documents.pdf.characters import Box, turned_box
from sliders.documents.pdf.words import PrintedLine

_THICKEST = 3.0
_SHORTEST = 8.0
_SHORTEST_EDGE = 3.0
_STRAIGHT = 0.5
_MOST_OBJECTS = 100_000
_MOST_POINTS = 20_000
_DEEPEST = 4

Stroke = tuple[float, float, float]
"""Left end, right end and height above the page's foot, in points. A vertical stroke: lower end,
upper end and place from the left.
"""
_Matrix = tuple[float, float, float, float, float, float]
_UNMOVED: _Matrix = (1, 0, 0, 1, 0, 0)


@dataclass(frozen=True, slots=True)
class Strokes:
    """The straight lines of a page: the horizontal lines that stand alone, each once (`alone`), and
    the horizontal and vertical edges of all shapes (`across`, `down`).
    """

    alone: Sequence[Stroke]
    across: Sequence[Stroke]
    down: Sequence[Stroke]


def page_strokes(page: Any, turn: int) -> Strokes:
    """The strokes of a pypdfium2 page, turned back by `turn` quarters of a full turn."""
    alone: set[Stroke] = set()
    across: set[Stroke] = set()
    down: set[Stroke] = set()
    for box, is_edge in _boxes(page.raw):
        left, right, bottom, top = turned_box(box, turn)
        if top - bottom <= _THICKEST and right - left >= _SHORTEST_EDGE:
            across.add((round(left, 1), round(right, 1), round((bottom + top) / 2, 1)))
            if right - left >= _SHORTEST and not is_edge:
                alone.add((round(left, 1), round(right, 1), round(bottom, 1)))
        elif right - left <= _THICKEST and top - bottom >= _SHORTEST_EDGE:
            down.add((round(bottom, 1), round(top, 1), round((left + right) / 2, 1)))
    return Strokes(sorted(alone | _touching(alone)), sorted(across), sorted(down))


def _boxes(page: Any) -> Iterator[tuple[Box, bool]]:
    """Yields the box of each thin path, and of each piece of a larger path, with True for such a
    piece.
    """
    bounds = [ctypes.c_float() for _ in range(4)]
    refs = [ctypes.byref(bound) for bound in bounds]
    budget = [_MOST_POINTS]
    for item, matrix in _paths(page):
        pdfium_c.FPDFPageObj_GetBounds(item, *refs)
        left, bottom, right, top = (bound.value for bound in bounds)
        if matrix is not _UNMOVED:
            left, bottom = _moved(matrix, left, bottom)
            right, top = _moved(matrix, right, top)
            left, right, bottom, top = *sorted((left, right)), *sorted((bottom, top))
        if top - bottom <= _THICKEST or right - left <= _THICKEST:
            yield (left, right, bottom, top), False
        else:
            yield from ((box, True) for box in _pieces(item, matrix, budget))


def _paths(page: Any) -> Iterator[tuple[Any, _Matrix]]:
    """Yields the paths of a page and of the forms on it, each with the matrix that moves it to its
    place.
    """
    left = _MOST_OBJECTS
    waiting: list[tuple[Any, _Matrix, int]] = [(page, _UNMOVED, 0)]
    while waiting:
        holder, matrix, depth = waiting.pop()
        count, get = (
            (pdfium_c.FPDFFormObj_CountObjects, pdfium_c.FPDFFormObj_GetObject)
            if depth
            else (pdfium_c.FPDFPage_CountObjects, pdfium_c.FPDFPage_GetObject)
        )
        for number in range(min(count(holder), left)):
            left -= 1
            item = get(holder, number)
            kind = pdfium_c.FPDFPageObj_GetType(item)
            if kind == pdfium_c.FPDF_PAGEOBJ_PATH:
                yield item, matrix
            elif kind == pdfium_c.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
                waiting.append((item, _then(_matrix(item), matrix), depth + 1))


def _matrix(item: Any) -> _Matrix:
    matrix = pdfium_c.FS_MATRIX()
    if not pdfium_c.FPDFPageObj_GetMatrix(item, ctypes.byref(matrix)):
        return _UNMOVED
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _then(first: _Matrix, second: _Matrix) -> _Matrix:
    """Two moves as one."""
    a, b, c, d, e, f = first
    g, h, i, j, _, _ = second
    x, y = _moved(second, e, f)
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, x, y


def _moved(matrix: _Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _pieces(item: Any, matrix: _Matrix, budget: list[int]) -> Iterator[Box]:
    """Yields the straight lines of a path that is drawn as an outline, and the thin parts of a path
    that is filled.
    """
    fill, stroked = ctypes.c_int(), ctypes.c_int()
    pdfium_c.FPDFPath_GetDrawMode(item, ctypes.byref(fill), ctypes.byref(stroked))
    count = pdfium_c.FPDFPath_CountSegments(item)
    budget[0] -= count
    if budget[0] < 0 or count < 4 or not (fill.value or stroked.value):
        return
    for part in _parts(item, count, _then(_matrix(item), matrix)):
        if stroked.value:
            for (x, y), (u, v) in pairwise(part):
                if abs(x - u) <= _STRAIGHT or abs(y - v) <= _STRAIGHT:
                    yield min(x, u), max(x, u), min(y, v), max(y, v)
        else:
            xs, ys = [x for x, _ in part], [y for _, y in part]
            yield min(xs), max(xs), min(ys), max(ys)


def _parts(item: Any, count: int, matrix: _Matrix) -> Iterator[list[tuple[float, float]]]:
    """The corners of each part of a path; a closed one ends where it began."""
    x, y = ctypes.c_float(), ctypes.c_float()
    part: list[tuple[float, float]] = []
    for number in range(count):
        segment = pdfium_c.FPDFPath_GetPathSegment(item, number)
        pdfium_c.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        if pdfium_c.FPDFPathSegment_GetType(segment) == pdfium_c.FPDF_SEGMENT_MOVETO and part:
            yield part
            part = []
        part.append(_moved(matrix, x.value, y.value))
        if pdfium_c.FPDFPathSegment_GetClose(segment):
            part.append(part[0])
    yield part


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
    """Returns for each line the left and right ends of the strokes directly below it (at most a
    line's height away).
    """
    below: list[list[tuple[float, float]]] = []
    for number, line in enumerate(lines):
        middle = (line.top + line.bottom) / 2
        foot = line.bottom - line.height
        if number + 1 < len(lines) and lines[number + 1].top < line.top:
            following = lines[number + 1]
            foot = max(foot, (following.top + following.bottom) / 2)
        below.append([(left, right) for left, right, height in strokes if foot < height < middle])
    return below
