"""The values that go into and come out of reconciliation.

A relation is read by column, so that a million rows stay cheap; what the page says of one cell is
asked for only where two cells contradict each other. Nothing here knows how a workspace stores it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sliders.extraction.cell import Grounding, How, Scalar
from sliders.schema.types import Table
from sliders.store.facts import OpenNames, Operation, Settlement

Criterion = Literal[
    "audited_over_unaudited",
    "primary_over_addendum",
    "table_over_prose",
    "newer_document",
    "verbatim_over_derived",
]
RULES: tuple[Criterion, ...] = ("verbatim_over_derived", "table_over_prose")
"""What code goes by where no model reads the sources, or only one that picks an option."""
IN_WORDS: dict[Criterion, str] = {
    "audited_over_unaudited": "an audited figure holds over one that is not audited",
    "primary_over_addendum": "the main part of a document holds over its addenda",
    "table_over_prose": "a table holds over prose",
    "newer_document": "the newer document supersedes",
    "verbatim_over_derived": "printed words hold over a derived value",
}
"""Criteria as instructions; the first two are a reader's to judge, the others code
decides where it can.
"""


@dataclass(frozen=True, slots=True)
class CellSource:
    """What the page says of one cell. `kind` is "table" or "prose", empty when unknown."""

    printed: str = ""
    quote: str = ""
    section: str = ""
    page: int | None = None
    unit: str = ""
    scale: str = ""
    grounding: Grounding = Grounding.EXACT
    rationale: str = ""
    kind: Literal["table", "prose", ""] = ""
    how: How = How.STATED
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A document as a source of rows: `date` is ISO text or empty, `position` its place in
    the order of adding.
    """

    id: str
    name: str = ""
    date: str = ""
    position: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class Normalization:
    """The user says that `variants` mean `canonical` (a `Normalize` hint);
    `column` empty means every text column.
    """

    canonical: str
    variants: tuple[str, ...]
    column: str = ""


@dataclass(frozen=True, slots=True)
class Precedence:
    """The user says which source wins (a `Precede` hint): words of its document
    name, section or quote.

    An empty `over` means over every other source.
    """

    prefer: str
    over: str = ""
    column: str = ""


@dataclass(frozen=True, slots=True)
class DecidedCorrection:
    """A human decision, kept as values and matched again on every run, so that it
    applies to later rows too.

    `where` selects rows by column values (text is compared with case, accents and punctuation
    aside, but not signs: "A+"). set_value: `column` gets `value`. merge: the rows of `where` and of
    `other` are one thing. split: they never are.
    """

    kind: Literal["set_value", "merge", "split"]
    where: tuple[tuple[str, Scalar], ...]
    author: str
    column: str = ""
    value: Scalar = None
    other: tuple[tuple[str, Scalar], ...] = ()
    reason: str = ""
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One side of a conflict: a value, and the rows and words that carry it."""

    value: Scalar
    rows: tuple[str, ...]
    source: CellSource
    document_id: str
    document_name: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A contradiction that is left open."""

    column: str
    key: tuple[Scalar, ...]
    candidates: tuple[Candidate, ...]
    reason: str

    def __str__(self) -> str:
        sides = "; ".join(
            (
                f"{c.value!r} ({c.document_name or c.document_id}: "
                f'"{c.source.quote or c.source.printed}")'
            )
            for c in self.candidates
        )
        about = ", ".join(str(k) for k in self.key if k is not None) or "one row"
        return f"{about}, {self.column}: {sides}. {self.reason}"


