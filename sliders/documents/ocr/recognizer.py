"""The words of a picture with their places and scores, by the models inside `rapidocr`.

A *quad* is the four corners of a box: top left, top right, bottom right, bottom left, as a person
reading the words sees them, each (x, y) in pixels from the top left of the picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import atan2, degrees, dist
from typing import Any

READABLE = 0.5
"""The lowest score (0 to 1) of words that are kept."""
_UPRIGHT = 0.8
_TALL = 1.5
_LONG = 3.0
_EDGE = 2

Quad = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True, eq=False)
class ScannedWord:
    """A word with its score (0 to 1)."""

    text: str
    score: float
    quad: Quad


@dataclass(frozen=True, slots=True)
class ScannedLine:
    """A piece of a printed line: its words from left to right, its score (0 to 1), and the corners
    of its box in pixels.
    """

    words: tuple[ScannedWord, ...]
    score: float
    quad: Quad

    @property
    def length(self) -> int:
        return sum(len(word.text) for word in self.words)


@lru_cache(maxsize=1)
def engine() -> Any:
    """The models of OCR, loaded once; they work on one core."""
    from rapidocr import RapidOCR

    threads = "EngineConfig.onnxruntime"
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            "Global.max_side_len": 100_000,
            "Global.text_score": 0.0,
            f"{threads}.intra_op_num_threads": 1,
            f"{threads}.inter_op_num_threads": 1,
        }
    )


def upright_lines(picture: Any) -> tuple[Any, list[ScannedLine]]:
    """Returns (picture, lines): the picture, an array of rows of pixels, turned until its words are
    upright, and the lines that OCR finds in it.
    """
    import numpy as np

    lines = list(_lines(picture))
    if not lines:
        return picture, []
    tall = sum(line.length for line in lines if _height(line.quad) > _TALL * _width(line.quad))
    if 2 * tall > sum(line.length for line in lines):
        # The models turn a tall box counter-clockwise before they read it.
        turns = 1 if _score(lines) > _UPRIGHT else 3
        picture = np.ascontiguousarray(np.rot90(picture, turns))
        lines = list(_lines(picture))
    if _score(lines) < _UPRIGHT:
        turned = np.ascontiguousarray(np.rot90(picture, 2))
        if _score(others := list(_lines(turned))) > _score(lines):
            return turned, others
    return picture, lines


def read_line(picture: Any, box: tuple[float, float, float, float]) -> str:
    """Returns the text of one printed line of a picture; `box` is left, top, right and bottom in
    pixels.
    """
    import numpy as np

    left, top, right, bottom = (round(end) for end in box)
    part = picture[max(top - _EDGE, 0) : bottom + _EDGE, max(left - _EDGE, 0) : right + _EDGE]
    found = engine()(np.ascontiguousarray(part), use_det=False)
    return str(found.txts[0]) if found.txts else ""


def slant(lines: Sequence[ScannedLine]) -> float:
    """Returns by how many degrees lines fall to the right: the median over the lines, in which
    longer lines count more.
    """
    angles = []
    for line in lines:
        (x, y), (u, v) = line.quad[0], line.quad[1]
        if _width(line.quad) > _LONG * _height(line.quad):
            angles.append((degrees(atan2(v - y, u - x)), _width(line.quad)))
    half, passed = sum(width for _, width in angles) / 2, 0.0
    for angle, width in sorted(angles):
        passed += width
        if passed >= half:
            return angle
    return 0.0


def _lines(picture: Any) -> Iterator[ScannedLine]:
    found = engine()(picture, use_det=True, return_word_box=True)
    if found.txts is None:
        return
    boxes = [[[float(x), float(y)] for x, y in box] for box in found.boxes]
    for quad, text, score, parts in zip(
        boxes, found.txts, found.scores, found.word_results, strict=True
    ):
        words = [ScannedWord(w, float(s), q) for w, s, q in parts if q is not None and w.strip()]
        if "".join(word.text for word in words) != "".join(text.split()):
            words = [ScannedWord(text, float(score), quad)]
        yield ScannedLine(tuple(words), float(score), quad)


def _width(quad: Quad) -> float:
    return dist(quad[0], quad[1])


def _height(quad: Quad) -> float:
    return dist(quad[0], quad[3])


def _score(lines: Sequence[ScannedLine]) -> float:
    letters = sum(line.length for line in lines)
    return sum(line.score * line.length for line in lines) / max(letters, 1)
