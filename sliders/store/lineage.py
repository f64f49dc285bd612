"""The audit trail: from a value in a table back to the words on a page (contract 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import select

from sliders.extraction.cell import Cell, Grounding, How, Row, Scalar
from sliders.store.catalog import Catalog
from sliders.store.data_tables import UNVERIFIED
from sliders.store.layout import documents, rows, tables
from sliders.store.materialise import enters

QUOTE_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Evidence:
    """One source of a value. `agrees` says that its typed value is the one that the table shows.

    `quote` is the line around the words, cut to about `2 * QUOTE_CHARACTERS` with "…"; `start` and
    `end` are their place in the document's text. A value that rests on no words (a judgement read
    from its odds) has no quote and -1 for its place. `parts` are the quotes of further words;
    `doubt` says why the value is unverified.
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
    how: How = How.STATED
    odds: tuple[tuple[str, float], ...] = ()
    doubt: str = ""
    parts: tuple[str, ...] = ()


def lineage_of(catalog: Catalog, row_id: str, column: str | None = None) -> list[Evidence]:
    """What the values of a row of a current table rest on, those that agree with the table first.

    Args:
        row_id: as the table's `row_id` column shows it.
        column: name in the schema; all columns when left out.

    Returns:
        One entry for each cell with a value of each extracted row that was merged into it;
            empty when there is no such
        row. Unverified values are among them where the table shows such.
    """
    table = catalog.database.value(
        select(tables.c.name).join_from(rows, tables).where(rows.c.id == row_id)
    )
    if table is None:
        return []
    shown = values_shown(catalog, table, row_id)
    unverified = any(version.operation == UNVERIFIED for version in catalog.tables.lineage(table))
    texts: dict[str, str] = {}
    extracted = catalog.extractions.get(catalog.tables.sources(table, row_id) or (row_id,))
    found = [
        _evidence(catalog, row, cell, shown.get(cell.column), texts)
        for row in extracted.values()
        for cell in row.cells
        if cell.value is not None and enters(cell, unverified) and column in (None, cell.column)
    ]
    return sorted(found, key=lambda evidence: not evidence.agrees)


def values_shown(catalog: Catalog, table: str, row_id: str) -> dict[str, Scalar]:
    """The values that the current version of a table shows in a row, by schema column name;
    none where it has no such row.
    """
    version = catalog.tables.current(table)
    relation = catalog.schemas.relation(table)
    columns = [
        column for column in relation.columns if version and column.sql_name in version.columns
    ]
    row = (
        catalog.tables.shown(table, row_id, [column.sql_name for column in columns])
        if columns
        else None
    )
    return dict(zip((column.name for column in columns), row, strict=True)) if row else {}


def doubt_of(cell: Cell) -> str:
    """Why a value is unverified, empty when it is not."""
    if cell.absence is None:
        return cell.doubt
    return f"{cell.absence.value}: {cell.detail}" if cell.detail else cell.absence.value


def words_of_odds(odds: tuple[tuple[str, float], ...]) -> str:
    """The chances of the choices as the model gave them, the likeliest first:
    "yes 98%, no 2%"; empty without odds.
    """
    if not odds:
        return ""
    best = max(value for _, value in odds)
    weights = {choice: math.exp(value - best) for choice, value in odds}
    total = sum(weights.values())
    return ", ".join(
        f"{c} {w / total:.0%}" for c, w in sorted(weights.items(), key=lambda item: -item[1])
    )


def _evidence(
    catalog: Catalog, row: Row, cell: Cell, shown: Scalar, texts: dict[str, str]
) -> Evidence:
    span = cell.span
    document_id = span.document_id if span else row.document_id
    for identifier in {document_id, *(part.document_id for part in cell.parts)} - texts.keys():
        texts[identifier] = catalog.documents.text(identifier)
    quote = _line(texts[document_id], span.start, span.end) if span else ""
    start, end, page = (span.start, span.end, span.page) if span else (-1, -1, None)
    name = catalog.database.value(select(documents.c.name).where(documents.c.id == document_id))
    return Evidence(
        row.table,
        cell.column,
        row.id,
        cell.value,
        cell.printed,
        quote,
        name,
        document_id,
        start,
        end,
        page,
        cell.grounding,
        cell.value == shown,
        cell.rationale,
        cell.model,
        cell.call_id,
        cell.how,
        cell.odds,
        doubt_of(cell),
        tuple(_line(texts[p.document_id], p.start, p.end) for p in cell.parts),
    )


def _line(text: str, start: int, end: int) -> str:
    """The line around `text[start:end]`; what is beyond `QUOTE_CHARACTERS` on either side is cut at
    a word, with an ellipsis.
    """
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    before, after = text[first:start].lstrip(), text[end : len(text) if last < 0 else last].rstrip()
    if len(before) > QUOTE_CHARACTERS:
        near = before[-QUOTE_CHARACTERS:]
        before = f"…{near.partition(' ')[2] or near}"
    if len(after) > QUOTE_CHARACTERS:
        near = after[:QUOTE_CHARACTERS]
        after = f"{near.rpartition(' ')[0] or near}…"
    return f"{before}{text[start:end]}{after}".strip()
