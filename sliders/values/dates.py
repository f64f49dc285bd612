"""Dates as they are printed, read without inventing a part: no relative dates, no missing days filled in.

Numeric dates with dots are day first. With slashes or hyphens a part above 12 settles the order; where both readings
are possible the caller's `day_first` decides (`infer_day_first` reads it from the document's other dates), and without
it the date is ambiguous and does not parse. Two-digit years up to `PIVOT` are 20xx, above it 19xx.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from functools import lru_cache

from sliders.values.fold import unaccented
from sliders.values.vocabulary import DAYS, MONTHS

PIVOT = 49


@dataclass(frozen=True, slots=True)
class PrintedDate:
    """A date at characters `start` to `end` (exclusive) of a text; `month` or `day` None where they are not printed.

    `time` is "HH:MM:SS" or "". `ambiguous` marks a numeric date whose day and month could be swapped; its parts then
    hold the day-first reading.
    """

    start: int
    end: int
    text: str
    year: int
    month: int | None = None
    day: int | None = None
    time: str = ""
    ambiguous: bool = False

    @property
    def full(self) -> bool:
        """Whether year, month and day are printed."""
        return self.day is not None

    @property
    def iso(self) -> str:
        """ISO 8601 with as many parts as are printed: "1999-10-25", "1999-10" or "1999"."""
        parts = [f"{self.year:04d}", *(f"{part:02d}" for part in (self.month, self.day) if part is not None)]
        return "-".join(parts)


_MONTH = rf"(?:{'|'.join(sorted((name for name in MONTHS), key=len, reverse=True))})"
_GAP = r"[\s.,/-]*(?:\b(?:of|de|del|d')\s+)?"
_DAY = r"(?P<day>[0-3]?\d)(?:\s?(?:st|nd|rd|th|er|º|ª|\.))?"
_DAY_OR_WORD = rf"(?:{_DAY}|(?P<spelled>{'|'.join(sorted(DAYS, key=len, reverse=True)).replace('-', '[- ]')}))"
"""Days in words only where a year follows: "the second may" names no day."""
_TIME = (
    r"(?:(?:,|\s|t|at|um|-)*(?<!\d)(?P<hour>[0-2]?\d):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.\d+)?)?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?(?:\s?(?:z\b|utc\b|uhr\b|[+-]\d\d:?\d\d))?)?"
)


def _guarded(pattern: str) -> str:
    """Keeps dates off longer runs of digits; behind a month's name a hyphen joins two dates: "1841-29 May 1918"."""
    if _MONTH in pattern:
        return rf"(?<!\w)(?<!\d[./]){pattern}(?!\w)(?![./]\d)"
    return rf"(?<!\w)(?<!\d[./-]){pattern}(?!\w)(?![./-]\d)"


_SHORT_YEAR = r"['’]\d\d|\d\d(?!\s+[a-z]{3})"
_PATTERNS = tuple(
    re.compile(_guarded(pattern), re.IGNORECASE)
    for pattern in (
        rf"(?P<year>\d{{4}})(?P<sep>[-/.])(?P<month>\d{{1,2}})(?P=sep)(?P<day>\d{{1,2}}){_TIME}",
        r"(?P<first>\d{1,2})(?P<sep>\s?[-/.]\s?)(?P<middle>\d{1,2})(?P=sep)(?P<year>\d{4}|\d\d)" + _TIME,
        rf"{_DAY_OR_WORD}(?:\s+day)?{_GAP}(?P<month>{_MONTH})\b{_GAP}(?P<year>\d{{4}}|{_SHORT_YEAR}){_TIME}",
        rf"(?P<month>{_MONTH})\b[\s.-]*(?:the\s+)?{_DAY_OR_WORD}(?:,\s?|\s+(?:of\s+)?|-)(?P<year>\d{{4}}|['’]\d\d){_TIME}",
        rf"(?P<year>\d{{4}})[\s,-]+(?P<month>{_MONTH})[\s.-]+(?P<day>[0-3]?\d)(?:st|nd|rd|th)?{_TIME}",
        rf"(?P<year>(?:19|20)\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d){_TIME}",
        rf"(?P<month>{_MONTH})\b{_GAP}(?P<year>\d{{4}}|['’]\d\d)",
        r"(?P<year>[12]\d{3})[-/](?P<month>0?[1-9]|1[0-2])",
        r"(?P<month>0?[1-9]|1[0-2])[/.](?P<year>[12]\d{3})",
        r"(?P<year>[12]\d{3})",
    )
)
"""Full dates first, then months with a year, then bare years."""


def _fold_keeping_length(text: str) -> str:
    return "".join(folded if len(folded := unaccented(char)) == 1 else char for char in text)


@lru_cache(maxsize=4096)
def dates_in(text: str, *, day_first: bool | None = None) -> tuple[PrintedDate, ...]:
    """Every calendar date of `text` in order, full ones first claimed, then months with a year, then bare years.

    Args:
        text: any text in English, German, French or Spanish.
        day_first: the document's order of numeric dates where it is known.
    """
    folded = text if text.isascii() else _fold_keeping_length(text)
    found: list[PrintedDate] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(folded):
            if any(match.start() < other.end and other.start < match.end() for other in found):
                continue
            date = _date(match, text, day_first)
            if date is not None:
                found.append(date)
    return tuple(sorted(found, key=lambda date: date.start))


