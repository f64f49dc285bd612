"""Printed numbers in a column's terms: their value in the column's unit, scale and currency, and
the choice of the one number among several that the column means.

A *scale* is a word such as "millions". A *reading* is one meaning that a printed number can have.
Only the type, unit, scale and currency of the column decide. When words have two readings (a scale
that may or may not hold, "22.268"), the first is taken, and the others still support a value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from sliders.sentences import Sentences
from sliders.values.currencies import currency_code, same_currency
from sliders.values.dates import dates_in
from sliders.values.digits import Amount, DecimalMark, amount, join_space_groups
from sliders.values.expected import ColumnType, Described, Expected
from sliders.values.folding import unaccented
from sliders.values.notes import has_exceptions, scale_in
from sliders.values.numbers import Number, numbers_in
from sliders.values.units import convert, dimension, same_unit
from sliders.values.vocabulary import SCALE_WORDS, SCALES, ZERO_WORDS

say = Sentences("values")


@dataclass(frozen=True, slots=True)
class Context:
    """The conventions of a document's printed values, as far as the document shows them.

    Args:
        note: the header or caption of the table, which may state a scale ("in thousands").
        day_first: the order of numeric dates; None when unknown.
        decimal: the decimal mark; "" when unknown.
        language: the language (see `language_of`).
    """

    note: str = ""
    day_first: bool | None = None
    decimal: DecimalMark = ""
    language: str = ""

    @property
    def scale(self) -> str:
        """The canonical scale that `note` states, or ""."""
        return scale_in(self.note)


@dataclass(frozen=True, slots=True)
class AmountReading:
    """One reading of a printed number, as the column stores it.

    Args:
        value: the number in the column's unit and scale.
        number: the printed number.
        scale: the printed scale.
        note: how the number was read.
        mismatch: a sentence that says why the printed unit or currency cannot be converted to the
            column's; "" when it can.
        converted: True when the unit was changed; a rounded value then agrees too.
        other: True for the less likely meaning of a separator.
    """

    value: Amount
    number: Number
    scale: str = ""
    note: str = ""
    mismatch: str = ""
    converted: bool = False
    other: bool = False


def settled(column: Described) -> Expected:
    """Returns the type, unit, scale and currency of a column. A currency or a scale inside the unit
    ("USD millions") is moved to its own field.
    """
    return _settled(Expected.of(column))


@lru_cache(maxsize=1024)
def _settled(column: Expected) -> Expected:
    currency, scale, left = (
        currency_code(column.currency) or column.currency,
        scale_in(column.scale),
        [],
    )
    for word in column.unit.split() if not dimension(column.unit) else ():
        if code := currency_code(word):
            currency = currency or code
        elif word.lower() in SCALE_WORDS and not dimension(word):
            scale = scale or SCALE_WORDS[word.lower()]
        elif word.lower() not in ("in", "of"):
            left.append(word)
    unit = column.unit if dimension(column.unit) else " ".join(left)
    return replace(column, unit=unit, scale=scale, currency=currency)


_FOOTNOTE = re.compile(r"(?<=[\d%)])(?:\s?\[\w{1,2}\]|\(\w\)|\s?[*†‡§]+)+\s*$")
_ONE_VALUE = re.compile(r"[^\d]{0,12}\d[\d .,'’]*[^\d]{0,24}")


def read_number(words: str, column: Described, context: Context) -> AmountReading | str:
    """Returns the one number that words state for the column, or a sentence that says why there is
    none.

    Args:
        words: the printed words, with single blanks.
        column: the column.
        context: the conventions of the document.
    """
    expected = settled(column)
    if unaccented(words).strip(" .") in ZERO_WORDS:
        return AmountReading(0, Number(0, len(words), words, 0))
    text = _FOOTNOTE.sub("", join_space_groups(words) if _ONE_VALUE.fullmatch(words) else words)
    found = [number for number in _numbers(text, expected, context) if not _in_date(number, text)]
    candidates = _candidates(found, text, expected)
    if not candidates:
        return say("no_number", words=words)
    chosen = candidates[0]
    if len(candidates) > 1:
        picked = _picked(candidates, text, expected)
        if picked is None:
            if any(number.ranged for number in candidates):
                return say("a_range", words=words)
            shown = ", ".join(number.text for number in candidates[:4])
            return say("several_numbers", words=words, count=len(candidates), shown=shown)
        chosen = picked
    if not (read := readings(chosen, expected, context)):
        whole = say("not_whole", text=chosen.text)
        return whole if abs(chosen.value) < _LIMIT else say("too_large", text=chosen.text)
    return read[0]


def all_readings(words: str, column: Described, context: Context) -> tuple[AmountReading, ...]:
    """Returns all readings of all numbers in the words, in the column's terms; the likelier reading
    of a number first.
    """
    return _all_readings(words, settled(column), context)


@lru_cache(maxsize=512)
def _all_readings(words: str, column: Expected, context: Context) -> tuple[AmountReading, ...]:
    texts = dict.fromkeys((words, join_space_groups(words)))
    numbers = dict.fromkeys(
        number
        for text in texts
        for mode in (column, replace(column, unit=""))
        for number in _numbers(text, mode, context)
    )
    return tuple(reading for number in numbers for reading in readings(number, column, context))


def _numbers(text: str, column: Expected, context: Context) -> list[Number]:
    found = list(
        numbers_in(
            text,
            decimal=context.decimal,
            whole=column.type is ColumnType.INTEGER,
            language=context.language,
        )
    )
    return _compounds(found, text) if dimension(column.unit) else found


_JOINT = re.compile(r"\.?,?\s*(?:and\s+|&\s*)?")


def _compounds(found: Sequence[Number], text: str) -> list[Number]:
    """Returns the numbers with compounds joined: "5 ft 11 in" and "2 hours and 5 minutes" are one
    number each, in the smaller unit.
    """
    kept: list[Number] = []
    for number in found:
        before = kept[-1] if kept else None
        if before is not None and (joined := _joined(before, number, text)) is not None:
            kept[-1] = joined
        else:
            kept.append(number)
    return kept


def _joined(before: Number, number: Number, text: str) -> Number | None:
    if not (before.unit and number.unit) or same_unit(before.unit, number.unit) or number.value < 0:
        return None
    if dimension(number.unit) in ("temperature", "percent"):
        return None
    gap = text[before.end : number.start].lstrip(" -").removeprefix(before.unit)
    larger, one = (convert(Decimal(str(v)), before.unit, number.unit) for v in (before.value, 1))
    if larger is None or one is None or number.value >= one or not _JOINT.fullmatch(gap):
        return None
    value = amount(larger + Decimal(str(number.value)))
    return replace(
        number,
        start=before.start,
        text=text[before.start : number.end],
        value=value,
        alternative=None,
    )


def _in_date(number: Number, text: str) -> bool:
    """Says whether a number is part of a date. Eight digits with a unit or a currency ("19080120
    minutes") are none.
    """
    measured = bool(number.unit or number.currency or number.percent)
    dates = [
        date for date in dates_in(text) if date.full and not (measured and date.text.isdigit())
    ]
    return any(date.start <= number.start < date.end and not text.isdigit() for date in dates)


def _candidates(found: list[Number], text: str, column: Expected) -> list[Number]:
    plain = [
        number
        for number in found
        if number.plain or (not number.ordinal and unit_fits(number, text, column))
    ]
    if dimension(column.unit) != "percent":
        plain = [number for number in plain if not number.percent] or plain
    loose = [number for number in found if not number.ordinal]
    ordinals = (
        found
        if column.type is ColumnType.INTEGER and len(found) == 1 and _fills(found[0], text)
        else []
    )
    return plain or loose or ordinals


def _fills(number: Number, text: str) -> bool:
    return not re.search(
        r"[^\W_]",
        re.sub(r"\bthe\b", "", text[: number.start] + text[number.end :], flags=re.IGNORECASE),
    )


def _picked(candidates: list[Number], text: str, column: Expected) -> Number | None:
    """Returns the one number that the column's percent sign, currency or unit points to; None when
    there is no such number, or several.
    """
    if dimension(column.unit) == "percent":
        return _only([number for number in candidates if number.percent])
    if "±" in text and len(candidates) == 2 and candidates[1].ranged:
        return candidates[0]
    if column.currency and (
        one := _only(
            [n for n in candidates if n.currency and same_currency(n.currency, column.currency)]
        )
    ):
        return one
    if not column.unit:
        return None
    return _only(
        [n for n in candidates if same_unit(n.unit or _word_after(n, text), column.unit)]
    ) or _only([n for n in candidates if unit_fits(n, text, column)])


def unit_fits(number: Number, text: str, column: Expected) -> bool:
    """Says whether the unit behind a number is the column's, or converts to it."""
    if not column.unit:
        return False
    own = number.unit or ("%" if number.percent else _word_after(number, text))
    return same_unit(own, column.unit) or bool(
        dimension(own) and dimension(own) == dimension(column.unit)
    )


def _only(numbers: list[Number]) -> Number | None:
    return numbers[0] if len(numbers) == 1 else None


def _word_after(number: Number, text: str) -> str:
    match = re.match(r"[\s-]([^\W\d_]+)", text[number.end :])
    return match[1] if match else ""


_LIMIT = 2**63


def readings(number: Number, column: Expected, context: Context) -> list[AmountReading]:
    """Returns the readings of one number in the column's unit and scale, the likeliest first; []
    when an integer column would get a fraction.
    """
    bases = [Decimal(str(number.value))]
    if number.alternative is not None and not (context.decimal or context.scale):
        bases.append(Decimal(str(number.alternative)))
    measured, wanted = dimension(number.unit), dimension(column.unit)
    mismatch = ""
    if number.currency and column.currency and not same_currency(number.currency, column.currency):
        mismatch = say(
            "other_currency", text=number.text, own=number.currency, wanted=column.currency
        )
    if other := _other_kind(number, measured, wanted, column):
        mismatch = say(
            "other_unit", text=number.text, other=other, wanted=column.unit or column.currency
        )
    converts = convert(bases[0], number.unit, column.unit) is not None and not same_unit(
        number.unit, column.unit
    )
    read = _percents if number.percent or wanted == "percent" else _units if converts else _scaled
    if measured == "coin" and column.currency:
        read = _coins
    return [
        AmountReading(
            amount(value), number, scale, note, mismatch, read is _units, other=base is not bases[0]
        )
        for base in bases
        for value, scale, note in read(base, number, column, context)
        if abs(value) < _LIMIT
        and (column.type is not ColumnType.INTEGER or value == value.to_integral_value())
    ]


_NEVER_MONEY = frozenset(("time", "calendar", "mass", "area"))


def _other_kind(number: Number, measured: str, wanted: str, column: Expected) -> str:
    """Returns the printed unit when it measures another thing than the column does; "" when it may
    be the column's.
    """
    if wanted and measured not in ("", wanted):
        return number.unit
    if wanted not in ("", "percent") and (
        number.percent or (number.currency and not column.currency)
    ):
        return number.currency or "%"
    money = column.currency and not (column.unit or number.currency)
    return number.unit if money and measured in _NEVER_MONEY and len(number.unit) > 1 else ""


def unknown_conversion(words: str, column: Described, context: Context) -> str:
    """Returns a sentence when all numbers of the words have a unit of another kind than the
    column's (mg/dL for mmol/L); "" otherwise. Such a conversion depends on the thing that was
    measured, so code cannot check it.
    """
    expected = settled(column)
    found = _all_readings(words, expected, context)
    kinds = {dimension(reading.number.unit) for reading in found}
    if (
        len(kinds) != 1
        or not dimension(expected.unit)
        or kinds & {"", "percent", dimension(expected.unit)}
    ):
        return ""
    return found[0].mismatch


_Options = list[tuple[Decimal, str, str]]
"""The possible meanings of a number: its value, the printed scale, and how it was read."""


def _coins(base: Decimal, number: Number, column: Expected, _context: Context) -> _Options:
    return [(base / 100, "", say("coins", base=base, unit=number.unit, currency=column.currency))]


def _percents(base: Decimal, number: Number, column: Expected, _context: Context) -> _Options:
    as_share = (base / 100, "", say("as_share", base=base))
    if dimension(column.unit) != "percent":
        return [(base, "", ""), as_share]
    printed = "%" if number.percent else number.unit
    value = convert(base, printed, column.unit)
    if value is not None:
        return [
            (
                value,
                "",
                ""
                if same_unit(printed, column.unit)
                else say("as_unit", base=base, printed=printed, unit=column.unit),
            )
        ]
    if same_unit(column.unit, "share") and abs(base) > 1:
        return [as_share, (base, "", "")]
    return [(base, "", "")]


def _units(base: Decimal, number: Number, column: Expected, _context: Context) -> _Options:
    value = convert(base, number.unit, column.unit)
    rounded = Decimal(f"{value:.12g}") if value is not None else base
    note = say("converted", text=number.text, own=number.unit, rounded=rounded, unit=column.unit)
    options = [(rounded, "", note)]
    if column.type is ColumnType.INTEGER:
        return [*options, (rounded.to_integral_value(), "", say("and_rounded", note=note))]
    return options


def _scaled(base: Decimal, number: Number, column: Expected, context: Context) -> _Options:
    """Returns the number in the column's scale. When no scale is printed and none is certain, both
    meanings are returned.
    """
    own = number.scale
    values: list[tuple[Decimal, str]] = [(base, "")]
    if not own and context.scale and not _unscaled(number, column):
        scaled = (base * SCALES[context.scale], say("table_scale", scale=context.scale))
        if column.scale or column.currency or number.currency:
            own = context.scale
            values = [scaled, (base, "")] if has_exceptions(context.note) else [scaled]
        else:
            values = [(base, ""), scaled]
    if not column.scale:
        return [(value, own, note) for value, note in values]
    factor, stored = SCALES[column.scale], say("stored_scale", scale=column.scale)
    if own:
        return [
            (value / factor, own, say("both_notes", note=note, stored=stored) if note else stored)
            for value, note in values
        ]
    as_is, full = (
        (base, "", say("no_scale", scale=column.scale)),
        (base / factor, "", stored),
    )
    return [full, as_is] if abs(base) >= factor else [as_is, full]


def _unscaled(number: Number, column: Expected) -> bool:
    """Says whether a table's scale does not apply to a number: shares, rates ("USD per share") and
    measured quantities have none.
    """
    return bool(
        dimension(column.unit)
        or dimension(number.unit)
        or re.search(r"/|\bper\b", column.unit.lower())
    )
