"""Reads numbers, dates and yes/no out of what a system or a gold file prints, for comparison only.

It shares no code with `sliders.extraction`, so that a wrong parse there cannot hide
itself in the score.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

_MONTHS = {
    name: i
    for i, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ],
        start=1,
    )
    for name in names.split()
}
_MONTH = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_DATES = [
    (
        re.compile(
            r"\b(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|"
            r"[+-]\d\d:?\d\d)?)?(?!\d)"
        ),
        "ymd",
    ),
    (re.compile(rf"\b{_MONTH}\s+{_DAY}\s*,?\s+(\d{{4}})\b", re.I), "Mdy"),
    (re.compile(rf"\b{_DAY}\s+(?:day\s+of\s+|of\s+)?{_MONTH}\s*,?\s+(\d{{4}})\b", re.I), "dMy"),
    (re.compile(r"\b(\d{1,2})[/.](\d{1,2})[/.](\d{4})\b"), "??y"),
    (re.compile(rf"\b{_MONTH}\s*,?\s+(\d{{4}})\b", re.I), "My"),
]
_SCALES = {
    "thousand": 1e3,
    "million": 1e6,
    "mio": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
    "m": 1e6,
    "k": 1e3,
}
_NUMERAL = r"\d{1,3}(?:[,.'\u00a0\u202f ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?|\.\d+"
_NUMBER = re.compile(
    rf"(?<![\w.])(?P<open>\()?(?P<sign>[-+−–])?\s?(?P<cur>[$€£¥]|\b(?:USD|EUR|GBP|RM|US\$)\s?)?(?P<sign2>[-−])?"
    rf"(?P<num>{_NUMERAL})(?P<close>\))?\s?(?P<pct>%|percent\b|per cent\b)?"
    r"(?:\s?(?P<scale>thousand|million|mio|billion|bn|trillion)s?\b)?(?![\w])",
    re.I,
)
_SMALL = {
    w: i
    for i, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    w: 10 * i
    for i, w in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_WORD_NUMBER = re.compile(
    r"\b(?:(?:"
    + "|".join([*_TENS])
    + r")(?:[-\s](?:"
    + "|".join(w for w in _SMALL if 0 < _SMALL[w] < 10)
    + r"))?|"
    + "|".join(sorted(_SMALL, key=len, reverse=True))
    + r"|no one|none|nobody)\b",
    re.I,
)
_TRUE, _FALSE = {"yes", "true", "y", "t", "1"}, {"no", "false", "n", "f", "0"}
_NOT_FOUND = re.compile(
    r"^(unanswerable|not (?:found|stated|mentioned|available|specified|given|answerable)|no answer|"
    r"unknown|n/?a|cannot be (?:answered|determined)|no information)\b",
    re.I,
)


def is_blank(value: Any) -> bool:
    """Whether a value is empty: None, NaN, or a string without characters."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    if isinstance(value, str):
        return not value.strip()
    return type(value).__name__ in {"NAType", "NaTType"}


def normal_text(value: Any) -> str:
    """Text for equality: case folded, leading article and all punctuation and white space
    dropped, accents kept.

    A point or comma between two digits stays ("1.5" is not "15"), after thousands
    separators are removed.
    """
    text = unicodedata.normalize("NFKC", str(value)).casefold().strip()
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(?<=\d)[.,](?=\d)", "\x00", text)
    text = re.sub(r"^(the|a|an)\s+(?=\w)", "", text)
    text = re.sub(r"&", " and ", text)
    return "".join(
        c for c in text if c.isalnum() or c == "\x00" or unicodedata.category(c) in {"Mn", "Mc"}
    )


def words(text: str) -> list[str]:
    """Case-folded words of a text without punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.findall(r"\d+(?:[.,]\d+)*|[^\W\d_]+", folded)


def _numeral(text: str) -> float:
    """The value of digits with separators; the last separator is a decimal one unless its
    group has three digits.
    """
    text = re.sub(r"[\u00a0\u202f' ]", "", text)
    last = max(text.rfind(","), text.rfind("."))
    if last < 0:
        return float(text)
    both = "," in text and "." in text
    group = len(text) - last - 1
    thousands = group == 3 and not both and (text.count(",") >= 1 or text.count(".") > 1)
    if thousands:
        return float(re.sub("[,.]", "", text))
    return float((re.sub("[,.]", "", text[:last]) or "0") + "." + text[last + 1 :])


def _word_value(text: str) -> float:
    total = 0
    for word in re.split(r"[-\s]+", text.lower()):
        total += _TENS.get(word, _SMALL.get(word, 0))
    return float(total)


def _match_value(match: re.Match[str]) -> float:
    number = _numeral(match["num"])
    if match["scale"]:
        number *= _SCALES[match["scale"].lower()]
    negative = (
        match["sign"] in {"-", "−", "–"} or match["sign2"] or (match["open"] and match["close"])
    )
    return -number if negative else number


def parse_number(value: Any) -> float | None:
    """The number that the whole value is ("$1,577.00", "(12)", "30.8%", "six",
    "2 years"), else None.
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float) or hasattr(value, "item"):
        number = float(value)
        return None if math.isnan(number) else number
    if not isinstance(value, str):
        return None
    text = value.strip()
    match = _NUMBER.match(text)
    if match and (
        match.end() == len(text)
        or re.fullmatch(r"\.?|\s?[a-z°/²³]{1,12}\.?", text[match.end() :], re.I)
    ):
        return _match_value(match)
    match = _WORD_NUMBER.fullmatch(text)
    return _word_value(match[0]) if match else None


