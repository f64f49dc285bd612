"""The text around quoted words that belongs to them: the rest of a number that the quote cut, and
the unit and scale beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sliders.extraction.source import Source
from sliders.schema.types import Column
from sliders.values.amounts import Context
from sliders.values.bounds import bound_at
from sliders.values.notes import scale_in, title_note
from sliders.values.numbers import Number, numbers_in
from sliders.values.units import dimension, names_unit

_REACH = 120
_BRACKETS = re.compile(r"[(\[]([^()\[\]\n]{1,40})[)\]]")


def as_printed(source: Source, start: int, end: int, column: Column) -> str:
    """Returns the words at a place, completed with the sign, scale and unit that are printed with
    their numbers, also when the quote left these out.

    "139" of "139 mg/dL", of "| 139 | mg/dL |" and of a column with the header "Glucose (mg/dL)" is
    "139 mg/dL".

    Args:
        source: the text.
        start: the first character of the words.
        end: the character after them.
        column: the column, whose unit is looked for.
    """
    text, low = _line(source, start, end)
    start, end = start - low, end - low
    every = numbers_in(text, decimal=source.context.decimal, language=source.context.language)
    numbers = [number for number in every if number.start < end and number.end > start]
    for number in numbers:
        start, end = min(start, number.start), max(end, _end_with_unit(number, text))
    words = text[start:end]
    lone = len(numbers) == 1 and not (numbers[0].unit or numbers[0].percent or numbers[0].currency)
    unit = ""
    if lone and dimension(column.unit):
        unit = _unit_beside(source, text, low, start, end, column)
    return f"{words} {unit}" if unit else words


def bound_in(source: Source, start: int, end: int) -> str:
    """Returns the mark that is printed with the one number at a place: "<", "at least", "about"; ""
    for none that code knows.
    """
    text, low = _line(source, start, end)
    return bound_at(text, start - low, end - low)


def context_at(source: Source, start: int) -> Context:
    """Returns the conventions that hold for a value at a place: those of its document and table,
    and a scale in brackets before it in its line, or in a title above its lines.
    """
    context = source.context_at(start)
    if context.scale:
        return context
    text, low = _line(source, start, start)
    notes = [
        note for note in _BRACKETS.findall(text[: start - low]) if len(note) > 2 and scale_in(note)
    ]
    note = notes[-1] if notes else _title_note(source, start)
    return replace(context, note=f"{context.note} ({note})".strip()) if note else context


_MOST_ABOVE = 60
"""The number of lines that the note in a title may cover."""


def _title_note(source: Source, start: int) -> str:
    """The scale that the nearest title above a place states, "" for none. Only a title may have a
    blank line below it.
    """
    text, at = (source.whole, source.offset + start) if source.whole else (source.text, start)
    ended = False
    for line in reversed(
        text[: max(0, text.rfind("\n", 0, max(at, 0)))].rsplit("\n", _MOST_ABOVE)[-_MOST_ABOVE:]
    ):
        if not line.strip():
            ended = True
            continue
        if not line.strip("|-: "):
            continue
        note = title_note(line)
        if note is not None:
            return note if scale_in(note) else ""
        if ended:
            return ""
    return ""


def _line(source: Source, start: int, end: int) -> tuple[str, int]:
    """Returns the line around a place and its first character; of the source's text, or of the
    document's.
    """
    inside = start >= 0 and end <= len(source.text)
    text, shift = (source.text, 0) if inside or not source.whole else (source.whole, source.offset)
    first, last = start + shift, end + shift
    low = max(text.rfind("\n", 0, first) + 1, first - _REACH)
    stop = text.find("\n", last)
    high = min(len(text) if stop < 0 else stop, last + _REACH)
    return text[low:high], low - shift


def _end_with_unit(number: Number, text: str) -> int:
    """Returns the end of a number, including the unit behind it."""
    found = (
        re.compile(rf"[\s-]?{re.escape(number.unit)}").match(text, number.end)
        if number.unit
        else None
    )
    return found.end() if found else number.end


def _unit_beside(source: Source, line: str, low: int, start: int, end: int, column: Column) -> str:
    """Returns the unit that the next cell, the label or the header names for a bare number; "" when
    none is a unit that code knows.
    """
    return next(
        (unit for unit in _named(source, line, low, start, end) if names_unit(unit, column.unit)),
        "",
    )


def _named(source: Source, line: str, low: int, start: int, end: int) -> Iterator[str]:
    behind = line[end:].split("|")
    if line.startswith("|") and len(behind) > 2 and not behind[0].strip():
        yield behind[1].strip()
    yield from reversed(_BRACKETS.findall(line[:start]))
    yield from _BRACKETS.findall(source.context_at(start + low).note)
