"""The reading order of a page that is set in two columns of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sliders.documents.pdf.words import PrintedLine
from sliders.values.printed import is_value

_MIN_LINES = 8
_MIN_CHARACTERS = 18
_STEPS = 31


def reading_order(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """The lines with the left column before the right one, between lines that cross both;
    unchanged for other pages.
    """
    gutter = _gutter(lines)
    if gutter is None:
        return list(lines)
    ordered: list[PrintedLine] = []
    left: list[PrintedLine] = []
    right: list[PrintedLine] = []
    for line in lines:
        if any(segment.left < gutter < segment.right for segment in line.segments):
            ordered += [*left, *right, line]
            left, right = [], []
            continue
        before = tuple(segment for segment in line.segments if segment.right <= gutter)
        after = tuple(segment for segment in line.segments if segment.left >= gutter)
        if before:
            left.append(replace(line, segments=before))
        if after:
            right.append(replace(line, segments=after))
    return [*ordered, *left, *right]


def _gutter(lines: Sequence[PrintedLine]) -> float | None:
    """The place between two columns of text: many lines have words on both sides
    of it, few cross it.
    """
    if len(lines) < _MIN_LINES:
        return None
    start = min(line.segments[0].left for line in lines)
    end = max(line.segments[-1].right for line in lines)
    best: tuple[int, float] | None = None
    for step in range(_STEPS):
        x = start + (end - start) * (0.38 + 0.24 * step / (_STEPS - 1))
        split = [line for line in lines if _is_split(line, x)]
        crossing = sum(
            any(segment.left < x < segment.right for segment in line.segments) for line in lines
        )
        if (
            len(split) >= _MIN_LINES
            and len(split) >= crossing
            and (best is None or len(split) - crossing > best[0])
        ):
            best = (len(split) - crossing, x)
    return best[1] if best else None


def _is_split(line: PrintedLine, x: float) -> bool:
    """True when running text stands on both sides of `x`: one long piece each,
    no numbers of a table.
    """
    if len(line.segments) != 2 or line.segments[0].right > x or line.segments[1].left < x:
        return False
    return all(
        len(segment.text) >= _MIN_CHARACTERS and not is_value(segment.text)
        for segment in line.segments
    )
