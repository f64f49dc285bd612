"""Extraction of the cells that are missing: which chunks, which columns, in parallel, resumable."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sliders.documents.document import Document
from sliders.engine.choose_chunks import LONG, left_out, shown_to_gate
from sliders.engine.document_cards import card_of
from sliders.engine.filling import Filling
from sliders.engine.runner import Reading
from sliders.engine.session import Session
from sliders.engine.synchronous import together
from sliders.engine.ways import ways_of
from sliders.errors import BudgetExceeded
from sliders.extraction.cell import Row
from sliders.extraction.extract import Extraction, joined
from sliders.extraction.list_entries import records_of
from sliders.extraction.prompt import Asked
from sliders.retrieval.chunk import Chunk
from sliders.schema.types import Schema
from sliders.store.records import Decision, Task, TaskState
from sliders.values.parse import Context

_OTHERS_SECONDS = 0.2
BEFORE_GATE = 24
"""Most chunks of a document that the gate is asked about."""


@dataclass(frozen=True, slots=True)
class Work:
    """One unit: the columns of each table that one chunk was not asked for yet."""

    chunk: Chunk
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class _Missing:
    """What a document was not asked for yet: columns by chunk id and table."""

    document_id: str
    asked: dict[str, tuple[Asked, ...]]


@dataclass(frozen=True, slots=True)
class _Facts:
    """A document, its card, and what it shows about its printed values."""

    document: Document
    card: str
    context: Context


def missing_work(session: Session, wanted: Mapping[str, Sequence[str]]) -> list[Work]:
    """What is still to be asked for these columns by table, document by document."""
    return [item for missing in _missing(session, wanted) for item in _work(session, missing)]


def _missing(session: Session, wanted: Mapping[str, Sequence[str]]) -> list[_Missing]:
    """Found without reading any text, so that a question over what is known costs the same however
    large the collection.
    """
    schema = session.catalog.schemas.current() or Schema()
    found: dict[str, dict[str, tuple[Asked, ...]]] = {}
    places = session.catalog.chunks.places()
    for name, columns in wanted.items():
        table = schema.table(name)
        settled = session.catalog.extractions.settled(table)
        for chunk_id, document_id in places:
            if chunk_id in session.question.out_of_scope:
                continue
            known = settled.get(chunk_id, frozenset())
            asked = tuple(table.column(column) for column in columns if column not in known)
            if asked:
                own = (
                    n
                    for n in table.key
                    if table.grain == "many" and n not in known and n not in columns
                )
                asked = (*map(table.column, own), *asked)
                of_document = found.setdefault(document_id, {})
                of_document[chunk_id] = (*of_document.get(chunk_id, ()), Asked(table, asked))
    return [_Missing(document_id, asked) for document_id, asked in found.items()]


def _known_elsewhere(session: Session, missing: Iterable[_Missing]) -> bool:
    """Whether a column that is missing in one part was read in another."""
    wanted: dict[str, set[str]] = {}
    for asked in (one for entry in missing for some in entry.asked.values() for one in some):
        wanted.setdefault(asked.table.name, set()).update(c.name for c in asked.columns)
    schema, settled = session.schema, session.catalog.extractions.settled
    return any(
        names & known
        for name, names in wanted.items()
        for known in settled(schema.table(name)).values()
    )


def _work(session: Session, missing: _Missing) -> list[Work]:
    chunks = session.catalog.chunks.of(missing.document_id)
    return [Work(c, missing.asked[c.id]) for c in chunks if c.id in missing.asked]


async def fill_cells(
    session: Session, wanted: Mapping[str, Sequence[str]], questions: Sequence[str] = ()
) -> Filling:
    """Extract the missing cells of these columns by table; each chunk is saved
    as soon as it is read.

    A failed chunk is recorded and asked again on the next run; a budget that is spent stops the
    fill cleanly. Documents are chosen and gated while calls for others are under way, and with many
    slots some calls are prepared ahead of a free one: the model's door holds back what is more than
    the server may have in flight.
    """
    for name in wanted:
        session.catalog.extractions.supersede(session.schema.table(name))
    missing = deque(_missing(session, wanted))
    filling = Filling(session, tuple(questions), sum(len(entry.asked) for entry in missing))
    if not missing:
        return filling
    if _known_elsewhere(session, missing):
        filling.rests_on_earlier()

    async def read(entry: _Missing) -> bool:
        return await _unless_taken(filling, entry, missing)

    async with session.catalog.claims.kept():
        await filling.each(missing, read)
    return filling


async def read_chunks(
    session: Session,
    chunk_ids: Sequence[str],
    wanted: Mapping[str, Sequence[str]],
    questions: Sequence[str] = (),
) -> tuple[list[str], str]:
    """Read these chunks for the columns of each table, whatever choice and gate said of them;
    those that are there, and why it stopped, or "".
    """
    schema = session.catalog.schemas.current() or Schema()
    asked = tuple(
        Asked(schema.table(name), tuple(map(schema.table(name).column, columns)))
        for name, columns in wanted.items()
    )
    filling = Filling(session, tuple(questions), len(chunk_ids))
    document_of = dict(session.catalog.chunks.places())
    read = []
    for document in dict.fromkeys(
        document_of[chunk] for chunk in chunk_ids if chunk in document_of
    ):
        if filling.stopped:
            break
        chosen = [
            chunk for chunk in session.catalog.chunks.of(document) if chunk.id in set(chunk_ids)
        ]
        await _read(
            filling, [Work(chunk, asked) for chunk in chosen], await _facts(filling, document)
        )
        read += [] if filling.stopped else [chunk.id for chunk in chosen]
    return read, filling.stopped


async def _unless_taken(filling: Filling, entry: _Missing, waiting: deque[_Missing]) -> bool:
    """Reads a document that nobody else works on, else looks later at what is left of it."""
    claims = filling.session.catalog.claims
    taken = claims.take(entry.document_id)
    try:
        left = _still_missing(filling.session, entry)
        filling.left -= len(entry.asked) - len(left.asked)
        if left.asked and not taken:
            waiting.append(left)
            await asyncio.sleep(_OTHERS_SECONDS)
        elif left.asked:
            facts = await _facts(filling, left.document_id)
            await _read(filling, await _kept(filling, _work(filling.session, left), facts), facts)
    finally:
        if taken:
            claims.give_back(entry.document_id)
    return True


def _still_missing(session: Session, missing: _Missing) -> _Missing:
    """What other questions and writers have not read meanwhile."""
    if not session.catalog.claims.shared:
        return missing
    settled: dict[str, dict[str, frozenset[str]]] = {}
    left: dict[str, tuple[Asked, ...]] = {}
    for chunk_id, asked in missing.asked.items():
        for one in asked:
            name = one.table.name
            if name not in settled:
                settled[name] = session.catalog.extractions.settled(one.table, missing.document_id)
            columns = tuple(c for c in one.columns if c.name not in settled[name].get(chunk_id, ()))
            if columns:
                left[chunk_id] = (*left.get(chunk_id, ()), Asked(one.table, columns))
    return _Missing(missing.document_id, left)


async def _facts(filling: Filling, document_id: str) -> _Facts:
    document = filling.session.catalog.documents.get(document_id)
    card = await card_of(filling.session, document)
    return _Facts(document, card, filling.context(document))


async def _kept(filling: Filling, work: list[Work], facts: _Facts) -> list[Work]:
    """The work of a document that is done; what is left out is a decision and a task of its own."""
    session = filling.session
    chunks = [item.chunk for item in work]
    if len(chunks) <= LONG or any(records_of(c) for c in chunks):  # entries of a list are the rows
        return work
    asked = _all_asked(work)
    # In a thread: the calls that are under way go on meanwhile.
    pruned = await asyncio.to_thread(
        left_out,
        chunks,
        asked,
        filling.questions,
        BEFORE_GATE,
        session.embedder,
        among=filling.parts,
    )
    shown = [c for c in chunks if c.id not in pruned]
    texts = {c.id: shown_to_gate(c, facts.document) for c in shown}
    model = session.models.model_for("gate")
    gated = await ways_of(model).gate.out(shown, texts, asked, model, facts.card)
    _leave_out(session, work, pruned, "pruned")
    _leave_out(session, work, gated, "gated")
    filling.left -= len(pruned) + len(gated)
    return [item for item in work if item.chunk.id not in pruned and item.chunk.id not in gated]


def _all_asked(work: Sequence[Work]) -> list[Asked]:
    """The tables of several chunks, each with all the columns that one of the
    chunks is asked for.
    """
    columns: dict[str, dict[str, Asked]] = {}
    for item in work:
        for asked in item.asked:
            columns.setdefault(asked.table.name, {}).update(
                {c.name: Asked(asked.table, (c,)) for c in asked.columns}
            )
    return [
        Asked(next(iter(named.values())).table, tuple(one.columns[0] for one in named.values()))
        for named in columns.values()
    ]


def _leave_out(session: Session, work: Sequence[Work], why: Mapping[str, str], state: str) -> None:
    tasks, decisions = [], []
    for item in work:
        if item.chunk.id in why:
            reason = why[item.chunk.id]
            tasks += [
                Task(a.table.name, tuple(c.name for c in a.columns), item.chunk.id, state, reason)  # type: ignore[arg-type]
                for a in item.asked
            ]
            decisions.append(
                Decision(
                    "gate",
                    f"chunk:{item.chunk.id}",
                    "gated out" if state == "gated" else state,
                    reason,
                )
            )
    if tasks:
        session.catalog.extractions.save([], tasks, decisions)


async def _read(filling: Filling, work: Sequence[Work], facts: _Facts) -> None:
    """The chunks of a document side by side; at a budget's end those that are under way are
    finished and counted.
    """

    async def one(item: Work) -> None:
        async with filling.slots:
            if not filling.stopped:
                try:
                    await _one(filling, item, facts)
                except BudgetExceeded as error:
                    filling.stopped = str(error)

    await together(*map(one, work))


async def _one(filling: Filling, item: Work, facts: _Facts) -> None:
    session, chunk = filling.session, item.chunk
    placed = {a.table.name: _placed(session, a, chunk) for a in item.asked}
    asked = tuple(
        Asked(a.table, (*map(a.table.column, placed[a.table.name].identity), *a.columns))
        for a in item.asked
    )
    reading = Reading(facts.document, chunk, asked, facts.context, facts.card, filling.questions)
    found = await filling.read(reading)
    rows: list[Row] = []
    for wanted in item.asked:
        rows += _rows(wanted, found, placed[wanted.table.name])
        _keep_missed(session, wanted.table.name, found)
    filling.save(reading, found, rows, [_task(wanted, found) for wanted in item.asked])
    names = ", ".join(wanted.table.name for wanted in item.asked)
    session.progress("extract", filling.asked, filling.left, filling.rows, names)


@dataclass(frozen=True, slots=True)
class _Placed:
    """The rows of a chunk that are known, and the columns by which new cells find them."""

    rows: tuple[Row, ...] = ()
    identity: tuple[str, ...] = ()


def _placed(session: Session, asked: Asked, chunk: Chunk) -> _Placed:
    """The key is read with every column that is asked for later; where rows have none yet, the
    first columns that they have.
    """
    if asked.table.grain != "many":
        return _Placed()
    known = session.catalog.extractions.rows(asked.table.name, document_ids=[chunk.document_id])
    names = {c.name for c in asked.columns}
    read = {cell.column for row in known for cell in row.cells if cell.value is not None}
    first = [n for n in asked.table.column_names if n in read and n not in names][:_FIRST]
    key = [n for n in asked.table.key if n not in names]
    identity = key if read.intersection(key) else dict.fromkeys([*key, *first])
    return _Placed(tuple(row for row in known if row.chunk_id == chunk.id), tuple(identity))


_FIRST = 2
"""Columns that identify rows without a key."""


def _rows(asked: Asked, found: Extraction, placed: _Placed) -> Sequence[Row]:
    """The rows of a table, on those that stand."""
    table, names = asked.table, [c.name for c in asked.columns]
    rows, whole = found.of(table.name), not found.failed(table.name)
    if not placed.rows:
        return rows
    return joined(rows, placed.rows, placed.identity, names, whole=whole, key=table.key)


def _task(asked: Asked, found: Extraction) -> Task:
    table, names = asked.table.name, tuple(c.name for c in asked.columns)
    state: TaskState = "failed" if found.failed(table) else "done"
    return Task(table, names, found.chunk_id, state, found.failure(table))


def _keep_missed(session: Session, table: str, extraction: Extraction) -> None:
    """The lines of grids that gave no row of a table are kept with it: they may be rows."""
    knowledge, key = session.catalog.knowledge, f"unread:{table}"
    kept = knowledge.statistic(key, [])
    missed = [one for one in extraction.missed if one.table == table]
    others = [one for one in kept if one["chunk"] != extraction.chunk_id]
    if missed or len(others) < len(kept):
        told = [
            {"chunk": extraction.chunk_id, "finding": one.finding, "values": dict(one.values)}
            for one in missed
        ]
        knowledge.set_statistic(key, [*others, *told])