@dataclass(frozen=True, slots=True)
class Repair:
    """One change of the table: what was done, to which source rows, by which SQL, and why.

    A whole-table operation (duplicates, empty cells) is one repair; a conflict that was settled is
    one of its own. The statements are those that run: over `data`, the whole table, or, `scoped`,
    over `rows`, which holds the repair's rows.
    """

    operation: Operation
    rows: tuple[str, ...]
    column: str
    before: tuple[Scalar, ...]
    after: Scalar
    statements: tuple[str, ...]
    reason: str
    author: Literal["code", "model", "person"] = "code"
    scoped: bool = False
    correction: int | None = None
    """The number of the human decision that it carries out."""

    @property
    def sql(self) -> str:
        """Its statements as one text."""
        return ";\n".join(self.statements)


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one group: values by row id, in the order of `columns`, whose SQL types are
    `types` where known.

    `names` are canonical forms by column and printed form: values with one of them say the same.
    """

    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Scalar, ...]]
    types: tuple[str, ...] = ()
    names: Mapping[str, Mapping[Scalar, Scalar]] = field(default_factory=dict)

    def said(self, column: str, value: Scalar) -> Scalar:
        """A value of a column as it is compared: the canonical form of a name that has several."""
        return self.names.get(column, {}).get(value, value)


@dataclass(frozen=True, slots=True)
class Case:
    """A group for a model to decide on: a contradiction, one name in several forms, or records
    that may be one thing.

    `open` are the columns in question; `notes` say by row id what a row's values rest on.
    `choices` are the ways in which the rows differ: row ids that say the same of the open columns.
    """

    kind: Literal["conflict", "names", "records"]
    group: Group
    open: tuple[str, ...]
    notes: Mapping[str, tuple[str, ...]]
    choices: tuple[tuple[str, ...], ...]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that was decided on the way, for the decisions table: the stage
    is always "reconcile", `kind` is of what the decision is about.
    """

    kind: Literal["key", "column", "rows"]
    verdict: str
    reason: str
    column: str = ""
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What is to be done with one table, and everything that was decided;
    `workbench` runs the repairs.

    `rows` counts those that are left. `unsure_merges` are merged rows that nobody is certain to be
    one thing, each by the rows that would stand apart; `left_open` are rows that may be one and
    that the model left open. `conflict_groups` counts what was in question: contradictions, forms
    of a name, records that may be one; there are at most as many `calls`.
    """

    table: str
    rows: int
    key: tuple[str, ...]
    across_documents: bool
    repairs: tuple[Repair, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    open_names: tuple[OpenNames, ...] = ()
    decisions: tuple[Choice, ...] = ()
    unsure_merges: tuple[tuple[tuple[str, ...], ...], ...] = ()
    left_open: tuple[tuple[str, ...], ...] = ()
    settlements: tuple[Settlement, ...] = ()
    conflict_groups: int = 0
    touched_groups: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Options:
    """How to reconcile.

    `criteria` and `precede` are the user's: which source wins. `settled` brings the settlements of
    earlier runs, `changed` the documents that are new since. At most `batch` groups go to the model
    in one call. `look` answers a SELECT over the workspace's tables as text, for a model that wants
    to see more than its group. `sql_names` are those of columns whose own name is another,
    `canonical_names` the SQL names of the columns that hold canonical forms. With `entries` each
    row is an entry of a list: an event of its own, whatever names it repeats.
    """

    criteria: tuple[Criterion, ...] = ()
    normalize: tuple[Normalization, ...] = ()
    precede: tuple[Precedence, ...] = ()
    corrections: tuple[DecidedCorrection, ...] = ()
    settled: tuple[Settlement, ...] = ()
    changed: frozenset[str] | None = None
    batch: int = 8
    sql_names: Mapping[str, str] = field(default_factory=dict)
    canonical_names: Mapping[str, str] = field(default_factory=dict)
    look: Callable[[str], str] | None = None
    entries: bool = False

    @property
    def rules(self) -> tuple[str, ...]:
        """Which source wins, in words."""
        told = [f"prefer {p.prefer}" + (f" over {p.over}" if p.over else "") for p in self.precede]
        return (*(IN_WORDS[c] for c in self.criteria), *told)

    def sql_name(self, column: str) -> str:
        """The name of a column in SQL."""
        return self.sql_names.get(column, column)

    def canonical_name(self, column: str) -> str:
        """The name in SQL of the column that holds the canonical forms of another."""
        return self.canonical_names.get(column, f"{self.sql_name(column)}_canonical")

    def additive(self, table: Table) -> frozenset[str]:
        """SQL names of the columns whose values may be summed over sources."""
        return frozenset(self.sql_name(c.name) for c in table.columns if c.additive)
