"""Extraction of missing cells: each chunk is asked for the columns that it lacks, several chunks in
parallel. A run that was stopped goes on where it was.

A *chunk* is a part of a document that one model call reads. A *card* is a short description of the
document that stands above each of its chunks. The *gate* is a call that sorts out chunks of a long
document without any value. *Pruned* chunks were sorted out by the search. A *task* records the
outcome of a chunk for a table's columns.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sliders.documents.document import Document
from sliders.engine.choose_chunks import LONG, MOST_EMBEDDED, RankedParts, choose_parts, words_of
from sliders.engine.document_cards import card_of, make_cards
from sliders.engine.filling import Filling
from sliders.engine.known_rows import KnownRows, known_rows, rows_of
from sliders.engine.project import in_sections, projected, sections_of_parts
from sliders.engine.runner import DocumentPart, ExtractionCall
from sliders.engine.second_look import LongDocument, look_again
from sliders.engine.session import Session
from sliders.engine.shared_calls import SharedCalls, in_calls
from sliders.engine.synchronous import together
from sliders.engine.ways import ways_of
from sliders.errors import BudgetExceeded
from sliders.extraction.cell import Row
from sliders.extraction.extract import Extraction
from sliders.extraction.list_entries import records_of
from sliders.extraction.prompt import Asked
from sliders.retrieval.chunk import Chunk
from sliders.schema.types import Column, Table
from sliders.store.facts import UnreadLine
from sliders.store.records import Decision, Task, TaskState

_OTHERS_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class ChunkWork:
    """The work on one chunk: for each table the columns that the chunk was not asked for yet."""

    chunk: Chunk
    asked: tuple[Asked, ...]


_Missing = dict[str, tuple[Asked, ...]]
"""For each chunk id, the tables and columns that the chunk was not asked for yet."""


def missing_work(session: Session, wanted: Mapping[str, Sequence[str]]) -> list[ChunkWork]:
    """Returns the chunks that were not asked for all of these columns (by table name), document by
    document.
    """
    missing = _missing(session, wanted, session.catalog.chunks.places())
    return [item for document, asked in missing.items() for item in _work(session, document, asked)]


def all_read(session: Session, wanted: Mapping[str, Sequence[str]]) -> bool:
    """Says whether all chunks were asked for these columns, by table name."""
    return not _missing(session, wanted, session.catalog.chunks.places())


def _missing(
    session: Session,
    wanted: Mapping[str, Sequence[str]],
    places: Sequence[tuple[str, str]],
    document_id: str | None = None,
) -> dict[str, _Missing]:
    """Returns what is missing, by document. No text is read, so that a question over known cells
    costs the same for a collection of any size.

    Args:
        wanted: columns by table name.
        places: chunk ids with their document ids.
        document_id: the only document to look at; None looks at all.
    """
    found: dict[str, _Missing] = {}
    for name, columns in wanted.items():
        table = session.schema.table(name)
        if table.given:
            continue
        settled = session.catalog.extractions.settled(table, document_id)
        for chunk_id, owner in places:
            known = settled.get(chunk_id, frozenset())
            asked = [table.column(column) for column in columns if column not in known]
            if asked and chunk_id not in session.question.out_of_scope:
                if table.grain == "many":
                    own = (n for n in table.key if n not in known and n not in columns)
                    asked = [*map(table.column, own), *asked]
                of_document = found.setdefault(owner, {})
                of_document[chunk_id] = (*of_document.get(chunk_id, ()), Asked(table, tuple(asked)))
    return found


def _known_elsewhere(session: Session, missing: Iterable[_Missing]) -> bool:
    """Says whether a column that is missing in one chunk was read in another."""
    asked = _all_asked(one for parts in missing for some in parts.values() for one in some)
    return any(
        known.intersection(column.name for column in one.columns)
        for one in asked
        for known in session.catalog.extractions.settled(one.table).values()
    )


def _work(session: Session, document_id: str, missing: _Missing) -> list[ChunkWork]:
    """Returns the work on the chunks of one document."""
    chunks = session.catalog.chunks.of(document_id)
    return [ChunkWork(c, missing[c.id]) for c in chunks if c.id in missing]


async def fill_cells(
    session: Session, wanted: Mapping[str, Sequence[str]], questions: Sequence[str] = ()
) -> Filling:
    """Extracts the missing cells of these columns. Each chunk is saved as soon as it is read.

    A failed chunk is recorded, and asked again on the next run. A spent budget stops the fill
    cleanly. Documents are chosen and gated while calls for others are under way. The model's limit
    on parallel calls holds back requests that exceed the server's.

    Args:
        wanted: columns by table name.
        questions: the questions that the columns serve; the prompt shows them.
    """
    for name in wanted:
        session.catalog.extractions.supersede(session.schema.table(name))
    places = session.catalog.chunks.places()
    missing = _missing(session, wanted, places)
    filling = Filling(session, tuple(questions), sum(map(len, missing.values())))
    if not missing:
        return filling
    await make_cards(session, missing)
    if _known_elsewhere(session, missing.values()):
        filling.rests_on_earlier()
    async with session.catalog.claims.kept():
        await _read_missing(filling, wanted, missing, SharedCalls(session, places, missing))
        if filling.long and not filling.stopped:
            await _look_again(filling, wanted, places)
    return filling


async def _look_again(
    filling: Filling, wanted: Mapping[str, Sequence[str]], places: Sequence[tuple[str, str]]
) -> None:
    """Searches long documents again for what is missing, and records the chunks that are left out.
    A run that ends before that leaves them missing: the next one chooses and searches by the
    replies that are there. A document whose calls failed is searched when they succeeded.
    """
    session, claims = filling.session, filling.session.catalog.claims

    def missing(one: LongDocument) -> _Missing:
        return _missing(session, wanted, places, one.id).get(one.id, {})

    async def read(one: LongDocument, sections: Sequence[int], asked: Sequence[Asked]) -> None:
        await _read_sections(filling, one, sections, asked)
        if filling.stopped:
            raise BudgetExceeded(filling.stopped)

    taken = [one for one in filling.long if claims.take(one.id)]
    try:
        left = {one.id: missing(one) for one in taken}  # of some another run may have read all
        whole = [one for one in taken if left[one.id] and not one.chosen & set(left[one.id])]
        await look_again(session, whole, read)
        tasks = (t for name in wanted for t in session.catalog.extractions.tasks(name, "failed"))
        failed = {task.chunk_id for task in tasks}
        for one in whole:
            if failed.isdisjoint(chunks := missing(one)):
                _leave_out(session, one, chunks)
    except BudgetExceeded as error:
        filling.stopped = str(error)
    finally:
        for one in taken:
            claims.give_back(one.id)


async def _read_missing(
    filling: Filling,
    wanted: Mapping[str, Sequence[str]],
    missing: dict[str, _Missing],
    calls: SharedCalls,
) -> None:
    """Reads documents in groups. The first groups are documents that show how many rows a document
    has.
    """
    asked = _all_asked(a for parts in missing.values() for some in parts.values() for a in some)
    tried = calls.tried(asked)
    for documents in (tried, [each for each in missing if each not in tried]):
        one = calls.reply_of_one(asked)
        waiting = deque(calls.groups(documents, one))
        group = partial(_unless_taken, filling, wanted, missing, waiting, one)
        await filling.each(waiting, group)


async def _unless_taken(
    filling: Filling,
    wanted: Mapping[str, Sequence[str]],
    missing: dict[str, _Missing],
    waiting: deque[tuple[str, ...]],
    one: int,
    ids: tuple[str, ...],
) -> bool:
    """Reads documents together. Documents that another process is reading are put back to wait.
    Returns True when any was read.

    Args:
        one: the usual tokens of the reply about one document; 0 when nothing is known.
    """
    session = filling.session
    taken = [document_id for document_id in ids if session.catalog.claims.take(document_id)]
    try:
        if session.catalog.claims.shared:  # others may have read some of it meanwhile
            for document_id in ids:
                places = [(chunk_id, document_id) for chunk_id in missing[document_id]]
                parts = _missing(session, wanted, places, document_id).get(document_id, {})
                filling.left -= len(missing[document_id]) - len(parts)
                missing[document_id] = parts
        left = tuple(each for each in ids if missing[each] and each not in taken)
        own = {each: missing[each] for each in taken if missing[each]}
        if left:
            waiting.append(left)
        if own:
            await _documents(filling, own, one)
        elif left:
            await asyncio.sleep(_OTHERS_SECONDS)
        return bool(taken)
    finally:
        for document_id in taken:
            session.catalog.claims.give_back(document_id)


async def read_chunks(
    session: Session,
    chunk_ids: Sequence[str],
    wanted: Mapping[str, Sequence[str]],
    questions: Sequence[str] = (),
) -> tuple[list[str], str]:
    """Reads these chunks for the columns of each table, also chunks that the search or the gate
    left out.

    Returns:
        The ids of the chunks that were read, and why the reading stopped early ("" when it did
            not).
    """
    tables = [(session.schema.table(name), columns) for name, columns in wanted.items()]
    asked = tuple(Asked(table, tuple(map(table.column, columns))) for table, columns in tables)
    filling = Filling(session, tuple(questions), len(chunk_ids))
    document_of = dict(session.catalog.chunks.places())
    read: list[str] = []
    for document_id in dict.fromkeys(document_of[c] for c in chunk_ids if c in document_of):
        if filling.stopped:
            break
        work = _work(session, document_id, dict.fromkeys(chunk_ids, asked))
        await _read(filling, work, *await _document_and_card(session, document_id))
        read += [] if filling.stopped else [item.chunk.id for item in work]
    return read, filling.stopped


async def _documents(filling: Filling, missing: Mapping[str, _Missing], one: int) -> None:
    """Reads the missing cells of one document, or of several of one chunk each. Of these one call
    is made after the other, so that the log knows the calls of a run that was killed.
    """
    session = filling.session
    if len(missing) == 1:
        for document_id, parts in missing.items():
            document, card = await _document_and_card(session, document_id)
            work = _work(session, document_id, parts)
            hidden = session.question.out_of_scope
            chunks = [c for c in session.catalog.chunks.of(document_id) if c.id not in hidden]
            if len(chunks) <= LONG or any(map(records_of, chunks)):  # entries are the rows
                await _read(filling, work, document, card)
            else:
                await _long(filling, work, document, chunks, card)
        return
    alike: dict[tuple[Asked, ...], list[_AskedChunk]] = {}
    for document_id, parts in missing.items():
        document, card = await _document_and_card(session, document_id)
        for item in _work(session, document_id, parts):
            one_chunk = _reading(filling, item, document, card)
            alike.setdefault(one_chunk.asked, []).append(one_chunk)
    model = session.models.model_for("extract")
    for asked, waiting in alike.items():
        for size in in_calls([u.part.chunk.text for u in waiting], asked, model, one):
            if not filling.stopped:
                async with filling.slots:
                    await _call(filling, waiting[:size], one)
            del waiting[:size]


async def _document_and_card(session: Session, document_id: str) -> tuple[Document, str]:
    """Returns a document, and its card as text."""
    document = session.catalog.documents.get(document_id)
    return document, await card_of(session, document)


async def _long(
    filling: Filling,
    work: Sequence[ChunkWork],
    document: Document,
    chunks: Sequence[Chunk],
    card: str,
) -> None:
    """Reads the parts of a long document that are chosen for its columns, without those that an
    earlier run has read.

    Args:
        chunks: all chunks that may be chosen.
    """
    session, missing = filling.session, {item.chunk.id for item in work}
    asked = _all_asked(one for item in work for one in item.asked)
    embedder = session.embedder if filling.parts <= MOST_EMBEDDED else None
    ranked = RankedParts(document, chunks, words_of(asked), embedder)
    choice = await choose_parts(session, ranked, asked, card)
    one = LongDocument(ranked, asked, card, choice, set(range(len(ranked.sections))))
    filling.left -= len(missing - one.chosen)
    filling.long.append(one)
    if choice.parts:
        await _read_sections(filling, one, projected(ranked, choice.parts), asked, missing)


async def _read_sections(
    filling: Filling,
    one: LongDocument,
    sections: Sequence[int],
    asked: Sequence[Asked],
    missing: Collection[str] | None = None,
) -> None:
    """Reads sections of a long document. When a table may have several rows in a document, or the
    model reads small texts only, the parts of these sections are read whole.

    Args:
        missing: the ids of the chunks that were not read yet; calls about others are left out.
    """
    ranked, session = one.ranked, filling.session
    parts = list(dict.fromkeys(ranked.owners[number] for number in sections))
    unread = [n for n in parts if missing is None or ranked.chunks[n].id in missing]
    several = any(a.table.grain != "document" for a in asked)
    if several or not ways_of(session.models.model_for("gate")).gate.by_outline:
        one.unread -= set(sections_of_parts(ranked, parts))
        work = [ChunkWork(ranked.chunks[number], tuple(asked)) for number in unread]
        await _read(filling, work, ranked.document, one.card)
        return
    one.unread -= set(sections)
    calls = in_sections(ranked, sections, session.models.model_for("extract"))
    calls = [some for some in calls if any(ranked.owners[number] in unread for number in some)]
    await together(*(_pieces(filling, one, some, asked) for some in calls))


async def _pieces(
    filling: Filling, one: LongDocument, sections: Sequence[int], asked: Sequence[Asked]
) -> None:
    """Reads sections of a document in one call, and saves its row and the tasks of their parts."""
    session, ranked = filling.session, one.ranked
    chunks = [ranked.chunks[n] for n in dict.fromkeys(ranked.owners[n] for n in sections)]
    places = [(ranked.sections[n].start, ranked.sections[n].end) for n in sections]
    tokens = sum(
        session.models.model_for("extract").count_tokens(ranked.sections[n].text) for n in sections
    )
    context = filling.context(ranked.document)
    part = DocumentPart.of_pieces(ranked.document, places, context, tokens)
    reading = ExtractionCall((replace(part, card=one.card),), tuple(asked), filling.questions)
    async with filling.slots:
        if filling.stopped:
            return
        try:
            (extraction,) = await filling.read(reading)
        except BudgetExceeded as error:
            filling.stopped = str(error)
            return
    found = replace(extraction, chunk_id=chunks[0].id)
    rows = [replace(row, chunk_id=_home(session, row, chunks)) for row in found.rows]
    tasks = []
    for wanted in asked:
        name = wanted.table.name
        state: TaskState = "failed" if found.failed(name) else "done"
        tasks += [_task(wanted, chunk.id, state, found.failure(name)) for chunk in chunks]
        _keep_missed(session, name, found)
    filling.save(reading, [found], rows, tasks)
    names = ", ".join(a.table.name for a in asked)
    session.progress("extract", filling.asked, filling.left, filling.rows, names)


def _home(session: Session, row: Row, chunks: Sequence[Chunk]) -> str:
    """Returns the chunk in which the first words of a row stand. A row that is known stays where it
    is when later columns are read.
    """
    for known in session.catalog.extractions.rows(row.table, document_ids=[row.document_id]):
        if known.id == row.id:
            return known.chunk_id
    starts = [cell.span.start for cell in row.cells if cell.span is not None]
    at = min(starts, default=chunks[0].start)
    return next((c.id for c in chunks if c.start <= at < c.end), chunks[0].id)


def _all_asked(every: Iterable[Asked]) -> list[Asked]:
    """Returns each table once, with all the columns that it is asked for."""
    tables: dict[str, Table] = {}
    columns: dict[str, dict[str, Column]] = {}
    for asked in every:
        tables[asked.table.name] = asked.table
        columns.setdefault(asked.table.name, {}).update({c.name: c for c in asked.columns})
    return [Asked(tables[name], tuple(named.values())) for name, named in columns.items()]


def _leave_out(session: Session, one: LongDocument, missing: _Missing) -> None:
    """Records the chunks of a document that the gate or the search left out, and that are still
    missing, as decisions and as tasks.
    """
    tasks, decisions = list[Task](), list[Decision]()
    for state, why in one.choice.left_out.items():
        verdict = "gated out" if state == "gated" else state
        for chunk_id in (chunk.id for chunk in one.ranked.chunks if chunk.id in missing):
            if chunk_id in why:
                tasks += [_task(a, chunk_id, state, why[chunk_id]) for a in missing[chunk_id]]
                decisions.append(Decision("gate", "chunk", verdict, why[chunk_id], chunk=chunk_id))
    if tasks:
        session.catalog.extractions.save([], tasks, decisions)


def _task(asked: Asked, chunk_id: str, state: TaskState, reason: str) -> Task:
    return Task(asked.table.name, tuple(c.name for c in asked.columns), chunk_id, state, reason)


async def _read(filling: Filling, work: Sequence[ChunkWork], document: Document, card: str) -> None:
    """Reads the chunks of a document side by side. When a budget ends, calls under way are finished
    and counted.
    """

    async def one(item: ChunkWork) -> None:
        async with filling.slots:
            if not filling.stopped:
                try:
                    await _call(filling, [_reading(filling, item, document, card)])
                except BudgetExceeded as error:
                    filling.stopped = str(error)

    await together(*map(one, work))


def _reading(filling: Filling, item: ChunkWork, document: Document, card: str) -> _AskedChunk:
    """Returns a chunk with the columns that it is asked for."""
    placed = {a.table.name: known_rows(filling.session, a, item.chunk) for a in item.asked}
    asked = tuple(
        Asked(a.table, (*map(a.table.column, placed[a.table.name].identity), *a.columns))
        for a in item.asked
    )
    context = filling.context(document)
    return _AskedChunk(item, DocumentPart(document, item.chunk, context, card), asked, placed)


async def _call(filling: Filling, readings: Sequence[_AskedChunk], one: int = 0) -> None:
    """Makes one call, and saves the rows and the tasks of its chunks."""
    expected = one * len(readings) if len(readings) > 1 else 0
    parts = tuple(each.part for each in readings)
    call = ExtractionCall(parts, readings[0].asked, filling.questions, expected)
    found = await filling.read(call)
    rows: list[Row] = []
    tasks: list[Task] = []
    for each, extraction in zip(readings, found, strict=True):
        for wanted in each.item.asked:
            name = wanted.table.name
            rows += rows_of(wanted, extraction, each.placed[name])
            state: TaskState = "failed" if extraction.failed(name) else "done"
            tasks.append(_task(wanted, each.item.chunk.id, state, extraction.failure(name)))
            _keep_missed(filling.session, name, extraction)
    filling.save(call, found, rows, tasks)
    counts = filling.asked, filling.left, filling.rows
    filling.session.progress("extract", *counts, ", ".join(readings[0].placed))


@dataclass(frozen=True, slots=True)
class _AskedChunk:
    """A chunk that is to be read: its work, the part that a call shows, the columns that are asked
    for, and the rows of each table that are known already.
    """

    item: ChunkWork
    part: DocumentPart
    asked: tuple[Asked, ...]
    placed: Mapping[str, KnownRows]


def _keep_missed(session: Session, table: str, extraction: Extraction) -> None:
    """Stores the lines of printed grids that gave no row of a table. They may be rows that the
    model left out, so they stay with the table as open questions.
    """
    chunk, of = extraction.chunk_id, (one for one in extraction.missed if one.table == table)
    missed = [UnreadLine(chunk, one.finding, one.values) for one in of]
    session.catalog.open_questions.keep_unread(table, chunk, missed)
