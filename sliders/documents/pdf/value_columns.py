"""Values that are printed so near to the words before them that only the other rows of their column
show where they begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sliders.documents.pdf.words import PrintedLine
from sliders.documents.table_grid.segments import Break, Segment
from sliders.values.printed import is_value

_FEWEST = 4
_NARROWEST = 3.0


def with_values_apart(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Returns the lines. Where the same strip is blank in enough lines below each other, between
    words and the value behind them, the value becomes a segment of its own.
    """
    out = list(lines)
    run: list[tuple[int, Break]] = []
    low = high = 0.0
    for number, line in enumerate([*lines, None]):
        gap = _last_gap(line.segments[-1]) if line and line.segments else None
        if gap is not None and run and min(high, gap[1]) - max(low, gap[0]) >= _NARROWEST:
            low, high = max(low, gap[0]), min(high, gap[1])
        else:
            _split(out, run)
            run = []
            low, high = (gap[0], gap[1]) if gap else (0.0, 0.0)
        if gap is not None:
            run.append((number, gap))
    return out


def _last_gap(segment: Segment) -> Break | None:
    """The wide blank between words and the value behind them."""
    gap = segment.breaks[-1] if segment.breaks else None
    if gap is None or not gap[3] or is_value(segment.text):
        return None
    return gap if is_value(segment.text[gap[2] + 1 :]) else None


def _split(lines: list[PrintedLine], run: Iterable[tuple[int, Break]]) -> None:
    run = list(run)
    if len(run) < _FEWEST:
        return
    for number, (left, right, at, _) in run:
        *others, last = lines[number].segments
        words = replace(last, text=last.text[:at], right=left, breaks=last.breaks[:-1])
        value = replace(last, text=last.text[at + 1 :], left=right, breaks=())
        lines[number] = replace(lines[number], segments=(*others, words, value))
