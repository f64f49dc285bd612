"""The content of a run's audit page: answers, rows, documents, cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sliders.answer.citations import columns_used, contributing_rows_sql
from sliders.answer.turns import TableView
from sliders.audit.diff import difference
from sliders.audit.page.changes import compared
from sliders.audit.page.document_passages import shown_documents, silent_documents
from sliders.audit.page.page_content import (
    AuditPage,
    Cited,
    ShownAnswer,
    ShownSource,
    ShownTable,
    ShownValue,
    TextPlace,
)
from sliders.audit.page.rows import Behind, shown_table, sql_view
from sliders.errors import StoreError
from sliders.schema.types import Schema
from sliders.sql.quoting import quote_literal
from sliders.store.catalog import Catalog
from sliders.store.records import Run

MOST_CELLS = 5_000
_MOST_BEHIND = 10_000


def collect(catalog: Catalog, run: int | None = None, against: int | None = None) -> AuditPage:
    """Returns the content of the page of a run: the run of a number, or the last that answered.
    `against` is the number of another run to compare it with.

    Raises:
        StoreError: there is no such run.
    """
    chosen = chosen_run(catalog, run)
    kept: Sequence[Mapping[str, Any]] = chosen.outcome.get("answers", ())
    views = _views(catalog)
    answers = tuple(_answer(catalog, answer) for answer in kept)
    statements = [str(answer.get("sql", "")) for answer in kept]
    if not statements and chosen.kind == "query":
        statements = [chosen.question]
    read = {name for sql in statements for name in columns_used(sql, list(views.values()))}
    shown = {table: v for table, v in views.items() if v.name in read or not statements}
    tables = _tables(catalog, shown, statements)
    silent, left_out = silent_documents(catalog, tables)
    documents, cut = shown_documents(catalog, tables, answers, silent)
    changed = None if against is None else difference(catalog, chosen.id, against)
    return AuditPage(
        workspace=catalog.database.title,
        run=chosen.id,
        kind=chosen.kind,
        status=chosen.status,
        question=chosen.question,
        started=chosen.started,
        model=str(chosen.settings.get("model", "")),
        error=str(chosen.outcome.get("error", "")),
        answers=answers,
        tables=tables,
        documents=documents,
        document_count=catalog.documents.count(),
        silent=silent,
        stages=tuple(catalog.calls.usage(chosen.id).items()),
        notes=(*_rows_left_out(tables), *left_out, *cut),
        compared=None if changed is None else compared(changed, tables),
    )


def _rows_left_out(tables: Sequence[ShownTable]) -> list[str]:
    """Returns a note for each table of which the page shows only some rows."""
    return [
        f"Table {t.name}: {len(t.rows):,} of {t.total:,} rows are on this page, those behind "
        "the answer first; all are in the workspace."
        for t in tables
        if len(t.rows) < t.total
    ]


def collect_row(catalog: Catalog, relation: str, row_id: str) -> AuditPage:
    """Returns the page of one row of a data table: its values and their documents. `relation` is
    the SQL name of the table.

    Raises:
        StoreError: there is no such table or row.
    """
    name, view = next(
        ((n, v) for n, v in _views(catalog).items() if v.name == relation), (None, None)
    )
    if name is None or view is None:
        raise StoreError(f"there is no table {relation!r}; list them with: sliders tables")
    only = f"SELECT {quote_literal(row_id)} AS row_id, {quote_literal(relation)} AS table_name"
    table = shown_table(catalog, name, view, Behind((only,), (relation,)), len(view.table.columns))
    if not table.rows or table.rows[0].id != row_id:
        raise StoreError(
            f"table {relation!r} has no row {row_id!r}, which may be merged or gone since a "
            "repair; look for it in the table"
        )
    documents, cut = shown_documents(catalog, [table], (), ())
    named = tuple(
        replace(c, name=sql.name) for c, sql in zip(table.columns, view.table.columns, strict=True)
    )
    return AuditPage(
        catalog.database.title,
        0,
        "row",
        "",
        f"A row of {relation}",
        "",
        "",
        "",
        (),
        (replace(table, columns=named),),
        documents,
        catalog.documents.count(),
        (),
        (),
        cut,
    )


def chosen_run(catalog: Catalog, number: int | None = None) -> Run:
    """Returns the run of a number; without a number, the last run that answered a question.

    Raises:
        StoreError: there is no such run.
    """
    runs = catalog.journal.runs()
    if not runs:
        raise StoreError(
            "the workspace has no runs yet; ask a question first: sliders ask FILES QUESTION"
        )
    if number is None:
        return next((run for run in reversed(runs) if run.outcome.get("answers")), runs[-1])
    found = next((run for run in runs if run.id == number), None)
    if found is None:
        raise StoreError(f"there is no run {number}; list them with: sliders runs")
    return found


def _views(catalog: Catalog) -> dict[str, TableView]:
    """The data tables that there are, by schema name, as SQL sees them."""
    schema = catalog.schemas.current() or Schema()
    filled = (table for table in schema.tables if catalog.tables.current(table.name) is not None)
    return {table.name: sql_view(catalog, table) for table in filled}


def _tables(
    catalog: Catalog, views: Mapping[str, TableView], statements: Sequence[str]
) -> tuple[ShownTable, ...]:
    found = [
        contributing_rows_sql(sql, list(views.values()), _MOST_BEHIND) if sql else None
        for sql in statements
    ]
    behind = Behind(tuple(found), tuple(view.name for view in views.values()))
    most = MOST_CELLS // max(len(views), 1)
    return tuple(shown_table(catalog, name, view, behind, most) for name, view in views.items())


def _answer(catalog: Catalog, kept: Mapping[str, Any]) -> ShownAnswer:
    names = {d.name: d.id for d in catalog.documents.all(superseded=True)}
    return ShownAnswer(kept, tuple(_cited(one, names) for one in kept.get("citations", ())))


def _cited(one: Mapping[str, Any], names: Mapping[str, str]) -> Cited:
    document = one.get("document_id") or names.get(one["document"], "")
    place = (
        (TextPlace(document, one["start"], one["end"], one["page"]),)
        if document and one["start"] >= 0
        else ()
    )
    source = ShownSource(
        document,
        one["value"],
        one["quote"],
        one["how"],
        one["grounding"],
        True,
        place,
        one["reason"],
        "",
        one["doubt"],
    )
    return Cited(
        one["column"], ShownValue(one["value"], (source,)), one["quote"], one.get("result_row")
    )
