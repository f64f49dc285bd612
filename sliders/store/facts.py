"""The facts that a workspace learned, and the decisions made in it, as values."""

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
"""The model's verdict on a group: repaired by SQL, things of their own, or left open."""
RowGroups = tuple[tuple[str, ...], ...]
"""Groups of extracted rows, by id."""


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
    """Values of one thing that contradict each other and that nobody settled."""

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
    """Printed forms of a column that may be one name, on which nobody decided.

    Each of `sides` holds forms that are known to be one name. `joined` is True when the canonical
    column shows one form for all sides until somebody decides. Each of `rows` holds the ids of rows
    that would be one thing if the sides were one name.
    """

    column: str
    sides: tuple[tuple[str, ...], ...]
    reason: str
    joined: bool = False
    rows: RowGroups = ()


@dataclass(frozen=True, slots=True)
class Unsettled:
    """All questions about a table that reconciliation left open.

    `left_open` are groups of rows that may be one thing; `merges` are merged rows that may be
    several things, each by the rows that would then stand apart.
    """

    conflicts: tuple[OpenConflict, ...] = ()
    names: tuple[OpenNames, ...] = ()
    left_open: RowGroups = ()
    merges: tuple[RowGroups, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line of a printed grid that gave no row; `values` are the values that it prints, by
    column.
    """

    chunk_id: str
    finding: str
    values: tuple[tuple[str, Scalar], ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A repair program of the model: operation, column, statements and reason.

    `column` is the column that a conflict, a name or an aggregate is about.
    """

    operation: Operation
    column: str
    statements: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Settlement:
    """The model's decision on a group, stored under a hash of the group's content (`signature`), so
    that it is asked once.

    `programs` are the repair programs that the guard accepted. `key` is the key that the model
    named, when it was asked for one. The signature of a group that was left open includes the
    model, so that another model is asked.
    """

    signature: str
    verdict: Verdict
    reason: str
    programs: tuple[Program, ...] = ()
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """The inputs from which a data table is settled: its version as extracted, the numbers of
    people's decisions in force, and the way in which they are applied.
    """

    version: int
    corrections: tuple[int, ...] = ()
    applied: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """The inputs from which a data table was settled last, whether a model took part, and the
    documents of its rows.
    """

    terms: Terms
    by_model: bool = False
    documents: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Habit:
    """The conventions of a collection's printed values: the order of day and month (True for day
    first, None for unknown), and the decimal mark.
    """

    day_first: bool | None = None
    decimal: Literal["", ".", ","] = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """Measurements of queries about a filter or an attribute of a table: of `trials` documents,
    `hits` fulfilled or stated it.

    For an attribute also the ranks of the segments that held its values, their places (segments
    from the start and from the end of the document), and the summed ranks under each pair of
    weights.
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
    """The columns that a question needs, by table; the part of it that no column holds
    (`uncovered`), the drafted SQL, and its hints when they were read in the same call.
    """

    columns: dict[str, tuple[str, ...]]
    uncovered: str = ""
    draft: str = ""
    hints: Hints | None = None
