"""Printed words to typed values (contract 3): what does not parse says why, and nothing is guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from sliders.extraction.amounts import read_number
from sliders.extraction.cell import Absence, Scalar
from sliders.extraction.countries import country_in
from sliders.extraction.dates import PrintedDate, dates_in, infer_day_first, unsure
from sliders.extraction.lexicon import stem
from sliders.extraction.numbers import DecimalMark, infer_decimal
from sliders.extraction.scales import scale_in
from sliders.extraction.values import collapse, is_absent, read_boolean, read_enum
from sliders.schema.types import Column, ColumnType


@dataclass(frozen=True, slots=True)
class CoerceContext:
    """What the document shows about its printed values.

    `scale` is the canonical scale of the table ("thousands"), or `note` the header or caption that states it.
    `day_first` comes from `infer_day_first`, `decimal` from `infer_decimal`; None and "" mean unknown. `currency` is an
    ISO code that holds where no symbol is printed.
    """

    scale: str = ""
    note: str = ""
    currency: str = ""
    day_first: bool | None = None
    decimal: DecimalMark = ""
    order_of_others: bool = False
    """`day_first` is what the other documents of the collection show, this one does not."""

    @property
    def stated_scale(self) -> str:
        """The canonical scale that `scale` or `note` states, or ""."""
        return scale_in(self.scale) or scale_in(self.note)


@dataclass(frozen=True, slots=True)
class Coerced:
    """A typed value, or None with its `absence` and the reason in `detail`.

    `scale` and `currency` are those of the printed number; the value has the scale applied. `derived` says that the
    value is not printed as such ("both pilots" is 2), and `rationale` how it follows from the words.
    """

    value: Scalar = None
    unit: str = ""
    scale: str = ""
    currency: str = ""
    detail: str = ""
    derived: bool = False
    rationale: str = ""
    absence: Absence | None = None


_EMPTY = CoerceContext()


def context_of(text: str, *, note: str = "", scale: str = "", currency: str = "") -> CoerceContext:
    """The context that a document's own text shows: its order of numeric dates and its decimal mark.

    Args:
        text: the document's text, or a good part of it.
        note: the caption or header of the table that the values stand in.
        scale: the table's scale where it is known.
        currency: ISO code that holds where no symbol is printed.
    """
    order, mark = _shown_by(text)
    return CoerceContext(scale=scale, note=note, currency=currency, day_first=order, decimal=mark)


@lru_cache(maxsize=64)
def _shown_by(text: str) -> tuple[bool | None, DecimalMark]:
    return infer_day_first([text]), infer_decimal([text])


def coerce(printed: str, column: Column, *, context: CoerceContext | None = None) -> Coerced:
    """Reads printed words as the column's type. Never raises and never guesses.

    Dates come out as ISO 8601 text ("1999-10-25"), datetimes as "1999-10-25 18:22:00" (the form that SQLite's functions
    write; the date alone where no time is printed), both shortened to `column.date_format` where that asks for less.
    Whole numbers are `int`, other numbers `int` or `float`.

    Args:
        printed: the words as they stand on the page.
        column: type, unit, scale, currency, percent range and description decide how they are read.
        context: what is known about the document.
    """
    return _coerce(printed, column, context or _EMPTY)


@lru_cache(maxsize=8192)
def _coerce(printed: str, column: Column, context: CoerceContext) -> Coerced:
    words = collapse(printed)
    counting = column.type in (ColumnType.INTEGER, ColumnType.NUMBER)
    if is_absent(words) and not (counting and words.casefold().strip(" .") == "none"):
        return Coerced(
            absence=Absence.NOT_STATED, detail=f"{words!r} states no value" if words else "nothing is printed"
        )
    match column.type:
        case ColumnType.INTEGER | ColumnType.NUMBER:
            return _number(words, column, context)
        case ColumnType.DATE | ColumnType.DATETIME:
            return _date(words, column, context)
        case ColumnType.BOOLEAN:
            truth, reason = read_boolean(words, column.name, column.description)
            return _unparsed(reason) if truth is None else Coerced(truth)
        case ColumnType.CATEGORY if column.values:
            member, reason, derived = read_enum(words, column.values)
            rationale = f"{words!r} means {member!r}" if derived else ""
            return _unparsed(reason) if member is None else Coerced(member, derived=derived, rationale=rationale)
        case ColumnType.TEXT if country := country_in(words, column):
            return Coerced(country)
        case _:
            return Coerced(words)


def _unparsed(reason: str) -> Coerced:
    return Coerced(absence=Absence.NOT_PARSED, detail=reason)


def _number(words: str, column: Column, context: CoerceContext) -> Coerced:
    if column.type is ColumnType.INTEGER and (year := _year_of_date(words, column, context)):
        return year
    result = read_number(
        words, column, scale=context.stated_scale, currency=context.currency, decimal=context.decimal
    )  # fmt: skip
    if result.value is None:
        return _unparsed(result.reason)
    return Coerced(
        result.value,
        unit=result.unit,
        scale=result.scale,
        currency=result.currency,
        derived=result.derived,
        rationale=result.rationale,
    )


def _year_of_date(words: str, column: Column, context: CoerceContext) -> Coerced | None:
    """A column of years takes the year of a printed date; a fiscal year only where it ends with the calendar year."""
    parts = set(re.findall(r"[a-z]+", column.name.lower()))
    if "year" not in parts:
        return None
    dates = dates_in(words, day_first=context.day_first)
    if len(dates) != 1 or dates[0].month is None or unsure(dates[0], words):
        return None
    if parts & {"fiscal", "financial", "fy"} and dates[0].month != 12:
        return None
    return Coerced(dates[0].year, derived=True, rationale=f"year of {dates[0].text!r}")


def _date(words: str, column: Column, context: CoerceContext) -> Coerced:
    wanted = _format_parts(column.date_format)
    day_first = context.day_first if context.day_first is not None else _format_order(column.date_format)
    every = dates_in(words, day_first=day_first)
    usable = [date for date in every if len(date.iso.split("-")) >= wanted]
    if any(date.full for date in usable):
        usable = [date for date in usable if date.full]
    if not usable:
        partial = every[0] if every else None
        missing = {3: "no full date", 2: "no month and year"}.get(wanted, "no year")
        return _unparsed(
            f"{words!r} is not a date" if partial is None else f"{words!r} has {missing}, only {partial.text!r}"
        )
    date, rationale = usable[0], ""
    if len({(other.iso, other.time) for other in usable}) > 1:
        picked = _end_of_range(words, usable, column)
        if picked is None:
            return _unparsed(f"{words!r} holds {len(usable)} dates")
        date, rationale = picked
    if reason := unsure(date, words):
        return _unparsed(reason)
    if date.ambiguous and wanted > 1:
        return _unparsed(f"{date.text!r} may be day-month or month-day, and no other date of the document shows which")
    if context.order_of_others and wanted == _FULL and any(d.ambiguous for d in dates_in(date.text)):
        order = "day before month" if context.day_first else "month before day"
        rationale = rationale or f"{date.text!r} read {order}, as the other documents print dates"
    return replace(Coerced(_iso(date, column, wanted)), rationale=rationale)


_FULL = 3
"""Year, month and day."""


def _iso(date: PrintedDate, column: Column, wanted: int) -> str:
    if wanted < 3:
        return "-".join(date.iso.split("-")[:wanted])
    return f"{date.iso} {date.time}" if column.type is ColumnType.DATETIME and date.time else date.iso


def _format_parts(date_format: str) -> int:
    """How many of year, month and day a format asks for: "YYYY" 1, "YYYY-MM" 2, everything else 3."""
    letters = date_format.replace("%", "").lower()
    if not letters or "d" in letters or "y" not in letters:
        return 3
    return 2 if "m" in letters or "b" in letters else 1


def _format_order(date_format: str) -> bool | None:
    letters = [char for char in date_format.lower() if char in "dmy"]
    if not letters or "d" not in letters or "m" not in letters or letters[0] == "y":
        return None
    return letters.index("d") < letters.index("m")


_OPENING = frozenset(
    stem(word) for word in ("birth", "born", "start", "begin", "opening", "first", "from", "commencement")
)
_CLOSING = frozenset(
    stem(word) for word in ("death", "died", "end", "closing", "last", "until", "to", "expiry", "expiration")
)
_BETWEEN = re.compile(
    r"(?=.*(?:[-–—†]|\b(?:to|until|bis|through|died|d)\b))"
    r"(?:[\s,.;–—†-]|\b(?:in|at|near|on|de|la|du|born|died|d|to|until|bis|through)\b|[^\W\d_a-z][^\W\d_]*)+",
    re.DOTALL,
)
"""What may stand between the two dates of a lifetime or term: a dash or "to", and the names of places."""


def _end_of_range(words: str, dates: list[PrintedDate], column: Column) -> tuple[PrintedDate, str] | None:
    """The end of "A - B" that the column's name asks for: a birth or start is the first, a death or end the second."""
    if len(dates) != 2 or not _BETWEEN.fullmatch(words[dates[0].end : dates[1].start]):
        return None
    named = {stem(part) for part in re.findall(r"[a-z]+", column.name.lower())}
    if bool(named & _OPENING) == bool(named & _CLOSING):
        return None
    first = bool(named & _OPENING)
    return (dates[0] if first else dates[1]), f"{'first' if first else 'second'} date of the range {words!r}"
