"""The result of a query: the accepted rows as tables, and the SQL over them in the cage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Table

from sliders.executor.linking import canonical_forms
from sliders.extraction.cell import Scalar
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
    """A table of accepted rows for each alias, dropped afterwards; equal numbers of `<attribute>__canonical` join."""
    database, numbers = running.session.catalog.database, _numbered(running)
    relations: dict[str, str] = {}
    made: list[Table] = []
    for number, use in enumerate(running.query.tables):
        relations[use.alias] = f"{_PREFIX}_{id(running):x}_{number}"
        run, keys = running.runs[use.table], _names(running, use.alias)
        attributes = [n for n in dict.fromkeys((*use.attributes, *use.select)) if n not in SYSTEM]
        typed = {n: TYPES[run.table.column(n).type.sql] for n in attributes} | dict.fromkeys(SYSTEM, TYPES["TEXT"])
        canonical = dict.fromkeys((f"{n}__canonical" for n in keys), TYPES["INTEGER"])
        made.append(data_table(relations[use.alias], typed | canonical))
        database.create(made[-1])
        lines = []
        for document_id in running.accepted.get(use.alias, ()):
            values = run.values(document_id)
            shown = [int(v) if isinstance(v := values.get(n), bool) else v for n in (*attributes, *SYSTEM)]
            lines.append([*shown, *(numbers.get(values.get(n)) for n in keys)])
        if lines:
            database.add_many(made[-1], lines)
    try:
        yield relations
    finally:
        for table in made:
            database.drop(table)


def _names(running: Running, alias: str) -> list[str]:
    return [name for name in running.query.keys(alias) if name not in SYSTEM]


def _numbered(running: Running) -> dict[Scalar, int]:
    """A number for each join value: one for all forms of a name."""
    aliases = [use.alias for use in running.query.tables]
    known = [(running.run(a).values(d), _names(running, a)) for a in aliases for d in running.accepted.get(a, ())]
    forms = canonical_forms([values.get(name) for values, keys in known for name in keys])
    numbers = {form: number for number, form in enumerate(dict.fromkeys(forms.values()))}
    return {value: numbers[form] for value, form in forms.items()}
