"""Rulings of code on contradictions inside a group: unit conversions, roundings, fuller names,
criteria for sources, and votes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sliders.extraction.cell import Grounding, Scalar
from sliders.reconcile.repairs import (
    IN_WORDS,
    RULES,
    CellSource,
    Criterion,
    DocumentSource,
    Precedence,
)
from sliders.store.facts import Operation
from sliders.values.folding import fold, signed
from sliders.values.units import convert, same_unit
from sliders.values.vocabulary import NEWER

_VERBATIM = {
    Grounding.EXACT: 2,
    Grounding.NORMALIZED: 2,
    Grounding.FUZZY: 1,
    Grounding.DERIVED: 0,
    Grounding.NONE: -1,
}


@dataclass(frozen=True, slots=True)
class Side:
    """One value of a conflict: the rows that carry it, and its best source."""

    value: Scalar
    rows: tuple[int, ...]
    source: CellSource
    document: DocumentSource
    votes: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision which side holds (its place in the list), by which operation and why."""

    side: int
    operation: Operation
    reason: str


def same_quantity(left: Side, right: Side) -> bool:
    """Says whether two numbers are one quantity in different units, within one percent, since
    printed figures are rounded.
    """
    if isinstance(left.value, str | bool | None) or isinstance(right.value, str | bool | None):
        return False
    a, b = left.source.unit, right.source.unit
    converted = None if same_unit(a, b) else convert(Decimal(str(left.value)), a, b)
    return converted is not None and math.isclose(converted, right.value, rel_tol=0.01)


def significant_digits(printed: str) -> int:
    """Returns the number of significant digits of the first number in a text: without leading
    zeros, and without trailing zeros that only give the size.
    """
    match = re.search(r"\d[\d.,']*", printed)
    digits = re.sub(r"[.,']", "", match.group()) if match else ""
    return len(digits.lstrip("0").rstrip("0") or digits[:1])


def rounds_to(fine: Side, coarse: Side) -> bool:
    """Says whether `coarse` is a rounding of `fine`: it is printed with fewer digits, and with
    decimals or a scale word.
    """
    if not isinstance(fine.value, int | float) or not isinstance(coarse.value, int | float):
        return False
    if (
        fine.value == 0
        or coarse.value == 0
        or (not coarse.source.scale and float(coarse.value).is_integer())
    ):
        return False
    kept = significant_digits(coarse.source.printed)
    if kept < 2 or significant_digits(fine.source.printed) <= kept:
        return False
    places = kept - 1 - math.floor(math.log10(abs(fine.value)))
    return math.isclose(round(fine.value, places), coarse.value, rel_tol=1e-9)


def fuller_name(full: Side, short: Side) -> bool:
    """Says whether one name holds all words of the other, in order ("Delta" in "Delta
    Air Lines").
    """
    if not isinstance(full.value, str) or not isinstance(short.value, str):
        return False
    words, part = signed(full.value).split(), signed(short.value).split()
    remaining = iter(words)
    return (
        len(part) < len(words)
        and all(word in remaining for word in part)
        and not any(w.isdigit() for w in words)
    )


def _dominant(
    sides: Sequence[Side], holds: object, operation: Operation, reason: str
) -> Ruling | None:
    """Returns a ruling for the one side that covers all others under the relation `holds`; None
    when there is none.
    """
    assert callable(holds)
    for place, side in enumerate(sides):
        if all(other is side or holds(side, other) for other in sides):
            return Ruling(place, operation, reason)
    return None


