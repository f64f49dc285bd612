"""The parts that a line of a page can play in a table: a row of values, a header of years, the name
of a section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sliders.documents.table_grid.segments import Line
from sliders.values.notes import is_note
from sliders.values.printed import is_value, is_year

MAX_TEXT_CELL = 48
_MAX_WORDS_OF_ROW = 90


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
    """True for a line of years over columns, perhaps beside words; over the labels
    stands nothing or a note.

    With `named` any short name may stand there, if the years follow each other.
    """
    cells = cells_of(line)
    label = line[0].text if len(cells) < len(line) else ""
    values = [cell for cell in cells if is_value(cell.text)]
    if len(values) < min(2, len(cells)) or not all(is_year(cell.text) for cell in values):
        return False
    cells = tuple(values)
    if not cells:
        return False
    if not label or is_note(label):
        return len(cells) > 1 or bool(label)
    if len(cells) == 1:
        return named and label.endswith(",")  # "Year ended June 30,    2020"
    counts = Counter(int("".join(filter(str.isdigit, cell.text))[:4]) for cell in cells)
    follow = max(counts) - min(counts) == len(counts) - 1 and len(set(counts.values())) == 1
    return (
        (named or label.endswith(","))
        and follow
        and len(counts) > 1
        and len(label) <= MAX_TEXT_CELL
    )


def is_noted(line: Line) -> bool:
    """True for values beside nothing but a unit ("(Millions) -0.25% +0.25%"): such values name
    columns.
    """
    return len(line) > 1 and not is_value(line[0].text) and is_note(line[0].text)


def text_of(line: Line) -> str:
    return " ".join(segment.text for segment in line)


def value_edge(line: Line) -> float:
    cells = cells_of(line)
    return min(cell.left for cell in cells) if cells else float("inf")


def is_section(lines: Sequence[Line], at: int, edge: float) -> bool:
    """True for a line of one piece over the labels: a section's name, or a part of a long label."""
    line = lines[at]
    if len(line) != 1 or is_value(line[0].text):
        return False
    text = line[0].text
    if line[0].center < edge and (line[0].right <= edge or text.endswith(":")):
        return True
    below = lines[at + 1] if at + 1 < len(lines) else ()
    goes_on = is_data(below) or (len(below) == 1 and below[0].text[:1].islower())
    return goes_on and line[0].left < edge and not text.endswith((".", ";", "!", "?"))
