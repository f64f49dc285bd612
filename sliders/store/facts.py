"""What a workspace learned and what was decided in it, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sliders.extraction.cell import Scalar
from sliders.schema.hints import Hints

Operation = Literal[
    "deduplicate",
    "consolidate",
    "convert",
    "resolve_conflict",
    "aggregate",
    "canonicalize",
    "correct",
]
Verdict = Literal["repaired", "apart", "open"]
"""What became of a group that a model was asked about: repaired by SQL, things of
their own, or left open.
"""
RowGroups = tuple[tuple[str, ...], ...]
"""Ids of extracted rows, a group each."""


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """One side of a contradiction: the value, the extracted rows that have it, and its words."""

    value: Scalar
    rows: tuple[str, ...]
    document: str
    quote: str = ""
    page: int | None = None


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """Values of one thing that contradict each other, and that nothing settled."""

    table: str
    column: str
    key: tuple[Scalar, ...]
    reason: str
    candidates: tuple[ConflictSide, ...]

    @property
    def sides(self) -> str:
        """The values with their documents, in words."""
        return "; ".join(f"{side.value!r} ({side.document})" for side in self.candidates)

    def __str__(self) -> str:
        about = ", ".join(str(part) for part in self.key)
        return f"{self.table}.{self.column} of {about}: {self.sides}. {self.reason}"


@dataclass(frozen=True, slots=True)
class OpenNames:
    """Printed forms of a column that may be one name, and on which nobody decided.

    Each of `sides` holds the forms of one name as far as is known. `joined`: the canonical column
    shows one form for all of them until somebody decides. Each of `rows` holds ids of rows that
    would be one thing if the sides were one name.
    """

    column: str
    sides: tuple[tuple[str, ...], ...]
    reason: str
    joined: bool = False
    rows: RowGroups = ()


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Everything that reconciliation left open in a table.

    `left_open` are rows that may be one thing; `merges` are merged rows that nobody is certain to
    be one thing, each by the rows that would stand apart.
    """

    conflicts: tuple[OpenConflict, ...] = ()
    names: tuple[OpenNames, ...] = ()
    left_open: RowGroups = ()
    merges: tuple[RowGroups, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line of a printed grid of which nothing was read; `values` are those that it prints, by
    column.
    """

    chunk_id: str
    finding: str
    values: tuple[tuple[str, Scalar], ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A repair as a model proposes it.

    `column` is the one that a conflict, a name or an aggregate is about.
    """

    operation: Operation
    column: str
    statements: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a model decided on a group, remembered by the group's content: asked once, paid once.

    `programs` are those that the guard let pass: operation, column, statements, reason. `key` is
    the key that the model named, where it was asked for one. The signature of a group that was left
    open names the model, so that another one is asked.
    """

    signature: str
    verdict: Verdict
    reason: str
    programs: tuple[Program, ...] = ()
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """What a data table is settled from: its version as extracted, the decisions of people that
    are in force, and how they are applied.
    """

    version: int
    corrections: tuple[int, ...] = ()
    applied: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """What a data table was settled from the last time, whether a model took part, and the
    documents of its rows.
    """

    terms: Terms
    by_model: bool = False
    documents: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Habit:
    """What all documents of a collection that show it have in common: the order of day and
    month, the decimal mark.
    """

    day_first: bool | None = None
    decimal: Literal["", ".", ","] = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """What queries measured of a filter or an attribute of a table: of `trials` documents `hits`
    had it.

    Of an attribute also the ranks of the segments that held its values, their places in the
    documents (segments from the start and from the end), and how deep they lay under each weight.
    """

    kind: Literal["filter", "attribute"]
    subject: str
    hits: float = 0.0
    trials: float = 0.0
    ranks: tuple[int, ...] = ()
    places: tuple[tuple[int, int], ...] = ()
    scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionColumns:
    """The columns that a question needs, by table; what of it no column holds, the statement that
    was drafted for it, and its hints, where they were read with it.
    """

    columns: dict[str, tuple[str, ...]]
    uncovered: str = ""
    draft: str = ""
    hints: Hints | None = None
