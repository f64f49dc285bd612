"""What keeps an answer from being complete or sure: what is missing, and what may be otherwise,
each with its next command.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from shlex import quote
from typing import Any, Literal

from sliders.answer.figures import Number, shown
from sliders.answer.range import Kind
from sliders.extraction.cell import Scalar

MOST_SHOWN = 5
"""Doubts that are shown in words; JSON has all of them."""
_MOST_NAMED = 5
_MOST_ROWS = 3
Rows = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A value, name or row that may be otherwise, where another one would change
    what the answer shows.

    `thing` names what is doubted and why, `place` the document with its page and the table's
    column and row, `effect` what the answer shows now and would show then, `command` is the next
    command that settles it.
    """

    kind: Kind
    thing: str
    place: str
    effect: str
    command: str

    def __str__(self) -> str:
        where = f" ({self.place})" if self.place else ""
        return f"{self.thing}{where}; {self.effect}" + (
            f"; settle it: {self.command}" if self.command else ""
        )

    def to_dict(self) -> dict[str, str]:
        """Plain JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that an answer lacks: `thing` in words, the names of the `documents` that lack it,
    and the next command.

    A "value" is missing in a column that the statement adds up, averages, ranks or counts; a
    "document" that should fill a table gave no row; a part of a document "failed"; the work
    "stopped" at a budget; a result was "cut"; a part of the question is "uncovered" by any column.
    """

    kind: Literal["value", "document", "failed", "stopped", "cut", "uncovered"]
    thing: str
    documents: tuple[str, ...] = ()
    command: str = ""

    def __str__(self) -> str:
        return f"{self.thing} ({named(self.documents)})" if self.documents else self.thing

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self) | {"documents": list(self.documents)}


def incomplete(gaps: Sequence[Gap]) -> str:
    """What stands behind the words of an answer that lacks something."""
    return f" (incomplete: {'; '.join(map(str, gaps))})" if gaps else ""


def named(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Names in words, the first of them where there are many."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def doubt_lines(doubts: Sequence[Doubt]) -> list[str]:
    """Doubts in words, those that change most, and how many more there are."""
    more = len(doubts) - MOST_SHOWN
    return [
        *map(str, doubts[:MOST_SHOWN]),
        *([f"and {more} more (--json lists them all)"] if more > 0 else []),
    ]


def effect_words(before: Rows, after: Sequence[Rows]) -> str:
    """What a result is now, and what it would be with each of some other values."""
    others = [rows for rows in after if sorted(map(repr, rows)) != sorted(map(repr, before))]
    numbers = [number for rows in others if (number := _single(rows)) is not None]
    if _single(before) is not None and len(numbers) == len(others):
        low, high = min(numbers), max(numbers)
        return f"{result_words(before)} would be {shown(low)}" + (
            f" to {shown(high)}" if high != low else ""
        )
    return f"{result_words(before)} would be {result_words(others[0])}" if others else ""


def change_size(before: Rows, after: Sequence[Rows]) -> float:
    """How much other values change a result: the largest difference of its number, else
    how many rows differ.
    """
    number = _single(before)
    sizes = []
    for rows in after:
        other = _single(rows)
        apart = len(set(map(repr, before)) ^ set(map(repr, rows)))
        sizes.append(
            abs(other - number) if number is not None and other is not None else float(apart)
        )
    return max(sizes, default=0.0)


def _single(rows: Rows) -> Number | None:
    """The number of a result that is one number."""
    cell = rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else None
    return cell if isinstance(cell, int | float) else None


def result_words(rows: Rows, most: int = _MOST_ROWS) -> str:
    """A result in a few words."""
    cells = [", ".join(_cell(cell) for cell in row) for row in rows[:most]]
    more = len(rows) - most
    return " | ".join(cells) + (f" | {more} rows more" if more > 0 else "") or "nothing"


def _cell(cell: object) -> str:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return shown(cell)
    return "nothing" if cell is None else str(cell)[:80]


def command_of(verb: str, *words: Scalar, **sides: Sequence[tuple[str, Scalar]]) -> str:
    """A command line of `sliders`: its verb, its words, and the column=value
    pairs of each option.
    """
    said = [plain(word) for word in words]
    behind = ["--", *said[2:]] if verb == "set-value" and said[-1].startswith("-") else said[2:]
    pairs = [
        (option, f"{name}={plain(value)}")
        for option, values in sides.items()
        for name, value in values
    ]
    options = [part for option, pair in pairs for part in (f"--{option}", pair)]
    return " ".join(["sliders", verb, *map(quote, [*said[:2], *options, *behind])])


def plain(value: Scalar) -> str:
    """A value as a command line takes it."""
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
