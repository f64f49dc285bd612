"""Signs of a currency that stand alone: without a number beside it, the models take "$" for "S"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sliders.documents.ocr.recognizer import ScannedLine, read_line

_SIGN, _LIKE = "$", ("S", "s", "$")
_SAME_ROW = 0.4


def with_signs(picture: Any, lines: Sequence[ScannedLine]) -> list[ScannedLine]:
    """The lines of a picture; those that are "S" alone, one below the other, become "$" where the
    models see this sign in one of them, or when they look at one together with the number that it
    stands before.
    """
    changed = list(lines)
    for column in _columns([line for line in lines if _text(line) in _LIKE]):
        if not any(_text(line) == _SIGN or _is_sign(picture, line, lines) for line in column):
            continue
        for line in column:
            word = replace(line.words[0], text=_SIGN)
            changed[changed.index(line)] = replace(line, words=(word,))
    return changed


def _text(line: ScannedLine) -> str:
    return "".join(word.text for word in line.words)


def _columns(lines: Sequence[ScannedLine]) -> Iterator[list[ScannedLine]]:
    """Lines that stand one below the other."""
    column: list[ScannedLine] = []
    for line in sorted(lines, key=lambda line: line.quad[0][0]):
        height = line.quad[3][1] - line.quad[0][1]
        if column and line.quad[0][0] - column[-1].quad[0][0] > height:
            yield column
            column = []
        column.append(line)
    if column:
        yield column


def _is_sign(picture: Any, line: ScannedLine, lines: Sequence[ScannedLine]) -> bool:
    """Whether the models see the sign when they look at it with what stands at its right."""
    (left, top), (_, _), (right, bottom), (_, _) = line.quad
    beside = [
        other.quad
        for other in lines
        if other.quad[0][0] >= right
        and abs(other.quad[0][1] + other.quad[3][1] - top - bottom) / 2 < _SAME_ROW * (bottom - top)
    ]
    if not beside:
        return False
    near = min(beside, key=lambda quad: quad[0][0])
    high, low = min(top, near[1][1]), max(bottom, near[2][1])
    return read_line(picture, (left, high, near[1][0], low)).startswith(_SIGN)
