"""The tables and columns that a statement reads, and the values that the tables show."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sliders.answer.citations import columns_used
from sliders.answer.turns import TableView
from sliders.engine.session import Session
from sliders.extraction.cell import Scalar
from sliders.schema.types import Column, Table
from sliders.store.records import Relation


@dataclass(frozen=True, slots=True)
class TableRead:
    """A table that a statement reads, with the columns that the statement names."""

    table: Table
    relation: Relation
    columns: tuple[Column, ...]


def tables_read(session: Session, sql: str, views: Sequence[TableView]) -> list[TableRead]:
    """Returns the schema's tables that a statement reads, each with the columns that it names; []
    when the statement cannot be parsed.
    """
    used = columns_used(sql, views)
    reads = []
    for table in session.schema.tables:
        relation = session.catalog.schemas.relation(table.name)
        if relation.relation in used:
            named = {name.lower() for name in used[relation.relation]}
            columns = tuple(c for c in table.columns if relation.sql_name(c.name).lower() in named)
            reads.append(TableRead(table, relation, columns))
    return reads


def in_sql(session: Session, table: Table, columns: Sequence[Column]) -> Table:
    """Returns a table that has only some of its columns, under their SQL names."""
    relation = session.catalog.schemas.relation(table.name)
    named = tuple(replace(c, name=relation.sql_name(c.name)) for c in columns)
    return replace(table, name=relation.relation, columns=named)


def view_of(session: Session, table: Table, only: Collection[str] | None = None) -> TableView:
    """The table under its SQL names, as the agent must write them. A column that no document was
    asked for is left out. With `only`, just these columns.
    """
    relation = session.catalog.schemas.relation(table.name)
    asked = session.catalog.extractions.columns_asked(table.name)
    shown = [
        c
        for c in table.columns
        if (c.name in asked or not asked) and (only is None or c.name in only)
    ]
    names = {c.name: relation.sql_name(c.name) for c in shown}
    beside = tuple(
        replace(c, companion_of=names[c.companion_of])
        for c in relation.companions
        if c.companion_of in names
    )
    judged = tuple(
        (names[n], count)
        for n, count in session.catalog.extractions.judged(table.name).items()
        if n in names
    )
    return TableView(in_sql(session, table, shown), companions=beside, judged=judged)


def shown_values(session: Session, read: TableRead) -> dict[str, dict[str, Scalar]]:
    """Returns the values of the current table, by row id and SQL column name: of its key, of the
    columns that the statement reads, and of their canonical forms.
    """
    key = (name for name in read.table.key if name in read.table.column_names)
    columns = dict.fromkeys(c.name for c in read.columns)
    names = [read.relation.sql_name(name) for name in dict.fromkeys([*columns, *key])]
    names += [
        c.sql_name
        for c in read.relation.companions
        if c.role == "canonical" and c.companion_of in columns
    ]
    _, rows = session.catalog.tables.read(read.table.name, ["row_id", *names])
    return {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}
