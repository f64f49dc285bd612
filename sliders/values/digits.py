"""Runs of digits and separators: their value, and the decimal mark that a document shows.

How a single separator is read, in this order:

1. Both kinds occur: the last one is the decimal mark if it occurs once, the other one
   groups ("€1.234,56").
2. One kind, several times, all groups of three digits (or the Indian two):
   it groups ("2.556.697", "12,34,567").
3. Once, with other than three digits behind it, or with more than three or a leading zero before
   it: decimal ("141,3").
4. Once, with exactly three digits behind it: the document's decimal mark decides if it is
   known; otherwise a comma groups ("1,577"), and a dot groups only where a whole number
   is wanted ("22.268").

Anything else ("1.2.3") is not a number.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from sliders.values.cldr import decimal_mark
from sliders.values.scripts import WORD, plain_digits

DecimalMark = Literal["", ".", ","]
Amount = int | float

BOTH_MARKS = ("es", "ar")
"""Languages in which some countries write a decimal point and others a comma."""
SPACES = "\u00a0\u2007\u2009\u202f"
"""Blanks that group digits."""
_ASCII_GROUPS = re.compile(rf"(?<![{WORD}.,])(\d{{1,3}})((?: \d{{3}})+)(?![\d ]\d|\d)")


def read_digits(digits: str, *, decimal: DecimalMark = "", whole: bool = False) -> Decimal | None:
    """The value of one run of digits and separators, None if it is no number;
    rules in the module's docstring.

    Args:
        digits: digits with dots, commas, spaces or apostrophes and nothing else.
        decimal: the document's decimal mark where it is known.
        whole: whether a whole number is wanted.
    """
    digits = re.sub(rf"[\s{SPACES}'’]", "", digits)
    dots, commas = digits.count("."), digits.count(",")
    if not dots and not commas:
        return Decimal(digits)
    if dots and commas:
        mark = "." if digits.rfind(".") > digits.rfind(",") else ","
        head, _, tail = digits.rpartition(mark)
        other = "," if mark == "." else "."
        if mark not in head and _grouped(head, other):
            return Decimal(f"{head.replace(other, '')}.{tail}")
        return None
    mark = "." if dots else ","
    if dots + commas > 1:
        return Decimal(digits.replace(mark, "")) if _grouped(digits, mark) else None
    head, _, tail = digits.partition(mark)
    if (
        len(tail) == 3
        and 1 <= len(head) <= 3
        and head[0] != "0"
        and _groups_once(mark, decimal, whole)
    ):
        return Decimal(head + tail)
    return Decimal(f"{head or '0'}.{tail}")


def _groups_once(mark: str, decimal: DecimalMark, whole: bool) -> bool:
    return whole or (decimal != mark if decimal else mark == ",")


def _grouped(digits: str, mark: str) -> bool:
    if digits.startswith("0") and len(digits) > 1:
        return False
    separator = re.escape(mark)
    thousands = rf"\d{{1,3}}(?:{separator}\d{{3}})+"
    indian = r"|\d{1,2}(?:,\d{2})+,\d{3}" if mark == "," else ""
    return re.fullmatch(thousands + indian, digits) is not None


def amount(value: Decimal) -> Amount:
    """Returns an int when the value is whole, else a float."""
    return int(value) if value == value.to_integral_value() else float(value)


def usual_mark(language: str) -> DecimalMark:
    """The decimal mark of a language, "" where its countries differ or it is not known."""
    mark = decimal_mark(language) if language else ""
    return "." if mark == "." else "," if mark == "," else ""


def join_space_groups(text: str) -> str:
    """Replaces the plain spaces that group digits by no-break spaces; same length.
    "1 234,5" becomes one number.

    Only for a text that is known to print one value: in running text and flattened tables "118
    573" is two numbers.
    """
    return _ASCII_GROUPS.sub(lambda match: match[0].replace(" ", "\u00a0"), text)


_FACE = re.compile(r"\d+(?:[.,]\d+)*")


def faces_in(text: str, decimal: DecimalMark = "") -> list[float]:
    """Returns the numbers of a text as their digits stand, without scale, unit or date; a number
    without a known decimal mark in both readings.
    """
    found: list[float] = []
    marks: tuple[DecimalMark, ...] = (decimal,) if decimal else (".", ",")
    for digits in _FACE.findall(plain_digits(text)):
        read = (read_digits(digits, decimal=mark) for mark in marks)
        found += dict.fromkeys(float(value) for value in read if value is not None)
    return found


_SEPARATED = re.compile(rf"(?<![{WORD}.,/:-])\d+(?:[.,]\d+)+(?![{WORD}/:-]|[.,]\d)")


def infer_decimal(text: str, least: int = 2) -> DecimalMark:
    """The decimal mark that the numbers of a document show, "" if they show none or both.

    A comma must show itself in a grouped number ("1.234,56", "2.556.697") or `least` times
    ("141,3"), for "1,2" may be a list.
    """
    shown = {".": 0, ",": 0}
    for match in _SEPARATED.finditer(plain_digits(text)):
        mark, weight = _shown_mark(match[0])
        shown[mark] += weight
    if all(shown.values()):
        return ""
    return "." if shown["."] else "," if shown[","] >= least else ""


def _shown_mark(digits: str) -> tuple[str, int]:
    """Returns the decimal mark that one printed number shows, and the weight of this evidence; 0
    for none.
    """
    separators = [char for char in digits if char in ".,"]
    if len(set(separators)) == 2:
        return separators[-1], 2 if separators.count(separators[-1]) == 1 else 0
    if len(separators) > 1:
        return ("," if separators[0] == "." else "."), 2 if _grouped(digits, separators[0]) else 0
    head, _, tail = digits.partition(separators[0])
    return separators[0], 0 if len(tail) == 3 and head[0] != "0" else 1
