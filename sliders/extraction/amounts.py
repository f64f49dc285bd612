"""Which number of the printed words is the column's, and what its scale, percent sign and currency make of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from sliders.extraction.dates import dates_in
from sliders.extraction.lexicon import CURRENCY_CODES, DOLLAR_CODES, SCALES, stem
from sliders.extraction.numbers import Amount, DecimalMark, Number, amount, join_space_groups, numbers_in
from sliders.extraction.quantities import Counted, count_phrase
from sliders.extraction.scales import scale_in
from sliders.extraction.scores import read_score
from sliders.schema.types import Column, ColumnType


@dataclass(frozen=True, slots=True)
class Reading:
    """A number as the column stores it, or None with the `reason`."""

    value: Amount | None = None
    unit: str = ""
    scale: str = ""
    currency: str = ""
    derived: bool = False
    rationale: str = ""
    reason: str = ""


_ZERO_WORDS = frozenset(("no", "none", "nil", "nobody", "nothing"))
_FOOTNOTE = re.compile(r"(?<=[\d%)])(?:\s?\[\w{1,2}\]|\(\w\)|\s?[*†‡§]+)+\s*$")
_APPROXIMATE = re.compile(
    r"\b(?:about|approximately|approx|around|nearly|almost|some|roughly|circa|ca|estimated|close to)\b"
    r"\.?[\s:]*$|[~≈]\s*$",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:over|more than|at least|up to|fewer than|less than|under|above|below|at most|no more than|no less than|"
    r"no fewer than|exceeding|minimum of|maximum of)\b[\s:]*$|[<>≤≥]=?\s*$",
    re.IGNORECASE,
)
_UNSCALED = frozenset(map(stem, ("percent", "percentage", "ratio", "rate", "year", "eps", "month", "day", "age")))


def read_number(
    words: str, column: Column, *, scale: str = "", currency: str = "", decimal: DecimalMark = ""
) -> Reading:
    """Reads the number that `words` state for an integer or number column.

    Args:
        words: printed words with single blanks.
        column: its type, unit, scale, currency, percent range, name and description choose among several numbers.
        scale: the canonical scale that the table states.
        currency: ISO code that holds where no symbol is printed.
        decimal: the document's decimal mark.
    """
    if (score := read_score(words, column)) is not None:
        return Reading(score[0], unit=column.unit, derived=True, rationale=score[1])
    whole = column.type is ColumnType.INTEGER
    if words.casefold().strip(" .") in _ZERO_WORDS:
        return Reading(0, unit=column.unit, derived=True, rationale=f"{words!r} read as zero")
    text = _FOOTNOTE.sub("", join_space_groups(words) if _only_number(words) else words)
    found = [number for number in numbers_in(text, decimal=decimal, whole=whole) if not _in_date(number, text)]
    if len(found) == 1 and found[0].ordinal and whole and _fills(found[0], text):
        return _finish(found[0], text, column, scale, currency)
    candidates = _candidates(found, column)
    if whole and not (len(candidates) == 1 and _fills(candidates[0], text)):
        counted = _count(text, column, candidates)
        if counted is not None:
            return counted
    if not candidates:
        return _ordinal(found, text, column, scale, currency) or Reading(reason=f"{words!r} holds no number")
    if any(number.ranged for number in candidates) and len(candidates) > 1 and not _measured(text):
        return Reading(reason=f"{words!r} is a range")
    if len(candidates) == 1:
        return _finish(candidates[0], text, column, scale, currency)
    picked = _pick(candidates, text, column)
    if picked is None:
        shown = ", ".join(number.text for number in candidates[:4])
        return Reading(reason=f"{words!r} holds {len(candidates)} numbers ({shown})")
    reading = _finish(picked, text, column, scale, currency)
    return _noted(reading, f"{picked.text} taken from {words!r}")


def _only_number(words: str) -> bool:
    return re.fullmatch(r"[^\d]{0,12}\d[\d .,'’]*[^\d]{0,24}", words) is not None


def _fills(number: Number, text: str) -> bool:
    rest = text[: number.start] + text[number.end :]
    return not re.search(r"[^\W_]", re.sub(r"\bthe\b", "", rest, flags=re.IGNORECASE))


def _in_date(number: Number, text: str) -> bool:
    return any(date.full and date.start <= number.start < date.end and not text.isdigit() for date in dates_in(text))


def _measured(text: str) -> bool:
    """Whether it is a value with its uncertainty, "42 ± 15"; the first number is the value."""
    return "±" in text


def _candidates(found: list[Number], column: Column) -> list[Number]:
    plain = [number for number in found if number.plain]
    if column.type is ColumnType.INTEGER and not is_percent(column):
        plain = [number for number in plain if not number.percent] or plain
    return plain or [number for number in found if number.attached and not number.ordinal]


def _count(text: str, column: Column, candidates: list[Number]) -> Reading | None:
    """The count of the persons or things that the words name; None if the words are no such phrase."""
    counted: Counted = count_phrase(text, about=f"{column.name} {column.description} {column.unit}")
    if counted.value is None:
        if counted.enumerates and (
            not candidates or len(candidates) > 1 or candidates[0].word or "and" in text.split()
        ):
            return Reading(reason=f"{text!r} cannot be counted: {counted.rationale}")
        return None
    if not counted.alike:
        return None
    settled = counted.enumerates or counted.stated
    if len(candidates) == 1 and counted.value != 0 and (candidates[0].value == counted.value or not settled):
        return None  # the number itself is printed, the plain reading keeps its scale and currency
    if not candidates and _names_ordinal(text, column):
        return None
    return Reading(counted.value, unit=column.unit, derived=True, rationale=counted.rationale)


def _names_ordinal(text: str, column: Column) -> bool:
    """Whether the noun behind an ordinal is what the column is about ("third quarter" for `quarter`)."""
    named = _column_stems(column)
    ordinals = [number for number in numbers_in(text) if number.ordinal]
    return len(ordinals) == 1 and any(stem(word) in named for word in _words_after(ordinals[0], text)[:1])


def _ordinal(found: list[Number], text: str, column: Column, scale: str, currency: str) -> Reading | None:
    ordinals = [number for number in found if number.ordinal]
    if column.type is not ColumnType.INTEGER or len(ordinals) != 1:
        return None
    if not (_names_ordinal(text, column) or not ordinals[0].word):
        return None
    return _noted(_finish(ordinals[0], text, column, scale, currency), f"ordinal {ordinals[0].text!r}")


def _column_stems(column: Column) -> set[str]:
    words = re.findall(r"[^\W\d_]+", f"{column.name} {column.description} {column.unit}".lower())
    return {stem(word) for word in words if len(word) > 2} - {
        "number",
        "the",
        "and",
        "for",
        "how",
        "many",
        "much",
        "total",
    }


def _words_after(number: Number, text: str) -> list[str]:
    following = re.split(r"[.,;:()]|\d", text[number.end : number.end + 60])[0]
    return re.findall(r"[^\W\d_]+", following)[:4]


def is_percent(column: Column) -> bool:
    """Whether a column holds percentages, by its range, unit or words."""
    if column.percent_range or column.unit.strip().lower() in {"%", "percent", "pct"}:
        return True
    return bool(
        {"percent", "percentage", "pct"} & set(re.findall(r"[a-z]+", f"{column.name} {column.description}".lower()))
    )


def _pick(candidates: list[Number], text: str, column: Column) -> Number | None:
    """The one number that the column's percent sign, currency, unit or words point at; None if none or several."""
    percents = [number for number in candidates if number.percent]
    if is_percent(column):
        return percents[0] if len(percents) == 1 else None
    if _measured(text) and len(candidates) == 2 and candidates[1].ranged:
        return candidates[0]
    wanted_currency = column.currency or (column.unit.upper() if column.unit.upper() in CURRENCY_CODES else "")
    if wanted_currency:
        fitting = [number for number in candidates if _same_currency(number.currency, wanted_currency)]
        if len(fitting) == 1:
            return fitting[0]
    for wanted in ({stem(word) for word in re.findall(r"[^\W\d_]+", column.unit)}, _column_stems(column)):
        fitting = [n for n in candidates if wanted & {stem(word) for word in [*_words_after(n, text), n.unit] if word}]
        others = [n for n in candidates if n not in fitting]
        if len(fitting) == 1 and all(_words_after(n, text) or n.percent or n.currency for n in others):
            return fitting[0]
    return None


