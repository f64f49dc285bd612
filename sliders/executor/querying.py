"""Which way a query takes: over tables that are there, over tables filled first, or lazily over documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from sliders.answer.result import frame_of
from sliders.errors import QueryError, UnsafeStatement
from sliders.executor.binding import DOCS, bind
from sliders.executor.explanations import EXPLAIN_TABLES, keep_explanation
from sliders.executor.fill import fill, missing_work
from sliders.executor.judging import judge_table
from sliders.executor.query import QueryOptions, explain_query, run_query
from sliders.executor.reader import AttributeReader
from sliders.executor.session import Session
from sliders.executor.settle import settle
from sliders.plan.explain import Explanation
from sliders.plan.names import SYSTEM, QueryTable
from sliders.plan.query import Query, parse_query
from sliders.schema.types import Schema, Table
from sliders.store.guard import known_tables, run_readonly


@dataclass(frozen=True, slots=True)
class NeededCells:
    """What a statement needs of one table: the query that plans it, and its columns by table."""

    query: Query
    columns: Mapping[str, tuple[str, ...]]


def needed_cells(sql: str, schema: Schema) -> NeededCells:
    """The columns that a statement needs, by table; conditions that cannot be planned count with all their columns.

    Raises:
        QueryError: it is not one SELECT over the schema's tables, or has parts that cannot be planned (WITH, subqueries).
    """
    query = parse_query(sql, [QueryTable(table) for table in schema.tables], strict=False)
    columns: dict[str, tuple[str, ...]] = {}
    for use in query.tables:
        names = (*columns.get(use.table, ()), *use.attributes)
        columns[use.table] = tuple(dict.fromkeys(name for name in names if name not in SYSTEM))
    return NeededCells(query, columns)


async def query_frame(
    session: Session, sql: str, describe: Mapping[str, str] | None = None, *, reader: AttributeReader | None = None
) -> pd.DataFrame:
    """The result of one SELECT. Missing cells are extracted first, as few as the query needs.

    The frame's `attrs` hold "explanation" (what was done, EXPLAIN ANALYZE), "tokens" and "notes" where something was read.

    Raises:
        QueryError: with its place: SQL that is not supported over documents, an unknown or ambiguous column.
        UnsafeStatement: it is not one SELECT, or names what it may not see.
        StoreError: SQLite finds an error in it.
        ModelUnavailable: the model cannot be reached.
    """
    if _explains(sql):
        raise UnsafeStatement("EXPLAIN tells how a query would be done and gives no rows; give the SELECT to `explain`")
    schema = session.catalog.schemas.current() or Schema()
    if not describe and _stands(session, sql, schema):
        return plain(session, sql)
    options = QueryOptions(describe=describe or {}, strict=False)
    query, tables = bind(session, sql, options.describe, strict=False)
    many = [table for table in tables if table.grain == "many"]
    if many:
        await _fill(session, query, tables)
        return plain(session, sql)
    result = await run_query(session, sql, options, reader=reader)
    for table in tables:
        session.catalog.tables.materialise(table.name)
    keep_explanation(session.catalog.database, session.catalog.journal.open_run, result.explanation)
    frame = frame_of(result.columns, result.rows)
    frame.attrs |= {
        "explanation": str(result.explanation), "tokens": result.tokens, "notes": list(result.notes),
        "steps": result.explanation.rows(),
    }  # fmt: skip
    return frame


async def explain_sql(session: Session, sql: str, describe: Mapping[str, str] | None = None) -> Explanation:
    """EXPLAIN of a query over documents; no model is called, and nothing is changed but the index.

    Raises:
        QueryError: as `query_frame`.
    """
    words = sql.lstrip()[len("explain ") :] if _explains(sql) else sql
    return await explain_query(session, words, QueryOptions(describe=describe or {}, strict=False))


async def complete_cells(session: Session, sql: str, *, reader: AttributeReader | None = None) -> bool:
    """Extracts exactly the cells that a statement over schema tables still needs, and brings the tables up to date.

    For statements that a model wrote over tables whose cells are not all there. False when the statement cannot be planned:
    then every column that it names must be filled in the ordinary way.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    schema = session.catalog.schemas.current() or Schema()
    try:
        needed = needed_cells(sql, schema)
    except QueryError:
        return False
    tables = [schema.table(name) for name in needed.columns]
    if any(table.grain == "many" for table in tables):
        await _fill(session, needed.query, tables)
        return True
    if not all(_complete(session, table, needed.columns[table.name]) for table in tables):
        await run_query(session, sql, QueryOptions(strict=False), reader=reader)
        for table in tables:
            session.catalog.tables.materialise(table.name)
    return True


def is_sql(text: str) -> bool:
    """Whether the words are a query, not a question."""
    return text.lstrip().lower().startswith(("select ", "select\n", "select\t", "with ", "explain "))


def _explains(sql: str) -> bool:
    return sql.lstrip()[: len("explain ")].casefold() == "explain "


def _stands(session: Session, sql: str, schema: Schema) -> bool:
    """Whether the statement runs over tables that have all it needs, or can only run over them."""
    if any(name in sql for name in EXPLAIN_TABLES):
        return True
    named = [t for t in schema.tables if session.catalog.tables.current(t.name) is not None]
    try:
        needed = needed_cells(sql, schema)
    except QueryError:
        return bool(named) and not _names_docs(sql, schema)
    return all(
        session.catalog.tables.current(name) is not None and _complete(session, schema.table(name), columns)
        for name, columns in needed.columns.items()
    )


def _names_docs(sql: str, schema: Schema) -> bool:
    """Whether the query is over documents, so that its errors are the planner's to tell."""
    return any(word.casefold().strip("(),;\"") == DOCS for word in sql.split()) or not schema.tables


def _complete(session: Session, table: Table, columns: Sequence[str]) -> bool:
    return not missing_work(session, {table.name: [name for name in columns if name in table.column_names]})


def plain(session: Session, sql: str) -> pd.DataFrame:
    """The result of one SELECT over the tables that are there, in the cage; nothing is extracted."""
    names = [r.relation for r in session.catalog.schemas.relations() if r.current_version is not None]
    names += [name for name in EXPLAIN_TABLES if name in known_tables(session.catalog.database)]
    if not names:
        raise UnsafeStatement("the workspace has no tables yet; query the documents: SELECT ... FROM docs WHERE ...")
    result = run_readonly(session.catalog.database, sql, tables=names)
    return frame_of(result.columns, result.rows)


async def _fill(session: Session, query: Query, tables: Sequence[Table]) -> None:
    """Ordinary extraction of the columns that the query names."""
    for table in tables:
        wanted = {name for use in query.tables if use.table == table.name for name in use.attributes}
        await fill(session, {table.name: [name for name in table.column_names if name in wanted]})
        judge_table(session, table)
        await settle(session, table)
