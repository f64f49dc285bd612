"""The result of a query: the accepted rows as tables, and the SQL over them in the cage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Table

from sliders.executor.linking import canonical_forms
from sliders.extraction.cell import Scalar
from sliders.plan.parsing import result_sql
from sliders.plan.predicates import SYSTEM
from sliders.store.database import data_table
from sliders.store.guard import run_readonly
from sliders.store.layout import Value
from sliders.store.tables import TYPES

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
    forms = _canonical(running)
    relations: dict[str, str] = {}
    made: list[Table] = []
    for number, use in enumerate(running.query.tables):
        name = f"{_PREFIX}_{id(running):x}_{number}"
        relations[use.alias] = name
        run = running.runs[use.table]
        attributes = [n for n in dict.fromkeys((*use.attributes, *use.select)) if n not in SYSTEM]
        joined = [e.attribute(a) for e in running.query.joins for a in (e.left, e.right) if a == use.alias]
        keys = list(dict.fromkeys(joined))
        canonical = {f"{n}__canonical": Value for n in keys}
        typed = {n: TYPES[run.table.column(n).type.sql] for n in attributes}
        table = data_table(name, typed | dict.fromkeys(SYSTEM, TYPES["TEXT"]) | canonical)
        made.append(table)
        database.create(table)
        lines = []
        for document_id in running.accepted.get(use.alias, ()):
            values = run.values(document_id)
            keyed = [forms.get((use.alias, n), {}).get(values.get(n), values.get(n)) for n in keys]
            shown = [_sql_value(v) for v in (*(values.get(n) for n in attributes), *(values[n] for n in SYSTEM))]
            lines.append([*shown, *(database.engine.encode(_sql_value(v)) for v in keyed)])
        if lines:
            database.add_many(table, lines)
    try:
        yield relations
    finally:
        for table in made:
            database.drop(table)


def _sql_value(value: Scalar) -> Scalar:
    return int(value) if isinstance(value, bool) else value


def _canonical(running: Running) -> dict[tuple[str, str], dict[Scalar, Scalar]]:
    """Canonical forms of join attributes by (alias, attribute): equal ones join."""
    found: dict[tuple[str, str], dict[Scalar, Scalar]] = {}
    groups: list[set[tuple[str, str]]] = []
    for edge in running.query.joins:
        ends = {(edge.left, edge.left_attribute), (edge.right, edge.right_attribute)}
        touching = [group for group in groups if group & ends]
        groups = [group for group in groups if group not in touching] + [ends.union(*touching)]
    for group in groups:
        values = [v for alias, name in sorted(group) for v in _values(running, alias, name)]
        forms = canonical_forms(values)
        found.update(dict.fromkeys(group, forms))
    return found


def _values(running: Running, alias: str, name: str) -> Sequence[Scalar]:
    run = running.run(alias)
    return [run.values(document_id).get(name) for document_id in running.accepted.get(alias, ())]