def _same_currency(printed: str, wanted: str) -> bool:
    return printed == wanted or (printed == "$" and wanted in DOLLAR_CODES)


def _noted(reading: Reading, note: str) -> Reading:
    return Reading(
        reading.value, reading.unit, reading.scale, reading.currency, reading.derived,
        "; ".join(part for part in (note, reading.rationale) if part), reading.reason,
    )  # fmt: skip


def _finish(number: Number, text: str, column: Column, scale: str, currency: str) -> Reading:
    """Applies scale, percent range and whole-number check to the chosen number."""
    notes: list[str] = []
    bound = _BOUND.search(text[max(0, number.start - 24) : number.start])
    if near := bound or _APPROXIMATE.search(text[max(0, number.start - 24) : number.start]):
        notes.append(f"printed as {near[0].strip()!r}")
    value = Decimal(str(number.value))
    if number.percent or is_percent(column):
        value, note = _as_percent(value, number.percent, column)
        printed_scale = ""
    else:
        value, printed_scale, note = _scaled(value, number, column, scale)
    notes.append(note)
    if abs(value) >= 2**63:
        return Reading(reason=f"{number.text!r} does not fit a 64-bit number")
    if column.type is ColumnType.INTEGER and value != value.to_integral_value():
        return Reading(reason=f"{number.text!r} is not a whole number")
    return Reading(
        amount(value),
        unit=_unit(number, text, column),
        scale=printed_scale,
        currency=_currency(number, column, currency),
        derived=bound is not None,
        rationale="; ".join(note for note in notes if note),
    )


