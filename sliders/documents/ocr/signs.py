"""Signs of a currency that stand alone: without a number beside it, the models take "$" for "S", or
for a letter beside a mark ("|ø").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sliders.documents.ocr.recognizer import Quad, ScannedLine, ScannedWord, read_line

_SIGN, _LIKE = "$", ("S", "s", "$")
_SAME_ROW = 0.4
_BLURRED = 3


def with_signs(picture: Any, lines: Sequence[ScannedLine]) -> list[ScannedLine]:
    """Returns the lines of a picture, with "$" where OCR took it for "S". All such words in one
    column become "$" when the models read "$" for one of them, alone or together with the words at
    its right. An "S" before a word is left.
    """
    signs: set[ScannedWord] = set()
    alone = {line.words[0] for line in lines if len(line.words) == 1}
    for column in _columns([word for line in lines for word in _like(line)]):
        if any(
            word.text == _SIGN or (word in alone and _is_sign(picture, word.quad, lines))
            for word in column
        ):
            signs.update(column)
    return [
        replace(
            line,
            words=tuple(replace(w, text=_SIGN) if w in signs else w for w in line.words),
        )
        for line in lines
    ]


def _like(line: ScannedLine) -> Iterator[ScannedWord]:
    """The words of a line that may be the sign: no letters follow them, or they stand alone and are
    letters with marks.
    """
    alone = line.words[0].text if len(line.words) == 1 else ""
    if 1 < len(alone) <= _BLURRED and not alone.isalnum() and any(map(str.isalpha, alone)):
        if not any(map(str.isdigit, alone)):
            yield line.words[0]
        return
    for word, after in zip(line.words, [*line.words[1:], None], strict=True):
        if word.text in _LIKE and not (after and after.text[0].isalpha()):
            yield word


def _columns(words: Sequence[ScannedWord]) -> Iterator[list[ScannedWord]]:
    """Words that stand one below the other."""
    column: list[ScannedWord] = []
    for word in sorted(words, key=lambda word: word.quad[0][0]):
        height = word.quad[3][1] - word.quad[0][1]
        if column and word.quad[0][0] - column[-1].quad[0][0] > height:
            yield column
            column = []
        column.append(word)
    if column:
        yield column


def _is_sign(picture: Any, quad: Quad, lines: Sequence[ScannedLine]) -> bool:
    """True when the models see the sign in a part of the picture that holds it and the words at its
    right.
    """
    (left, top), (_, _), (right, bottom), (_, _) = quad
    beside = [
        other.quad
        for other in lines
        if other.quad[0][0] >= right
        and abs(other.quad[0][1] + other.quad[3][1] - top - bottom) / 2 < _SAME_ROW * (bottom - top)
    ]
    if not beside:
        return False
    near = min(beside, key=lambda other: other[0][0])
    high, low = min(top, near[1][1]), max(bottom, near[2][1])
    return read_line(picture, (left, high, near[1][0], low)).startswith(_SIGN)
