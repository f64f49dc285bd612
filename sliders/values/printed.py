"""The look of printed table values: numbers with their marks, dashes, years."""

from __future__ import annotations

import re
from functools import lru_cache

from sliders.values.scripts import plain_digits

_VALUE = re.compile(
    r"""(?:
        [(\[]? \s? [-−–+±<>~≤≥]? \s? (?:[A-Z]{0,3}[$€£¥₹]|USD|EUR|GBP|CHF)? \s? [(\[]? [-−–+]? \s?
        \d(?:[\d,.'’]*[\d.])? (?:\^-?[\d,]{1,7}|\[\^?\d{1,2}\]|[⁻⁰¹²³⁴-⁹]{1,3})?
        (?:\s?[%‰x])? \s? [)\]]* \s? %? (?:\^[\d,]{1,5}|[¹²³⁴-⁹]{1,2})?
        (?:\s?(?:million|billion|thousand|bn|mn|bps|pp|pts?|mln|mld|mrd|mio|млн|млрд|тыс)\.?
          |[百千]?[万亿億만억][元円원]?|[元円원])? (?:\s?\((?:\d{1,2}|[a-z])\))* \*{0,3}
      | (?:[A-Z]{0,3}[$€£¥₹]|USD|EUR|GBP|CHF)? \s? [-–—−]{1,3} \s? %?
      | N/?[AM] | n/?[am]\.? | \*{1,3} | (?:19|20)\d\d[-–/](?:\d\d){1,2}
    )""",
    re.VERBOSE,
)
_YEAR = re.compile(
    r"(?:FY\s?)?(?:19|20)\d\d\s?(?:(?:\([a-z0-9]\))+|\*|[AEF]|\^\d{1,2}|年度?|년도?|года?|г\.?)?"
)
_OPEN_MARK = re.compile(r"(?:[A-Z]{0,3}[$€£¥₹]|USD|EUR|GBP|CHF)?\s?[(\[]?[-−–]?")
_CLOSE_MARK = re.compile(r"[)\]]?\s?%?[)\]]?")
_AFTER_MARK = re.compile(r"(?<=[$€£¥₹(\[])\s+(?=[\d(\[.-])")
_BEFORE_MARK = re.compile(r"(?<=[\d)])\s+(?=[)\]%])")


def is_value(text: str) -> bool:
    """True when `text` is a number with its marks, a range of two, a dash, or another way to
    print a table value.
    """
    if not 0 < len(text) <= 40:
        return False
    low, dash, high = text.partition(" – ") if " – " in text else text.partition(" - ")
    return _matches_value(text) or (bool(dash) and _matches_value(low) and _matches_value(high))


@lru_cache(maxsize=16_384)
def _matches_value(text: str) -> bool:
    return _VALUE.fullmatch(plain_digits(text)) is not None


def is_year(text: str) -> bool:
    """True for a bare calendar or fiscal year, as headers print it."""
    return len(text) <= 16 and _YEAR.fullmatch(plain_digits(text)) is not None


def opens_value(text: str) -> bool:
    """True for a mark that belongs to the value at its right: "$", "(", "$(" ."""
    return (
        bool(text)
        and len(text) <= 6
        and _OPEN_MARK.fullmatch(text) is not None
        and text not in "-−–"
    )


def closes_value(text: str) -> bool:
    """True for a mark that belongs to the value at its left: ")", "%", ")%"."""
    return bool(text) and len(text) <= 4 and _CLOSE_MARK.fullmatch(text) is not None


def tidy_value(text: str) -> str:
    """The text with white space collapsed and the marks of a number joined to it:
    "$ 5,363" -> "$5,363".
    """
    text = " ".join(text.split())
    if len(text) > 60:
        return text
    return _BEFORE_MARK.sub("", _AFTER_MARK.sub("", text)) if is_value(text) else text
