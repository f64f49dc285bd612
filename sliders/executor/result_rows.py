"""The result of a query: the accepted rows as tables in memory, and the SQL over them in the cage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sliders.plan.parsing import TableUse, result_sql
from sliders.plan.predicates import SYSTEM
from sliders.store.sandbox import Sandbox

if TYPE_CHECKING:
    from sliders.executor.query import Running


def answer_rows(running: Running) -> tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]:
    """Columns and rows of the query over the documents that were accepted."""
    relations = {use.alias: f"rows_{number}" for number, use in enumerate(running.query.tables)}
    with Sandbox(running.session.catalog.database) as memory:
        for use in running.query.tables:
            _fill(memory, relations[use.alias], running, use)
        result = memory.run(result_sql(running.query, relations))
    if result.truncated:
        running.notes.append(result.cut)
    return result.columns, result.rows


def _fill(memory: Sandbox, name: str, running: Running, use: TableUse) -> None:
    """The accepted rows of one alias as a table."""
    run = running.runs[use.table]
    types = {n: run.table.column(n).type.sql for n in (*use.attributes, *use.select) if n not in SYSTEM}
    types |= dict.fromkeys(SYSTEM, "TEXT")
    accepted = running.accepted.get(use.alias, ())
    rows = [row for document_id in accepted for row in run.passing(document_id, use.where)]
    alone = {row.get("row_id", number): row for number, row in enumerate(rows)}  # one row may come from several documents
    memory.add(name, types, ([row.get(n) for n in types] for row in alone.values()))
