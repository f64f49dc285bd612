"""Extraction of the cells that are missing: which chunks, which columns, in parallel, resumable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass

from sliders.chunks.chunk import Chunk
from sliders.documents.document import Document
from sliders.errors import BudgetExceeded, ModelError
from sliders.executor.conventions import context_of
from sliders.executor.pinned_sides import fill_from_results
from sliders.executor.prune import ChunkJudge
from sliders.executor.session import Session
from sliders.executor.statements import fill_statements
from sliders.extraction.cell import Absence, Row
from sliders.extraction.coerce import CoerceContext
from sliders.extraction.extractor import Extraction, extract_chunk
from sliders.extraction.gate import gate_chunk
from sliders.extraction.records import records_of
from sliders.schema.types import Column, Table
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


_LEAST_AHEAD = 8
"""Fewer parallel calls than this are not prepared ahead: a server of one or two slots keeps the prefix of the last call."""


@dataclass(frozen=True, slots=True)
class _Missing:
    """What a document was not asked for yet: columns by chunk id, and whether it has one chunk only."""

    document_id: str
    columns: dict[str, tuple[Column, ...]]
    sole: bool


def missing_work(session: Session, table: Table, columns: Sequence[str]) -> list[Work]:
    """What is still to be asked for these columns, document by document."""
    return [item for missing in _missing(session, table, columns) for item in _work(session, missing)]


def _missing(session: Session, table: Table, columns: Sequence[str]) -> list[_Missing]:
    """Found without reading any text, so that a question over what is known costs the same however large the collection."""
    settled = session.catalog.extractions.settled(table)
    found: dict[str, list[str]] = {}
    for chunk_id, document_id in session.catalog.chunks.places():
        found.setdefault(document_id, []).append(chunk_id)
    wanted: dict[frozenset[str], tuple[Column, ...]] = {}
    missing = []
    for document_id, chunk_ids in found.items():
        asked: dict[str, tuple[Column, ...]] = {}
        for chunk_id in chunk_ids:
            known = settled.get(chunk_id, frozenset())
            if known not in wanted:
                wanted[known] = tuple(table.column(name) for name in columns if name not in known)
            if wanted[known] and chunk_id not in session.out_of_scope:
                asked[chunk_id] = wanted[known]
        if asked:
            missing.append(_Missing(document_id, asked, len(chunk_ids) == 1))
    return missing


def _work(session: Session, missing: _Missing) -> list[Work]:
    chunks = session.catalog.chunks.of(missing.document_id)
    return [Work(c, missing.columns[c.id], missing.sole) for c in chunks if c.id in missing.columns]


async def fill(session: Session, table: Table, columns: Sequence[str]) -> Filled:
    """Extract the missing cells of these columns; each chunk is saved as soon as it is read.

    A failed chunk is recorded and asked again on the next run; a budget that is spent stops the fill cleanly. Documents
    are read and pruned while calls for earlier ones are under way, and with many slots some calls are prepared ahead of
    a free one: the model's door holds back what is more than the server may have in flight.
    """
    fill_from_results(session, table)
    missing = _missing(session, table, columns)
    if not missing:
        return Filled()
    counts = {"asked": 0, "failed": 0, "gated": 0, "rows": 0, "left": sum(len(m.columns) for m in missing)}
    slots = 1 if session.models.serves_one("extract") else session.settings.concurrency
    queue: asyncio.Queue[tuple[Work, _DocumentFacts] | None] = asyncio.Queue(maxsize=2 * slots)
    number = slots + slots // 2 if slots >= _LEAST_AHEAD else slots
    stopped: list[str] = []

    async def worker() -> None:
        while (item := await queue.get()) is not None:
            if stopped:
                continue  # the queue is emptied, so that its producer never waits for room
            try:
                await _one(session, table, *item, counts)
            except BudgetExceeded as error:
                stopped.append(str(error))
                continue
            done = counts["asked"] + counts["gated"]
            session.progress("extract", done, counts["left"], counts["rows"], table.name)

    async def produce() -> None:
        try:
            await _produce(session, table, missing, queue, stopped, counts)
        except BudgetExceeded as error:
            stopped.append(str(error))
        for _ in range(number):
            await queue.put(None)

    await _together(produce(), *(worker() for _ in range(number)))
    return Filled(counts["asked"], counts["failed"], counts["gated"], stopped[0] if stopped else "")


async def _together(*work: Coroutine[None, None, None]) -> None:
    """Runs all at once; when one fails, the others are ended."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _produce(
    session: Session, table: Table, missing: Sequence[_Missing],
    queue: asyncio.Queue[tuple[Work, _DocumentFacts] | None], stopped: Sequence[str], counts: dict[str, int],
) -> None:  # fmt: skip
    """Puts the work of one document after the other into the queue, without what code reads or pruning drops."""
    judge = ChunkJudge(session, table, sum(len(m.columns) for m in missing))
    for document in missing:
        if stopped:
            return
        facts = _facts(session, document.document_id)
        work = await fill_statements(session, table, facts.document, _work(session, document))
        kept = await _pruned(session, table, work, judge)
        counts["left"] -= len(document.columns) - len(kept)
        for item in kept:
            await queue.put((item, facts))
        await asyncio.sleep(0)  # the first calls are sent while the queue fills


@dataclass(frozen=True, slots=True)
class _DocumentFacts:
    document: Document
    context: CoerceContext


def _facts(session: Session, document_id: str) -> _DocumentFacts:
    """A document and what it shows about its printed values."""
    document = session.catalog.documents.get(document_id)
    return _DocumentFacts(document, context_of(session, document.text))


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
    session: Session, table: Table, item: Work, facts: _DocumentFacts, counts: dict[str, int]
) -> None:
    chunk = item.chunk
    names = tuple(c.name for c in item.columns)
    if not item.sole and not (table.grain == "many" and records_of(chunk)):  # entries of the list are the rows
        verdict = await _gate(session, table, item)
        if verdict is not None:
            counts["gated"] += 1
            gated = Decision("gate", f"chunk:{chunk.id}", "gated out", verdict)
            session.catalog.extractions.save([], [Task(table.name, names, chunk.id, "gated", verdict)], [gated])
            return
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


async def _pruned(session: Session, table: Table, work: list[Work], judge: ChunkJudge) -> list[Work]:
    """Without the chunks of a long document that are far from every column; each is a decision and a task of its own."""
    kept, dropped = await judge.select(work)
    if dropped:
        tasks = [Task(table.name, tuple(c.name for c in item.columns), item.chunk.id, "pruned", why) for item, why in dropped]
        decisions = [Decision("gate", f"chunk:{item.chunk.id}", "pruned", why) for item, why in dropped]
        session.catalog.extractions.save([], tasks, decisions)
    return kept
