"""Words of a PDF page that a drawn line strikes out."""

from __future__ import annotations

from collections.abc import Sequence

from sliders.documents.pdf.characters import Char
from sliders.documents.pdf.ruling_lines import Stroke

_LOWEST, _HIGHEST = 0.34, 0.66
"""Where a line strikes out: shares of the height of a character. An underline is lower."""
_BEYOND = 0.6
_LEAST_COVERED = 0.6


def struck_out(chars: Sequence[Char], strokes: Sequence[Stroke]) -> list[list[Char]]:
    """The runs of characters through whose middle a line goes that ends with them, by line."""
    if not strokes:
        return []
    by_height: dict[int, list[Char]] = {}
    for char in chars:
        height = char.top - char.bottom
        low, high = char.bottom + _LOWEST * height, char.bottom + _HIGHEST * height
        for place in range(int(low), int(high) + 1):
            by_height.setdefault(place, []).append(char)
    runs = []
    for left, right, y in strokes:
        run = [
            char
            for char in by_height.get(int(y), ())
            if left < char.middle[0] < right
            and _LOWEST < (y - char.bottom) / (char.top - char.bottom) < _HIGHEST
        ]
        if run and _ends_with(run, left, right):
            runs.append(sorted(run, key=lambda char: char.left))
    return runs


def _ends_with(run: Sequence[Char], left: float, right: float) -> bool:
    """Whether a line is as long as the characters that it goes through."""
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
