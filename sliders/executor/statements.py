"""Documents that print tables of periods: their rows and cover facts are read by code before any chunk is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sliders.chunks.chunk import Chunk
from sliders.documents.document import Document
from sliders.executor.session import Session
from sliders.extraction.cell import Cell, Row
from sliders.extraction.coerce import CoerceContext
from sliders.extraction.extractor import extract_chunk, row_id
from sliders.extraction.period_rows import choose_lines, document_cells, period_rows, with_common_name
from sliders.extraction.statements import statements_of
from sliders.schema.periods import period_roles
from sliders.schema.types import Column, Table
from sliders.store.records import Task

if TYPE_CHECKING:
    from sliders.executor.fill import Work

_COVER_CHUNKS = 2


async def fill_statements(session: Session, table: Table, document: Document, work: list[Work]) -> list[Work]:
    """Reads what the layout of period tables and covers states, saves it, and gives the work that is left.

    A table with one row a document gets the facts that forms and covers state; a table with many rows and a period
    column gets one row for each year of the document's tables. A document without such tables is left as it is.
    """
    if not statements_of(document):
        return work
    if table.grain == "document":
        return _cover(session, table, document, work)
    roles = period_roles(table)
    if roles.period is not None and roles.amounts and await _periods(session, table, document, work):
        return []
    return work


def _cover(session: Session, table: Table, document: Document, items: Sequence[Work]) -> list[Work]:
    """The work of a document without the columns that its layout states."""
    wanted = {column.name for item in items for column in item.columns}
    roles = period_roles(table)
    columns = [c for c in roles.entities if c.name in wanted]
    cells = document_cells(columns, [c for c in roles.filing if c.name in wanted], document)
    chunks = session.catalog.chunks.of(document.id)
    if not cells or not chunks:
        return list(items)
    names = tuple(cell.column for cell in cells)
    first = chunks[0]
    row = Row(row_id(table.name, first.id, first.start, 0), table.name, document.id, first.id, 0, cells)
    tasks = [Task(table.name, names, chunk.id, "done", "stated by the layout") for chunk in chunks]
    session.catalog.extractions.save([row], tasks)
    rest = [replace(item, columns=tuple(c for c in item.columns if c.name not in names)) for item in items]
    return [item for item in rest if item.columns]


async def _periods(session: Session, table: Table, document: Document, items: Sequence[Work]) -> bool:
    """Saves one row a year with all columns of the table; False where none of its amounts is in the document's tables."""
    roles = period_roles(table)
    model = session.models.model_for("extract")
    statements = statements_of(document)
    chunks = session.catalog.chunks.of(document.id)
    choice = await choose_lines(roles.amounts, statements, model)
    home = next((c for c in chunks if c.start <= statements[0].element.start < c.end), chunks[0])
    rows = period_rows(table.name, roles, document, home.id, choice, CoerceContext())
    if not rows:
        return False
    shared = await _shared(session, table, document, chunks)
    rows = tuple(replace(row, cells=(*row.cells, *shared)) for row in rows)
    tasks = [Task(table.name, table.column_names, chunk.id, "done", "read from its printed tables") for chunk in chunks]
    session.catalog.extractions.save(rows, tasks)
    chosen = "; ".join(f"{name}: {line.label}" for name, line in choice.lines.items())
    session.decide("extract", f"document:{document.name}", "read by code", chosen, choice.tokens)
    return True


async def _shared(session: Session, table: Table, document: Document, chunks: Sequence[Chunk]) -> tuple[Cell, ...]:
    """The cells that all rows of a document share: stated by its layout, known from another table, or asked once."""
    roles = period_roles(table)
    cells = {cell.column: cell for cell in document_cells(roles.entities, roles.filing, document)}
    open_columns = [c for c in (*roles.filing, *roles.entities) if c.name not in cells]
    for cell in _known_elsewhere(session, table, document, open_columns):
        cells.setdefault(cell.column, cell)
    for chunk in chunks[:_COVER_CHUNKS]:
        rest = [c for c in open_columns if c.name not in cells or cells[c.name].absence is not None]
        if not rest:
            break
        cover = replace(table, grain="document", row="the company and its filing")
        found = await extract_chunk(chunk, cover, rest, session.models.model_for("extract"), page_at=document.page_at)
        for row in found.rows:
            cells |= {c.column: with_common_name(table.column(c.column), c, document) for c in row.cells}
    return tuple(cells.values())


def _known_elsewhere(session: Session, table: Table, document: Document, columns: Sequence[Column]) -> list[Cell]:
    """Cells of the same name and type in the table or one with one row a document: what is known is not asked again."""
    schema = session.catalog.schemas.current()
    found: list[Cell] = []
    for other in schema.tables if schema else ():
        shared = [c for c in columns if any(c.name == o.name and c.type is o.type for o in other.columns)]
        if not shared or (other.grain != "document" and other.name != table.name):
            continue
        for row in session.catalog.extractions.rows(other.name, document_ids=[document.id]):
            cells = [row.cell(column.name) for column in shared]
            found.extend(cell for cell in cells if cell is not None and cell.absence is None)
    return found
