"""Parsing of printed words and of model replies to typed values. Nothing is guessed: words that
cannot be parsed give no value and a reason.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from sliders.sentences import Sentences
from sliders.values.amounts import Context as Context
from sliders.values.amounts import all_readings, read_number
from sliders.values.dates import dates_in, unsure
from sliders.values.digits import Amount, amount
from sliders.values.expected import DATED, NUMERIC, TEXTUAL, ColumnType, Described, Expected, Scalar
from sliders.values.folding import fold, signed
from sliders.values.vocabulary import NO, YES

say = Sentences("values")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A typed value, or None with the `reason`.

    Args:
        value: in the column's unit and scale; a date is ISO text with the printed parts
            ("1999-10").
        scale: the scale of the printed number.
        reason: why there is no value.
        absent: True for words that commonly say that there is no value ("n/a"). Such words can come
            with a `value`: text such as the surname Null, which counts when the words are found.
    """

    value: Scalar = None
    scale: str = ""
    reason: str = ""
    absent: bool = False


NO_CONTEXT = Context()
_MODEL = Context(decimal=".")
_DASHES = frozenset(("", "-", "--", "–", "—", "…", "...", "n/a", "n.a", "null"))
_ABSENT = _DASHES | frozenset(
    ("none", "na", "nan", "?", "unknown", "not stated", "not available", "not applicable", "k.a")
)


def collapse(text: str) -> str:
    """Returns `text` stripped, with single blanks, without soft hyphens."""
    return re.sub(r"\s+", " ", text.replace("\u00ad", "")).strip()


_BESIDE = re.compile(
    r"(?<=[^\W_])[^\S\n]*\|[|\s]*(?=[^\W\d_]|[€$£¥₹%])|(?<=[^\W\d_]|[€$£¥₹])[^\S\n]*\|[|\s]*(?=\d)"
)


def joined_cells(text: str) -> str:
    """Returns the words of neighbouring cells as one text, a number with its unit or currency: "400
    | CHF" gives "400 CHF".
    """
    return _BESIDE.sub(" ", text) if "|" in text else text


def is_absent(text: str, kind: ColumnType = ColumnType.TEXT) -> bool:
    """Says whether the words only state that there is no value. For a text column only a dash or
    "n/a" does, never a word.
    """
    words = {collapse(text).casefold(), collapse(text).strip(" .\"'()[]").casefold()}
    if kind in NUMERIC:
        words -= {"none"}  # that is zero
    return bool(words & (_DASHES if kind in TEXTUAL else _ABSENT))


def parse_value(words: str, column: Described, context: Context = NO_CONTEXT) -> Parsed:
    """Returns the value of printed words in the column's type. Only its type, unit, scale, currency
    and values matter.
    """
    return _parse(words, Expected.of(column), context)


@lru_cache(maxsize=8192)
def _parse(printed: str, column: Expected, context: Context) -> Parsed:
    words = collapse(printed)
    if is_absent(words, column.type) and fold(words) not in map(fold, column.values):
        value = words if words and column.type is ColumnType.TEXT else None
        return Parsed(
            value,
            absent=True,
            reason=""
            if value
            else say("no_value", words=words)
            if words
            else say("nothing_printed"),
        )
    match column.type:
        case ColumnType.INTEGER | ColumnType.NUMBER:
            read = read_number(words, column, context)
            return Parsed(reason=read) if isinstance(read, str) else Parsed(read.value, read.scale)
        case ColumnType.DATE | ColumnType.DATETIME:
            return _date(words, column, context)
        case ColumnType.BOOLEAN:
            word = words.casefold().strip(" .!,;:\"'()[]")
            if word in YES | NO:
                return Parsed(word in YES)
            return Parsed(reason=say("no_truth", words=words))
        case ColumnType.CATEGORY if column.values:
            return _category(words, column)
        case _:
            return Parsed(words)


def _category(words: str, column: Expected) -> Parsed:
    plain = collapse(words).casefold()
    for form in (
        lambda text: collapse(text).casefold(),
        signed,
        lambda text: signed(text).replace(" ", ""),
    ):
        equal = [value for value in column.values if form(value) == form(plain)]
        if len(equal) == 1:
            return Parsed(equal[0])
    return Parsed(reason=say("no_category", words=words, values=", ".join(column.values)))


