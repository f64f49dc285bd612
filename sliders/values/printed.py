"""How a printed table value looks: numbers with their marks, dashes, years, units noted in brackets."""

from __future__ import annotations

import re
from functools import lru_cache

_VALUE = re.compile(
    r"""(?:
        [(\[]? \s? [-−–+±<>~≤≥]? \s? (?:[A-Z]{0,3}[$€£¥₹]|USD|EUR|GBP|CHF)? \s? [(\[]? [-−–+]? \s?
        \d(?:[\d,.'’]*[\d.])? (?:\s?[%‰x])? \s? [)\]]* \s? %?
        (?:\s?(?:million|billion|thousand|bn|mn|bps|pp|pts?))? (?:\s?\((?:\d{1,2}|[a-z])\))* \*{0,3}
      | (?:[A-Z]{0,3}[$€£¥₹]|USD|EUR|GBP|CHF)? \s? [-–—−]{1,3} \s? %?
      | N/?[AM] | n/?[am]\.? | \*{1,3} | (?:19|20)\d\d[-–/](?:\d\d){1,2}
    )""",
    re.VERBOSE,
)
_YEAR = re.compile(r"(?:FY\s?)?(?:19|20)\d\d\s?(?:(?:\([a-z0-9]\))+|\*|[AEF])?")
_OPEN_MARK = re.compile(r"(?:[A-Z]{0,3}[$€£¥₹]|USD|EUR|GBP|CHF)?\s?[(\[]?[-−–]?")
_CLOSE_MARK = re.compile(r"[)\]]?\s?%?[)\]]?")
_AFTER_MARK = re.compile(r"(?<=[$€£¥₹(\[])\s+(?=[\d(\[.-])")
_BEFORE_MARK = re.compile(r"(?<=[\d)])\s+(?=[)\]%])")
_SCALE_WORD = r"\b(?:millions?|thousands?|billions?|per[ -]share|percent(?:ages?)?|000s?)\b"
_NOTE = re.compile(
    rf"""\W{{0,3}}(?:
        \( [^()]{{0,140}} {_SCALE_WORD} .{{0,80}}
      | (?:all\s)?(?:amounts|dollars|shares|figures|values|in|expressed|stated|us\s?\$|\$|€|£)
        .{{0,40}}{_SCALE_WORD}.{{0,60}}
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_UNIT_END = re.compile(rf"\([^()]{{0,140}}{_SCALE_WORD}[^()]{{0,80}}\)[\s:.]*$", re.IGNORECASE)


def is_value(text: str) -> bool:
    """True when `text` is a number with its marks, a range of two, a dash, or another way to print a table value."""
    if not 0 < len(text) <= 40:
        return False
    low, dash, high = text.partition(" – ") if " – " in text else text.partition(" - ")
    return _matches_value(text) or (bool(dash) and _matches_value(low) and _matches_value(high))


@lru_cache(maxsize=16_384)
def _matches_value(text: str) -> bool:
    return _VALUE.fullmatch(text) is not None


def is_year(text: str) -> bool:
    """True for a bare calendar or fiscal year, as headers print it."""
    return len(text) <= 16 and _YEAR.fullmatch(text) is not None


def is_note(text: str) -> bool:
    """True for a line that gives the scale or unit of a table: "(in millions, except per share data)"."""
    return len(text) <= 200 and _NOTE.fullmatch(text.strip()) is not None


def unit_note(text: str) -> str:
    """The scale or unit in brackets at the end of a text: "The parts are as follows (in millions):"; "" if none."""
    found = _UNIT_END.search(text[-240:])
    return found[0].rstrip(" :.") if found else ""


def opens_value(text: str) -> bool:
    """True for a mark that belongs to the value at its right: "$", "(", "$(" ."""
    return bool(text) and len(text) <= 6 and _OPEN_MARK.fullmatch(text) is not None and text not in "-−–"


def closes_value(text: str) -> bool:
    """True for a mark that belongs to the value at its left: ")", "%", ")%"."""
    return bool(text) and len(text) <= 4 and _CLOSE_MARK.fullmatch(text) is not None


def tidy_value(text: str) -> str:
    """The text with white space collapsed and the marks of a number joined to it: "$ 5,363" -> "$5,363"."""
    text = " ".join(text.split())
    if len(text) > 60:
        return text
    return _BEFORE_MARK.sub("", _AFTER_MARK.sub("", text)) if is_value(text) else text
