"""The header of a table: its lines above the rows, and the words that each column gets from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from sliders.documents.columns import Column, assign, spacing_of
from sliders.documents.lines import MAX_TEXT_CELL, is_data, is_section, is_year_header, text_of, wraps
from sliders.documents.segments import Line, Segment
from sliders.documents.values import is_note, is_period, is_year

_MAX_BLANKS = 2
_MAX_SECTIONS = 3
_MAX_HEADER_LINES = 6


def find_header(
    lines: Sequence[Line], floor: int, body: int, columns: Sequence[Column]
) -> tuple[int, list[int], list[str]]:
    """(first line of the table, its header lines from top to bottom, notes printed among them), reading upwards."""
    edge = columns[0].left
    top, found, notes, sections, blanks = body, list[int](), list[str](), list[int](), 0
    for at in range(body - 1, max(floor, body - 12) - 1, -1):
        line = lines[at]
        if not line:
            blanks += 1
            if blanks > (1 if found else _MAX_BLANKS):
                break
            continue
        if found and blanks and len(line) != len(columns):
            break
        if len(line) == 1 and is_note(line[0].text):
            # Between header and rows it belongs to the table, above the header it stays where it is printed.
            if not found and _header_above(lines, floor, at, columns):
                notes.append(text_of(line))
                top, blanks = at, 0
                continue
            break
        if _is_header(line, columns):
            found.insert(0, at)
        elif found or not is_section(lines, at, edge) or len(sections) == _MAX_SECTIONS:
            break
        else:
            sections.insert(0, at)
        top, blanks = at, 0
        if len(found) == _MAX_HEADER_LINES:
            break
    return (top if found else _first_section(lines, sections, body)), found, notes


def _first_section(lines: Sequence[Line], sections: Sequence[int], body: int) -> int:
    """Without a header, only what stands directly above the rows and announces them is part of the table."""
    top = body
    while top - 1 in sections:
        top -= 1
    return next((at for at in range(top, body) if text_of(lines[at]).endswith(":") or wraps(lines, at, inf)), body)


def _header_above(lines: Sequence[Line], floor: int, at: int, columns: Sequence[Column]) -> bool:
    return at - 1 >= floor and bool(lines[at - 1]) and _is_header(lines[at - 1], columns)


def _is_header(line: Line, columns: Sequence[Column]) -> bool:
    """True when the line's pieces stand over the value columns (a piece over the labels may come first)."""
    if is_year_header(line, named=True):
        return True
    spacing = spacing_of(columns)
    # Over drifting text the words of a period stand further left than the values below them.
    reach = spacing * 1.5 if len(line) == 1 and is_period(line[0].text) else spacing / 2
    left, right = columns[0].left - reach, columns[-1].right + spacing / 2
    over = [s for s in line if left <= s.center <= right]
    if not over or len(line) - len(over) > 1 or (len(over) < len(line) and line[0] in over):
        return False
    if is_data(line) and not all(is_year(s.text) for s in over):
        return False
    wide = max(s.right for s in over) - min(s.left for s in over)
    if len(over) == 1 and len(columns) > 1:
        return wide <= right - left and over[0].right >= columns[0].left - reach and len(over[0].text) <= 80
    return len(over) <= len(columns) and all(len(s.text) <= MAX_TEXT_CELL for s in over)


def name_columns(lines: Sequence[Line], columns: Sequence[Column]) -> tuple[tuple[str, ...], list[str]]:
    """Header per column, its lines joined from top to bottom, and the words that stand over the labels."""
    names: list[list[str]] = [[] for _ in columns]
    label_words: list[str] = []
    edge = columns[0].left - spacing_of(columns) / 2
    for line in reversed(lines):
        over = [s for s in line if s.center >= edge or (s is not line[0] and len(line) > 1)]
        if (
            len(line) == 1
            and is_period(line[0].text)
            and _is_header(line, columns)
            and line[0].right >= columns[0].left
        ):
            over = list(line)
        in_reach = len(columns) > 1 and line[0].center >= edge - spacing_of(columns) / 2
        if len(line) == len(columns) and (in_reach or all(is_year(s.text) for s in line)):
            over = list(line)
        label_words[:0] = [s.text for s in line if s not in over]
        for column, text in _over_columns(over, columns, all(names)):
            names[column].insert(0, text)
    return tuple(" ".join(parts) for parts in names), label_words


def _over_columns(over: Sequence[Segment], columns: Sequence[Column], spanning: bool) -> list[tuple[int, str]]:
    if len(over) == len(columns):
        return [(c, s.text) for c, s in enumerate(over)]
    if len(over) == 1 and len(columns) > 1 and over[0].right - over[0].left > spacing_of(columns):
        spanning = True
    if not spanning:
        return [(c, s.text) for s, c in zip(over, assign(tuple(over), columns), strict=True)]
    reach = spacing_of(columns) * max(1.0, len(columns) / max(len(over), 1)) * 0.75
    pairs = []
    for c, column in enumerate(columns):
        nearest = min(over, key=lambda s: abs(s.center - column.center)) if over else None
        if nearest is not None and (len(over) == 1 or abs(nearest.center - column.center) <= reach):
            pairs.append((c, nearest.text))
    return pairs