def _date(words: str, column: Expected, context: Context) -> Parsed:
    every = dates_in(words, day_first=context.day_first, language=context.language)
    finest = max((len(date.iso) for date in every), default=0)
    usable = [date for date in every if len(date.iso) == finest]
    if not usable:
        return Parsed(reason=say("no_date", words=words))
    date = usable[0]
    if len({(other.iso, other.time) for other in usable}) > 1:
        shown = ", ".join(other.text for other in usable[:4])
        return Parsed(reason=say("several_dates", words=words, count=len(usable), shown=shown))
    if why := unsure(date, words):
        return Parsed(reason=why)
    if date.ambiguous:
        return Parsed(reason=(say("open_order", text=date.text)))
    if not date.full and re.search(r"\d", words[: date.start] + words[date.end :]):
        return Parsed(reason=say("no_full_date", words=words, text=date.text))
    return Parsed(
        f"{date.iso} {date.time}" if column.type is ColumnType.DATETIME and date.time else date.iso
    )


_BARE_NUMBER = re.compile(r"[-+(]?\d[\d.,' \u202f]*\)?")


def typed(value: object, column: Described, context: Context = NO_CONTEXT) -> Parsed:
    """Returns a JSON value of a model's reply ("17 feet", 17.0, true, null) in the column's type.

    Text for a text column is only stripped. A number is in the column's unit and scale unless it
    comes with another one. Models write numbers with a decimal point but copy dates as printed, so
    of `context` only the order of day and month is used.
    """
    if value is None:
        return Parsed(absent=True, reason=say("null_reply"))
    if isinstance(value, str):
        if column.type is ColumnType.TEXT and value.strip():
            return Parsed(value.strip(), absent=is_absent(value))
        if column.type in NUMERIC and _BARE_NUMBER.fullmatch(value.strip()):
            column = Expected(column.type, values=column.values)  # it stands in them already
        return parse_value(value, column, replace(_MODEL, day_first=context.day_first))
    if isinstance(value, bool):
        if column.type is ColumnType.BOOLEAN:
            return Parsed(value)
        if column.type is ColumnType.CATEGORY:
            return _category("yes" if value else "no", Expected.of(column))
        return Parsed(reason=say("other_type", value=value, type=column.type.value))
    if isinstance(value, int | float):
        return _typed_number(value, column)
    return Parsed(reason=say("other_json_type", own=type(value).__name__, type=column.type.value))


_NOISE = 1e-12
"""The relative error of binary arithmetic on a whole number: 434999999.99999994 for 4.35 *
100000000.
"""


def _typed_number(value: Amount, column: Described) -> Parsed:
    if isinstance(value, float) and not math.isfinite(value):
        return Parsed(reason=say("not_finite", value=value))
    # The integer may be too long for a float.
    whole = amount(Decimal(str(value))) if isinstance(value, float) else value
    if column.type in NUMERIC:
        if column.type is ColumnType.INTEGER and isinstance(whole, float):
            if math.isclose(whole, round(whole), rel_tol=_NOISE):
                return Parsed(round(whole))
            return Parsed(reason=say("value_not_whole", value=value))
        if abs(whole) < 2**63:
            return Parsed(whole)
        return Parsed(reason=say("value_too_large", value=value))
    return Parsed(str(whole)) if column.type is ColumnType.TEXT else parse_value(str(whole), column)


def other_readings(
    words: str, column: Described, context: Context = NO_CONTEXT
) -> tuple[Scalar, ...]:
    """Returns the two values of words that are ambiguous: "03/04/2024" (day or month first) and
    "1.234" (decimal point or thousands). Returns () for words with one meaning.
    """
    if column.type in DATED:
        orders = (replace(context, day_first=first) for first in (True, False))
        days = dict.fromkeys(parse_value(words, column, order).value for order in orders)
        return tuple(day for day in days if day is not None) if len(days) > 1 else ()
    if column.type is not ColumnType.NUMBER or context.decimal:
        return ()
    read = dict.fromkeys(
        r.value
        for r in all_readings(collapse(words), column, context)
        if r.number.alternative is not None
    )
    return tuple(read) if len(read) > 1 else ()
