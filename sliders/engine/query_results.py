"""Results of SQL queries as data frames. A query runs over tables as they are, over tables that are
filled first, or over documents, of which only the needed cells are read (lazily).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, overload

from sqlglot import exp

from sliders.answer.mixed_units import mixed_units, taken_together
from sliders.answer.profile import profile_tables
from sliders.answer.references import References
from sliders.answer.result import Completeness, frame_of
from sliders.answer.result_units import unit_of_column, units_of
from sliders.answer.stated_currency import with_currencies
from sliders.engine.completeness import completeness
from sliders.engine.fill import all_read, fill_cells
from sliders.engine.query_binding import DOCS, bind
from sliders.engine.query_cells import load_known
from sliders.engine.query_run import explains, run_query
from sliders.engine.session import Session
from sliders.engine.settle import decided
from sliders.engine.table_stages import settle_tables
from sliders.engine.tables_read import in_sql, view_of
from sliders.errors import ModelUnavailable, QueryError, StoreError, UnsafeStatement
from sliders.llm.outcomes import every_call_failed
from sliders.markup import note, table_html
from sliders.progress import counted
from sliders.query.parsing import Query, parse_query
from sliders.query.predicates import SYSTEM
from sliders.schema.types import Schema, Table
from sliders.sql.limits import Result
from sliders.sql.quoting import quote_identifier
from sliders.sql.statement import parse_select
from sliders.store.cage import run_readonly
from sliders.store.copied_tables import CopiedTables, TrialChange

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


class TableFrames(Mapping[str, "pd.DataFrame"]):
    """The current version of each data table, read on access."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self:
            raise StoreError(
                f"there is no table {name!r}; tables are: {', '.join(self) or 'none yet'}"
            )
        columns, rows = self._session.catalog.tables.read(name)
        frame, table = frame_of(columns, list(rows)), self._session.schema.table(name)
        shown = in_sql(self._session, table, table.columns).columns
        held = {column.name: unit_of_column(column) for column in shown}
        frame.attrs["units"] = [held.get(column, "") for column in columns]
        return frame

    def __iter__(self) -> Iterator[str]:
        return (table.name for table in self._session.filled)

    def __contains__(self, name: object) -> bool:
        return any(known == name for known in self)

    @overload
    def get(self, key: str, /) -> pd.DataFrame | None: ...

    @overload
    def get(self, key: str, /, default: pd.DataFrame | T) -> pd.DataFrame | T: ...

    def get(self, key: str, /, default: pd.DataFrame | T | None = None) -> pd.DataFrame | T | None:
        """Returns the table of that name; `default` when there is none."""
        known = set(self)
        return self[key] if key in known else default

    def _repr_html_(self) -> str:
        """Returns the tables as a notebook shows them: each with its size and columns."""
        rows = [
            (name, len(frame), ", ".join(map(str, frame.columns))) for name, frame in self.items()
        ]
        return (
            table_html(("table", "rows", "columns"), rows)
            if rows
            else note("no tables yet: ask a question, or pin a schema")
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


def needed_cells(sql: str, schema: Schema) -> dict[str, tuple[str, ...]]:
    """Returns the columns that a statement needs, by table. A condition that cannot be planned
    needs all its columns.

    Raises:
        QueryError: the text is not one SELECT over the schema's tables, or has parts that cannot be
            planned (WITH, subqueries).
    """
    return _columns(parse_query(sql, schema.tables))


def _columns(query: Query) -> dict[str, tuple[str, ...]]:
    columns: dict[str, tuple[str, ...]] = {}
    for use in query.tables:
        names = (*columns.get(use.table, ()), *use.attributes)
        columns[use.table] = tuple(dict.fromkeys(name for name in names if name not in SYSTEM))
    return columns


async def query_frame(
    session: Session, sql: str, describe: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Returns the result of one SELECT. Missing cells that the query needs are extracted first.

    The frame's `attrs` hold "units" (of its columns), "notes" (lines on what the result lacks) and,
    when something was read, "explanation" (what was done, as EXPLAIN ANALYZE) and "tokens".

    Raises:
        QueryError: SQL that is not supported over documents, or an unknown or ambiguous column; the
            message says where.
        UnsafeStatement: the text is not one SELECT, or names a table that it may not read.
        StoreError: SQLite finds an error.
    """
    if explains(sql):
        raise UnsafeStatement(
            "EXPLAIN tells how a query would be done and gives no rows; give the "
            "SELECT to `explain`"
        )
    standing = None if describe else _standing(session, sql)
    if standing is not None:
        if not all(_is_settled(session, name) for name in standing):
            await settle_tables(
                session, "the tables are read as they are, without a model", list(standing)
            )
        return _told(plain(session, sql), session, sql, standing)
    query, tables = bind(session, sql, describe or {})
    if any(table.grain == "many" for table in tables):
        return await _filled_frame(session, sql, query, tables)
    result = await run_query(session, sql, describe)
    frame = frame_of(result.columns, result.rows)
    frame.attrs |= {
        "explanation": str(result.explanation),
        "tokens": result.tokens,
        "notes": list(result.notes),
    }
    return _told(frame, session, sql, _columns(query), result.stopped)


async def _filled_frame(
    session: Session, sql: str, query: Query, tables: Sequence[Table]
) -> pd.DataFrame:
    """Returns the result of a query over tables with several rows for each document, which are
    filled first.
    """
    columns = _wanted(session, _columns(query))
    named = {name: asked for name, asked in columns.items() if asked}
    filled = await fill_cells(session, named)
    stopped = await settle_tables(session, filled.stopped, list(columns))
    bound = [use.table for use in query.tables if use.written == DOCS]
    docs = [table for table in tables if table.name in bound and table.grain == "document"]
    if docs:
        frame = _frame(beside_documents(session, sql, docs[0], list(columns)))
    else:
        frame = plain(session, sql)
    return _told(frame, session, sql, named, stopped)


def beside_documents(session: Session, sql: str, table: Table, names: Sequence[str]) -> Result:
    """Returns the result of a statement over `docs` (every document, with the values of `table`)
    and the data tables `names`; see `run_readonly`.
    """
    relations = [
        r
        for r in session.catalog.schemas.relations()
        if r.name in names and r.name != DOCS and r.current_version
    ]
    shown = load_known(session, table)[1]
    types = {c.name: c.type.sql for c in table.columns} | dict.fromkeys(SYSTEM, "TEXT")
    rows = (
        row | {"document": d.name, "document_id": d.id}
        for d in session.catalog.documents.all()
        for row in shown.get(d.id, [{}])
    )
    with CopiedTables(session.catalog.database, relations) as memory:
        memory.add(DOCS, types, ([row.get(n) for n in types] for row in rows))
        return memory.run(sql)


def known_frame(session: Session, sql: str) -> pd.DataFrame | None:
    """Returns the result of a SELECT whose cells are all known; None when some must be read first.
    Nothing is read, repaired or written.

    Raises:
        UnsafeStatement: as `plain`.
        StoreError: as `plain`.
    """
    standing = None if explains(sql) else _standing(session, sql)
    if standing is None or not all(_is_settled(session, name) for name in standing):
        return None
    return _told(plain(session, sql), session, sql, standing)


def _is_settled(session: Session, table: str) -> bool:
    """Says whether a table shows everything that was read and decided. Earlier repairs, and repairs
    that were undone, count as they are.
    """
    if not session.catalog.tables.is_current(table):
        return False
    root = session.catalog.tables.lineage(table)[-1].version
    last, in_force = session.catalog.settled.of(table), decided(session, table)
    return not in_force or (
        last is not None and (last.terms.version, last.terms.corrections) == (root, in_force)
    )


def without_earlier(session: Session, sql: str) -> pd.DataFrame:
    """Returns the result of one SELECT over the tables as they are, without rows of earlier
    versions of documents. Nothing is written.

    Raises:
        UnsafeStatement: as `plain`.
        StoreError: as `plain`.
    """
    if (frame := known_frame(session, sql)) is not None:
        return frame
    earlier = {d.id for d in session.catalog.documents.all(superseded=True)} - {
        d.id for d in session.catalog.documents.all()
    }
    relations = [r for r in session.catalog.schemas.relations() if r.current_version is not None]
    gone = [
        TrialChange(relation.relation, str(row_id), None)
        for relation in relations
        if earlier
        for row_id, document in session.catalog.tables.read(
            relation.name, ["row_id", "document_id"]
        )[1]
        if document in earlier
    ]
    if not gone:
        return plain(session, sql)
    with CopiedTables(session.catalog.database, relations) as memory, memory.changed(gone):
        frame = _frame(memory.run(sql))
    told = (
        f"{counted(len(gone), 'row')} of earlier versions of documents left out; what the new "
        "versions say is read by a question"
    )
    frame.attrs["notes"].append(told)
    return frame


def _told(
    frame: pd.DataFrame,
    session: Session,
    sql: str,
    columns: Mapping[str, Sequence[str]],
    stopped: str = "",
) -> pd.DataFrame:
    """Returns the frame with the units of its columns, and with notes: the reading stopped, calls
    failed, values were refused.

    Raises:
        ModelUnavailable: the frame is empty, and every call of the run failed.
    """
    names = list(map(str, frame.columns))
    frame.attrs["units"] = [""] * len(names)
    with contextlib.suppress(QueryError):  # a part of another dialect makes no rows wrong
        tree = parse_select(sql)
        frame.attrs["units"], notes = _units_and_notes(session, tree, names)
        frame.attrs["notes"] += notes
    ledger = completeness(session, columns)
    said = f"the result is incomplete: {stopped}"
    frame.attrs["notes"] += [said] if stopped and said not in frame.attrs["notes"] else []
    frame.attrs["stopped"], outcomes = stopped, session.models.outcomes
    if outcomes.failed and not len(frame):
        raise ModelUnavailable(every_call_failed(outcomes.failed, outcomes.number))
    frame.attrs["failed"] = outcomes.failed
    frame.attrs["notes"] += (
        [] if _is_whole(ledger) else [f"in the columns of the query, {', '.join(ledger.remarks())}"]
    )
    return frame


def _units_and_notes(
    session: Session, tree: exp.Query, columns: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Returns the unit of each column of a result ("" when there is none), and a note for each
    column whose amounts in several currencies or units the statement takes together.
    """
    if not taken_together(tree):  # the tables need not be looked at
        tables = [in_sql(session, table, table.columns) for table in session.filled]
        return list(units_of(tree, tables, columns)), []
    read = {table.name.lower() for table in tree.find_all(exp.Table)}
    views = [view_of(session, table) for table in session.filled]
    views = [view for view in views if view.name.lower() in read]

    def run_sql(statement: str) -> Result:
        names = [view.name for view in views]
        return run_readonly(session.catalog.database, statement, tables=names)

    profiles = profile_tables(views, run_sql)
    units = units_of(tree, with_currencies(tree, profiles, run_sql), columns)
    found = mixed_units(tree, References(tree, profiles), run_sql)
    return list(units), [str(one.doubt) for one in found if one.doubt is not None]


def _is_whole(ledger: Completeness) -> bool:
    """Says whether nothing is missing in the columns of a query, and all their values
    are verified.
    """
    return ledger.complete and not (
        ledger.ungrounded_cells or ledger.unparsed_cells or ledger.unverified_cells
    )


def is_sql(text: str) -> bool:
    """Says whether a text is a query, not a question."""
    return (
        text.lstrip().lower().startswith(("select ", "select\n", "select\t", "with ", "explain "))
    )


def _standing(session: Session, sql: str) -> dict[str, tuple[str, ...]] | None:
    """Returns the columns, by table, that the statement needs or can run over; None when something
    must be read first.
    """
    filled = {
        table.name: tuple(table.column_names)
        for table in session.filled
        if table.name.casefold() in sql.casefold()
    }
    try:
        needed = _wanted(session, needed_cells(sql, session.schema))
    except QueryError:  # over documents, the planner reports the error
        over_documents = any(word.casefold().strip('(),;"') == DOCS for word in sql.split())
        return filled if session.filled and not over_documents else None
    if DOCS in needed and len(needed) > 1:
        return None  # every document is a row of it, also one of which no row was read
    there = needed.keys() <= filled.keys() and all_read(session, needed)
    return needed if there and not _partial(session, needed) else None


def _wanted(session: Session, needed: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Returns the columns to read, by table. For a table of which the query names no column, these
    are the columns that were read before, else all.
    """
    wanted = dict(needed)
    for table in session.schema.tables:
        if table.grain == "many" and needed.get(table.name) == ():
            asked = session.catalog.extractions.columns_asked(table.name)
            names = (name for name in table.column_names if not asked or name in asked)
            wanted[table.name] = tuple(names)
    return wanted


def _partial(session: Session, needed: Mapping[str, tuple[str, ...]]) -> bool:
    """Says whether a query needs rows of all documents from a table that has only the rows that
    earlier queries read.
    """
    if needed.get(DOCS) != () or session.schema.table(DOCS).grain == "many":
        return False
    relation = session.catalog.schemas.relation(DOCS)
    if relation.current_version is None:
        return True
    counted = f"SELECT count(DISTINCT document_id) FROM {quote_identifier(relation.relation)}"
    return session.catalog.database.query(counted) != [(session.catalog.documents.count(),)]


def plain(session: Session, sql: str) -> pd.DataFrame:
    """Returns the result of one SELECT over the tables as they are, in a read-only copy; nothing is
    extracted.

    Raises:
        UnsafeStatement: the workspace has no tables, the text is not one SELECT, or it names a
            table
            that it may not read.
        StoreError: SQLite finds an error.
    """
    if not (names := session.data_tables):
        raise UnsafeStatement(
            "the workspace has no tables yet; query the documents: SELECT ... FROM docs WHERE ..."
        )
    return _frame(run_readonly(session.catalog.database, sql, tables=names))


def _frame(result: Result) -> pd.DataFrame:
    frame = frame_of(result.columns, result.rows)
    frame.attrs["notes"] = [result.cut] if result.truncated else []
    return frame
