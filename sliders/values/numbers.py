"""Numbers as they are printed in any script: separators, signs, scales, currencies, percents,
fractions, number words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache

from sliders.values.currencies import ENDED, MARKS, currency_after, named
from sliders.values.digits import (
    BOTH_MARKS,
    SPACES,
    Amount,
    DecimalMark,
    amount,
    read_digits,
    usual_mark,
)
from sliders.values.han import HanNumber, han_numbers, short_form
from sliders.values.number_words import with_its_half
from sliders.values.scripts import LETTERS, WORD, plain_digits
from sliders.values.spelled import Spelled, choice, spelled_in
from sliders.values.units import touching, unit_after
from sliders.values.vocabulary import (
    CURRENCY_NAMES,
    MINUS_WORDS,
    OWN_SCALES,
    PERCENTS,
    SCALE_WORDS,
    SCALES,
    SPELLED_SCALES,
)


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a text: characters `start` to `end` (exclusive) with sign, currency, scale word
    and percent sign.

    `value` includes the scale word ("1.2bn" is 1200000000), but not the percent sign ("12%" is 12).
    `scale` is that word's canonical name, `unit` the known unit behind it, outside the span.
    `attached` is True when it modifies a word ("7-day"), `ranged` when it is an end of a range
    ("5-7"), `ordinal` for "3rd" and "third". `alternative` is the other reading of an ambiguous
    separator.
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
        """True when it states an amount by itself."""
        return not (self.ordinal or self.attached)


_VULGAR = {
    "½": "0.5",
    "¼": "0.25",
    "¾": "0.75",
    "⅓": str(Decimal(1) / 3),
    "⅔": str(Decimal(2) / 3),
    "⅛": "0.125",
}
_OF_MONEY = r"(?=\s?(?:€|EUR|USD|CHF|GBP|[$£]))"
_TIGHT = {
    "t": "thousands",
    "k": "thousands",
    "m": "millions",
    "md": "billions",
    "mds": "billions",
    "mrd": "billions",
}
_LEAD = rf"(?P<lead>T{_OF_MONEY}|(?:Mio|Mrd|Tsd)\.?{_OF_MONEY}\s?)"


@cache
def _number_pattern(language: str) -> re.Pattern[str]:
    """A printed number with its marks; words that are scales in one language alone
    count in that language.
    """
    scales = choice({*SPELLED_SCALES, *OWN_SCALES.get(language, ())})
    tail = rf"""
        (?P<vulgar>\s?[{"".join(_VULGAR)}])?
        (?:(?P<ordinal>st|nd|rd|th|º|ª)\b
          |(?:\s?-?(?P<scale>{scales}){ENDED}\.?|(?P<short>[kKmMbB])\b(?!²)|\s?(?P<tight>Mds?|Mrd|T|k|M){_OF_MONEY})?
           (?:\s?(?P<percent>{PERCENTS}){ENDED})?
           (?:\s?(?:(?:de|di|of)\s|d['’])?(?P<after>{choice(CURRENCY_NAMES)}|{MARKS})(?!\d){ENDED})?)
    """
    return re.compile(
        rf"""(?<![{WORD}/^])(?<![A-Za-z]-)(?<![\d][.,:])
        (?P<paren>\((?=[^()\n]{{1,40}}\)))?
        (?P<sign>(?<![{WORD})])(?:[-−–﹣+]|△\s?|(?:{MINUS_WORDS})\s|负|負))?
        {_LEAD}?(?P<before>{MARKS}\s?)?
        (?P<inner>\((?=[\d.,]+\)))?
        (?P<sign2>[-−])?
        (?:(?P<whole>\d{{1,3}})?(?:(?<=\d)[\s-])?(?<![\d])(?P<over>\d{{1,2}})[/⁄](?P<under>2|3|4|8|16|32)(?![/\d⁄])
          |(?P<core>(?>\d{{1,3}}(?:[{SPACES}'’]\d{{3}})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*|\.\d+))
           (?:(?:[eE]|\s?[×x*]\s?10\^)(?P<power>[-−+]?\d{{1,2}})(?![{WORD}.,])|\s?[×x]\s?10(?P<raised>[⁻⁺]?[⁰¹²³⁴-⁹]+)
              |(?P<mark>\^[-−+]?\d{{1,3}}(?:,\d{{1,3}})*|\[\^?\d{{1,2}}\]|[⁻⁺]?[⁰¹²³⁴-⁹]+)(?![{WORD}]))?)
        (?![/⁄:]?\d)
        {tail}
        """,
        re.VERBOSE | re.IGNORECASE,
    )


@lru_cache(maxsize=2048)
def numbers_in(
    text: str, *, decimal: DecimalMark = "", whole: bool = False, language: str = ""
) -> tuple[Number, ...]:
    """Returns every number of `text` in order, without numbers inside identifiers, clock times and
    numeric dates.

    Args:
        text: any text.
        decimal: the document's decimal mark where it is known, see `infer_decimal`.
        whole: whether whole numbers are wanted, which settles "22.268".
        language: the document's language where it is known: the habit of its countries where
            `decimal` is not known.
    """
    plain = plain_digits(text)
    mark = decimal or usual_mark(language)
    # Three digits behind either mark are a group.
    whole = whole or (language in BOTH_MARKS and not decimal)
    read = (
        _from_match(match, plain, mark, whole, language)
        for match in _number_pattern(language).finditer(plain)
    )
    digits = (_with_half(number, plain, language) for number in read if number is not None)
    spelled = (_word_number(spelled, text) for spelled in spelled_in(text))
    found = [
        *digits,
        *spelled,
        *(_han_number(number, plain, language) for number in han_numbers(text)),
    ]
    kept: list[Number] = []
    for number in sorted(found, key=lambda number: (number.start, -number.end)):
        if not kept or number.start >= kept[-1].end:
            kept.append(number)
    if plain is text:
        return tuple(kept)
    return tuple(replace(number, text=text[number.start : number.end]) for number in kept)


def _with_half(number: Number, text: str, language: str) -> Number:
    """A number in digits with the half that words add to it, and the scale behind these:
    "3 millones y medio", "2 et demi".
    """
    start, end, more = with_its_half(text, number.start, number.end, SCALES.get(number.scale, 1))
    if not more or number.percent or number.ordinal:
        return number
    own = OWN_SCALES.get(language, {})
    behind = None
    if not number.scale:
        word = rf"\s({choice({*SPELLED_SCALES, *own})}){ENDED}"
        behind = re.match(word, text[end:], re.IGNORECASE)
    scale = number.scale
    if behind:
        scale = own.get(behind[1].lower()) or SCALE_WORDS[behind[1].lower()]
        end += behind.end()
    whole = Decimal(str(number.value)) + Decimal(str(more))
    return replace(
        number,
        start=start,
        end=end,
        text=text[start:end],
        value=amount(whole * (SCALES[scale] if behind else 1)),
        scale=scale,
        unit=unit_after(text, end) or number.unit,
        currency=number.currency or currency_after(text, end),
    )


_HAN_TAIL = re.compile(
    rf"\s?(?P<percent>{PERCENTS})|\s?(?P<money>{choice(CURRENCY_NAMES)}|{MARKS}){ENDED}"
)
_NEGATIVE = re.compile(rf"(?:(?<![{WORD})])[-−]|△|[负負]|マイナス)$")
_MONEY_BEFORE = re.compile(rf"(?:{MARKS})\s?$")


def _han_number(number: HanNumber, text: str, language: str) -> Number:
    start, end = number.start, number.end
    short = short_form(text[start:end]) if number.word else None
    value = (
        short
        if short is not None and (language == "zh" or "两" in text[start:end])
        else number.value
    )
    other = None if language or short is None or value == short else short
    before = _MONEY_BEFORE.search(text, max(0, start - 8), start)
    start = before.start() if before else start
    sign = _NEGATIVE.search(text, max(0, start - 4), start)
    start = sign.start() if sign else start
    tail = _HAN_TAIL.match(text, end)
    end = tail.end() if tail else end
    printed = (tail["money"] if tail and tail["money"] else before[0] if before else "").strip()
    return Number(
        start,
        end,
        text[start:end],
        amount(-value if sign else value),
        number.scale,
        named(printed),
        percent=number.percent or bool(tail and tail["percent"]),
        ordinal=number.ordinal,
        word=number.word,
        ranged=bool(
            _RANGE_AFTER.match(text, end) or _RANGE_BEFORE.search(text[max(0, start - 6) : start])
        ),
        alternative=None if other is None else amount(-other if sign else other),
    )


def only_number(text: str, *, words: bool = False) -> Number | None:
    """Returns the number of a text that consists of a number alone, with the sign of a unit that
    code knows ("7,400 m").

    None when the text holds more ("about 40", "3 Stück").

    Args:
        words: True when a number in words counts, too.
    """
    found = [number for number in numbers_in(text) if number.plain and (words or not number.word)]
    if len(found) != 1 or re.match(r"0\d", found[0].text):
        return None  # 007 is no number
    sign = found[0].unit if touching(found[0].unit) else ""
    beside = text[: found[0].start] + re.sub(
        rf"^\s?{re.escape(sign)}(?!\w)", "", text[found[0].end :]
    )
    return found[0] if not beside.strip(" \n.,;:!?。、\"'()*") else None


_LONGEST = 40  # characters; a longer run of digits is a code, not an amount
_TOUCHING = re.compile(rf"[{LETTERS}µ][\w²³/]*")
_HYPHENED = re.compile(rf"[-‐‑][{LETTERS}]")
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
    power = match["power"] or match["raised"]
    if base is not None and match["mark"]:
        return _with_mark(match["core"], base, match["mark"])
    if base is None or not power:
        return base
    power = power.translate(_RAISED)
    has_marks = "^" in match[0] or power[0] in "+-" or re.search(r"[.,]", match["core"])
    if not match["raised"] and not has_marks:
        return None  # a code such as "12E5"
    return base.scaleb(int(power))


def _with_mark(core: str, base: Decimal, mark: str) -> Decimal:
    """A number with raised digits behind it: a power of 10 itself, else a footnote's mark."""
    power = mark.lstrip("^").translate(_RAISED)
    return (
        base.scaleb(int(power) - 1) if core == "10" and re.fullmatch(r"[-+]?\d+", power) else base
    )


_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")


def _from_match(
    match: re.Match[str], text: str, decimal: DecimalMark, whole: bool, language: str
) -> Number | None:
    scale = _scale_of(match, language)
    base = _base(match, decimal, whole and not scale and not match["percent"])
    if base is None:
        return None
    start, end = match.span()
    marked = _minus_after(match, text, end)
    end += marked
    unit = _unit_of(match, text, end, scale)
    if unit is None:
        return None
    negative = bool(match["sign"] and match["sign"] != "+") or bool(match["sign2"]) or marked > 0
    if match["inner"] or match["paren"]:
        start, end, wrapped = _close_parenthesis(match, text, end)
        negative = negative or wrapped
    factor = SCALES[scale] if scale else 1
    other = _other_reading(match, base)
    before = text[max(0, start - 6) : start]
    return Number(
        start=start,
        end=end,
        text=text[start:end],
        value=amount((-base if negative else base) * factor),
        scale=scale,
        currency=_currency_of(match) or currency_after(text, end),
        percent=match["percent"] is not None or text[end - 1] == "%",
        unit=unit or unit_after(text, end),
        ordinal=match["ordinal"] is not None or text[start - 1 : start] in ("第", "제"),
        attached=_is_attached(text, end),
        ranged=bool(_RANGE_AFTER.match(text, end) or _RANGE_BEFORE.search(before)),
        alternative=None if other is None else amount((-other if negative else other) * factor),
    )


def _unit_of(match: re.Match[str], text: str, end: int, scale: str) -> str | None:
    """The unit that touches a number ending at `end`, "" for none; None when the letters behind it
    show that it is no number.
    """
    short = match["short"]
    if short and short != "m" and not scale:
        return None
    joined = _TOUCHING.match(text, end)
    if joined is None:
        return "m" if short == "m" and not scale else ""
    if short or match["ordinal"] or not touching(joined[0]):
        return None
    return joined[0]


def _other_reading(match: re.Match[str], base: Decimal) -> Decimal | None:
    """The value of a number with one separator ("1.234") when the separator has its other
    meaning.
    """
    if not match["core"] or not re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", match["core"]):
        return None
    readings = (re.sub(r"\D", "", match["core"]), match["core"].replace(",", "."))
    return next((reading for reading in map(Decimal, readings) if reading != base), None)


_CLOSED = re.compile(r"\s?\)(?:\s?%)?")
_CELL_START = re.compile(r"(?:^|[\n\t|]|\s\s)\s*[$€£]?\s?$")


def _close_parenthesis(match: re.Match[str], text: str, end: int) -> tuple[int, int, bool]:
    """Start, end, and whether brackets make it negative: they do around a whole cell and around an
    amount that ends a line of words ("Credit (412.80)"), not in "16 (80)".
    """
    closed = _CLOSED.match(text, end)
    if closed and (
        match["inner"] or _CELL_START.search(text[max(0, match.start() - 8) : match.start()])
    ):
        return match.start(), closed.end(), True
    if (
        closed
        and _money(match)
        and _ENDS.match(text, closed.end())
        and not match["percent"]
        and not closed[0].endswith("%")
    ):
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
    """True when a number looks like an amount of money: it has two decimals, or a currency."""
    return bool(match["before"] or match["after"] or _CENTS.fullmatch((match["core"] or "")[-3:]))


def _minus_after(match: re.Match[str], text: str, end: int) -> int:
    """The length of a minus behind a number: "412.80-" and "412.80 CR", which is a credit, not "5-
    and 6-year-olds", crores.
    """
    rupees = _currency_of(match) == "INR"
    found = _MINUS_AFTER.match(text, end) or (
        _MINUS_OF_MONEY.match(text, end) if _money(match) and not rupees else None
    )
    return found.end() - end if found and not match["sign"] else 0


def _scale_of(match: re.Match[str], language: str) -> str:
    if match["scale"]:
        word = match["scale"].lower()
        return OWN_SCALES.get(language, {}).get(word) or SCALE_WORDS[word]
    if match["tight"] or match["lead"]:
        tight = (match["tight"] or match["lead"]).lower().strip(". ")
        return _TIGHT.get(tight) or SCALE_WORDS[tight]
    short = match["short"]
    if not short:
        return ""
    # "5m" is five metres unless money is meant, "5M" and "3k" are scales either way
    if short in "mb" and not (match["before"] or match["after"]):
        return ""
    if short == "B" and not (
        match["before"] or match["after"] or re.search(r"[.,]", match["core"] or "")
    ):
        return ""  # seat or flat "12B"
    return SCALE_WORDS[short.lower()]


def _currency_of(match: re.Match[str]) -> str:
    return named((match["before"] or match["after"] or "").strip())


def _is_attached(text: str, end: int) -> bool:
    return _HYPHENED.match(text, end) is not None


_WORD_TAIL = re.compile(
    rf"\s?(?P<percent>percent\b(?!age)|per\s?cent\b|%)|\s(?P<money>{choice(CURRENCY_NAMES)})\b",
    re.IGNORECASE,
)


def _word_number(spelled: Spelled, text: str) -> Number:
    start, end = spelled.start, spelled.end
    tail = _WORD_TAIL.match(text, end)
    attached = _is_attached(text, end)
    percent, money = (bool(tail["percent"]), tail["money"]) if tail else (False, None)
    end = tail.end() if tail else end
    return Number(
        start,
        end,
        text[start:end],
        amount(spelled.value),
        spelled.scale,
        named(money) if money else "",
        percent,
        "" if tail else unit_after(text, end),
        spelled.ordinal,
        True,
        attached,
    )
