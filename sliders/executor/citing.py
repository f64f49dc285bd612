"""From the final SQL back to the words on the page (contract 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from sliders.answer.citations import columns_used, contributing_rows_sql
from sliders.answer.result import Citation
from sliders.answer.turns import TableView
from sliders.chunks.sentences import sentence_spans
from sliders.errors import QueryError, StoreError
from sliders.executor.corrections import decided_values
from sliders.executor.session import Session
from sliders.extraction.cell import Cell, Row, Scalar
from sliders.store.audit import doubt_of, values_shown, words_of_odds
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
    """The words behind rows of data tables: of the columns named, or of all; where the sources of a row say different things,
    those that say what the row shows. A value that a person decided rests on the decision."""
    wanted = {name.lower() for name in columns}
    names = {d.id: d.name for d in session.catalog.documents.all(superseded=True)}
    found: dict[Citation, None] = {}
    for relation in session.catalog.schemas.relations():
        for identifier in row_ids:
            sources = session.catalog.extractions.get(session.catalog.tables.sources(relation.name, identifier))
            shown = values_shown(session.catalog, relation.name, identifier) if sources else {}
            decided = decided_values(session.catalog, relation.name, identifier) if sources else {}
            for column, told in decided.items():
                if not wanted or relation.sql_name(column).lower() in wanted:
                    home = (sources.get(identifier) or next(iter(sources.values()))).document_id
                    found[Citation(names.get(home, home), "", None, relation.name, column, identifier, shown.get(column), home,
                                   how="decided", reason=told)] = None  # fmt: skip
            for row, cell in _carrying(session, sources.values(), shown):
                if cell.column not in decided and (not wanted or relation.sql_name(cell.column).lower() in wanted):
                    found |= dict.fromkeys(_of_cell(session, row, cell, names))
    return list(found)


def _carrying(session: Session, rows: Iterable[Row], shown: Mapping[str, Scalar]) -> list[tuple[Row, Cell]]:
    """The cells with a value that a data row rests on."""
    cells = [(r, c) for r in rows for c in r.cells if c.value is not None and enters(c, session.settings.unverified)]
    carried = {c.column for _, c in cells if c.value == shown.get(c.column)}
    return [(r, c) for r, c in cells if c.column not in carried or c.value == shown[c.column]]


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
