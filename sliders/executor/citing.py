"""From the final SQL back to the words on the page (contract 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sliders.answer.citations import columns_used, contributing_rows_sql
from sliders.answer.result import Citation
from sliders.answer.turns import TableView
from sliders.chunks.sentences import sentence_spans
from sliders.errors import QueryError, StoreError
from sliders.executor.session import Session
from sliders.extraction.cell import Cell, Row
from sliders.store.audit import doubt_of, words_of_odds
from sliders.store.cage import run_readonly
from sliders.store.data_tables import enters

MOST = 20
_AROUND = 300


def cite(session: Session, sql: str, views: Sequence[TableView]) -> tuple[Citation, ...]:
    """Citations of the rows that gave the result, only for the columns that the statement uses; at most `MOST` rows."""
    rewritten = contributing_rows_sql(sql, views, MOST) if sql else None
    if rewritten is None:
        return ()
    try:
        result = run_readonly(session.catalog.database, rewritten, tables=[view.name for view in views])
    except (StoreError, QueryError) as error:
        session.decide("answer", "citations", "left out", str(error))
        return ()
    used = columns_used(sql, views)
    out: list[Citation] = []
    for view in views:
        rows = [str(row[1]) for row in result.rows if str(row[0]).lower() == view.name.lower()]
        out.extend(citations_of(session, rows, used.get(view.name, ())))
    return tuple(out)


def citations_of(session: Session, row_ids: Sequence[str], columns: Iterable[str] = ()) -> list[Citation]:
    """The words behind rows of data tables: of the columns named, or of all."""
    wanted = {name.lower() for name in columns}
    flat = list(dict.fromkeys(_sources(session, row_ids)))
    rows = session.catalog.extractions.get(flat)
    names = {d.id: d.name for d in session.catalog.documents.all(superseded=True)}
    return [c for identifier in flat if identifier in rows for c in _of_row(session, rows[identifier], names, wanted)]


def _sources(session: Session, row_ids: Sequence[str]) -> Iterable[str]:
    for relation in session.catalog.schemas.relations():
        for identifier in row_ids:
            yield from session.catalog.tables.sources(relation.name, identifier)


def _of_row(session: Session, row: Row, names: dict[str, str], wanted: set[str]) -> list[Citation]:
    relation = session.catalog.schemas.relation(row.table)
    return [
        citation
        for cell in row.cells
        if cell.value is not None and enters(cell, session.settings.unverified)
        if not wanted or relation.sql_name(cell.column).lower() in wanted
        for citation in _of_cell(session, row, cell, names)
    ]


def _of_cell(session: Session, row: Row, cell: Cell, names: dict[str, str]) -> list[Citation]:
    """A citation for each place that a value rests on; one without words where it rests on none."""
    about = Citation(
        names.get(row.document_id, row.document_id), "", None, row.table, cell.column, row.id, cell.value,
        row.document_id, grounding=cell.grounding.value, how=cell.how.value,
        reason=cell.rationale or words_of_odds(cell.odds), doubt=doubt_of(cell),
    )  # fmt: skip
    out = []
    for span in (cell.span, *cell.parts):
        if span is not None:
            quote = session.catalog.documents.text(span.document_id)[span.start : span.end]
            document = names.get(span.document_id, span.document_id)
            out.append(replace(about, document=document, quote=quote, page=span.page, document_id=span.document_id,
                               start=span.start, end=span.end))  # fmt: skip
    return out or [about]


def quote_of(session: Session, rows: Sequence[Row]) -> Callable[[str, str], str]:
    """The sentence (in a table the line) that holds the words of a cell, by row id and column; "" when unknown."""
    spans = {
        (row.id, cell.column): cell.span for row in rows for cell in row.cells if cell.span is not None
    }

    def quote(row_id: str, column: str) -> str:
        span = spans.get((row_id, column))
        if span is None:
            return ""
        text = session.catalog.documents.text(span.document_id)
        low, high = max(0, span.start - _AROUND), min(len(text), span.end + _AROUND)
        around = next((s for s in sentence_spans(text, low, high) if s[0] <= span.start < s[1]), (span.start, span.end))
        return " ".join(text[around[0] : max(around[1], span.end)].split())

    return quote
