"""Rows out of one chunk: ask, find the words, parse them, and say why a cell is empty (contracts 1 to 4)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sliders.chunks.chunk import Chunk
from sliders.errors import ModelError, TruncatedReply
from sliders.extraction.cell import Absence, Cell, Row
from sliders.extraction.coerce import CoerceContext
from sliders.extraction.listing import counted_in, distinct_rows, loops, names_again, too_few
from sliders.extraction.reading import Reading, cell_at, cell_of
from sliders.extraction.records import Record, names_entry, records_of
from sliders.extraction.refine import Candidate, refine
from sliders.extraction.request import chunk_document, record_prompt, rows_prompt
from sliders.extraction.told import with_own_groups, with_own_numbers, with_sentences, with_whole_names
from sliders.llm.model import Model, Request, Response
from sliders.schema.types import Column, Table


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that gave nothing usable: which chunk, what was asked, and why."""

    chunk_id: str
    subject: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one chunk gave for one table. `failed` chunks have refusals and may have rows that were salvaged."""

    chunk_id: str
    table: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    tokens: int = 0

    @property
    def failed(self) -> bool:
        """Whether some of the chunk is not known."""
        return bool(self.refusals)


async def extract_chunk(
    chunk: Chunk,
    table: Table,
    columns: Sequence[Column],
    model: Model,
    *,
    context: CoerceContext | None = None,
    page_at: Any = None,
    note_at: Callable[[int], str] | None = None,
    known: Sequence[Row] = (),
) -> Extraction:
    """Extract the asked columns of a table from one chunk.

    A bad row never costs its chunk: a failed call is a `Refusal`, a truncated one is asked again in halves. `known` are
    rows of the chunk that exist already: new columns of a table with many rows a document are joined to them. `note_at`
    gives the note of the table that covers a place of the document, or "".
    """
    reading = Reading(chunk, chunk.text, chunk.start, context or CoerceContext(), page_at, note_at)
    asked = tuple(column.name for column in columns)
    if table.grain == "document":
        return await _one_record(reading, table, columns, model)
    records = records_of(chunk)
    if records:
        return await _each_record(reading, records, table, columns, model)
    identity = [c for c in table.columns if known and c.name not in asked][:2]
    found = await _many_rows(reading, table, [*identity, *columns], model, depth=0)
    rows = _joined(found.rows, known, identity, asked) if known else found.rows
    return replace(found, rows=rows, columns=asked)


async def _one_record(reading: Reading, table: Table, columns: Sequence[Column], model: Model) -> Extraction:
    names = tuple(c.name for c in columns)
    request = record_prompt(chunk_document(reading.chunk), table, columns)
    reply = await _asked(request, model)
    if isinstance(reply, ModelError):
        refusal = Refusal(reading.chunk.id, table.name, str(reply))
        return Extraction(reading.chunk.id, table.name, names, (), (refusal,))
    row = _record_row(reading, table, columns, reply, request, model, ordinal=0)
    row = with_sentences(reading, row, columns)
    return Extraction(reading.chunk.id, table.name, names, (row,), tokens=reply.usage.tokens)


async def _each_record(
    reading: Reading, records: Sequence[Record], table: Table, columns: Sequence[Column], model: Model
) -> Extraction:
    """A chunk whose lines are records of their own: one short call for each, the fields first.

    What identifies an entry is its mark, which code reads; the model never sees it.
    """
    marked = tuple(c for c in columns if names_entry(c.name, table.name, table.row))[:1]
    asked = [c for c in columns if c not in marked]
    rows: list[Row] = []
    refusals: list[Refusal] = []
    tokens = 0
    for record in records:
        body = record.body if marked else 0
        part = replace(reading, text=record.text[body:], offset=record.start + body)
        row = Row(
            row_id(table.name, reading.chunk.id, record.start, record.ordinal), table.name,
            reading.chunk.document_id, reading.chunk.id, record.ordinal, (),
        )  # fmt: skip
        if asked:
            request = record_prompt(part.text, table, asked, line=True)
            reply = await _asked(request, model)
            if isinstance(reply, ModelError):
                refusals.append(Refusal(reading.chunk.id, f"line {record.ordinal + 1}", str(reply)))
                continue
            tokens += reply.usage.tokens
            read = _record_row(part, table, asked, reply, request, model, ordinal=record.ordinal)
            row = with_sentences(part, replace(read, id=row.id), asked)
        rows.append(replace(row, cells=(*(_marked(reading, record, c) for c in marked), *row.cells)))
    return Extraction(
        reading.chunk.id, table.name, tuple(c.name for c in columns), tuple(rows), tuple(refusals), tokens
    )


def _marked(reading: Reading, record: Record, column: Column) -> Cell:
    start, end = record.mark
    if start == end:
        return Cell(column.name, absence=Absence.NOT_STATED, detail="the entry has no mark")
    whole = replace(reading, text=record.text, offset=record.start)
    return cell_at(whole, column, start, end)


async def _many_rows(
    reading: Reading, table: Table, columns: Sequence[Column], model: Model, depth: int
) -> Extraction:
    chunk = reading.chunk
    names = tuple(c.name for c in columns)
    text = reading.text.strip() if depth else chunk_document(chunk)
    times = counted_in(text, columns)
    request, reply, spent = await _list_of(text, table, columns, model, times)
    items = distinct_rows(reply, times)
    looping = loops(reply, request, model) or (depth > 0 and names_again(items, columns))
    if (not looping or too_few(items, times)) and _is_cut(reply):
        halves = _halves(reading)
        if halves and depth < 4:
            parts = [await _many_rows(half, table, columns, model, depth + 1) for half in halves]
            found = [r for p in parts for r in p.rows]
            return Extraction(
                chunk.id,
                table.name,
                names,
                tuple(_as_told(reading, found, columns)),
                tuple(r for p in parts for r in p.refusals),
                sum(p.tokens for p in parts) + spent + _tokens(reply),
            )
    if isinstance(reply, ModelError):
        return Extraction(chunk.id, table.name, names, (), (Refusal(chunk.id, table.name, str(reply)),))
    rows = []
    for ordinal, item in enumerate(items):
        mentions = [(c, str(item[c.name])) for c in columns if item.get(c.name) is not None]
        row = _row(reading, table, columns, mentions, reply, request, model, ordinal)
        if any(cell.absence is None for cell in row.cells) and not _names_another(row):
            rows.append(row)
    rows = _as_told(reading, rows, columns)
    cut = reply.salvaged and not looping
    refusals = (Refusal(chunk.id, table.name, "the reply was cut; complete rows were kept"),) if cut else ()
    return Extraction(chunk.id, table.name, names, tuple(rows), refusals, spent + reply.usage.tokens)


def _as_told(reading: Reading, rows: list[Row], columns: Sequence[Column]) -> list[Row]:
    """The rows with what their text tells of each: half a text may show it too seldom, so that the whole is asked as well."""
    rows = with_own_numbers(reading, with_whole_names(reading, rows, columns), columns)
    return with_own_groups(reading, rows, columns)


async def _list_of(
    text: str, table: Table, columns: Sequence[Column], model: Model, times: Mapping[str, int]
) -> tuple[Request, Response | ModelError, int]:
    """The request, its reply, and tokens spent before it: a list without rows, or with a few for many numbers in the unit
    of a column ("points"), is asked again for so many at least; a small model overlooks them.

    Args:
        times: by column, how often the text counts in its unit; what the text counts no row leaves null.
    """
    tokens = model.count_tokens(text)
    request = rows_prompt(text, tokens, table, columns, counted=tuple(times))
    reply = await _asked(request, model)
    rows = distinct_rows(reply)
    if not isinstance(reply, Response) or not too_few(rows, times) or loops(reply, request, model):
        return request, reply, 0
    least = max(times.values()) // 2 if rows else 1
    again = rows_prompt(text, tokens, table, columns, least=least, counted=tuple(times))
    second = await _asked(again, model)
    if rows and len(distinct_rows(second)) <= len(rows):
        return request, reply, _tokens(second)
    return again, second, reply.usage.tokens


def _tokens(reply: Response | ModelError) -> int:
    return reply.usage.tokens if isinstance(reply, Response) else 0


def _is_cut(reply: Response | ModelError) -> bool:
    return isinstance(reply, TruncatedReply) or getattr(reply, "finish_reason", "") == "length"


def _names_another(row: Row) -> bool:
    """A row whose first name is the value of another of its columns: it is about that other kind of thing."""
    values = [cell.value for cell in row.cells if isinstance(cell.value, str)]
    return len(values) > 1 and values[0] in values[1:]


def _halves(reading: Reading) -> list[Reading]:
    """The text cut at the line or sentence end nearest to its middle; empty when it is too short to cut."""
    text = reading.text
    if len(text) < 400:
        return []
    middle = len(text) // 2
    for mark in ("\n", ". ", " "):
        cut = text.find(mark, middle)
        if 0 < cut < len(text) - 40:
            cut += len(mark)
            return [replace(reading, text=text[:cut]), replace(reading, text=text[cut:], offset=reading.offset + cut)]
    return []


async def _asked(request: Request, model: Model) -> Response | ModelError:
    try:
        return await model.generate(request)
    except ModelError as error:
        if type(error).__name__ == "ModelUnavailable":
            raise  # no server, no key: every other chunk would fail alike
        return error


def _record_row(
    reading: Reading,
    table: Table,
    columns: Sequence[Column],
    reply: Response,
    request: Request,
    model: Model,
    ordinal: int,
) -> Row:
    by_name = {c.name: c for c in columns}
    if isinstance(reply.data, dict):
        told = [(c, str(reply.data[c.name])) for c in columns if reply.data.get(c.name) is not None]
        return _row(reading, table, columns, told, reply, request, model, ordinal)
    items = reply.data if isinstance(reply.data, list) else []
    mentions = [
        (by_name[item["field"]], str(item["words"]))
        for item in items
        if isinstance(item, dict) and item.get("field") in by_name and item.get("words") is not None
    ]
    return _row(reading, table, columns, mentions, reply, request, model, ordinal)


def _row(
    reading: Reading,
    table: Table,
    columns: Sequence[Column],
    mentions: Sequence[tuple[Column, str]],
    reply: Response,
    request: Request,
    model: Model,
    ordinal: int,
) -> Row:
    found = refine(mentions, reading.text)
    cells = []
    for column in columns:
        cell = _cell(reading, column, found.get(column.name, []))
        cells.append(replace(cell, call_id=reply.call_id, model=model.name, prompt_hash=request.prompt_hash))
    return Row(
        row_id(table.name, reading.chunk.id, reading.offset, ordinal),
        table.name,
        reading.chunk.document_id,
        reading.chunk.id,
        ordinal,
        tuple(cells),
    )


def row_id(table: str, chunk_id: str, offset: int, ordinal: int) -> str:
    """The stable identifier of a row: the same place and reply give the same one."""
    return hashlib.sha256(f"{table}\x1f{chunk_id}\x1f{offset}\x1f{ordinal}".encode()).hexdigest()[:16]


def _cell(reading: Reading, column: Column, candidates: Sequence[Candidate]) -> Cell:
    """The first candidate that is grounded and parses; else the best reason why there is none."""
    if not candidates:
        return Cell(column.name, absence=Absence.NOT_STATED)
    fallback: Cell | None = None
    for candidate in candidates:
        cell = cell_of(reading, column, candidate)
        if cell.absence is None:
            return cell
        if fallback is None or (fallback.absence is Absence.UNGROUNDED and cell.absence is not Absence.UNGROUNDED):
            fallback = cell
    assert fallback is not None
    return fallback


def _joined(
    rows: Sequence[Row], known: Sequence[Row], identity: Sequence[Column], asked: Sequence[str]
) -> tuple[Row, ...]:
    """New columns on the rows that stand: matched by their identifying cells, in order; others become rows of their own."""
    free = list(known)
    out = []
    for row in rows:
        match = next((k for k in free if _same(row, k, identity)), None)
        if match is None:
            out.append(replace(row, id=row.id + "+"))
            continue
        free.remove(match)
        out.append(replace(match, cells=tuple(c for c in row.cells if c.column in asked)))
    for row in free:  # asked and not told of: the cells say so
        out.append(replace(row, cells=tuple(Cell(name, absence=Absence.NOT_STATED) for name in asked)))
    return tuple(out)


def _same(row: Row, other: Row, identity: Sequence[Column]) -> bool:
    values = [(a.value, b.value) for c in identity if (a := row.cell(c.name)) and (b := other.cell(c.name))]
    return bool(values) and all(a == b and a is not None for a, b in values[:1])
