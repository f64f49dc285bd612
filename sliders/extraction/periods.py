"""The period that a printed header names: "Years Ended December 3, 2021", "52 Weeks Ended August 30, 2020", "FY2019"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sliders.extraction.dates import dates_in

_YEAR = re.compile(r"(?<![\d.,/-])(?:19|20)\d\d(?![\d,/])")
_FISCAL_YEAR = re.compile(r"\b(?:fiscal|financial|FY)\s?(?:year\s)?'?((?:19|20)\d\d)\b", re.IGNORECASE)
_QUARTER = re.compile(r"\b(?:q[1-4]|(?:first|second|third|fourth|1st|2nd|3rd|4th) quarter|quarters?|half|h[12])\b", re.IGNORECASE)
_SPAN = re.compile(r"\b(three|six|nine|twelve|3|6|9|12|13|14|26|27|39|40|52|53)[\s-]*(months?|weeks?)\b", re.IGNORECASE)
_SPOKEN = {"three": 3, "six": 6, "nine": 9, "twelve": 12}
_FILLERS = re.compile(
    r"\b(?:for|the|fiscal|financial|calendar|years?|annual|months?|weeks?|periods?|quarters?|ended|ending|as|of|at|on|and|fy|"
    r"restated|unaudited|audited|actual|note|notes|usd|million|millions|thousands?|in|us|three|six|nine|twelve|first|second|"
    r"third|fourth|half|q[1-4]|h[12]|st|nd|rd|th)\b|\([^()]{0,40}\)|[^\w]|\b\d{1,2}\b",
    re.IGNORECASE,
)
_FIRST_DAYS = 7


@dataclass(frozen=True, slots=True)
class Period:
    """A period of time as a header prints it.

    `year` is the fiscal year; `months` its length, 12 where only a year is printed, 0 for a day ("as of June 30, 2020");
    `end` the last day as ISO text, "" where it is not printed; `start` and `stop` are the characters of the year's four
    digits in the header, and `words` the characters that state the date.
    """

    year: int
    months: int
    end: str = ""
    start: int = 0
    stop: int = 0
    words: tuple[int, int] = (0, 0)

    @property
    def annual(self) -> bool:
        """Whether it is a year, or the day on which one ends."""
        return self.months in (0, 12)


def read_period(header: str) -> Period | None:
    """The period that a header is, None where the header says something else or something more.

    A year that ends in the first days of January is the year before: 52-week years are counted so.

    >>> read_period("Year Ended December 31, 2021").year, read_period("Change in 2021")
    (2021, None)
    """
    text = " ".join(header.split())
    if not 4 <= len(text) <= 90:
        return None
    dates = [date for date in dates_in(text) if date.full]
    if len({date.iso for date in dates}) > 1:
        return None
    fiscal = _FISCAL_YEAR.search(text)
    if dates:
        rest = text[: dates[0].start] + " " + text[dates[0].end :]
        rest = _YEAR.sub(" ", rest)
        place = _place_of_year(header, dates[0].iso[:4])
        year = int(fiscal[1]) if fiscal else _fiscal_year(dates[0].iso)
        end, words = dates[0].iso, _place_of(header, dates[0].text)
    else:
        years = [int(m.group()) for m in _YEAR.finditer(text)]
        years = [int(m.group(1)) for m in _FISCAL_YEAR.finditer(text)] or years
        if len(set(years)) != 1:
            return None
        rest = re.sub(r"\bFY\s?'?", " ", _YEAR.sub(" ", re.sub(r"\bFY(?=\d)", "", text, flags=re.IGNORECASE)))
        year, end = years[0], ""
        place = words = _place_of_year(header, str(year))
        rest = _MONTHS.sub(" ", rest)
    if _FILLERS.sub("", rest).strip("_ "):
        return None
    return Period(year, _months(text, bool(dates)), end, *place, words)


_MONTHS = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?(?:\s\d{1,2}\b)?,?", re.IGNORECASE)


def _months(text: str, dated: bool) -> int:
    if found := _SPAN.search(text):
        number = _SPOKEN.get(found[1].lower()) or int(found[1])
        return number if found[2].lower().startswith("month") else round(number * 12 / 52)
    if _QUARTER.search(text):
        return 3
    if not dated or re.search(r"\byears?\b|\bfiscal\b|\bannual\b", text, re.IGNORECASE):
        return 12
    return 0


def _fiscal_year(iso: str) -> int:
    year, month, day = (int(part) for part in iso.split("-"))
    return year - 1 if month == 1 and day <= _FIRST_DAYS else year


def _place_of_year(header: str, year: str) -> tuple[int, int]:
    return _place_of(header, year)


def _place_of(header: str, words: str) -> tuple[int, int]:
    pattern = r"\s+".join(re.escape(part) for part in words.split())
    found = list(re.finditer(pattern, header))
    return found[-1].span() if found else (0, len(header))


_ENDED = re.compile(
    r"\b(?:fiscal|financial)?\s*(year|quarter|quarterly period|period)s?\s+(?:ended|ending|ends)\s*:?\s*", re.IGNORECASE
)


def stated_period(text: str) -> tuple[Period, int, int] | None:
    """The period that a document says it covers ("For the fiscal year ended August 30, 2020"), and where it stands.

    Returns the period, whose places count from the third value, and the start and end of the date's characters; None
    where no year or quarter is said to end on a full date.
    """
    for match in _ENDED.finditer(text):
        window = text[match.end() : match.end() + 40]
        date = next((d for d in dates_in(window) if d.full and d.start <= 2), None)
        if date is None:
            continue
        months = 12 if match[1].lower() == "year" else 3 if match[1].lower().startswith("quarter") else 0
        at = match.end()
        place = _place_of(window[: date.end], date.iso[:4])
        period = Period(_fiscal_year(date.iso), months, date.iso, at + place[0], at + place[1], (at + date.start, at + date.end))
        return period, at + date.start, at + date.end
    return None
