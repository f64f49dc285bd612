"""The reading order of a page that is set in two columns of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sliders.documents.pdf.words import PrintedLine
from sliders.values.printed import is_value

_MIN_LINES, _FEWEST_LINES = 8, 4
_MOST_CROSSING = 0.1
_MIN_CHARACTERS = 18
_STEPS = 31


def reading_order(
    lines: Sequence[PrintedLine], earlier: float | None = None
) -> tuple[list[PrintedLine], float | None]:
    """Returns (lines, x). On a page with two columns of text, the left column comes before the
    right one, between the lines that cross both; x is the place between the columns, in points from
    the left. On other pages the lines are unchanged and x is None.

    Args:
        lines: the lines of a page.
        earlier: x of the page before, whose columns may go on; None for none.
    """
    gutter = _gutter(lines)
    if gutter is None and earlier is not None and _goes_on(lines, earlier):
        gutter = earlier
    if gutter is None:
        return list(lines), None
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
    return [*ordered, *left, *right], gutter


def _goes_on(lines: Sequence[PrintedLine], x: float) -> bool:
    """True when a page has words on both sides of `x` and nearly none across it."""
    crossing = sum(any(s.left < x < s.right for s in line.segments) for line in lines)
    both = [
        line
        for line in lines
        if line.segments and line.segments[0].right <= x <= line.segments[-1].left
    ]
    running = sum(_is_split(line, x) for line in both)
    return bool(both) and running * 2 >= len(both) and crossing <= _MOST_CROSSING * len(lines)


def _gutter(lines: Sequence[PrintedLine]) -> float | None:
    """The place between two columns of text: many lines have words on both sides of it, few lines
    cross it.
    """
    lines = [line for line in lines if line.segments]
    if len(lines) < _FEWEST_LINES:
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
            len(split) >= max(_FEWEST_LINES, crossing)
            and (len(split) >= _MIN_LINES or _runs_on(split))
            and (best is None or len(split) - crossing > best[0])
        ):
            best = (len(split) - crossing, x)
    return best[1] if best else None


def _runs_on(split: Sequence[PrintedLine]) -> bool:
    """True when sentences run on from line to line on both sides, which they do in no table of
    names.
    """
    for side in (0, 1):
        begins = [line.segments[side].text[0].isupper() for line in split[1:]]
        if sum(begins) * 2 > len(begins):
            return False
    return True


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
