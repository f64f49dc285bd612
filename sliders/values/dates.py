"""Dates as they are printed, read without inventing a part: no relative dates, no
missing days filled in.

Numeric dates with dots are day first. With slashes or hyphens a part above 12 settles the order;
where both readings are possible the caller's `day_first` decides (`infer_day_first` reads it from
the document's other dates), and without it the date is ambiguous and does not parse. Two-digit
years up to `PIVOT` are 20xx, above it 19xx.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from functools import cache, lru_cache

from sliders.sentences import Sentences
from sliders.values.cldr import letter_by_letter, month_pattern, months
from sliders.values.han import value_of
from sliders.values.scripts import WORD, plain_digits
from sliders.values.vocabulary import DAYS

say = Sentences("values")

PIVOT = 49


@dataclass(frozen=True, slots=True)
class PrintedDate:
    """A date at characters `start` to `end` (exclusive) of a text; `month` and `day` are None when
    they are not printed.

    `time` is "HH:MM:SS" or "". `ambiguous` marks a numeric date whose day and month could be
    swapped; its parts then hold the day-first reading.
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
        """True when year, month and day are printed."""
        return self.day is not None

    @property
    def iso(self) -> str:
        """ISO 8601 with as many parts as are printed: "1999-10-25", "1999-10" or "1999"."""
        parts = [
            f"{self.year:04d}",
            *(f"{part:02d}" for part in (self.month, self.day) if part is not None),
        ]
        return "-".join(parts)


_GAP = r"[\s.,/-]*(?:\b(?:of|de|del|d')\s+)?"
_DAY = r"(?P<day>[0-3]?\d)(?:\s?(?:st|nd|rd|th|er|[ºª]|[oa](?=\s)|\.|-(?:го|е|ое|й)\b))?"
_DAY_OR_WORD = (
    rf"(?:{_DAY}|(?P<spelled>{'|'.join(sorted(DAYS, key=len, reverse=True)).replace('-', '[- ]')}))"
)
"""Days in words that need a year behind them: "the second may" names no day."""
_TIME = (
    r"(?:(?:,|\s|t|at|um|-)*(?<!\d)(?P<hour>[0-2]?\d):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.\d+)?)?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?(?:\s?(?:z\b|utc\b|uhr\b|[+-]\d\d:?\d\d))?)?"
)


