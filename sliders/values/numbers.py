"""Numbers as they are printed: separators, signs, scales, currencies, percents, fractions and English number words.

How a single separator is read, in this order:

1. Both kinds occur: the last one is the decimal mark if it occurs once, the other one groups ("€1.234,56").
2. One kind, several times, all groups of three digits (or the Indian two): it groups ("2.556.697", "12,34,567").
3. Once, with other than three digits behind it, or with more than three or a leading zero before it: decimal ("141,3").
4. Once, with exactly three digits behind it: the document's decimal mark decides if it is known; otherwise a comma
   groups ("1,577"), and a dot groups only where a whole number is wanted ("22.268").

Anything else ("1.2.3") is not a number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from sliders.values.spelled import Spelled, choice, spelled_in
from sliders.values.units import touching, unit_after
from sliders.values.vocabulary import CURRENCY_CODES, CURRENCY_NAMES, CURRENCY_SYMBOLS, SCALE_WORDS, SCALES, SPELLED_SCALES

DecimalMark = Literal["", ".", ","]
Amount = int | float


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a text: characters `start` to `end` (exclusive) with sign, currency, scale word and percent sign.

    `value` has its own scale word applied ("1.2bn" is 1200000000) and no percent ("12%" is 12). `scale` is that word's
    canonical name, `unit` the known unit behind it, outside the span. `attached` means that it modifies a word
    ("7-day"), `ranged` that it is an end of a range ("5-7"), `ordinal` that it is "3rd" or "third". `alternative` is the
    other reading of an ambiguous separator.
    """

    start: int
    end: int
    text: str
    value: Amount
    scale: str = ""
    currency: str = ""
    percent: bool = False
    unit: str = ""
    ordinal: bool = False
    word: bool = False
    attached: bool = False
    ranged: bool = False
    alternative: Amount | None = None

    @property
    def plain(self) -> bool:
        """Whether it states an amount by itself."""
        return not (self.ordinal or self.attached)


