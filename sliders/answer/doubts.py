"""Gaps and doubts of an answer, each with the next command. A *gap* is a missing value, row or
part; a *doubt* is a value, row or name that may be wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from shlex import quote
from typing import Any, Literal

from sliders.answer.figures import Number, shown
from sliders.answer.range import Kind
from sliders.extraction.cell import Scalar
from sliders.progress import counted

MOST_SHOWN = 5
"""The most doubts that are shown in words; JSON has all of them."""
_MOST_NAMED = 5
_MOST_ROWS = 3
Rows = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A value, name or row that may be wrong, and would change the answer.

    Args:
        kind: the kind of doubt.
        thing: the doubtful thing, with the reason.
        place: the document and page, and the table's column and row.
        effect: the answer now, and what it would be.
        command: the command that settles the doubt.
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
        """Returns the doubt as plain JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Gap:
    """A missing value, row or part of an answer.

    Args:
        kind: "value" (missing in a column that the statement sums, averages, ranks or counts),
            "document" (without a row), "failed" (a part of a document), "stopped" (by a budget),
            "cut" (a result), or "uncovered" (a part of the question that no column holds).
        thing: what is missing, in words.
        documents: the names of the documents that lack it.
        command: the next command.
    """

    kind: Literal["value", "document", "failed", "stopped", "cut", "uncovered"]
    thing: str
    documents: tuple[str, ...] = ()
    command: str = ""

    def __str__(self) -> str:
        return f"{self.thing} ({named(self.documents)})" if self.documents else self.thing

    def to_dict(self) -> dict[str, Any]:
        """Returns the gap as plain JSON."""
        return asdict(self) | {"documents": list(self.documents)}


def incomplete(gaps: Sequence[Gap]) -> str:
    """Returns the words " (incomplete: ...)" that follow an answer with gaps; "" without gaps."""
    return f" (incomplete: {'; '.join(map(str, gaps))})" if gaps else ""


def named(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Returns names in words: at most `most` of them, then the number of the others."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def doubt_lines(doubts: Sequence[Doubt]) -> list[str]:
    """Returns the doubts that change most, in words, then the number of the others."""
    more = len(doubts) - MOST_SHOWN
    return [
        *map(str, doubts[:MOST_SHOWN]),
        *([f"and {more} more (--json lists them all)"] if more > 0 else []),
    ]


def effect_words(before: Rows, after: Sequence[Rows]) -> str:
    """Returns in words the result `before`, and the results `after` it with other values."""
    others = [rows for rows in after if sorted(map(repr, rows)) != sorted(map(repr, before))]
    numbers = [number for rows in others if (number := _single(rows)) is not None]
    if _single(before) is not None and len(numbers) == len(others):
        low, high = min(numbers), max(numbers)
        return f"{result_words(before)} would be {shown(low)}" + (
            f" to {shown(high)}" if high != low else ""
        )
    if not others:
        return ""
    now, then = _without(before, others[0]), _without(others[0], before)
    if before and others[0] and not (now and then):
        done = "left out" if now else "added"
        return f"{result_words(now or then)} would be {done}"
    return f"{result_words(now)} would be {result_words(then)}"


def _without(rows: Rows, others: Rows) -> Rows:
    """Returns the rows that another result does not have."""
    left = Counter(map(repr, others))
    found = []
    for row in rows:
        if left[repr(row)]:
            left[repr(row)] -= 1
        else:
            found.append(row)
    return found


def change_size(before: Rows, after: Sequence[Rows]) -> float:
    """Returns the size of a change: the largest difference of the result's number, else the number
    of rows that differ.
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
    """Returns the number of a result that consists of one number; None otherwise."""
    cell = rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else None
    return cell if isinstance(cell, int | float) else None


def result_words(rows: Rows, most: int = _MOST_ROWS) -> str:
    """Returns a result in a few words."""
    cells = [", ".join(_cell(cell) for cell in row) for row in rows[:most]]
    more = len(rows) - most
    return " | ".join(cells) + (f" | {counted(more, 'row')} more" if more > 0 else "") or "nothing"


def _cell(cell: object) -> str:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return shown(cell)
    return "nothing" if cell is None else str(cell)[:80]


def command_of(verb: str, *words: Scalar, **sides: Sequence[tuple[str, Scalar]]) -> str:
    """Returns a `sliders` command line: its verb, its words, and column=value pairs for each
    option.
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
    """Returns a value in the form of a command line."""
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
