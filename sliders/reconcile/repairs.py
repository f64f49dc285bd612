"""The inputs and results of reconciliation, as plain values, apart from the way in which a
workspace stores them.

A relation is read by column, so that a million rows stay cheap. The source of a cell is read only
when two cells contradict each other.
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
"""The criteria that code uses when no model reads the sources, or when the model only picks an
option.
"""
IN_WORDS: dict[Criterion, str] = {
    "audited_over_unaudited": "an audited figure holds over one that is not audited",
    "primary_over_addendum": "the main part of a document holds over its addenda",
    "table_over_prose": "a table holds over prose",
    "newer_document": "the newer document supersedes",
    "verbatim_over_derived": "printed words hold over a derived value",
}
"""The criteria as instructions for the model. Only a reader can judge the first two; code applies
the others when it can.
"""


@dataclass(frozen=True, slots=True)
class CellSource:
    """The source of one cell: its printed words, quote, page and unit. `kind` is "table" or
    "prose", "" when unknown.
    """

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
    """A document as a source of rows: `date` is ISO text or "", `position` its place in the order
    of adding.
    """

    id: str
    name: str = ""
    date: str = ""
    position: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class Normalization:
    """A hint of the user (`Normalize`): `variants` mean `canonical`. An empty `column` means every
    text column.
    """

    canonical: str
    variants: tuple[str, ...]
    column: str = ""


@dataclass(frozen=True, slots=True)
class Precedence:
    """A hint of the user (`Precede`): the source to prefer, by words of its document name, section
    or quote. An empty `over` means over every other source.
    """

    prefer: str
    over: str = ""
    column: str = ""


@dataclass(frozen=True, slots=True)
class DecidedCorrection:
    """A decision of a person. It is kept as values and applied again on every run, so that it holds
    for later rows too.

    `where` selects rows by column values. Text is compared without case, accents and punctuation,
    but with signs ("A+"). "set_value" gives `column` the value `value`. "merge" says that the rows
    of `where` and of `other` are one thing; "split" says that they are not.
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
    """One change of the table: the operation, the rows that it is about, its SQL, and the reason.

    An operation on the whole table (duplicates, empty cells) is one repair; each settled conflict
    is a repair too. The statements are those that run, over `data` (the whole table), or, when
    `scoped`, over `rows` (the rows of this repair).
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
        """The statements as one text."""
        return ";\n".join(self.statements)


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one group: values by row id, in the order of `columns`. `types` are the columns'
    SQL types, when known. `names` gives canonical forms by column and printed form: values with one
    canonical form are equal.
    """

    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Scalar, ...]]
    types: tuple[str, ...] = ()
    names: Mapping[str, Mapping[Scalar, Scalar]] = field(default_factory=dict)

    def said(self, column: str, value: Scalar) -> Scalar:
        """Returns a value as it is compared: the canonical form of a name that has
        several forms.
        """
        return self.names.get(column, {}).get(value, value)


@dataclass(frozen=True, slots=True)
class Case:
    """A group for a model to decide on: a contradiction, one name in several forms, or records that
    may be one thing.

    Args:
        kind: "conflict", "names" or "records".
        group: the rows.
        open: the columns in question.
        notes: lines for the model about a row, by row id: the words of each value in question, how
            it was read, and its document; and canonical forms that are known.
        choices: the possible decisions: sets of row ids with equal values in the open columns.
        about: the description of the case.
    """

    kind: Literal["conflict", "names", "records"]
    group: Group
    open: tuple[str, ...]
    notes: Mapping[str, tuple[str, ...]]
    choices: tuple[tuple[str, ...], ...]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision of the reconciliation, for the table of decisions. `kind` is the kind of its
    subject; its stage is always "reconcile".
    """

    kind: Literal["key", "column", "rows"]
    verdict: str
    reason: str
    column: str = ""
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The repairs of one table and every decision; `workbench` runs the repairs.

    Args:
        table: the table's name.
        rows: the number of rows that are left.
        key: the columns of the key.
        across_documents: True when the key holds across documents.
        repairs: the repairs, in order.
        conflicts: the open conflicts.
        open_names: the names that nobody decided on.
        decisions: the decisions on the way.
        unsure_merges: merged rows that nobody confirmed, each split into the rows that would stand
            apart.
        left_open: groups of rows that may be one thing and that nobody decided on.
        settlements: what the model decided, for later runs.
        conflict_groups: the number of cases: contradictions, forms of a name, records.
        touched_groups: the number of groups with new rows.
        calls: the number of model calls, at most `conflict_groups`.
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
    """The options of a reconciliation.

    Args:
        criteria: the user's criteria for the source that wins.
        normalize: names that mean one thing, by the user.
        precede: sources that win, by the user.
        corrections: the decisions of people.
        settled: the settlements of earlier runs.
        changed: documents that are new since the last run; None for all.
        batch: the most groups in one call.
        sql_names: the SQL names of columns that differ from their names.
        canonical_names: the SQL names of the columns with canonical forms.
        look: runs a SELECT over the workspace's tables and returns the rows as text, for a model
            that needs more than its group.
        entries: True when each row is an entry of a list; such rows are never merged by name.
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
        """The criteria in words."""
        told = [f"prefer {p.prefer}" + (f" over {p.over}" if p.over else "") for p in self.precede]
        return (*(IN_WORDS[c] for c in self.criteria), *told)

    def sql_name(self, column: str) -> str:
        """Returns the SQL name of a column."""
        return self.sql_names.get(column, column)

    def canonical_name(self, column: str) -> str:
        """Returns the SQL name of the column with the canonical forms of another column."""
        return self.canonical_names.get(column, f"{self.sql_name(column)}_canonical")

    def additive(self, table: Table) -> frozenset[str]:
        """Returns the SQL names of the columns whose values may be summed over sources."""
        return frozenset(self.sql_name(c.name) for c in table.columns if c.additive)
