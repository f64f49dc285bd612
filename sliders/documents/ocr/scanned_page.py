"""The printed lines of a scanned page: words become characters with boxes, dark lines become
strokes.

The words of a turned or slanting scan are put upright first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, radians, sin
from statistics import median
from typing import Any

from sliders.documents.ocr.recognizer import READABLE, Quad, ScannedLine, slant, upright_lines
from sliders.documents.ocr.signs import with_signs
from sliders.documents.ocr_words import word_key
from sliders.documents.pdf.characters import Box, Char
from sliders.documents.pdf.page_content import PageContent, page_lines
from sliders.documents.pdf.ruling_lines import Stroke, Strokes

_LINE_POINTS = 10.0
"""The height in points that printed lines get, whatever the size of the picture."""
_STRAIGHT = 0.2
_SHORTEST = 1.3
"""The shortest drawn line, in heights of a printed line."""
_THICKEST = 0.3
_BLANK = 0.2
_DASH, _FLAT, _SOLID, _MIDDLE = (0.2, 1.3), 0.2, 0.7, 0.25
"""Of a dash: its width and thickness in heights of a line, the part of its box that is dark, and
how far from the middle of its row it may be, in heights of the row.
"""
_SAME_EDGE = 4.0
"""Points within which lines begin at one place."""


def scanned_page(picture: Any, number: int) -> PageContent:
    """The content of a page.

    Args:
        picture: an array of rows of pixels, each red, green and blue (0 to 255).
        number: the page's number, from 1.
    """
    picture, found = upright_lines(picture)
    lines = with_signs(picture, [line for line in found if line.score >= READABLE])
    told = []
    if missed := len(found) - len(lines):
        told.append(f"page {number}: {missed} of {len(found)} pieces of print could not be read")
    if not lines:
        return PageContent(warnings=[*told, f"page {number}: OCR found no words"])
    angle = slant(lines)
    angle = angle if abs(angle) > _STRAIGHT else 0.0
    place = _Places(picture.shape[1], picture.shape[0], angle, lines)
    dark = _dark(picture, angle)
    chars = [char for line in lines for char in place.chars(line)]
    chars += _dashes(dark, place, [place.box(line.quad) for line in found])
    strokes = _strokes(dark, place)
    scores: dict[str, float] = {}
    for word in (word for line in lines for word in line.words):
        key = word_key(word.text)
        scores[key] = min(scores.get(key, 1.0), round(min(word.score, 1.0), 3))
    scores.pop("", None)
    return PageContent(
        page_lines(None, chars, [], strokes), strokes.alone, told, tuple(sorted(scores.items()))
    )


class _Places:
    """Turns positions in a slanting picture (pixels) into positions on a page (points)."""

    def __init__(self, width: int, height: int, angle: float, lines: Sequence[ScannedLine]) -> None:
        self._middle = width / 2, height / 2
        self._turn = cos(radians(angle)), sin(radians(angle))
        tall = [
            max(y for _, y in self._straight(q)) - min(y for _, y in self._straight(q))
            for q in (line.quad for line in lines)
        ]
        self.line = median(tall)
        self.scale = _LINE_POINTS / self.line
        self._height = height
        self._count = 0
        self._edges = _edges([self.box(line.words[0].quad)[0] for line in lines])

    def _straight(self, quad: Quad) -> list[tuple[float, float]]:
        (x, y), (c, s) = self._middle, self._turn
        return [(x + c * (u - x) + s * (v - y), y - s * (u - x) + c * (v - y)) for u, v in quad]

    def box(self, quad: Quad) -> Box:
        """Left, right, bottom and top in points."""
        corners = self._straight(quad)
        xs, ys = [x for x, _ in corners], [self._height - y for _, y in corners]
        return tuple(self.scale * end for end in (min(xs), max(xs), min(ys), max(ys)))  # type: ignore[return-value]

    def chars(self, line: ScannedLine) -> Iterator[Char]:
        """The characters of a line, as wide as their share of their word."""
        _, _, bottom, top = self.box(line.quad)
        end = float("-inf")
        for word in line.words:
            left, right, _, _ = self.box(word.quad)
            left = self._edges.get(left, left) if word is line.words[0] else left
            left = min(max(left, end + _BLANK * (top - bottom)), right - 0.1)
            step = (right - left) / len(word.text)
            for n, text in enumerate(word.text):
                self._count += 1
                at = left + n * step
                yield Char(text, at, at + step, bottom, top, self._count, not n)
            end = right


def _edges(lefts: Sequence[float]) -> dict[float, float]:
    """The common left edge of lines that begin at nearly the same position, by each line's own left
    edge.
    """
    groups: list[list[float]] = []
    for left in sorted(lefts):
        if groups and left - groups[-1][0] < _SAME_EDGE:
            groups[-1].append(left)
        else:
            groups.append([left])
    return {left: median(group) for group in groups for left in group}


def _dark(picture: Any, angle: float) -> Any:
    """True for each dark pixel of a picture, after the picture is turned by its slant."""
    import cv2

    gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    height, width = gray.shape
    if angle:
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
        gray = cv2.warpAffine(gray, turn, (width, height), borderValue=255)
    return cv2.threshold(gray, 0, 255, cv2.THRESH_BINARY_INV + cv2.THRESH_OTSU)[1]


def _dashes(dark: Any, place: _Places, boxes: Sequence[Box]) -> Iterator[Char]:
    """Yields dashes that stand alone in a row of other words. The models miss them, and without
    them the values beside them would stand under wrong headers.
    """
    import cv2

    low, high = _DASH
    for number, (x, y, wide, thick, area) in enumerate(
        cv2.connectedComponentsWithStats(dark)[2][1:].tolist()
    ):
        if not (low * place.line <= wide <= high * place.line and thick <= _FLAT * place.line):
            continue
        if area < _SOLID * wide * thick:
            continue
        left, right = place.scale * x, place.scale * (x + wide)
        middle = place.scale * (dark.shape[0] - y - thick / 2)
        rows = [b for b in boxes if abs((b[2] + b[3]) / 2 - middle) < _MIDDLE * (b[3] - b[2])]
        if not rows or any(b[0] < right and left < b[1] for b in rows):
            continue
        half = _LINE_POINTS / 2
        yield Char("—", left, right, middle - half, middle + half, -number - 1, True)


def _strokes(dark: Any, place: _Places) -> Strokes:
    """The dark straight lines of a picture."""
    import cv2
    import numpy as np

    height = dark.shape[0]
    length = max(int(_SHORTEST * place.line), 3)
    sides: list[list[Stroke]] = []
    for across in (True, False):
        kernel = np.ones((1, length) if across else (length, 1), np.uint8)
        kept = cv2.morphologyEx(dark, cv2.MORPH_OPEN, kernel)
        boxes = cv2.connectedComponentsWithStats(kept)[2][1:]
        sides.append([])
        for x, y, wide, high, _ in boxes.tolist():
            if (high if across else wide) <= max(_THICKEST * place.line, 3):
                left, right = place.scale * x, place.scale * (x + wide)
                top, bottom = place.scale * (height - y), place.scale * (height - y - high)
                ends = (left, right, (bottom + top) / 2)
                sides[-1].append(ends if across else (bottom, top, (left + right) / 2))
    rows, columns = sides
    return Strokes(rows, rows, columns)