def by_precedence(sides: Sequence[Side], rules: Sequence[Precedence], column: str) -> Ruling | None:
    """Returns a ruling for the side that a user's rule prefers; None when no rule applies."""
    for rule in rules:
        if rule.column and rule.column != column:
            continue
        if NEWER.fullmatch(fold(rule.prefer)):
            if found := by_criteria(sides, ("newer_document",)):
                return replace(found, reason=f"the user's rule: {rule.prefer!r}; {found.reason}")
            continue
        preferred = [i for i, side in enumerate(sides) if _mentions(side, rule.prefer)]
        others = [side for i, side in enumerate(sides) if i not in preferred]
        if len(preferred) == 1 and all(
            not rule.over or _mentions(side, rule.over) for side in others
        ):
            over = f" over {rule.over!r}" if rule.over else ""
            return Ruling(
                preferred[0], "resolve_conflict", f"the user's rule: {rule.prefer!r}{over}"
            )
    return None


def _mentions(side: Side, words: str) -> bool:
    place = fold(
        f"{side.document.name} {side.source.section} {side.source.quote}".replace("_", " ")
    )
    return f" {fold(words)} " in f" {place} "


def _rank(side: Side, criterion: Criterion) -> float:
    if criterion == "table_over_prose":
        return {"table": 1.0, "prose": 0.0, "": 0.5}[side.source.kind]
    return float(_VERBATIM[side.source.grounding])


def by_criteria(sides: Sequence[Side], criteria: Sequence[Criterion]) -> Ruling | None:
    """Returns a ruling by the first criterion under which one side stands alone at the top; None
    when there is none.
    """
    for criterion in criteria:
        if criterion in ("audited_over_unaudited", "primary_over_addendum"):
            continue
        if criterion == "newer_document":
            if (place := newest([side.document.date for side in sides])) is not None:
                return Ruling(
                    place,
                    "resolve_conflict",
                    f"{IN_WORDS[criterion]} ({sides[place].document.date})",
                )
            continue
        ranks = [_rank(side, criterion) for side in sides]
        if criterion == "table_over_prose" and 0.5 in ranks:
            continue
        top = max(ranks)
        if ranks.count(top) == 1:
            return Ruling(ranks.index(top), "resolve_conflict", IN_WORDS[criterion])
    return None


def newest(dates: list[str]) -> int | None:
    """Returns the position of the date that is later than all others; None when a date is unknown,
    or two cannot be ordered (a year and a day of the same year).
    """
    if not dates or not all(dates):
        return None
    top = max(range(len(dates)), key=dates.__getitem__)
    others = [d for place, d in enumerate(dates) if place != top]
    return None if any(dates[top].startswith(d) for d in others) else top


def by_votes(sides: Sequence[Side]) -> Ruling | None:
    """Returns a ruling for the side that at least two independent chunks and twice as many as any
    other side support; None when there is none.
    """
    votes = sorted((side.votes for side in sides), reverse=True)
    if votes[0] < 2 or votes[0] < 2 * votes[1]:
        return None
    place = next(i for i, side in enumerate(sides) if side.votes == votes[0])
    return Ruling(place, "resolve_conflict", f"{votes[0]} sources against {votes[1]}")


def compatible(sides: Sequence[Side], names: bool = False) -> Ruling | None:
    """Returns a ruling when the values do not contradict each other: another unit, a rounding, a
    fuller name; None when they do.

    `names` is True when the values are names of one known thing; elsewhere an added word may say
    the opposite.
    """
    return (
        _dominant(sides, same_quantity, "convert", "the same quantity in another unit")
        or _dominant(sides, rounds_to, "deduplicate", "the same figure, rounded")
        or (
            _dominant(sides, fuller_name, "deduplicate", "the fuller form of one name")
            if names
            else None
        )
    )


def settle(
    sides: Sequence[Side],
    column: str,
    criteria: Sequence[Criterion],
    precede: Sequence[Precedence],
    rules: bool,
    names: bool = False,
) -> Ruling | None:
    """Returns the ruling of code on a contradiction, None when it stays open.

    Compatible values come first (they are no contradiction), then the user's criteria, then, if
    `rules` is True because no model reads the sources, general criteria and votes.
    """
    found = (
        compatible(sides, names)
        or by_precedence(sides, precede, column)
        or by_criteria(sides, criteria)
    )
    return found or ((by_criteria(sides, RULES) or by_votes(sides)) if rules else None)
