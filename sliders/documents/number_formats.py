"""The text that a cell of a sheet shows: its value with the marks of its number format.

Digits that the format hides by rounding are kept.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|(?P<bracket>\[[^\]]*\])'
    r"|_.|\*.|(?P<digits>[0#?](?:[0#?,.]*[0#?.,])?)|(?P<other>.)"
)
_PLAIN = re.compile(r"[$€£¥%\s().+-]")
_FRACTION = re.compile(r"[#?]/[#?\d]|[Ee][+-]")


def formatted(value: Any, number_format: str) -> str:
    """A cell's value as the sheet shows it; dates and times in ISO form, nothing for empty."""
    if isinstance(value, datetime.timedelta):
        return _duration(value, number_format)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or number_format in ("General", "@", "")
        or value != value
        or abs(value) >= 1e15
    ):
        return printed(value)
    sections = _sections(number_format)
    section = sections[0]
    if value == 0 and len(sections) > 2:
        section = sections[2]
    if value < 0 and len(sections) > 1 and _words(sections[1]):
        section, value = sections[1], abs(value)
    bare = "".join(m["digits"] or m["other"] or "" for m in _TOKEN.finditer(section))
    if _FRACTION.search(bare) or not re.search("[0#?]", bare):
        return printed(value)
    return _shown(value, section)


def _sections(number_format: str) -> list[str]:
    """The formats of positive, negative and zero values."""
    return re.findall(r'(?:"[^"]*"|\\.|\[[^\]]*\]|[^;])+', number_format) or ["General"]


def _words(section: str) -> bool:
    return any(
        any(map(str.isalpha, match["quoted"] or match["escaped"] or ""))
        for match in _TOKEN.finditer(section)
    )


def _shown(value: float, section: str) -> str:
    """The number between the words and marks of its section of the format."""
    groups = [match["digits"] for match in _TOKEN.finditer(section) if match["digits"]]
    if len(groups) > 1:
        return _masked(value, section, groups)
    before, after, digits = "", "", ""
    percent = any(match["other"] == "%" for match in _TOKEN.finditer(section))
    for match in _TOKEN.finditer(section):
        words = match["quoted"] or match["escaped"] or match["currency"] or ""
        if match["other"] and _PLAIN.match(match["other"]):
            words = match["other"] if match["other"] not in "()" else ""
        if match["digits"]:
            digits = digits or match["digits"]
        elif digits:
            after += words
        else:
            before += words
    if digits == "" or digits.count(".") > 1:
        return printed(value)
    text = _digits(Decimal(repr(value)) * (100 if percent else 1), digits)
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    before = before.replace("-", "").replace("+", "")
    return " ".join(f"{sign}{before}{text}{after}".split()).replace("- ", "-")


def _masked(value: float, section: str, groups: list[str]) -> str:
    """A number whose digits are printed in groups, like a telephone number: 123-45-6789."""
    if value != int(value) or value < 0 or not all(re.fullmatch("[0#]+", g) for g in groups):
        return printed(value)
    digits = str(int(value)).rjust(sum(map(len, groups)), "0")
    ends = [len(digits) - sum(map(len, groups[n + 1 :])) for n in range(len(groups))]
    starts = [0, *ends[:-1]]
    pieces = iter(digits[a:b] for a, b in zip(starts, ends, strict=True))
    shown = ""
    for match in _TOKEN.finditer(section):
        shown += next(pieces) if match["digits"] else match["quoted"] or match["escaped"] or ""
        shown += match["other"] or ""
    return shown


def _digits(value: Decimal, digits: str) -> str:
    """The digits in groups, with at least as many before and behind the point as the format has."""
    whole = digits.rstrip(",")
    value = value.scaleb(-3 * (len(digits) - len(whole)))
    places = len(whole.partition(".")[2].replace("?", "").replace("#", ""))
    clean = round(value, 10).normalize()
    kept = max(places, -int(clean.as_tuple().exponent), 0)
    grouped = "," in whole.partition(".")[0]
    text = f"{abs(clean):,.{kept}f}" if grouped else f"{abs(clean):.{kept}f}"
    front, point, back = text.partition(".")
    least = whole.partition(".")[0].count("0")
    front = front if grouped else front.rjust(least, "0")
    return f"{'-' if clean < 0 else ''}{front}{point}{back}"


def _duration(value: datetime.timedelta, number_format: str) -> str:
    """Hours and minutes, also of more than a day."""
    seconds = round(value.total_seconds())
    sign, seconds = "-" if seconds < 0 else "", abs(seconds)
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    if "s" in number_format.lower() or rest:
        return f"{sign}{hours}:{minutes:02}:{rest:02}"
    return f"{sign}{hours}:{minutes:02}"


def printed(value: Any) -> str:
    """A value without its format: 5.0 as 5, dates in ISO form, nothing for empty."""
    if value is None or value != value:
        return ""
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else " ".join(str(value).split())
