"""The search for the place where a text prints a typed value that came without its words (compact
dialect).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from sliders.extraction.cell import Grounding, Scalar
from sliders.extraction.ground import NOWHERE, Grounded, Spans, chosen, find
from sliders.schema.types import Column, ColumnType
from sliders.values.amounts import all_readings, settled, unit_fits
from sliders.values.dates import dates_in, yearless_in
from sliders.values.digits import Amount
from sliders.values.expected import DATED
from sliders.values.parse import NO_CONTEXT, Context
from sliders.values.value_agreement import date_forms, same_number

_Place = tuple[int, int, int]
"""A place: how well it fits (0 is best), its start and its end."""


def find_value(
    value: Scalar, column: Column, text: str, context: Context = NO_CONTEXT, near: Spans = ()
) -> Grounded:
    """Returns the place where `text` prints a value in any form: "six", "1,577", "1.6 billion",
    "March 4, 2021".

    Of several places the best fitting ones count (right unit and currency, an amount and no part of
    a date), of these the one nearest to `near`. A boolean has no printed place; a category has one
    only when its own words are printed.
    """
    if value is None or isinstance(value, bool) or not text:
        return NOWHERE
    if isinstance(value, str) and column.type in DATED:
        return _best(list(_date_places(value, text, context)), str(value), text, near)
    if isinstance(value, str):
        return find(value, text, near, fuzzy=column.type is ColumnType.TEXT)
    return _best(list(_number_places(value, column, text, context)), str(value), text, near)


def without_its_mark(
    value: Amount, column: Column, text: str, context: Context = NO_CONTEXT
) -> Amount | None:
    """Returns the number that the text prints with the digits of a whole value and a decimal mark
    between them: 61.00 for the value 6100 and the text "61,00". None when there is no such number,
    or several.

    JSON has no decimal comma, so a small model leaves it out.
    """
    if value != int(value):
        return None
    digits = str(abs(int(value)))
    found = {
        reading.value
        for reading in all_readings(text, column, context)
        if "".join(filter(str.isdigit, text[reading.number.start : reading.number.end])) == digits
        and any(math.isclose(reading.value * factor, value) for factor in _MARKS)
    }
    return found.pop() if len(found) == 1 else None


_MARKS = (10, 100, 1000)


def _best(places: list[_Place], printed: str, text: str, near: Spans) -> Grounded:
    if not places:
        return NOWHERE
    least = min(rank for rank, _, _ in places)
    spans = sorted({(start, end) for rank, start, end in places if rank == least})
    found = chosen(Grounding.NORMALIZED, spans, near)
    exact = text[found.start : found.end] == printed
    return Grounded(
        Grounding.EXACT if exact else Grounding.NORMALIZED, found.start, found.end, found.count
    )


def _number_places(value: Amount, column: Column, text: str, context: Context) -> Iterator[_Place]:
    expected = settled(column)
    dates = dates_in(text, day_first=context.day_first, language=context.language)
    dated = [(date.start, date.end) for date in dates if date.month is not None]
    for reading in all_readings(text, expected, context):
        if not same_number(value, reading):
            continue
        number = reading.number
        inside = any(start <= number.start < end for start, end in dated)
        wanted = bool((expected.currency and number.currency) or unit_fits(number, text, expected))
        fits = wanted or (number.plain and not reading.mismatch)
        yield 4 * inside + 2 * (not fits) + (not wanted), number.start, number.end


def _date_places(value: str, text: str, context: Context) -> Iterator[_Place]:
    day, _, time = value.replace("T", " ").partition(" ")
    for date in dates_in(text, day_first=context.day_first, language=context.language):
        if day in date_forms(date):
            rank = (date.iso != day) + 2 * bool(time and date.time and date.time != time)
            yield rank, date.start, date.end
    for start, end, month, number in yearless_in(text, context.language):
        if day[5:] == f"{month:02d}-{number:02d}":
            yield 4, start, end
