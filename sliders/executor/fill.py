"""Extraction of the cells that are missing: which chunks, which columns, in parallel, resumable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sliders.chunks.chunk import Chunk
from sliders.documents.document import Document
from sliders.errors import BudgetExceeded, ModelError
from sliders.executor.conventions import context_of
from sliders.executor.prune import select_chunks
from sliders.executor.session import Session
from sliders.executor.statements import fill_statements
from sliders.extraction.cells import Absence, Row
from sliders.extraction.coerce import CoerceContext
from sliders.extraction.extractor import Extraction, extract_chunk
from sliders.extraction.gate import gate_chunk
from sliders.extraction.records import records_of
from sliders.schema.schema import Column, Table
from sliders.store.records import Decision, Task


@dataclass(frozen=True, slots=True)
class Work:
    """One unit: the columns of a table that one chunk was not asked for yet."""

    chunk: Chunk
    columns: tuple[Column, ...]
    sole: bool
    """The document has no other chunk: reading it costs little more than asking whether to read it."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What a fill did."""

    asked: int = 0
    failed: int = 0
    gated: int = 0
    stopped: str = ""


def missing_work(session: Session, table: Table, columns: Sequence[str]) -> list[Work]:
    """What is still to be asked for these columns, document by document."""
    settled = session.catalog.extractions.settled(table)
    current = {d.id for d in session.catalog.documents.all()}
    chunks = [c for c in session.catalog.chunks.all() if c.document_id in current]
    sizes: dict[str, int] = {}
    for chunk in chunks:
        sizes[chunk.document_id] = sizes.get(chunk.document_id, 0) + 1
    work = []
    for chunk in chunks:
        known = settled.get(chunk.id, frozenset())
        wanted = tuple(table.column(name) for name in columns if name not in known)
        if wanted and chunk.id not in session.out_of_scope:
            work.append(Work(chunk, wanted, sizes[chunk.document_id] == 1))
    return work


async def fill(session: Session, table: Table, columns: Sequence[str]) -> Filled:
    """Extract the missing cells of these columns; each chunk is saved as soon as it is read.

    A failed chunk is recorded and asked again on the next run; a budget that is spent stops the fill cleanly.
    """
    work = missing_work(session, table, columns)
    try:
        work = await fill_statements(session, table, work)
    except BudgetExceeded as error:
        return Filled(stopped=str(error))
    if not work:
        return Filled()
    work = _pruned(session, table, work)
    counts = {"asked": 0, "failed": 0, "gated": 0, "rows": 0}
    queue = iter(work)
    stopped: list[str] = []
    contexts: dict[str, _DocumentFacts] = {}

    async def worker() -> None:
        for item in queue:
            if stopped:
                return
            try:
                await _one(session, table, item, contexts, counts)
            except BudgetExceeded as error:
                stopped.append(str(error))
                return
            session.progress("extract", counts["asked"] + counts["gated"], len(work), counts["rows"], table.name)

    workers = [asyncio.create_task(worker()) for _ in range(min(session.settings.concurrency, len(work)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
    return Filled(counts["asked"], counts["failed"], counts["gated"], stopped[0] if stopped else "")


@dataclass(frozen=True, slots=True)
class _DocumentFacts:
    document: Document
    context: CoerceContext


def _facts(session: Session, document_id: str, known: dict[str, _DocumentFacts]) -> _DocumentFacts:
    """What the document shows about its printed values; documents come one after the other, so few are kept."""
    if document_id not in known:
        if len(known) > 64:
            known.clear()
        document = session.catalog.documents.get(document_id)
        known[document_id] = _DocumentFacts(document, context_of(session, document.text))
    return known[document_id]


def _notes_of(document: Document, chunk: Chunk) -> Callable[[int], str]:
    """The scale note ("in millions") of the table at a place of the document; the chunk's captions without tables."""
    tables = [e for e in document.elements if e.grid is not None and e.start < chunk.end and e.end > chunk.start]

    def note_at(start: int) -> str:
        if not tables:
            return " ".join(chunk.context.captions)
        grid = next((e.grid for e in tables if e.start <= start < e.end), None)
        return " ".join(dict.fromkeys(n for n in (grid.note, grid.caption) if n)) if grid is not None else ""

    return note_at


async def _one(
    session: Session, table: Table, item: Work, contexts: dict[str, _DocumentFacts], counts: dict[str, int]
) -> None:
    chunk = item.chunk
    names = tuple(c.name for c in item.columns)
    if not item.sole and not (table.grain == "many" and records_of(chunk)):  # entries of the list are the rows
        verdict = await _gate(session, table, item)
        if verdict is not None:
            counts["gated"] += 1
            session.catalog.extractions.save([], [Task(table.name, names, chunk.id, "gated", verdict)])
            session.decide("gate", f"chunk:{chunk.id}", "gated out", verdict)
            return
    facts = _facts(session, chunk.document_id, contexts)
    known = [r for r in _rows_of(session, table, chunk)] if table.grain == "many" else []
    extraction = await extract_chunk(
        chunk,
        table,
        item.columns,
        session.models.model_for("extract"),
        context=facts.context,
        page_at=facts.document.page_at,
        note_at=_notes_of(facts.document, chunk),
        known=known,
    )
    _save(session, table, names, extraction)
    counts["asked"] += 1
    counts["failed"] += extraction.failed
    counts["rows"] += len(extraction.rows)


def _rows_of(session: Session, table: Table, chunk: Chunk) -> list[Row]:
    rows = session.catalog.extractions.rows(table.name, document_ids=[chunk.document_id])
    return [row for row in rows if row.chunk_id == chunk.id]


async def _gate(session: Session, table: Table, item: Work) -> str | None:
    """Why the chunk is gated out, None when it is to be read; a gate that fails lets the chunk through."""
    try:
        verdict = await gate_chunk(item.chunk, table, item.columns, session.models.model_for("gate"))
    except ModelError as error:
        if type(error).__name__ == "ModelUnavailable":
            raise
        session.decide("gate", f"chunk:{item.chunk.id}", "let through", f"the gate failed: {error}")
        return None
    return None if verdict.relevant else verdict.reason


def _save(session: Session, table: Table, names: tuple[str, ...], extraction: Extraction) -> None:
    state = "failed" if extraction.failed else "done"
    reasons = "; ".join(r.reason for r in extraction.refusals)
    decisions = [
        Decision("extract", f"chunk:{extraction.chunk_id}", "refused", f"{r.subject}: {r.reason}")
        for r in extraction.refusals
    ]
    rows = [row for row in extraction.rows if _says_something(row)]
    session.catalog.extractions.save(rows, [Task(table.name, names, extraction.chunk_id, state, reasons)], decisions)  # type: ignore[arg-type]


def _says_something(row: Row) -> bool:
    """A row of nothing but unstated cells says only that the chunk has no row; its task already says that."""
    return any(cell.absence is not Absence.NOT_STATED for cell in row.cells) or not row.cells


def _pruned(session: Session, table: Table, work: list[Work]) -> list[Work]:
    """Without the chunks of long documents that are far from every column; each is a decision and a task of its own."""
    kept, dropped = select_chunks(session, table, work)
    for item, reason in dropped:
        names = tuple(c.name for c in item.columns)
        session.catalog.extractions.save([], [Task(table.name, names, item.chunk.id, "pruned", reason)])
        session.decide("gate", f"chunk:{item.chunk.id}", "pruned", reason)
    return kept
