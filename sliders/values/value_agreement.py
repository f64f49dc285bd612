"""The check that printed words support a value. Words contradict a value only when code understood
them and they give another value.

A *reading* is one meaning that a printed number can have. A *scale* is a word such as "millions". A
*finding* is a sentence that says what is wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from sliders.sentences import Sentences
from sliders.values.amounts import AmountReading, Context, all_readings
from sliders.values.arithmetic import factors, rounds_to
from sliders.values.cldr import LANGUAGES, letter_by_letter, month_anywhere, months, scale_anywhere
from sliders.values.dates import PrintedDate, dates_in, times_in, yearless_in
from sliders.values.digits import Amount
from sliders.values.expected import ColumnType, Described, Scalar
from sliders.values.folding import fold
from sliders.values.han import INEXACT
from sliders.values.language import OTHER, is_frequent, language_of
from sliders.values.names import same_text
from sliders.values.number_words import names_half, spelled_anywhere, spelled_words
from sliders.values.numbers import Number
from sliders.values.parse import NO_CONTEXT, collapse, joined_cells, parse_value
from sliders.values.scripts import plain_digits, scripts, unspaced
from sliders.values.vocabulary import IMPLIED, POWERS, SCALES

say = Sentences("values")


class Verdict(str, Enum):
    """The result of comparing words with a value. UNKNOWN means that code did not understand the
    words, so they neither support nor contradict the value.
    """

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Agreement:
    """A verdict; a `finding` when the words contradict the value, and a `doubt` when they may also
    mean another value.
    """

    verdict: Verdict
    finding: str = ""
    doubt: str = ""


_AGREES, _UNKNOWN = Agreement(Verdict.AGREES), Agreement(Verdict.UNKNOWN)


def _against(finding: str) -> Agreement:
    return Agreement(Verdict.CONTRADICTS, finding)


def agrees(value: Scalar, words: str, column: Described, context: Context = NO_CONTEXT) -> str:
    """Returns the finding when printed words contradict a value; "" when they carry it, or when
    code does not understand them.
    """
    return agreement(value, words, column, context).finding


def agreement(
    value: Scalar, words: str, column: Described, context: Context = NO_CONTEXT
) -> Agreement:
    """Compares a value with printed words. Judged values are not compared."""
    if value is None or not words.strip():
        return _AGREES if value is None else _against(say("no_words"))
    words = collapse(joined_cells(words))
    match column.type:
        case ColumnType.INTEGER | ColumnType.NUMBER if not isinstance(value, str):
            return _number(value, words, column, context)
        case ColumnType.DATE | ColumnType.DATETIME:
            return _date(str(value), words, context)
        case ColumnType.BOOLEAN | ColumnType.CATEGORY:
            said = parse_value(words, column, context).value
            if said is None:
                return _UNKNOWN
            if said == value:
                return _AGREES
            return _against(say("words_say", words=words, value=value))
        case _:
            return _text(str(value), words, context)


def _language(words: str, context: Context) -> str:
    return context.language or language_of(words)


def _read_through(words: str, language: str) -> bool:
    """Says whether code would recognise every number word in these words: they are English, or
    plain letters of an unknown language.
    """
    return language == "en" or (not language and words.isascii())


def _spelled(words: str, language: str) -> frozenset[float]:
    """Returns the numbers that words spell out in the language; in any language when it is not
    known.
    """
    if language in LANGUAGES:
        return frozenset(phrase.value for phrase in spelled_words(words, language))
    return spelled_anywhere(words)


# Numbers.

_IN_CODE = re.compile(r"(?<=[^\W\d_])\d{1,4}\b(?![.,]\d)")
"""Digits at the end of a code, as in Q3 and FY2022. They are no printed number, but they support a
value.
"""


def _number(value: Amount, words: str, column: Described, context: Context) -> Agreement:
    found = all_readings(words, column, context)
    if any(reading.number.text.lower() in POWERS for reading in found) and _spelled(
        words, _language(words, context)
    ):
        # "eine halbe Million".
        found = tuple(reading for reading in found if reading.number.text.lower() not in POWERS)
    equal = [reading for reading in found if same_number(value, reading)]
    if equal:
        fitting = [reading for reading in equal if not reading.mismatch]
        if fitting:
            return Agreement(Verdict.AGREES, doubt=_two_marks(fitting, column, context))
        return _against(equal[0].mismatch)
    if (not found or value != 1) and any(
        IMPLIED.get(token) == value for token in fold(words).split()
    ):
        return _AGREES
    language = _language(words, context)
    if any(float(digits) == value for digits in _IN_CODE.findall(words)) or value in _spelled(
        words, language
    ):
        return _AGREES
    if not found:
        return _no_digits(value, words, language)
    if all(reading.number.word for reading in found) and language != "en" and INEXACT.search(words):
        return _UNKNOWN
    if any(_unknown_scale(value, reading, words, language) for reading in found):
        return _UNKNOWN
    if _half_more(value, [reading.value for reading in found]) and names_half(words):
        return _UNKNOWN
    shown = dict.fromkeys(f"{r.number.text} ({r.note})" if r.note else r.number.text for r in found)
    return _against(say("words_say_numbers", shown=", ".join(list(shown)[:4]), value=value))


def _no_digits(value: Amount, words: str, language: str) -> Agreement:
    digits, letters = any(map(str.isdigit, words)), any(map(str.isalpha, words))
    spelled = (
        {phrase.value for phrase in spelled_words(words, language)}
        if language
        else spelled_anywhere(words)
    )
    if (_half_more(value, spelled) or not spelled) and names_half(words):
        return _UNKNOWN
    if len(spelled) == 1 and not digits and language not in ("en", OTHER):
        return _against(say("words_spell", words=words, number=next(iter(spelled)), value=value))
    understood = language != OTHER if digits else _read_through(words, language) or not letters
    if understood:
        return _against(say("words_without_number", words=words, value=value))
    return _UNKNOWN


def _half_more(value: Amount, read: Iterable[Amount]) -> bool:
    """Says whether a value is one of some numbers plus a half or a quarter."""
    return any(math.isclose(value - number, part) for number in read for part in (0.5, 0.25))


def _unknown_scale(value: Amount, reading: AmountReading, words: str, language: str) -> bool:
    """True when a value and a printed number differ by a power of ten (100 or more) that a scale
    word ("thousand", "million") may explain: the language is one whose scale words are not in the
    lists, or is unknown and the word behind the number is a scale in some language.
    """
    if (
        language in LANGUAGES
        or reading.converted
        or not (value and reading.value)
        or value / reading.value < 0
    ):
        return False
    power = math.log10(value / reading.value)
    if abs(power) < _LEAST_SCALE or not math.isclose(power, round(power), abs_tol=1e-9):
        return False
    after = re.match(r"\s?([^\W\d_]+)", words[reading.number.end :])
    return language == OTHER or bool(after and scale_anywhere(after[1]))


_LEAST_SCALE = 2  # powers of ten


def same_number(value: Amount, reading: AmountReading) -> bool:
    """Says whether a value equals a reading of a printed number; a converted number may
    be rounded.
    """
    if value == reading.value or math.isclose(value, reading.value, rel_tol=1e-9):
        return True
    return reading.converted and rounds_to(value, reading.value)


def unconverted(
    value: Amount, expression: str, found: Sequence[AmountReading], column: Described
) -> str:
    """Returns a finding when a computed value is no conversion of the one measure that its words
    print ("2.4 * 100" for 2.4 km in metres).

    Returns "" when the words print several numbers, when the arithmetic adds, or when its factors
    are those of the conversion and others.
    """
    fitting = [reading for reading in found if not reading.mismatch]
    measured = [r for r in fitting if r.converted or r.scale or r.number.percent]
    if not measured or len({(reading.number.text, reading.number.unit) for reading in found}) != 1:
        return ""
    whole = column.type is ColumnType.INTEGER
    if any(same_number(value, r) or rounds_to(value, r.value, whole=whole) for r in fitting):
        return ""
    number, shown = measured[0].number, measured[0].value
    base, terms = _base_and_factors(number, factors(expression))
    if not base or not terms or not all(terms):
        return ""
    right = [abs(reading.value) / base for reading in fitting if reading.value]
    if any(_is_factor(term, factor) for term in terms for factor in right):
        return ""
    powers = [math.log10(term) for term in terms]
    tens = all(math.isclose(power, round(power), abs_tol=1e-9) for power in powers)
    if not tens and not all(reading.converted for reading in fitting):
        return ""
    printed = f"{number.text} {number.unit}".strip()
    return say("other_conversion", printed=printed, shown=shown, expression=expression, value=value)


def _base_and_factors(number: Number, terms: Sequence[Amount]) -> tuple[Amount, list[Amount]]:
    """Returns the term that is the printed number (with or without its scale) and the other terms;
    0 and all terms when there is none.
    """
    bases = (abs(number.value), abs(number.value) / SCALES.get(number.scale, 1))
    for place, term in enumerate(terms):
        if any(math.isclose(term, base) for base in bases):
            return term, [*terms[:place], *terms[place + 1 :]]
    return 0, list(terms)


def _is_factor(term: Amount, factor: Amount) -> bool:
    """Says whether a calculation multiplies or divides by that factor."""
    return math.isclose(term, factor) or math.isclose(term * factor, 1)


def _two_marks(fitting: list[AmountReading], column: Described, context: Context) -> str:
    """Returns a doubt when a number with one separator may be another number ("1.234 EUR"); "" when
    the document or its language settles it.
    """
    if (
        context.decimal
        or column.type is ColumnType.INTEGER
        or any(r.number.alternative is None for r in fitting)
    ):
        return ""
    number = fitting[0].number
    if context.language in LANGUAGES:
        unusual = all(reading.other for reading in fitting)
    else:
        unusual = bool(number.currency or column.currency) and "." in number.text
    shown = say("two_marks", text=number.text, one=number.value, other=number.alternative)
    return say("mark_not_shown", shown=shown) if unusual else ""


# Dates.


def _date(value: str, words: str, context: Context) -> Agreement:
    day, _, time = value.replace("T", " ").partition(" ")
    dates = dates_in(words, day_first=context.day_first, language=context.language)
    equal = [date for date in dates if day in date_forms(date)]
    if not equal:
        days = yearless_in(words, context.language)
        borne = (
            days
            and not any(d.iso != day[:4] for d in dates)
            and any(day[5:] == f"{m:02d}-{d:02d}" for _, _, m, d in days)
        )
        if not borne and not days and not _understood(day, dates, words, _language(words, context)):
            return _UNKNOWN
        if not borne:
            shown = ", ".join(date.iso for date in dates) or say("no_date_in", words=words)
            return _against(say("words_say_date", shown=shown, value=value))
    times = times_in(words)
    if time and times and not any(printed.startswith(time[:5]) for printed in times):
        return _against(say("words_say_times", shown=", ".join(sorted(times)), value=value))
    return Agreement(Verdict.AGREES, doubt=_two_orders(equal, day))


def _two_orders(equal: list[PrintedDate], day: str) -> str:
    """Returns a doubt when a numeric date may be another day ("03/04/2024"); "" when the order is
    known, or only the year is used.
    """
    if not equal or len(day) <= len("2024") or not all(date.ambiguous for date in equal):
        return ""
    return say("two_orders", text=equal[0].text)


def date_forms(date: PrintedDate) -> frozenset[str]:
    """Returns the ISO dates that a printed date supports: the date, its month, its year, and both
    orders of an ambiguous date.
    """
    forms = {date.iso, date.iso[:7], date.iso[:4]}
    if date.ambiguous:
        forms |= {
            f"{date.year:04d}-{date.day:02d}-{date.month:02d}",
            f"{date.year:04d}-{date.day:02d}",
        }
    return frozenset(forms)


def only_a_date(words: str, why: str) -> bool:
    """True when words print one full date and nothing else, and the reason that the model gave
    (`why`) names no more than a date.
    """
    dates = dates_in(words)
    rest = [
        text[: date.start] + text[date.end :]
        for text in (words, why)
        for date in dates_in(text)[:1]
    ]
    return (
        len(dates) == 1
        and dates[0].full
        and not any(map(str.isalnum, "".join(rest) + ("" if dates_in(why) else why)))
    )


_HIJRI = re.compile(r"هـ|ه(?!\w)")
_SHORT = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_TOKEN = re.compile(r"[^\W\d_]{2,}")


def _understood(day: str, dates: tuple[PrintedDate, ...], words: str, language: str) -> bool:
    """Says whether words that do not print a date were understood well enough to contradict it."""
    if any(date.full for date in dates):
        return True
    if "Other" in scripts(words) or _HIJRI.search(words):
        return False  # other calendars are counted in other scripts
    if dates and int(day[:4]) not in {date.year for date in dates}:
        return True
    named = {date.month for date in dates if date.month}
    if named and len(day) > 4 and int(day[5:7]) not in named:
        return True
    plain = plain_digits(words)
    for date in dates:
        plain = plain[: date.start] + " " * (date.end - date.start) + plain[date.end :]
    left, tokens = {int(figure) for figure in _SHORT.findall(plain)}, _TOKEN.findall(plain)
    if not named:
        known = language != OTHER and (bool(dates) or bool(left) or _read_through(words, language))
        named_elsewhere = len(day) > 4 and language != "en" and any(map(month_anywhere, tokens))
        return (
            known
            and not left & {int(part) for part in day[5:].split("-") if part}
            and not named_elsewhere
        )
    if len(day) > 7 and int(day[8:10]) in left | _spelled(plain, language):
        return False
    return language in ("en", "") or all(
        is_frequent(token, language) or letter_by_letter(token) in months() for token in tokens
    )


# Text.

_ISO = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")


def _text(value: str, words: str, context: Context) -> Agreement:
    if same_text(value, words) or _holds(value, words):
        return _AGREES
    if (
        _ISO.fullmatch(value.strip())
        and _date(value.strip(), words, context).verdict is Verdict.AGREES
    ):
        return _AGREES
    language = _language(words, context)
    translated = (
        bool(scripts(value)) and bool(scripts(words)) and not scripts(value) & scripts(words)
    )
    if translated or not (language == "en" or (not language and words.isascii())):
        return _UNKNOWN  # other forms of a word, or its translation
    return _against(say("words_say", words=words, value=value))


def _holds(value: str, words: str) -> bool:
    """Says whether, in a script without blanks, a text contains the words or the words
    contain it.
    """
    if not any(map(unspaced, value)):
        return False
    one, other = fold(value).replace(" ", ""), fold(words).replace(" ", "")
    return one in other or other in one
