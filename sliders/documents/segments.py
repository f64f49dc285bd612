"""Positioned pieces of printed lines, and the marks of numbers joined to them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sliders.documents.values import closes_value, is_value, opens_value, tidy_value

_LEADERS = re.compile(r"(.*?\S)?\s*(?:\.\s?){4,}(.*)")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of one line: its text and its horizontal extent."""

    text: str
    left: float
    right: float

    @property
    def center(self) -> float:
        return (self.left + self.right) / 2


Line = tuple[Segment, ...]


def join_marks(line: Line) -> Line:
    """The line with "$", "(", ")" and "%" joined to their numbers, and runs of numbers taken apart."""
    pieces: list[Segment] = []
    for segment in line:
        pieces.extend(_take_apart(segment))
    joined: list[Segment] = []
    mark = ""
    for piece in pieces:
        text = piece.text
        if joined and not mark and closes_value(text) and joined[-1].text[-1:].isdigit():
            last = joined.pop()
            joined.append(Segment(tidy_value(last.text + text), last.left, last.right))
        elif opens_value(text):
            mark += text
        elif mark and (is_value(text) or is_value(mark + text)):
            joined.append(Segment(tidy_value(mark + text), piece.left, piece.right))
            mark = ""
        else:
            if mark:
                joined.append(Segment(mark, piece.left, piece.left))
                mark = ""
            joined.append(Segment(tidy_value(text), piece.left, piece.right))
    if mark:
        joined.append(Segment(mark, line[-1].left, line[-1].right))
    return tuple(joined)


def _take_apart(segment: Segment) -> list[Segment]:
    leaders = _LEADERS.fullmatch(segment.text) if "..." in segment.text or ". . ." in segment.text else None
    if leaders:
        # Dots lead the eye from a label to its value; they are neither.
        label, value = (leaders[1] or "").rstrip(" ."), leaders[2].strip(" .")
        step = (segment.right - segment.left) / len(segment.text)
        pieces = [Segment(label, segment.left, segment.left + len(label) * step)] if label else []
        return (
            [*pieces, *_take_apart(Segment(value, segment.right - len(value) * step, segment.right))]
            if value
            else pieces
        )
    if segment.text[-1:] in "$€£" and len(segment.text) > 4 and segment.text[-2:-1].isalpha():
        cut = segment.right - (segment.right - segment.left) / len(segment.text)
        return [Segment(segment.text[:-1], segment.left, cut), Segment(segment.text[-1], cut, segment.right)]
    words = segment.text.split()
    if len(words) < 2 or is_value(segment.text):
        return [segment]
    tail = len(words)
    while tail and (is_value(words[tail - 1]) or opens_value(words[tail - 1]) or closes_value(words[tail - 1])):
        tail -= 1
    if tail and opens_value(words[-1]):
        tail = len(words) - 1
    elif tail:
        return [segment]
    step = (segment.right - segment.left) / max(len(segment.text), 1)
    pieces, position = [], 0
    groups = ([" ".join(words[:tail])] if tail else []) + words[tail:]
    for group in groups:
        found = segment.text.find(group, position)
        found = position if found < 0 else found
        position = found + len(group)
        pieces.append(Segment(group, segment.left + found * step, segment.left + position * step))
    return pieces
