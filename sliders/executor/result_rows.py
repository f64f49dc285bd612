"""The result of a query: the accepted rows as tables, and the SQL over them in the cage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Table

from sliders.plan.parsing import result_sql
from sliders.plan.predicates import SYSTEM
from sliders.store.cage import run_readonly
from sliders.store.database import data_table
from sliders.store.layout import TYPES

if TYPE_CHECKING:
    from sliders.executor.query import Running

_PREFIX = "query_rows"


def answer_rows(running: Running) -> tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]:
    """Columns and rows of the query over the documents that were accepted."""
    with _filled(running) as relations:
        sql = result_sql(running.query, relations)
        result = run_readonly(running.session.catalog.database, sql, tables=list(relations.values()))
    if result.truncated:
        running.notes.append(f"the result was cut after {len(result.rows)} rows; add a LIMIT or aggregate")
    return result.columns, result.rows


@contextmanager
def _filled(running: Running) -> Iterator[Mapping[str, str]]:
    """A table of accepted rows for each alias, dropped afterwards."""
    database = running.session.catalog.database
    relations: dict[str, str] = {}
    made: list[Table] = []
    for number, use in enumerate(running.query.tables):
        relations[use.alias] = f"{_PREFIX}_{id(running):x}_{number}"
        run = running.runs[use.table]
        attributes = [n for n in dict.fromkeys((*use.attributes, *use.select)) if n not in SYSTEM]
        typed = {n: TYPES[run.table.column(n).type.sql] for n in attributes} | dict.fromkeys(SYSTEM, TYPES["TEXT"])
        made.append(data_table(relations[use.alias], typed))
        database.create(made[-1])
        lines = []
        for document_id in running.accepted.get(use.alias, ()):
            values = run.values(document_id)
            lines.append([int(v) if isinstance(v := values.get(n), bool) else v for n in (*attributes, *SYSTEM)])
        if lines:
            database.add_many(made[-1], lines)
    try:
        yield relations
    finally:
        for table in made:
            database.drop(table)

