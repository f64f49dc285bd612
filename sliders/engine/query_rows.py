"""The result of a query: the accepted rows as tables in memory, and the SQL
over them in the cage.
"""

from __future__ import annotations

from collections.abc import Sequence

from sliders.engine.query_binding import DOCS
from sliders.engine.query_cells import load_known
from sliders.engine.running_query import Running
from sliders.engine.session import Session
from sliders.query.parsing import TableUse, result_sql
from sliders.query.predicates import SYSTEM
from sliders.schema.types import Table
from sliders.sql.limits import Result
from sliders.store.copied_tables import CopiedTables


def answer_rows(running: Running) -> tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]:
    """Columns and rows of the query over the documents that were accepted."""
    relations = {use.alias: f"rows_{number}" for number, use in enumerate(running.query.tables)}
    with CopiedTables(running.session.catalog.database) as memory:
        for use in running.query.tables:
            _fill(memory, relations[use.alias], running, use)
        result = memory.run(result_sql(running.query, relations))
    if result.truncated:
        running.notes.append(result.cut)
    return result.columns, result.rows


def _fill(memory: CopiedTables, name: str, running: Running, use: TableUse) -> None:
    """The accepted rows of one alias as a table."""
    run = running.runs[use.table]
    types = {
        n: run.table.column(n).type.sql for n in (*use.attributes, *use.select) if n not in SYSTEM
    }
    types |= dict.fromkeys(SYSTEM, "TEXT")
    accepted = set(running.accepted.get(use.alias, ()))
    in_order = (
        d.id for d in running.session.catalog.documents.all() if d.id in accepted
    )  # whichever was read first
    rows = [row for document_id in in_order for row in run.passing(document_id, use.where)]
    alone = {
        row.get("row_id", number): row for number, row in enumerate(rows)
    }  # one row may come from several documents
    memory.add(name, types, ([row.get(n) for n in types] for row in alone.values()))


def beside_documents(session: Session, sql: str, table: Table, names: Sequence[str]) -> Result:
    """A statement over `docs`, every document with what `table` shows of it, and the data tables
    `names`; as `run_readonly`.
    """
    relations = [
        r
        for r in session.catalog.schemas.relations()
        if r.name in names and r.name != DOCS and r.current_version
    ]
    shown = load_known(session, table)[1]
    types = {c.name: c.type.sql for c in table.columns} | dict.fromkeys(SYSTEM, "TEXT")
    known = session.catalog.documents.all()
    rows = (
        row | {"document": d.name, "document_id": d.id}
        for d in known
        for row in shown.get(d.id, [{}])
    )
    with CopiedTables(session.catalog.database, relations) as memory:
        memory.add(DOCS, types, ([row.get(n) for n in types] for row in rows))
        return memory.run(sql)
