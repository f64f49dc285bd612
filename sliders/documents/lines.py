"""What a line of a page can be for a table: a row of values, a header of years, the name of a section."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sliders.documents.segments import Line, Segment
from sliders.documents.values import is_note, is_period, is_value, is_year

MAX_TEXT_CELL = 48
_MAX_WORDS_OF_ROW = 90
_OPEN_END = re.compile(
    r"(?:[,/–—]|\b(?:and|or|of|to|for|in|on|the|a|an|with|from|by|at|as|including|net))$", re.IGNORECASE
)


def cells_of(line: Line) -> Line:
    """The segments that lie in value columns: all but a leading label."""
    return line if not line or is_value(line[0].text) else line[1:]


def is_data(line: Line) -> bool:
    cells = cells_of(line)
    values = sum(is_value(cell.text) for cell in cells)
    if not values or values * 2 < len(cells) or (len(cells) == len(line) and len(line) < 2):
        return False
    return all(len(cell.text) <= _MAX_WORDS_OF_ROW for cell in cells)


def is_year_header(line: Line, *, named: bool = False) -> bool:
    """True for a line of years over columns; over the labels stands nothing, a note or a period.

    With `named` any short name may stand there, if the years follow each other.
    """
    cells = cells_of(line)
    label = line[0].text if len(cells) < len(line) else ""
    if not cells or not all(is_year(cell.text) for cell in cells):
        return False
    if is_note(label) or is_period(label):
        return len(cells) > 1 or bool(label)
    if not named:
        return False
    years = [int("".join(filter(str.isdigit, cell.text))[:4]) for cell in cells]
    steps = {b - a for a, b in pairwise(years)}
    return steps in ({1}, {-1}) and len(label) <= MAX_TEXT_CELL


def text_of(line: Line) -> str:
    return " ".join(segment.text for segment in line)


def value_edge(line: Line) -> float:
    cells = cells_of(line)
    return min(cell.left for cell in cells) if cells else float("inf")


def _in_label_area(segment: Segment, edge: float) -> bool:
    inside = segment.right <= edge or segment.text.endswith(":")
    return not is_value(segment.text) and segment.center < edge and inside


def is_section(lines: Sequence[Line], at: int, edge: float) -> bool:
    """True for a line of one piece over the labels: a section's name, or the first part of a long label."""
    line = lines[at]
    if len(line) != 1 or is_value(line[0].text):
        return False
    before_row = at + 1 < len(lines) and is_data(lines[at + 1]) and line[0].left < edge and not _ends(line[0].text)
    return before_row or _in_label_area(line[0], edge) or wraps(lines, at, edge)


def _ends(text: str) -> bool:
    return text.endswith((".", ";", "!", "?"))


def wraps(lines: Sequence[Line], at: int, edge: float) -> bool:
    """True when line `at` is the first part of a label that goes on in the line below."""
    if at + 1 >= len(lines) or not lines[at + 1] or len(lines[at]) != 1 or lines[at][0].left >= edge:
        return False
    above, below = lines[at][0].text, lines[at + 1][0].text
    if above.endswith((".", ":")) or is_value(below) or not (len(lines[at + 1]) == 1 or is_data(lines[at + 1])):
        return False
    return below[:1].islower() or goes_on(above)


def goes_on(text: str) -> bool:
    return _OPEN_END.search(text) is not None
