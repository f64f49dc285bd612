"""The range of a numeric answer: the least and the greatest number that other values in doubtful
cells would give.

A *variation* is a doubt about a cell, row or name of the tables. A *state* is a set of cells with
other values. The statement runs again on such states, which gives the range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from sliders.answer.figures import Number, figure, measured, places_of
from sliders.extraction.cell import Scalar
from sliders.progress import counted

Kind = Literal["conflict", "value", "same", "missing", "choice", "units"]


class Meaning(NamedTuple):
    """The words for a kind of doubt: its name in the singular and in the plural, and the cases that
    it covers.
    """

    one: str
    several: str
    means: str


KINDS: Mapping[Kind, Meaning] = {
    "conflict": Meaning(
        "open conflict",
        "open conflicts",
        "documents contradict each other, and nobody settled which one holds",
    ),
    "value": Meaning(
        "value that may be another one",
        "values that may be other ones",
        "nobody verified it, its words were not found, it was judged, it lies near the cut of its "
        "column, or the document prints a bound or an estimate",
    ),
    "same": Meaning(
        "row or name that may be one with another",
        "rows or names that may be one with another",
        "two rows or names may be one thing, or one row two things",
    ),
    "missing": Meaning(
        "missing value or row (as if it were like those read)",
        "missing values or rows (as if they were like those read)",
        "a value is not stated, a document gave no row, or a part of it was not read",
    ),
    "choice": Meaning(
        "row or statement that would do as well",
        "rows or statements that would do as well",
        "rows are tied with the last one shown, or the model wrote another statement",
    ),
    "units": Meaning(
        "figure over several units",
        "figures over several units",
        "values of different units or currencies go into one figure",
    ),
}
"""The kinds of doubt, the gravest first."""


@dataclass(frozen=True, slots=True)
class Mover:
    """The doubts of one kind that change the number: how many there are, and the lowest and highest
    number that they give together.
    """

    kind: Kind
    count: int
    low: Number
    high: Number

    def __str__(self) -> str:
        return doubts_counted(self.kind, self.count)


def doubts_counted(kind: Kind, count: int) -> str:
    """Returns a count of doubts of a kind, in words: "2 open conflicts"."""
    return counted(count, KINDS[kind].one, KINDS[kind].several)


@dataclass(frozen=True, slots=True)
class AnswerRange:
    """A numeric answer and the range that it lies in.

    `value` is the answer, `low` and `high` are the ends of the range, `moves` are the doubts that
    widen it. `notes` are doubts whose effect has no figure. `unit` is printed after the numbers.
    The text of a range (`str`) is "" when there are neither `moves` nor `notes`.
    """

    value: Number
    low: Number
    high: Number
    moves: tuple[Mover, ...] = ()
    notes: tuple[str, ...] = ()
    unit: str = ""

    @property
    def is_point(self) -> bool:
        """True when no known doubt changes the number, so that the range is this number alone."""
        return self.low == self.high

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int | float) and self.low <= number <= self.high

    def __str__(self) -> str:
        notes = [f"not measured: {'; '.join(self.notes)}"] if self.notes else []
        moved = [f"{self._span()}: {', '.join(map(str, self.moves))}"] if self.moves else []
        return "; ".join([*moved, *notes])

    def _span(self) -> str:
        """Returns the range in words ("10 to 12 kg"), each end rounded to as many decimals as the
        answer has.
        """
        places, apart = places_of([self.value], self.unit), bool(self.unit)
        low, high = (figure(end, places, apart=apart) for end in (self.low, self.high))
        return measured(low if low == high else f"{low} to {high}", self.unit)

    def to_dict(self) -> dict[str, object]:
        """Returns the range as plain JSON."""
        moves = [
            {"kind": m.kind, "count": m.count, "low": m.low, "high": m.high} for m in self.moves
        ]
        return {
            "low": self.low,
            "high": self.high,
            "moves": moves,
            "notes": list(self.notes),
            "text": str(self),
        }


def number_in(rows: Sequence[Sequence[object]]) -> Number | None:
    """Returns the number of a result that has one row and one number in it; None for any other
    result.
    """
    if len(rows) != 1:
        return None
    numbers = [
        cell for cell in rows[0] if isinstance(cell, int | float) and not isinstance(cell, bool)
    ]
    return numbers[0] if len(numbers) == 1 else None


@dataclass(frozen=True, slots=True)
class Place:
    """A cell of a data table, by SQL names. An empty `column` means the whole row: the only other
    state of a row is that it is gone.
    """

    relation: str
    row_id: str
    column: str


@dataclass(frozen=True, slots=True)
class Variation:
    """A doubt about a cell, row or name of the tables.

    Args:
        kind: the kind of doubt.
        options: the other states that are possible, each as pairs of a cell and its other value.
        count: the number of doubts that this variation stands for.
        thing: the name of the doubtful thing, with the reason of the doubt.
        place: the document, page, table and column of the thing.
        command: the command that settles the doubt.
        warns: True when a change of the answer is worth a warning; False when it only widens the
            range.
        figures: False when no words say which other value is possible; the options then only show
            whether the answer depends on the cell.
    """

    kind: Kind
    options: tuple[tuple[tuple[Place, Scalar], ...], ...]
    count: int = 1
    thing: str = ""
    place: str = ""
    command: str = ""
    warns: bool = True
    figures: bool = True


State = Iterable[tuple[Place, Scalar]]
#: Runs the statement on a state and returns its number; None when it gives no number.
Recompute = Callable[[State], Number | None]


@dataclass(slots=True)
class _Effect:
    """The effect of one variation on the number: the lowest and highest number, and the options
    `down` and `up` that give them.
    """

    variation: Variation
    low: Number
    high: Number
    down: State = ()
    up: State = ()


def measure(value: Number, variations: Sequence[Variation], recompute: Recompute) -> AnswerRange:
    """Returns the range of a number under all variations.

    The range has bounds for each kind of doubt, and for all of them together. Each variation is
    first tried alone. Then all variations are set to the side on which they lower (or raise) the
    number. Variations without an effect alone are tried once more on top of that, since a doubtful
    largest value can hide a second one. The number of statements that run grows with the number of
    variations, not with the number of their combinations.

    Args:
        value: the number that the statement gave.
        variations: the doubts.
        recompute: runs the statement on a state; None when the statement gives no number.
    """
    effects = [_alone(variation, value, recompute) for variation in variations]
    moves = []
    for kind in dict.fromkeys(variation.kind for variation in variations):
        moving = [e for e in effects if e.variation.kind == kind and e.low != e.high]
        if moving:
            low, high = _together(moving, value, recompute)
            moves.append(Mover(kind, sum(e.variation.count for e in moving), low, high))
    low, high = _together([e for e in effects if e.low != e.high], value, recompute)
    idle = [e.variation for e in effects if e.low == e.high]
    low = min(low, *_on_top(idle, [o for e in effects for o in e.down], low, recompute))
    high = max(high, *_on_top(idle, [o for e in effects for o in e.up], high, recompute))
    every = [value, low, high, *(m.low for m in moves), *(m.high for m in moves)]
    return AnswerRange(value, min(every), max(every), tuple(moves))


def _alone(variation: Variation, value: Number, recompute: Recompute) -> _Effect:
    """Returns the effect of one variation, each of its options tried alone."""
    effect = _Effect(variation, value, value)
    for option in variation.options:
        found = recompute(option)
        if found is not None and found < effect.low:
            effect.low, effect.down = found, option
        if found is not None and found > effect.high:
            effect.high, effect.up = found, option
    return effect


def _together(
    effects: Sequence[_Effect], value: Number, recompute: Recompute
) -> tuple[Number, Number]:
    """Returns the lowest and the highest number: all effects on their low side, and all on their
    high side.
    """
    low = (
        recompute([cell for e in effects for cell in e.down])
        if any(e.down for e in effects)
        else None
    )
    high = (
        recompute([cell for e in effects for cell in e.up]) if any(e.up for e in effects) else None
    )
    alone = [value, *(e.low for e in effects), *(e.high for e in effects)]
    return min(x for x in (*alone, low) if x is not None), max(
        x for x in (*alone, high) if x is not None
    )


def _on_top(
    idle: Sequence[Variation],
    state: Sequence[tuple[Place, Scalar]],
    value: Number,
    recompute: Recompute,
) -> tuple[Number, Number]:
    """Returns the lowest and the highest number when the variations without an effect of their own
    are tried on top of a state.
    """
    if not state or not idle:
        return value, value
    return _together(
        [_alone(d, value, lambda option: recompute([*state, *option])) for d in idle],
        value,
        recompute,
    )


def widened(found: AnswerRange, kind: Kind, count: int, numbers: Iterable[Number]) -> AnswerRange:
    """Returns a range that also covers `numbers`, which come from a doubt that is not about cells
    (such as a second statement).
    """
    every = [found.value, *numbers]
    if min(every) == max(every):
        return found
    alike = [mover for mover in found.moves if mover.kind == kind]
    low, high = min(every), max(every)
    mover = Mover(
        kind,
        count + sum(other.count for other in alike),
        min([low, *(other.low for other in alike)]),
        max([high, *(other.high for other in alike)]),
    )
    return replace(
        found,
        low=min(found.low, low),
        high=max(found.high, high),
        moves=(*(other for other in found.moves if other.kind != kind), mover),
    )


def bundled(variations: Sequence[Variation], most: int) -> list[Variation]:
    """Returns at most about `most` variations: when there are more, variations of one kind that
    change one column to the same values are joined.
    """
    if len(variations) <= most:
        return list(variations)
    alike: dict[object, list[Variation]] = {}
    for variation in variations:
        looks = tuple(
            tuple((p.relation, p.column, v) for p, v in option) for option in variation.options
        )
        alike.setdefault((variation.kind, variation.warns, looks), []).append(variation)
    size = max(2, -(-len(variations) // max(1, most - len(alike))))
    return [
        _one(group[at : at + size]) for group in alike.values() for at in range(0, len(group), size)
    ]


def _one(variations: Sequence[Variation]) -> Variation:
    """Returns one variation in the place of several that are alike."""
    options = zip(*(d.options for d in variations), strict=True)
    joined = tuple(tuple(cell for option in same for cell in option) for same in options)
    first, count = variations[0], sum(d.count for d in variations)
    thing = (
        f"{first.thing}, and {len(variations) - 1} more alike"
        if len(variations) > 1
        else first.thing
    )
    return replace(first, options=joined, count=count, thing=thing)
