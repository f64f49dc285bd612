"""Positioned pieces of printed lines, and the marks of numbers joined to them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sliders.values.printed import closes_value, is_value, opens_value, tidy_value

_LEADERS = re.compile(r"(.*?\S)?\s*(?:\.\s?){4,}(.*)")
_SIGNS = ("$", "€", "£")

Break = tuple[float, float, int, bool]
"""A blank in a segment: left end, right end, index in the text, and whether it is
wider than a word space.
"""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of one line: its text and its horizontal extent.

    `breaks` are the blanks whose places are known; `base` is the height of the line's foot above
    the foot of the page, 0 where nobody knows.
    """

    text: str
    left: float
    right: float
    breaks: tuple[Break, ...] = ()
    base: float = 0.0

    @property
    def center(self) -> float:
        return (self.left + self.right) / 2


Line = tuple[Segment, ...]


def char_width(segment: Segment) -> float:
    return (segment.right - segment.left) / max(len(segment.text), 1)


def split_breaks(segment: Segment) -> list[Segment]:
    """The segment cut at all of its breaks."""
    pieces, left, at = [], segment.left, 0
    for gap_left, gap_right, index, _ in segment.breaks:
        pieces.append(Segment(segment.text[at:index], left, gap_left, base=segment.base))
        left, at = gap_right, index + 1
    return [*pieces, Segment(segment.text[at:], left, segment.right, base=segment.base)]


def join_marks(line: Line) -> Line:
    """The line with "$", "(", ")" and "%" joined to their numbers, and runs of
    numbers taken apart.
    """
    signs = any(word in _SIGNS for segment in line for word in segment.text.split())
    pieces: list[Segment] = []
    for segment in line:
        pieces.extend(_take_apart(segment, signs))
    joined: list[Segment] = []
    mark, mark_left = "", 0.0
    for piece in pieces:
        text = piece.text
        if joined and not mark and closes_value(text) and joined[-1].text[-1:].isdigit():
            last = joined.pop()
            joined.append(replace(last, text=tidy_value(last.text + text), breaks=()))
        elif opens_value(text):
            mark, mark_left = mark + text, mark_left if mark else piece.left
        elif mark and (is_value(text) or is_value(mark + text)):
            blank = " " if mark[-1].isalpha() else ""  # "EUR 865.45", and "$120"
            whole = tidy_value(f"{mark}{blank}{text}")
            joined.append(replace(piece, text=whole, left=mark_left, breaks=()))
            mark = ""
        else:
            if mark:
                joined.append(replace(piece, text=mark, left=mark_left, right=mark_left, breaks=()))
                mark = ""
            tidy = tidy_value(text)
            joined.append(piece if tidy == text else replace(piece, text=tidy, breaks=()))
    if mark:
        joined.append(Segment(mark, line[-1].left, line[-1].right, base=line[-1].base))
    return tuple(joined)


def _take_apart(segment: Segment, signs: bool = False) -> list[Segment]:
    """Returns the pieces of a segment; `signs` says that signs of a currency stand apart in its
    line, so that one behind a number belongs to the number that follows.
    """
    text = segment.text
    leaders = _LEADERS.fullmatch(text) if "..." in text or ". . ." in text else None
    if leaders:
        # Dots lead the eye from a label to its value; they are neither.
        label, value = (leaders[1] or "").rstrip(" ."), leaders[2].strip(" .")
        pieces = [_part(segment, 0, len(label))] if label else []
        if value:
            rest = _part(segment, len(text) - len(value), len(text))
            return [*pieces, *_take_apart(rest, signs)]
        return pieces
    word_before = len(text) > 4 and text[-2:-1].isalpha()
    if text[-1:] in _SIGNS and (word_before or (signs and is_value(text[:-1].rstrip()))):
        return [_part(segment, 0, len(text) - 1), _part(segment, len(text) - 1, len(text))]
    words = text.split()
    if len(words) < 2 or is_value(text):
        return [segment]
    tail = len(words)
    while tail and (
        is_value(words[tail - 1]) or opens_value(words[tail - 1]) or closes_value(words[tail - 1])
    ):
        tail -= 1
    if tail and opens_value(words[-1]):
        tail = len(words) - 1
    elif tail:
        return [segment]
    pieces, position = [], 0
    for group in ([" ".join(words[:tail])] if tail else []) + words[tail:]:
        found = text.find(group, position)
        start = position if found < 0 else found
        position = start + len(group)
        pieces.append(_part(segment, start, position))
    return pieces


def _part(segment: Segment, start: int, end: int) -> Segment:
    """Characters `start` to `end` of a segment, as wide as their share of it."""
    step = (segment.right - segment.left) / max(len(segment.text), 1)
    inside = tuple((b[0], b[1], b[2] - start, b[3]) for b in segment.breaks if start <= b[2] < end)
    return Segment(
        segment.text[start:end],
        segment.left + start * step,
        segment.left + end * step,
        inside,
        segment.base,
    )