_SHORT_YEAR = r"['’]\d\d|\d\d(?!\s+[a-z]{3})"
_ENDED = rf"(?![{WORD}\u0600-\u06ff\u0900-\u097f])"
"""Behind a month or a year: no further letter of the word; a script without blanks has none."""
_YEAR_MARK = r"(?:\s?(?:г\b\.?|года?\b|r\b\.?|roku\b|م(?!\w)))?"
_HAN = "〇零○一二三四五六七八九十元"
_ERAS = {
    "令和": 2018,
    "平成": 1988,
    "昭和": 1925,
    "大正": 1911,
    "明治": 1867,
    "民国": 1911,
    "民國": 1911,
}
_HAN_YEAR = rf"(?:(?P<era>{'|'.join(_ERAS)})\s?)?(?P<year>\d{{1,4}}|[{_HAN}]{{1,4}})\s?[年년]"
_HAN_MONTH = rf"\s?(?P<month>\d{{1,2}}|[{_HAN}]{{1,3}})\s?[月월]"
_HAN_DAY = rf"\s?(?P<day>\d{{1,2}}|[{_HAN}]{{1,3}})\s?[日号號일]"


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], ...]:
    """Full dates first, then months with a year, then bare years, with the names of months in every
    language that code reads.
    """
    month = month_pattern(language)
    named = (
        rf"{_DAY_OR_WORD}(?:\s+day)?{_GAP}(?P<month>{month}){_ENDED}{_GAP}(?P<year>\d{{4}}|{_SHORT_YEAR}){_TIME}",
        rf"(?P<month>{month}){_ENDED}[\s.-]*(?:the\s+)?{_DAY_OR_WORD}(?:,\s?|\s+(?:of\s+)?|-)(?P<year>\d{{4}}|['’]\d\d){_TIME}",
        rf"(?P<year>\d{{4}})[\s,-]+(?P<month>{month})[\s.-]+(?P<day>[0-3]?\d)(?:st|nd|rd|th)?{_TIME}",
    )
    figures = (
        r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})" + _TIME,
        r"(?P<first>\d{1,2})(?P<sep>\s?[-/.]\s?)(?P<middle>\d{1,2})(?P=sep)(?P<year>\d{4}|\d\d)"
        + _TIME,
    )
    rest = (
        rf"(?P<month>{month}){_ENDED}{_GAP}(?P<year>\d{{4}}|['’]\d\d)",
        r"(?P<year>[12]\d{3})[-/](?P<month>0?[1-9]|1[0-2])",
        r"(?P<month>0?[1-9]|1[0-2])[/.](?P<year>[12]\d{3})",
    )
    packed = rf"(?P<year>(?:19|20)\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d){_TIME}"
    # behind a month's name a hyphen joins two dates: "1841-29 May 1918"
    joined, apart = rf"(?<![{WORD}])(?<!\d[./])", rf"(?<![{WORD}])(?<!\d[./-])"
    ends, ends_apart = rf"(?![{WORD}])(?![./]\d)", rf"(?![{WORD}])(?![./-]\d)"
    ordered = (
        *((apart, pattern, ends_apart) for pattern in figures),
        *((joined, pattern, ends) for pattern in named),
        (apart, packed, ends_apart),
        *(
            (rf"(?<![{WORD}{_HAN}])", han, "")
            for han in (_HAN_YEAR + _HAN_MONTH + _HAN_DAY + _TIME, _HAN_YEAR + _HAN_MONTH)
        ),
        (joined, rest[0], ends),
        *((apart, pattern, ends_apart) for pattern in rest[1:]),
        (rf"(?<![{WORD}{_HAN}])", _HAN_YEAR, ""),
        (apart, r"(?P<year>[12]\d{3})", ends_apart),
    )
    return tuple(
        re.compile(f"{before}{pattern}{after}", re.IGNORECASE) for before, pattern, after in ordered
    )


_FIGURE = re.compile(r"\d|[〇零○一二三四五六七八九十元]\s?年")


@lru_cache(maxsize=4096)
def dates_in(
    text: str, *, day_first: bool | None = None, language: str = ""
) -> tuple[PrintedDate, ...]:
    """Returns every calendar date of `text` in order. Full dates are found first, then months with
    a year, then bare years in the rest.

    Args:
        text: any text in the languages of `cldr.LANGUAGES`.
        day_first: the document's order of numeric dates where it is known.
        language: its language where that is known: short names of months that are words elsewhere
            count in it.
    """
    folded = letter_by_letter(plain_digits(text))
    found: list[PrintedDate] = []
    if not _FIGURE.search(folded):
        return ()
    for pattern in _patterns(language):
        for match in pattern.finditer(folded):
            if any(match.start() < other.end and other.start < match.end() for other in found):
                continue
            date = _date(match, text, day_first, language)
            if date is not None:
                found.append(date)
    return tuple(sorted(found, key=lambda date: date.start))


@cache
def _yearless(language: str) -> tuple[re.Pattern[str], ...]:
    month = month_pattern(language)
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"(?<![{WORD}])(?<!\d[./-]){_DAY}{_GAP}(?P<month>{month}){_ENDED}",
            rf"(?<![{WORD}])(?P<month>{month}){_ENDED}[\s.-]*{_DAY}(?![{WORD}])(?![.,:/]\d)",
            rf"(?<![{WORD}{_HAN}]){_HAN_MONTH}{_HAN_DAY}",
        )
    )


