"""A query bound to the tables of a workspace: which schema tables it reads, and the columns that are new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sliders.errors import QueryError
from sliders.executor.session import Session
from sliders.plan.parsing import Query, parse_query
from sliders.plan.predicates import SYSTEM, QueryTable
from sliders.schema.types import Column, ColumnType, Schema, Table

DOCS = "docs"
"""The table of all documents, one row each."""


def bind(
    session: Session, sql: str, describe: Mapping[str, str], *, strict: bool = True, save: bool = True
) -> tuple[Query, list[Table]]:
    """The parsed query and the definitions of the tables that it reads; new attributes of `docs` are saved in the schema.

    `docs` is the schema's own table of that name; when there is none, and exactly one table with one row a document has all the
    attributes that the query names, it is that table, so that its cells serve. Raises QueryError: the query cannot be bound.
    """
    schema = session.catalog.schemas.current() or Schema()
    own = next((t for t in schema.tables if t.name == DOCS), Table(DOCS, (), grain="document"))
    described = _described(own, describe, schema)
    tables = [QueryTable(t, t.name) for t in schema.tables if t.name != DOCS]
    query, types = _parse(sql, [*tables, QueryTable(described, DOCS, open=True)], strict)
    named = {use.table for use in query.tables}
    if DOCS not in named:
        return query, [schema.table(use.table) for use in query.tables if use.table in named]
    wanted = {name for use in query.tables if use.table == DOCS for name in use.attributes} - set(SYSTEM)
    if not wanted and not described.columns:
        raise QueryError(f"the query names no attribute of {DOCS}: name what to read of each document; "
                         "sliders tables lists the documents themselves")  # fmt: skip
    twin = _twin(schema, wanted) if not own.columns and not describe else None
    if twin is not None:
        query, _ = _parse(sql, [*tables, QueryTable(twin, DOCS)], strict)
        query = replace(query, tables=tuple(replace(u, table=twin.name if u.table == DOCS else u.table) for u in query.tables))
    else:
        columns = [*described.columns, *(Column(n) for n in sorted(wanted) if n not in described.column_names)]
        typed = [_typed(c, types, described) for c in columns if c.name in wanted or c.name in own.column_names]
        full = replace(own, columns=tuple(typed))
        schema = Schema((*(t for t in schema.tables if t.name != DOCS), full))
        if full != own and save:
            session.catalog.schemas.save(schema, "attributes of a query")
        # Parsed once more, now that the filters know the types of their columns.
        query, _ = _parse(sql, [*tables, QueryTable(full, DOCS, open=True)], strict)
    used = dict.fromkeys(use.table for use in query.tables)
    return query, [schema.table(name) for name in used]


def _parse(sql: str, tables: list[QueryTable], strict: bool) -> tuple[Query, Mapping[str, ColumnType]]:
    query = parse_query(sql, tables, strict=strict)
    return query, dict(query.types)


def _described(own: Table, describe: Mapping[str, str], schema: Schema) -> Table:
    """The table of all documents with the attributes that the user describes, and those that a schema table defines."""
    columns = {column.name: column for column in own.columns}
    for name, words in describe.items():
        if not name.isidentifier():
            raise QueryError(f"{name!r} cannot be an attribute; describe names such as fiscal_year")
        known = columns.get(name) or _elsewhere(schema, name) or Column(name)
        columns[name] = replace(known, description=words)
    return replace(own, columns=tuple(columns.values()))


def _elsewhere(schema: Schema, name: str) -> Column | None:
    found = [c for t in schema.tables if t.grain == "document" for c in t.columns if c.name == name]
    return replace(found[0], pinned=False) if len(found) == 1 else None


def _typed(column: Column, types: Mapping[str, ColumnType], described: Table) -> Column:
    """The column with the type that the query shows, unless it has one."""
    shown = types.get(column.name)
    return replace(column, type=shown) if shown is not None and column.type is ColumnType.TEXT else column


def _twin(schema: Schema, wanted: set[str]) -> Table | None:
    having = [t for t in schema.tables if t.grain == "document" and t.name != DOCS and wanted <= set(t.column_names)]
    return having[0] if len(having) == 1 and wanted else None