def _as_percent(value: Decimal, signed: bool, column: Column) -> tuple[Decimal, str]:
    if column.percent_range == "0_1" and (signed or abs(value) > 1):
        return value / 100, f"{value}% as a share of 1"
    return value, ""


def _takes_table_scale(column: Column) -> bool:
    words = set(re.findall(r"[a-z]+", f"{column.name} {column.unit}".lower()))
    per_share = "per share" in f"{column.name} {column.description}".lower().replace("_", " ").replace("-", " ")
    return not (per_share or {stem(word) for word in words} & _UNSCALED)


def _scaled(value: Decimal, number: Number, column: Column, table_scale: str) -> tuple[Decimal, str, str]:
    """The value in the scale that the column wants, the scale as printed, and a note on what was applied."""
    own = number.scale
    note = ""
    if not own and table_scale and _takes_table_scale(column):
        value, own, note = value * SCALES[table_scale], table_scale, f"table in {table_scale}"
    wanted = scale_in(column.scale)
    if not wanted:
        return value, own, note
    factor = SCALES[wanted]
    if own or abs(value) >= factor:
        return value / factor, own, "; ".join(part for part in (note, f"stored in {wanted}") if part)
    return value, own, f"no scale is printed: taken as {wanted}"


def _unit(number: Number, text: str, column: Column) -> str:
    if number.percent:
        return "%"
    wanted = {stem(word) for word in re.findall(r"[^\W\d_]+", column.unit)}
    if wanted & {stem(word) for word in _words_after(number, text)}:
        return column.unit
    return number.unit or column.unit


def _currency(number: Number, column: Column, currency: str) -> str:
    if number.currency == "$":
        return next((code for code in (column.currency, currency) if code in DOLLAR_CODES), "$")
    return number.currency or currency or column.currency