@lru_cache(maxsize=1024)
def yearless_in(text: str, language: str = "") -> tuple[tuple[int, int, int, int], ...]:
    """Returns (start, end, month, day) for each day that `text` prints without a year ("March 3",
    "4月1日"), in order.
    """
    folded = letter_by_letter(plain_digits(text))
    dated = [date for date in dates_in(text, language=language) if date.full]
    found = [
        (
            match.start(),
            match.start() + len(match[0].rstrip(".")),
            _month(match["month"], language),
            _figure(match["day"]),
        )
        for pattern in _yearless(language)
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
    found = (
        _time(match)
        for match in _CLOCK.finditer(plain_digits(text))
        if match["minute"] or match["half"]
    )
    return frozenset(time for time in found if time)


def _figure(printed: str) -> int:
    """The number of digits or numerals; 元 is the first year of an era, 二〇二四 is read digit by
    digit.
    """
    return (
        int(printed) if printed.isdigit() else 1 if printed == "元" else int(value_of(printed)[0])
    )


def _year(printed: str, era: str | None = None) -> int | None:
    digits = printed.lstrip("'’")
    figure = _figure(digits)
    if era:
        return _ERAS[era] + figure
    if len(digits) == 4:
        return figure
    if len(digits) == 2 and digits.isdigit():
        return figure + (2000 if figure <= PIVOT else 1900)
    return None


def _day(digits: str | None, spelled: str | None) -> int | None:
    return (
        DAYS[spelled.lower().replace(" ", "-")] if spelled else _figure(digits) if digits else None
    )


def _valid(year: int, month: int, day: int) -> bool:
    return year > 0 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]


def _month(printed: str, language: str) -> int:
    if printed[0].isdigit() or printed[0] in _HAN:
        return _figure(printed)
    return months(language)[printed.lower()]


def _date(
    match: re.Match[str], text: str, day_first: bool | None, language: str
) -> PrintedDate | None:
    parts = match.groupdict()
    printed = text[match.start() : match.end()]
    if "first" in parts:
        return _numeric(match, printed, day_first)
    year = _year(parts["year"], parts.get("era"))
    month = _month(parts["month"], language) if "month" in parts else None
    day = _day(parts.get("day"), parts.get("spelled"))
    if year is None or not _valid(year, 1 if month is None else month, 1 if day is None else day):
        return None
    return PrintedDate(*match.span(), printed, year, month, day, _time(match))


def _numeric(match: re.Match[str], printed: str, day_first: bool | None) -> PrintedDate | None:
    first, second, year = int(match["first"]), int(match["middle"]), _year(match["year"]) or 0
    dots = "." in match["sep"]
    readings = [(first, second)] if _valid(year, second, first) else []
    if _valid(year, first, second) and not (dots and readings):
        readings.append((second, first))
    if not readings:
        swapped = (_year(match["first"].zfill(2)) or 0, second, int(match["year"]))
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
    """Returns the order of numeric dates in a document: True for day first, None when no date shows
    it or dates disagree.
    """
    orders = {
        int(match[1]) > 12
        for match in _NUMERIC.finditer(plain_digits(text))
        if min(parts := (int(match[1]), int(match[3]))) > 0 and min(parts) <= 12 < max(parts)
    }
    return orders.pop() if len(orders) == 1 else None


_UNSURE_BEFORE = re.compile(
    r"(?:\b(?:c|ca|circa|about|around|approximately|approx|probably|possibly|before|after|prior to|"
    r"early|mid|late|fl)\b\.?|[~?<>])\s*(?:in\s+|the\s+)?[-]?$",
    re.IGNORECASE,
)
_UNSURE_AFTER = re.compile(
    r"\s*(?:\?|\(?\s*(?:julian|o\.?\s?s\b|old style)|bc\b|b\.c|bce\b|s\b)", re.IGNORECASE
)
_RANGE_BEFORE = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th|\.)?\s*(?:[-–—/&]|\band\b|\bto\b|\bund\b|\bet\b|\by\b)\s*$",
    re.IGNORECASE,
)


def unsure(date: PrintedDate, text: str) -> str:
    """Returns why the words around a date make it uncertain ("c.", "before", "Julian", "3-5
    March"); "" when nothing does.
    """
    before, after = text[max(0, date.start - 24) : date.start], text[date.end : date.end + 14]
    if match := _UNSURE_BEFORE.search(before):
        return say("uncertain_date", mark=match[0].strip(), text=date.text)
    if match := _UNSURE_AFTER.match(after):
        return say("uncertain_date", mark=match[0].strip(), text=date.text)
    if date.full and _RANGE_BEFORE.search(before) and re.match(r"\d", date.text):
        return say("range_of_days", text=text.strip())
    return ""