_YEARLESS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\w)(?<!\d[./-]){_DAY}{_GAP}(?P<month>{_MONTH})\b(?!\w)",
        rf"(?<!\w)(?P<month>{_MONTH})\b[\s.-]*{_DAY}(?!\w)(?![.,:/]\d)",
    )
)


@lru_cache(maxsize=1024)
def yearless_in(text: str) -> tuple[tuple[int, int, int, int], ...]:
    """(start, end, month, day) of the days that `text` prints without a year ("March 3"), in order."""
    folded = text if text.isascii() else _fold_keeping_length(text)
    dated = [date for date in dates_in(text) if date.full]
    found = [
        (match.start(), match.start() + len(match[0].rstrip(".")), MONTHS[match["month"].lower()], int(match["day"]))
        for pattern in _YEARLESS
        for match in pattern.finditer(folded)
        if not any(match.start() < date.end and date.start < match.end() for date in dated)
    ]
    return tuple(sorted(found))


_CLOCK = re.compile(
    r"(?<![\d:])(?P<hour>[0-2]?\d)(?::(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?)?(?:\s?(?P<half>[ap])\.?m\b)?(?![:\d])",
    re.IGNORECASE,
)


def times_in(text: str) -> frozenset[str]:
    """The clock times that `text` prints, as "HH:MM:SS"."""
    found = (_time(match) for match in _CLOCK.finditer(text) if match["minute"] or match["half"])
    return frozenset(time for time in found if time)


def _year(printed: str) -> int:
    digits = printed.lstrip("'’")
    if len(digits) == 4:
        return int(digits)
    return int(digits) + (2000 if int(digits) <= PIVOT else 1900)


def _day(digits: str | None, spelled: str | None) -> int | None:
    return DAYS[spelled.lower().replace(" ", "-")] if spelled else int(digits) if digits else None


def _valid(year: int, month: int, day: int) -> bool:
    return year > 0 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]


def _month(printed: str) -> int:
    return int(printed) if printed.isdigit() else MONTHS[printed.lower()]


def _date(match: re.Match[str], text: str, day_first: bool | None) -> PrintedDate | None:
    parts = match.groupdict()
    printed = text[match.start() : match.end()]
    if "first" in parts:
        return _numeric(match, printed, day_first)
    year = _year(parts["year"])
    month = _month(parts["month"]) if "month" in parts else None
    day = _day(parts.get("day"), parts.get("spelled"))
    if month is not None and day is not None and not _valid(year, month, day):
        return None
    return PrintedDate(*match.span(), printed, year, month, day, _time(match))


def _numeric(match: re.Match[str], printed: str, day_first: bool | None) -> PrintedDate | None:
    first, second, year = int(match["first"]), int(match["middle"]), _year(match["year"])
    dots = "." in match["sep"]
    readings = [(first, second)] if _valid(year, second, first) else []
    if _valid(year, first, second) and not (dots and readings):
        readings.append((second, first))
    if not readings:
        swapped = (_year(match["first"].zfill(2)), second, int(match["year"]))
        if len(match["first"]) == len(match["year"]) == 2 and _valid(*swapped):
            return PrintedDate(*match.span(), printed, *swapped, _time(match))
        return None
    ambiguous = len(set(readings)) > 1 and day_first is None
    day, month = readings[-1] if len(readings) > 1 and day_first is False else readings[0]
    return PrintedDate(*match.span(), printed, year, month, day, _time(match), ambiguous)


def _time(match: re.Match[str]) -> str:
    if match.groupdict().get("hour") is None:
        return ""
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        return ""
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02d}:{match['minute'] or '00'}:{match['second'] or '00'}" if hour < 24 else ""


_NUMERIC = re.compile(r"(?<![\d./-])(\d{1,2})([/-])(\d{1,2})\2(?:\d{4}|\d\d)(?![\d/-])")


def infer_day_first(text: str) -> bool | None:
    """The order that a document's numeric dates show: None if nothing shows it or if they disagree."""
    orders = {
        int(match[1]) > 12
        for match in _NUMERIC.finditer(text)
        if min(parts := (int(match[1]), int(match[3]))) > 0 and min(parts) <= 12 < max(parts)
    }
    return orders.pop() if len(orders) == 1 else None


_UNSURE_BEFORE = re.compile(
    r"(?:\b(?:c|ca|circa|about|around|approximately|approx|probably|possibly|before|after|prior to|early|mid|late|fl)\b"
    r"\.?|[~?<>])\s*(?:in\s+|the\s+)?[-]?$",
    re.IGNORECASE,
)
_UNSURE_AFTER = re.compile(r"\s*(?:\?|\(?\s*(?:julian|o\.?\s?s\b|old style)|bc\b|b\.c|bce\b|s\b)", re.IGNORECASE)
_RANGE_BEFORE = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th|\.)?\s*(?:[-–—/&]|\band\b|\bto\b|\bund\b|\bet\b|\by\b)\s*$", re.IGNORECASE
)


def unsure(date: PrintedDate, text: str) -> str:
    """Why the words around a date make it uncertain ("c.", "before", "Julian", "3-5 March"), "" where nothing does."""
    before, after = text[max(0, date.start - 24) : date.start], text[date.end : date.end + 14]
    if match := _UNSURE_BEFORE.search(before):
        return f"'{match[0].strip()}' makes {date.text!r} uncertain"
    if match := _UNSURE_AFTER.match(after):
        return f"'{match[0].strip()}' makes {date.text!r} uncertain"
    if date.full and _RANGE_BEFORE.search(before) and re.match(r"\d", date.text):
        return f"{text.strip()!r} is a range of days"
    return ""
