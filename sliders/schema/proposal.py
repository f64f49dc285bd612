"""The shapes of a model's reply about a schema, and the tables made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from sliders.errors import ModelRefusal, SchemaError
from sliders.llm.replies import LenientReply
from sliders.schema.hint_replies import HintReply
from sliders.schema.names import free_name, snake_name
from sliders.schema.pin import column_type
from sliders.schema.types import Column, ColumnType, Table

DOCUMENT = "document"
"""The column that every table has: the name of the document from which a row was read."""


def _type_word(said: Any) -> Any:
    """The type that a synonym means ("enum", "float"); other words stay, for the validation to
    refuse.
    """
    try:
        return column_type(str(said)).value
    except SchemaError:
        return said


TypeWord = Annotated[
    Literal["text", "integer", "number", "boolean", "date", "datetime", "category"],
    BeforeValidator(_type_word),
]


class ColumnReply(LenientReply):
    """One proposed column."""

    name: str
    type: TypeWord = "text"
    description: str = ""
    meaning: str = ""
    unit: str = ""
    scale: str = ""
    currency: str = ""
    values: list[str] = Field(default_factory=list)
    reading: Literal["stated", "judged"] = "stated"
    required: bool = False


class TableReply(LenientReply):
    """One proposed table."""

    name: str
    row: str = ""
    description: str = ""
    documents: str = ""
    rows_per_document: Literal["one", "several"] = "several"
    key: list[str] = Field(default_factory=list)
    key_scope: Literal["document", "collection"] = "document"
    columns: list[ColumnReply] = Field(default_factory=list)


class NeedReply(LenientReply):
    """The columns that one question (by its number) needs."""

    question: int
    columns: list[str] = Field(default_factory=list)


class NotCoveredReply(LenientReply):
    """What a question asks for that no column holds."""

    question: int
    what: str


class SchemaReply(LenientReply):
    """The reply of the full dialect."""

    tables: list[TableReply] = Field(default_factory=list)
    needs: list[NeedReply] = Field(default_factory=list)
    not_covered: list[NotCoveredReply] = Field(default_factory=list)
    hints: list[HintReply] | None = None
    no_question: list[int] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposed tables; and for each question (by number from 1) the names "table.column" that it
    needs, and the part that no column holds.
    """

    tables: tuple[Table, ...] = ()
    needs: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    uncovered: dict[int, str] = field(default_factory=dict)
    drafts: Mapping[int, str] = field(default_factory=dict)
    """The SQL from which the columns were taken, if the dialect asks for it."""
    hints: Mapping[int, HintReply] | None = None
    """The hints of the questions that have some; None when the reply has no hints at all."""
    no_question: frozenset[int] = frozenset()


def proposal_of(data: Any) -> Proposal:
    """Returns the proposal in a reply of the full dialect, with the names as the model wrote them.

    Raises ModelRefusal: the reply does not have the shape that was asked for.
    """
    try:
        reply = SchemaReply.model_validate(data)
    except ValidationError as error:
        raise ModelRefusal(
            f"the proposed schema has a wrong shape in {error.error_count()} places; ask again"
        ) from error
    needs: dict[int, tuple[str, ...]] = {}
    given = {f"{t.name}.{DOCUMENT}" for t in reply.tables} - {
        f"{t.name}.{c.name}" for t in reply.tables for c in t.columns
    }
    for need in reply.needs:
        columns = [name for name in need.columns if name not in given]
        needs[need.question] = tuple(dict.fromkeys([*needs.get(need.question, ()), *columns]))
    missing = {n.question: n.what for n in reply.not_covered if n.what.strip()}
    hints = None if reply.hints is None else {hint.question: hint for hint in reply.hints}
    tables, idle = tuple(_table(t) for t in reply.tables), frozenset(reply.no_question)
    return Proposal(tables, needs, missing, hints=hints, no_question=idle)


def _table(reply: TableReply) -> Table:
    columns = tuple(
        Column(
            c.name,
            ColumnType(c.type),
            c.description,
            c.unit,
            c.scale,
            c.currency,
            tuple(c.values),
            c.reading,
            c.required,
            meaning=c.meaning,
        )
        for c in reply.columns
    )
    grain: Literal["document", "many"] = "document" if reply.rows_per_document == "one" else "many"
    key = tuple(reply.key)
    return Table(
        reply.name,
        columns,
        reply.row,
        reply.description,
        grain,
        key,
        reply.documents,
        key_scope=reply.key_scope,
    )


def with_safe_names(
    tables: Sequence[Table], standing: Sequence[str] = ()
) -> tuple[tuple[Table, ...], dict[str, str]]:
    """Returns the tables under SQL-safe names (a number is added to a name that is taken), and the
    safe name for each "table.column" of the proposal.

    A table that has the name of one of `standing` keeps that name; columns without a name and
    tables without columns are dropped.
    """
    safe_tables: list[Table] = []
    safe: dict[str, str] = {}
    for table in (t for t in tables if t.columns):
        name = table.name if table.name in standing else snake_name(table.name, "facts")
        name = free_name(name, [t.name for t in safe_tables])
        columns: list[Column] = []
        for column in table.columns:
            own = free_name(snake_name(column.name, "fact"), [c.name for c in columns])
            safe.setdefault(f"{table.name}.{column.name}", f"{name}.{own}")
            columns.append(replace(column, name=own))
        key = tuple(
            safe[f"{table.name}.{k}"].split(".", 1)[1]
            for k in table.key
            if f"{table.name}.{k}" in safe
        )
        safe_tables.append(replace(table, name=name, columns=tuple(columns), key=key))
    return tuple(safe_tables), safe
