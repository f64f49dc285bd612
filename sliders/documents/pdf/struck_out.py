"""Words of a PDF page that a drawn line strikes out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter

from sliders.documents.pdf.characters import Char
from sliders.documents.pdf.ruling_lines import Stroke

_LOWEST, _HIGHEST = 0.34, 0.66
"""Where a line strikes out: shares of the height of a character. An underline is lower."""
_BEYOND = 0.6
_LEAST_COVERED = 0.6


def struck_out(chars: Sequence[Char], strokes: Sequence[Stroke]) -> list[list[Char]]:
    """Returns the characters that a drawn line strikes out, one run for each line: the line goes
    through their middle and is as long as the run.
    """
    if not strokes:
        return []
    strokes = sorted(strokes, key=itemgetter(2))
    places = [stroke[2] for stroke in strokes]
    through: dict[Stroke, list[Char]] = {}
    for char in chars:
        height = char.top - char.bottom
        first = bisect_right(places, char.bottom + _LOWEST * height)
        last = bisect_left(places, char.bottom + _HIGHEST * height, lo=first)
        for stroke in strokes[first:last]:
            if stroke[0] < char.middle[0] < stroke[1]:
                through.setdefault(stroke, []).append(char)
    return [
        sorted(run, key=lambda char: char.left)
        for (left, right, _), run in through.items()
        if _ends_with(run, left, right)
    ]


def _ends_with(run: Sequence[Char], left: float, right: float) -> bool:
    """True when a line is as long as the characters that it crosses."""
    beyond = _BEYOND * max(char.top - char.bottom for char in run)
    covered = sum(char.right - char.left for char in run)
    return (
        min(char.left for char in run) - beyond <= left
        and right <= max(char.right for char in run) + beyond
        and covered >= _LEAST_COVERED * (right - left)
    )


def words_of(run: Sequence[Char]) -> str:
    """The text of a run of characters."""
    return "".join(f" {char.text}" if char.spaced else char.text for char in run).strip()
