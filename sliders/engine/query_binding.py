"""The binding of a query to the tables of a workspace: which schema tables it reads, and which of
its columns are new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sliders.engine.session import Session
from sliders.errors import PlanError, QueryError
from sliders.query.parsing import Query, parse_query
from sliders.query.predicates import SYSTEM, QueryTable
from sliders.schema.types import Column, ColumnType, Schema, Table

DOCS = "docs"
"""The name of the table of all documents, one row each."""


def bind(
    session: Session, sql: str, describe: Mapping[str, str], *, save: bool = True
) -> tuple[Query, list[Table]]:
    """Returns the parsed query, and the definitions of the tables that it reads. New attributes of
    `docs` are saved in the schema.

    `docs` is the schema's own table of that name. When there is none, and exactly one table with
    one row for each document has all the attributes, it is that table, so that its cells are used.

    Raises:
        QueryError: the query cannot be bound.
        PlanError: there is no document.
    """
    if not session.catalog.documents.count():
        raise PlanError("the workspace has no documents; add some first: sliders add FILES")
    schema = session.schema
    own = next((t for t in schema.tables if t.name == DOCS), Table(DOCS, (), grain="document"))
    described = _described(own, describe, schema)
    closed = [QueryTable(t, t.name) for t in schema.tables if t.name != DOCS]
    query = parse_query(sql, [*closed, QueryTable(described, DOCS, open=True)])
    named = [use for use in query.tables if use.table == DOCS]
    if named:
        wanted = {name for use in named for name in use.attributes} - set(SYSTEM)
        several = {t.name for t in schema.tables if t.grain == "many"}
        joined = not several.isdisjoint(use.table for use in query.tables)
        if not wanted and not described.columns and not joined:
            raise QueryError(
                f"the query names no attribute of {DOCS}: name what to read of each document; "
                "sliders tables lists the documents themselves"
            )
        alike = (t.table for t in closed if t.table.grain == "document")
        twins = [table for table in alike if wanted <= set(table.column_names)]
        if wanted and len(twins) == 1 and not own.columns and not describe:
            query = _reading(query, twins[0].name)
        else:
            schema = _with_docs(session, schema, own, described, query, wanted, save)
    return query, [schema.table(name) for name in dict.fromkeys(use.table for use in query.tables)]


def _reading(query: Query, table: str) -> Query:
    """Returns the query with another table in the place of `docs`."""
    uses = (replace(use, table=table) if use.table == DOCS else use for use in query.tables)
    return replace(query, tables=tuple(uses))


def _with_docs(
    session: Session,
    schema: Schema,
    own: Table,
    described: Table,
    query: Query,
    wanted: set[str],
    save: bool,
) -> Schema:
    """Returns the schema in which `docs` has the attributes that the query names, with the types
    that its comparisons show.
    """
    types = dict(query.types)
    columns = [
        *described.columns,
        *(Column(n) for n in sorted(wanted) if n not in described.column_names),
    ]
    typed = [
        replace(c, type=types[c.name]) if c.name in types and c.type is ColumnType.TEXT else c
        for c in columns
    ]
    full = replace(own, columns=tuple(typed))
    schema = Schema((*(t for t in schema.tables if t.name != DOCS), full))
    if full != own and save:
        session.catalog.schemas.save(schema, "attributes of a query")
    return schema


def _described(own: Table, describe: Mapping[str, str], schema: Schema) -> Table:
    """Returns the table of all documents with the attributes that the user describes; types come
    from the one schema table that has them.
    """
    columns = {column.name: column for column in own.columns}
    for name, words in describe.items():
        if not name.isidentifier():
            raise QueryError(f"{name!r} cannot be an attribute; describe names such as fiscal_year")
        found = [
            c for t in schema.tables if t.grain == "document" for c in t.columns if c.name == name
        ]
        known = columns.get(name) or (
            replace(found[0], pinned=False) if len(found) == 1 else Column(name)
        )
        columns[name] = replace(known, description=words)
    return replace(own, columns=tuple(columns.values()))