_SPACES = "\u00a0\u2007\u2009\u202f"
_CURRENCY = rf"(?:{choice(CURRENCY_SYMBOLS)}|{choice(CURRENCY_CODES)})"
_MINUS = r"(?:minus|mínus|минус|meno|(?<!au\s)moins|(?<!al\s)(?<!lo\s)(?<!ao\s)menos|마이너스|माइनस|ऋण|سالب|ناقص)"
_VULGAR = {"½": "0.5", "¼": "0.25", "¾": "0.75", "⅓": str(Decimal(1) / 3), "⅔": str(Decimal(2) / 3), "⅛": "0.125"}
_TAIL = rf"""
    (?P<vulgar>\s?[{"".join(_VULGAR)}])?
    (?:(?P<ordinal>st|nd|rd|th|º|ª)\b
      |(?:\s?-?(?P<scale>{choice(SPELLED_SCALES)})\b\.?|(?P<short>[kKmMbB])\b(?!²))?
       (?:\s?(?P<percent>%|‰|percent\b(?!age)|per\s?cent\b|pct\b|prozent\b))?
       (?:\s?(?P<after>{choice(CURRENCY_NAMES)}|{_CURRENCY})(?!\w))?)
"""
_NUMBER = re.compile(
    rf"""(?<![\w/])(?<![A-Za-z]-)(?<![\d][.,:])
    (?P<paren>\((?=[^()\n]{{1,40}}\)))?
    (?P<sign>(?<![\w)])(?:[-−–－﹣+]|△\s?|{_MINUS}\s))?
    (?P<before>{_CURRENCY}\s?)?
    (?P<inner>\((?=[\d.,]+\)))?
    (?P<sign2>[-−])?
    (?:(?P<whole>\d{{1,3}})?(?:(?<=\d)[\s-])?(?<![\d])(?P<over>\d{{1,2}})[/⁄](?P<under>2|3|4|8|16|32)(?![/\d⁄])
      |(?P<core>(?>\d{{1,3}}(?:[{_SPACES}'’]\d{{3}})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*|\.\d+)))
    (?![/⁄:]?\d)
    {_TAIL}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ASCII_GROUPS = re.compile(r"(?<![\w.,])(\d{1,3})((?: \d{3})+)(?![\d ]\d|\d)")


def read_digits(digits: str, *, decimal: DecimalMark = "", whole: bool = False) -> Decimal | None:
    """The value of one run of digits and separators, None if it is no number; rules in the module's docstring.

    Args:
        digits: digits with dots, commas, spaces or apostrophes and nothing else.
        decimal: the document's decimal mark where it is known.
        whole: whether a whole number is wanted.
    """
    digits = re.sub(rf"[\s{_SPACES}'’]", "", digits)
    dots, commas = digits.count("."), digits.count(",")
    if not dots and not commas:
        return Decimal(digits)
    if dots and commas:
        mark = "." if digits.rfind(".") > digits.rfind(",") else ","
        head, _, tail = digits.rpartition(mark)
        other = "," if mark == "." else "."
        return Decimal(f"{head.replace(other, '')}.{tail}") if mark not in head and _grouped(head, other) else None
    mark = "." if dots else ","
    if dots + commas > 1:
        return Decimal(digits.replace(mark, "")) if _grouped(digits, mark) else None
    head, _, tail = digits.partition(mark)
    if len(tail) == 3 and 1 <= len(head) <= 3 and head[0] != "0" and _groups_once(mark, decimal, whole):
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
    """An int where the value is whole, else a float."""
    return int(value) if value == value.to_integral_value() else float(value)


@lru_cache(maxsize=2048)
def numbers_in(text: str, *, decimal: DecimalMark = "", whole: bool = False) -> tuple[Number, ...]:
    """Every number of `text` in order, without those inside identifiers, clock times and numeric dates.

    Args:
        text: any text.
        decimal: the document's decimal mark where it is known, see `infer_decimal`.
        whole: whether whole numbers are wanted, which settles "22.268".
    """
    digits = (_from_match(match, text, decimal, whole) for match in _NUMBER.finditer(text))
    found = [*filter(None, digits), *(_word_number(spelled, text) for spelled in spelled_in(text))]
    kept: list[Number] = []
    for number in sorted(found, key=lambda number: number.start):
        if not kept or number.start >= kept[-1].end:
            kept.append(number)
    return tuple(kept)


_LONGEST = 40  # characters; a longer run of digits is a code, not an amount
_TOUCHING = re.compile(r"[^\W\d_][\w²³/]*")
_HYPHENED = re.compile(r"[-‐‑][^\W\d_]")
_RANGE_AFTER = re.compile(r"\s?[-–—~]\s?[$€£]?\d")
_RANGE_BEFORE = re.compile(r"(?:\d\s?[-–—~]\s?[$€£]?|±\s?)$")


def _base(match: re.Match[str], decimal: DecimalMark, whole: bool) -> Decimal | None:
    if match["over"]:
        over, under = int(match["over"]), int(match["under"])
        return Decimal(match["whole"] or 0) + Decimal(over) / under if 0 < over < under else None
    if len(match["core"]) > _LONGEST:
        return None
    base = read_digits(match["core"], decimal=decimal, whole=whole)
    if base is not None and match["vulgar"]:
        base += Decimal(_VULGAR[match["vulgar"].strip()])
    return base


def _from_match(match: re.Match[str], text: str, decimal: DecimalMark, whole: bool) -> Number | None:
    scale = _scale_of(match)
    wants_whole = whole and not scale and not match["percent"]
    base = _base(match, decimal, wants_whole)
    if base is None:
        return None
    end = match.end()
    marked = _minus_after(match, text, end)
    end += marked
    unit = "m" if match["short"] == "m" and not scale else ""
    if match["short"] and not (scale or unit):
        return None
    if joined := _TOUCHING.match(text, end):
        if match["short"] or match["ordinal"] or not touching(joined[0]):
            return None
        unit = joined[0]
    start = match.start()
    negative = bool(match["sign"] and match["sign"] != "+") or bool(match["sign2"]) or marked > 0
    if match["inner"] or match["paren"]:
        start, end, wrapped = _close_parenthesis(match, text, end)
        negative = negative or wrapped
    factor = SCALES[scale] if scale else 1
    value = (-base if negative else base) * factor
    other = None
    if match["core"] and re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", match["core"]):
        readings = (Decimal(re.sub(r"\D", "", match["core"])), Decimal(match["core"].replace(",", ".")))
        other = next((reading for reading in readings if reading != base), None)
    return Number(
        start, end, text[start:end], amount(value), scale, _currency_of(match),
        percent=match["percent"] is not None or text[end - 1] == "%", unit=unit or unit_after(text, end),
        ordinal=match["ordinal"] is not None, attached=_is_attached(text, end),
        ranged=bool(_RANGE_AFTER.match(text, end) or _RANGE_BEFORE.search(text[max(0, start - 6) : start])),
        alternative=None if other is None else amount((-other if negative else other) * factor),
    )  # fmt: skip


_CLOSED = re.compile(r"\s?\)(?:\s?%)?")
_CELL_START = re.compile(r"(?:^|[\n\t|]|\s\s)\s*[$€£]?\s?$")


def _close_parenthesis(match: re.Match[str], text: str, end: int) -> tuple[int, int, bool]:
    """Start, end, and whether brackets make it negative: they do around a whole cell and around an amount that ends a line of
    words ("Credit (412.80)"), not in "16 (80)"."""
    closed = _CLOSED.match(text, end)
    if closed and (match["inner"] or _CELL_START.search(text[max(0, match.start() - 8) : match.start()])):
        return match.start(), closed.end(), True
    if closed and _money(match) and _ENDS.match(text, closed.end()) and not match["percent"] and not closed[0].endswith("%"):
        label = _PIECE.split(text[max(0, match.start() - _LONGEST_LABEL) : match.start()])[-1]
        if not any(map(str.isdigit, label)):
            return match.start(), closed.end(), True
    return match.start() + (1 if match["paren"] else 0), end, False


_PIECE = re.compile(r"[\n\t|]|\s\s")
_ENDS = re.compile(r"\s*(?:$|[\n|]|[-−(]?[$€£]?\d)")
_LONGEST_LABEL = 80
_CENTS = re.compile(r"[.,]\d\d")
_MINUS_AFTER = re.compile(r"[-−](?=\s*(?:$|\||\n(?!\s*[a-z\d])|\s\s))")
_MINUS_OF_MONEY = re.compile(r"[-−](?=[ \t|,;)](?!\d))|\s?C[Rr]\b\.?")


def _money(match: re.Match[str]) -> bool:
    """Whether a number looks like an amount of money: with two decimals, or a currency."""
    return bool(match["before"] or match["after"] or _CENTS.fullmatch((match["core"] or "")[-3:]))


def _minus_after(match: re.Match[str], text: str, end: int) -> int:
    """The length of a minus behind a number: "412.80-" and "412.80 CR", which is a credit, not "5- and 6-year-olds", crores."""
    rupees = _currency_of(match) == "INR"
    found = _MINUS_AFTER.match(text, end) or (_MINUS_OF_MONEY.match(text, end) if _money(match) and not rupees else None)
    return found.end() - end if found and not match["sign"] else 0


def _scale_of(match: re.Match[str]) -> str:
    if match["scale"]:
        return SCALE_WORDS[match["scale"].lower()]
    short = match["short"]
    if not short:
        return ""
    # "5m" is five metres unless money is meant, "5M" and "3k" are scales either way
    if short in "mb" and not (match["before"] or match["after"]):
        return ""
    if short == "B" and not (match["before"] or match["after"] or re.search(r"[.,]", match["core"] or "")):
        return ""  # seat or flat "12B"
    return SCALE_WORDS[short.lower()]


_CURRENCIES = {name.lower(): code for name, code in (CURRENCY_NAMES | CURRENCY_SYMBOLS).items()}
_VERBS = frozenset(("try", "cop"))  # currencies in capitals only


def _currency_of(match: re.Match[str]) -> str:
    printed = (match["before"] or match["after"] or "").strip()
    return "" if printed in _VERBS else _CURRENCIES.get(printed.lower(), printed.upper())


def currency_code(name: str) -> str:
    """The ISO code of a currency by its code, symbol or name, "$" for a dollar of no country, "" for none."""
    found = _CURRENCIES.get(name.strip().lower(), name.strip().upper())
    return found if found == "$" or found in CURRENCY_CODES else ""


def _is_attached(text: str, end: int) -> bool:
    return _HYPHENED.match(text, end) is not None


_WORD_TAIL = re.compile(
    rf"\s?(?P<percent>percent\b(?!age)|per\s?cent\b|%)|\s(?P<money>{choice(CURRENCY_NAMES)})\b", re.IGNORECASE
)


def _word_number(spelled: Spelled, text: str) -> Number:
    start, end = spelled.start, spelled.end
    tail = _WORD_TAIL.match(text, end)
    attached = _is_attached(text, end)
    percent, money = (bool(tail["percent"]), tail["money"]) if tail else (False, None)
    end = tail.end() if tail else end
    return Number(
        start, end, text[start:end], amount(spelled.value), spelled.scale, _CURRENCIES[money.lower()] if money else "",
        percent, "" if tail else unit_after(text, end), spelled.ordinal, True, attached,
    )  # fmt: skip


def join_space_groups(text: str) -> str:
    """Replaces the plain spaces that group digits by no-break spaces; same length. "1 234,5" becomes one number.

    Only for a text that is known to print one value: in running text and flattened tables "118 573" is two numbers.
    """
    return _ASCII_GROUPS.sub(lambda match: match[0].replace(" ", "\u00a0"), text)


_SEPARATED = re.compile(r"(?<![\w.,/:-])\d+(?:[.,]\d+)+(?![\w/:-]|[.,]\d)")


def infer_decimal(text: str) -> DecimalMark:
    """The decimal mark that the numbers of a document show, "" if they show none or both.

    A comma must show itself in a grouped number ("1.234,56", "2.556.697") or twice ("141,3"), for "1,2" may be a list.
    """
    shown = {".": 0, ",": 0}
    for match in _SEPARATED.finditer(text):
        mark, weight = _shown_mark(match[0])
        shown[mark] += weight
    if all(shown.values()):
        return ""
    return "." if shown["."] else "," if shown[","] >= 2 else ""


def _shown_mark(digits: str) -> tuple[str, int]:
    """The decimal mark that one printed number shows and the weight of that, 0 for nothing."""
    separators = [char for char in digits if char in ".,"]
    if len(set(separators)) == 2:
        return separators[-1], 2 if separators.count(separators[-1]) == 1 else 0
    if len(separators) > 1:
        return ("," if separators[0] == "." else "."), 2 if _grouped(digits, separators[0]) else 0
    head, _, tail = digits.partition(separators[0])
    return separators[0], 0 if len(tail) == 3 and head[0] != "0" else 1
