"""The inputs and results of the catalog that are no values of another room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Any, Literal

from sliders.errors import StoreError
from sliders.extraction.cell import Scalar
from sliders.sql.identifiers import fold
from sliders.store.sql_names import companion_name

TaskState = Literal["pending", "done", "failed", "gated", "pruned"]
RunStatus = Literal["running", "done", "failed", "stopped"]
ExportFormat = Literal["sqlite", "csv", "csv-safe", "parquet", "excel", "datasette"]
Role = Literal["value", "canonical", "bound", "doubt"]
"""The role of a column of a data table: "value", or the kind of a companion (see
`RelationColumn`).
"""
About = Literal[
    "question",
    "documents",
    "document",
    "chunk",
    "tables",
    "pinned tables",
    "table",
    "key",
    "column",
    "rows",
    "criteria",
    "dates",
    "numbers",
    "hints",
    "hint",
    "citations",
    "range",
]
"""The kinds of things that decisions are about."""
COMPANIONS: tuple[Role, ...] = ("canonical", "bound", "doubt")


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document's line in the catalog, without its text.

    `superseded_by` is the id of the newer version, or empty.
    """

    id: str
    name: str
    title: str
    media_type: str
    source: str
    modified: float | None
    characters: int
    version: int
    superseded_by: str
    added: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Added:
    """The outcome of adding a document: "new", "same" (the content was there already), "renamed"
    (the content was there under the name `replaced`, whose file is gone) or "changed" (`replaced`
    is the id of the old document).
    """

    outcome: Literal["new", "same", "renamed", "changed"]
    document_id: str
    replaced: str = ""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A chunk found by words, with its score: a larger score is a better match (BM25 with its sign
    changed).
    """

    chunk_id: str
    document_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Task:
    """A unit of extraction: the given columns of one table, read from one chunk.

    The columns of a "done", "gated" or "pruned" task are not asked again; those of a "failed" task
    are asked again on the next run.
    """

    table: str
    columns: tuple[str, ...]
    chunk_id: str
    state: TaskState = "done"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with its reason (contract 11).

    `kind` is the kind of its subject; `document` is a name, `chunk` an id, and `rows` are ids of
    extracted rows. `run` and `at` are filled in by the catalog when they are left out.
    """

    stage: str
    kind: About
    verdict: str
    reason: str
    tokens: int = 0
    document: str = ""
    chunk: str = ""
    table: str = ""
    column: str = ""
    rows: tuple[str, ...] = ()
    run: int | None = None
    at: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One command or question.

    `outcome` is its result (answer, usage, completeness) as plain JSON.
    """

    id: int
    kind: str
    question: str
    status: RunStatus
    started: str
    finished: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    outcome: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SqlAttempt:
    """One statement that an agent tried.

    `outcome` is "ok", "empty", "error" or "refused"; `detail` the message.
    """

    stage: str
    question: str
    sql: str
    outcome: Literal["ok", "empty", "error", "refused"]
    detail: str = ""
    rows: int | None = None
    seconds: float = 0.0
    run: int | None = None
    at: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """A human decision: `kind` "set_value", "merge" or "split".

    `subject` names its rows as plain JSON (key values, row ids); `value` is the new value.
    """

    kind: Literal["set_value", "merge", "split"]
    table: str
    subject: Mapping[str, Any]
    column: str = ""
    value: Scalar = None
    author: str = ""
    reason: str = ""
    id: int = 0
    created: str = ""


@dataclass(frozen=True, slots=True)
class Reliability:
    """The number of values by their evidence: all `values`, of them `computed`, `judged`, and
    `unverified` (with a doubt).

    `ungrounded` and `unparsed` count values of the model that enter no table, unless the user asked
    for unverified values.
    """

    values: int = 0
    computed: int = 0
    judged: int = 0
    unverified: int = 0
    ungrounded: int = 0
    unparsed: int = 0

    def __add__(self, other: Reliability) -> Reliability:
        return Reliability(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column of a data table: the schema's name, its SQL name and its SQL type.

    A companion stands beside the column `companion_of` of the schema, in the versions where any row
    has a value there: `canonical` is the form that stands for all printed forms of a name, `bound`
    the word or sign before an inexact number ("<", "about"), `doubt` the reason why the value is
    not verified.
    """

    name: str
    sql_name: str
    sql_type: str
    companion_of: str = ""
    role: Role = "value"


@dataclass(frozen=True, slots=True)
class Relation:
    """A schema table as SQL sees it: `name` in the schema, `relation` in SQL, the schema's columns
    in order.

    `companions` are the companion columns of the current version; they stand behind the other
    columns. `longest` is the most bytes of a name.
    """

    name: str
    relation: str
    columns: tuple[RelationColumn, ...]
    current_version: int | None = None
    companions: tuple[RelationColumn, ...] = ()
    longest: int = 120

    def sql_name(self, column: str) -> str:
        """Returns the SQL name of a schema column; a system column keeps its name."""
        return next((c.sql_name for c in self.columns if c.name == column), column)

    def companion(self, column: str, role: Role) -> RelationColumn:
        """Returns the companion of a schema column: of the current version, or, when it has none,
        the one that the next version would have.

        Its SQL name is `<column>_<role>`, with a number behind it where the schema has a column of
        that name.

        Raises:
            StoreError: the table has no such column.
        """
        there = (c for c in self.companions if (c.companion_of, c.role) == (column, role))
        return next(there, None) or self._new_companion(column, role)

    def _new_companion(self, column: str, role: Role) -> RelationColumn:
        taken = {fold(c.sql_name) for c in (*self.columns, *self.companions)}
        for owner, kind in ((c, r) for c in self.columns for r in COMPANIONS):
            named = companion_name(owner.sql_name, kind, taken, self.longest)
            if (owner.name, kind) == (column, role):
                return RelationColumn(f"{column}_{role}", named, "TEXT", column, role)
            taken.add(fold(named))
        raise StoreError(
            f"table {self.name!r} has no column {column!r}, so that it can have no companion column"
        )


@dataclass(frozen=True, slots=True)
class TableVersion:
    """One version of a data table. `relation` is the physical table; `parent` the version that it
    was made from, None for rows as extracted; `operation` what made it ("extract", "reconcile").

    `columns` are the SQL names of the schema's columns, then those of the `companions`. `revision`
    counts the changes of the table's rows, documents and columns before it was made: a table whose
    count is higher now has changed since.
    """

    table: str
    version: int
    parent: int | None
    relation: str
    operation: str
    sql: str
    reason: str
    columns: tuple[str, ...]
    rows: int
    revision: int
    created: str
    companions: tuple[RelationColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class Derivation:
    """Declares a value that is not one of its sources' values: an aggregate, a canonical form, a
    correction ...

    Values of the kinds "sum", "min", "max", "average" and "count" are computed again when an audit
    is verified. `row_id` None declares that `source_value` became `value` in the whole column;
    `correction` is the number of the person's decision that made it, None for none.
    """

    column: str
    value: Scalar
    kind: str
    reason: str
    row_id: str | None = None
    source_value: Scalar = None
    correction: int | None = None
