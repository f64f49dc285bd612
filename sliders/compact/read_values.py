"""Extraction by a small model: it gives typed values under a grammar, then their words; a judgement
is the odds of one token.

The document stands first in every request, so that the server's prefix cache reads it once.
"""

from __future__ import annotations

from collections.abc import Sequence

from sliders.compact.check_values import with_words
from sliders.compact.questions_of_values import ChunkReading, cells_of
from sliders.compact.read_list import read_list
from sliders.compact.value_prompts import (
    choices_of,
    chosen_value,
    is_judged,
    judge_prompt,
    rows_prompt,
    values_prompt,
    words_prompt,
)
from sliders.extraction.cell import Absence, Cell, How, Row
from sliders.extraction.drafts import new_row
from sliders.extraction.extract import ChunkReader, Extraction
from sliders.extraction.list_entries import records_of
from sliders.extraction.prompt import Asked, chunk_document
from sliders.extraction.source import Source
from sliders.llm.model import Model, Request
from sliders.schema.types import Column


async def read_compact(
    sources: Sequence[Source], asked: Sequence[Asked], model: Model, expected: int = 0
) -> list[Extraction]:
    """Returns the rows of each text, read one after the other."""
    return [await _read_one(source, asked, model) for source in sources]


async def _read_one(source: Source, asked: Sequence[Asked], model: Model) -> Extraction:
    """The rows of the tables asked, table by table."""
    reading = ChunkReading(source, model)
    rows: list[Row] = []
    for wanted in asked:
        if wanted.table.grain == "document":
            document = chunk_document(source.chunk, source.card)
            rows.append(
                new_row(
                    source, wanted.table.name, 0, await _one_row(reading, source, wanted, document)
                )
            )
        elif records := records_of(source.chunk):
            for record in records:
                start = record.start - source.offset
                part = source.part(start, start + len(record.text))
                rows.append(
                    new_row(
                        part,
                        wanted.table.name,
                        record.ordinal,
                        await _one_row(reading, part, wanted, record.text),
                    )
                )
        else:
            rows += await read_list(reading, source, wanted)
    return Extraction(
        source.chunk.id,
        tuple(rows),
        tuple(reading.refusals),
        tuple(reading.changes),
        tuple(reading.missed),
    )


def values_requests(
    documents: Sequence[str], asked: Sequence[Asked], expected: int
) -> list[Request]:
    """Returns the calls of `read_compact` over one document when nothing is asked again."""
    requests, (document,) = [], documents
    for wanted in asked:
        if wanted.table.grain == "many":
            requests.append(rows_prompt(document, expected, wanted.table, wanted.columns))
            continue
        stated = [c for c in wanted.columns if not is_judged(c)]
        requests += [values_prompt(document, stated)] if stated else []
        requests += [judge_prompt(document, c) for c in wanted.columns if is_judged(c)]
    return requests


VALUES = ChunkReader(read_compact, values_requests, lambda: values_prompt("", ()), one_call=False)
"""The reader of a model that is asked for typed values, then for their words, and for each
judgement by itself.
"""


async def _one_row(
    reading: ChunkReading, source: Source, asked: Asked, document: str
) -> list[Cell]:
    """Returns the cells of the single row of a text: stated ones from one object, then judged ones
    one by one.
    """
    stated = [c for c in asked.columns if not is_judged(c)]
    cells = await _stated(reading, source, asked.table.name, stated, document) if stated else {}
    for column in asked.columns:
        if is_judged(column):
            cells[column.name] = await _judged(reading, asked.table.name, column, document)
    return [cells[c.name] for c in asked.columns]


async def _stated(
    reading: ChunkReading, source: Source, table: str, columns: Sequence[Column], document: str
) -> dict[str, Cell]:
    request = values_prompt(document, columns)
    reply = await reading.ask(request, table)
    if reply is None:
        failed = reading.refusals[-1].reason
        return {c.name: Cell(c.name, absence=Absence.CALL_FAILED, detail=failed) for c in columns}
    cells = cells_of(reading, source, table, columns, reply.data, reply, request)
    lost = [c for c in columns if cells[c.name].absence is Absence.UNGROUNDED]
    if not lost:
        return cells
    request = words_prompt(document, lost)
    reply = await reading.ask(request, table, fatal=False)
    told = reply.data if reply is not None and isinstance(reply.data, dict) else {}
    for column in lost:
        if words := str(told.get(column.name) or "").strip():
            cells[column.name] = reading.kept(
                with_words(source, column, cells[column.name], words), table
            )
    return cells


async def _judged(reading: ChunkReading, table: str, column: Column, document: str) -> Cell:
    """Returns the model's own choice for now, with the odds from which the collection's cut is made
    later.
    """
    request = judge_prompt(document, column)
    reply = await reading.ask(request, table)
    if reply is None:
        return Cell(column.name, absence=Absence.CALL_FAILED, detail=reading.refusals[-1].reason)
    choices = choices_of(column)
    choice = next((c for c in choices if c.casefold() == reply.text.strip().casefold()), "")
    if not choice:
        detail = f"{reply.text[:40]!r} is none of {', '.join(choices)}"
        return Cell(column.name, absence=Absence.NOT_PARSED, detail=detail, how=How.JUDGED)
    odds = tuple((c, reply.odds[c]) for c in choices) if reply.odds else ()
    return Cell(
        column.name,
        chosen_value(column, choice),
        how=How.JUDGED,
        odds=odds,
        doubt="" if odds else "the server gives no odds",
        call_id=reply.call_id,
        model=reading.model.name,
        prompt_hash=request.prompt_hash,
    )
