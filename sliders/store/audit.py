"""The audit trail: from a value in a table back to the words on a page (contract 1)."""

from __future__ import annotations

from dataclasses import dataclass

from sliders.extraction.cell import Cell, Grounding, Row, Scalar
from sliders.store.catalog import Catalog
from sliders.store.database import quote_identifier
from sliders.store.export import ExportFormat, export, export_audit, export_csv, export_excel, export_parquet
from sliders.store.verify import verify_audit

__all__ = [
    "Evidence", "ExportFormat", "export", "export_audit", "export_csv", "export_excel", "export_parquet", "lineage",
    "verify_audit",
]  # fmt: skip

QUOTE_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Evidence:
    """One printed source of a value. `agrees` says that its typed value is the one that the table shows.

    `quote` is the line around the words, cut to about `2 * QUOTE_CHARACTERS`; `start` and `end` are their place in the
    document's text.
    """

    table: str
    column: str
    row_id: str
    value: Scalar
    printed: str
    quote: str
    document: str
    document_id: str
    start: int
    end: int
    page: int | None
    grounding: Grounding
    agrees: bool
    rationale: str = ""
    model: str = ""
    call_id: str = ""


def lineage(catalog: Catalog, row_id: str, column: str | None = None) -> list[Evidence]:
    """The words that a row of a current table was read from, those that agree with the table first.

    Args:
        row_id: as the table's `row_id` column shows it.
        column: name in the schema; all columns when left out.

    Returns:
        One entry for each grounded cell of each extracted row that was merged into it; empty when there is no such row.
    """
    table = catalog.database.value(
        "SELECT t.name FROM sl_rows r JOIN sl_tables t ON t.key = r.table_key WHERE r.id = ?", (row_id,)
    )
    if table is None:
        return []
    shown = _shown(catalog, table, row_id)
    rows = catalog.extractions.get(catalog.tables.sources(table, row_id) or (row_id,))
    found = [
        _evidence(catalog, row, cell, shown.get(cell.column))
        for row in rows.values()
        for cell in row.cells
        if cell.span is not None and cell.absence is None and column in (None, cell.column)
    ]
    return sorted(found, key=lambda evidence: not evidence.agrees)


def _shown(catalog: Catalog, table: str, row_id: str) -> dict[str, Scalar]:
    """The values that the current version shows, by schema column name."""
    version = catalog.tables.current(table)
    relation = catalog.schemas.relation(table)
    columns = [column for column in relation.columns if version and column.sql_name in version.columns]
    if version is None or not columns:
        return {}
    listed = ", ".join(quote_identifier(column.sql_name) for column in columns)
    row = catalog.database.one(f"SELECT {listed} FROM {quote_identifier(version.relation)} WHERE row_id = ?", (row_id,))
    return dict(zip((column.name for column in columns), row, strict=True)) if row else {}


def _evidence(catalog: Catalog, row: Row, cell: Cell, shown: Scalar) -> Evidence:
    span = cell.span
    assert span is not None  # the caller has checked
    text = catalog.documents.text(span.document_id)
    name = catalog.database.value("SELECT name FROM sl_documents WHERE id = ?", (span.document_id,))
    return Evidence(
        row.table, cell.column, row.id, cell.value, cell.printed, _line(text, span.start, span.end), name,
        span.document_id, span.start, span.end, span.page, cell.grounding, cell.value == shown, cell.rationale,
        cell.model, cell.call_id,
    )  # fmt: skip


def _line(text: str, start: int, end: int) -> str:
    """The line around `text[start:end]`, cut at `QUOTE_CHARACTERS` on either side."""
    left = max(text.rfind("\n", 0, start) + 1, start - QUOTE_CHARACTERS)
    right = text.find("\n", end)
    right = min(len(text) if right < 0 else right, end + QUOTE_CHARACTERS)
    return text[left:right].strip()