def numbers_in(text: str, spelled: bool = True) -> list[float]:
    """Every number that a text states, dates left out, in order;
    `spelled` includes number words.
    """
    for pattern, _ in _DATES:
        text = pattern.sub(" ; ", text)
    found = [(m.start(), _match_value(m)) for m in _NUMBER.finditer(text)]
    if spelled:
        found += [(m.start(), _word_value(m[0])) for m in _WORD_NUMBER.finditer(text)]
    return [number for _, number in sorted(found)]


def _iso(match: re.Match[str], order: str) -> str | None:
    if order == "My":
        return f"{int(match[2]):04d}-{_MONTHS[match[1].lower()]:02d}"
    parts = dict(zip(order, match.groups(), strict=True)) if order != "??y" else {}
    if order == "??y":
        first, second = int(match[1]), int(match[2])
        if (first > 12) == (second > 12) and first != second:  # day and month cannot be told apart
            return None
        day, month = (first, second) if first > 12 else (second, first)
        year = int(match[3])
    else:
        year, day = int(parts["y"]), int(parts["d"])
        month = int(parts["m"]) if "m" in parts else _MONTHS[parts["M"].lower()]
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def dates_in(text: str) -> list[str]:
    """Every unambiguous date of a text as ISO ("1999-10-25", or "1999-10"
    for a month), in order.
    """
    found: list[tuple[int, str]] = []
    for pattern, order in _DATES:
        for match in list(pattern.finditer(text)):
            iso = _iso(match, order)
            if iso:
                found.append((match.start(), iso))
        text = pattern.sub(lambda m: " " * len(m[0]), text)
    return [iso for _, iso in sorted(found)]


def parse_date(value: Any) -> str | None:
    """The ISO date that the whole value is, else None."""
    if isinstance(value, date):
        return value.isoformat()[:10]
    if not isinstance(value, str):
        return None
    text = value.strip().strip(".")
    for pattern, order in _DATES:
        match = pattern.fullmatch(text)
        if match:
            return _iso(match, order)
    return None


def parse_bool(value: Any) -> bool | None:
    """Yes or no: a boolean, 0 or 1 (as SQLite stores it), or a word or sentence that
    begins with yes or no.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) or hasattr(value, "item"):
        return {1.0: True, 0.0: False}.get(float(value))
    if not isinstance(value, str):
        return None
    text = value.strip().casefold().strip(".!")
    if text in _TRUE or re.match(r"yes\b", text):
        return True
    if text in _FALSE or re.match(r"no[,.;:!]", text):
        return False
    return None


def says_not_found(value: Any) -> bool:
    """Whether a value says that the documents do not hold the answer."""
    return is_blank(value) or (isinstance(value, str) and bool(_NOT_FOUND.match(value.strip())))


def close(a: float, b: float, tolerance: float = 0.0) -> bool:
    """Whether prediction `a` equals gold `b`: within `tolerance` of it relatively, or when
    rounded to b's decimals.
    """
    if math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9):
        return True
    if tolerance and abs(a - b) <= tolerance * abs(b) + 1e-12:
        return True
    printed = repr(float(b))
    if float(b).is_integer() or "e" in printed:
        return False
    decimals = len(printed.split(".")[1])
    return abs(a - b) <= 0.5 * 10**-decimals + 1e-9


def distinct(numbers: Iterable[float]) -> list[float]:
    """Numbers without those that were seen before."""
    return list(dict.fromkeys(numbers))


def quotes_found(quotes: Sequence[str], text: str) -> int:
    """How many quotes stand in the text word for word, white space aside."""
    flat = " ".join(text.split())
    return sum(bool(q.strip()) and " ".join(q.split()) in flat for q in quotes)


def token_f1(gold: str, value: str) -> float:
    """F1 of shared words (as SQuAD and Qasper count), articles left out."""
    articles = {"a", "an", "the"}
    wanted = Counter(w for w in words(gold) if w not in articles)
    given = Counter(w for w in words(value) if w not in articles)
    shared = sum((wanted & given).values())
    if not shared:
        return 0.0
    precision, recall = shared / sum(given.values()), shared / sum(wanted.values())
    return 2 * precision * recall / (precision + recall)
