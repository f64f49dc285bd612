"""Extraction as a small model does it: typed values under a grammar, then the words; a judgement is one token's odds.

The document stands first in every request, so that the server's prefix cache reads it once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sliders.errors import ModelError, TruncatedReply
from sliders.extraction.cell import Absence, Cell, Grounding, How, Row
from sliders.extraction.check import value_cell, with_calculation, with_words
from sliders.extraction.extract import Extraction, Refusal, generate, new_row
from sliders.extraction.ground import find
from sliders.extraction.judge import NOT_TOLD, TOLD
from sliders.extraction.list_entries import records_of
from sliders.extraction.parse import typed
from sliders.extraction.prompt import (
    YES_NO,
    Asked,
    calculation_prompt,
    choices_of,
    chosen_value,
    chunk_document,
    counts_prompt,
    dates_prompt,
    is_judged,
    judge_prompt,
    rows_prompt,
    says_again,
    sentence_prompt,
    values_prompt,
    words_prompt,
)
from sliders.extraction.source import Source
from sliders.llm.model import Model, Request, Response
from sliders.llm.odds import numbered
from sliders.schema.types import Column, ColumnType, Table
from sliders.words import fold

_DEEPEST = 4


@dataclass(slots=True)
class _Reading:
    """One chunk on its way: what is spent and what was refused."""

    source: Source
    model: Model
    tokens: int = 0
    refusals: list[Refusal] = field(default_factory=list)

    async def ask(self, request: Request, table: str, *, fatal: bool = True) -> Response | None:
        """The reply, or None with the refusal kept; a second look that fails costs no more than itself."""
        reply = await generate(request, self.model)
        if isinstance(reply, ModelError):
            self.refusals.append(Refusal(self.source.chunk.id, request.stage, str(reply), table, fatal))
            return None
        self.tokens += reply.usage.tokens
        return reply


async def read_compact(source: Source, asked: Sequence[Asked], model: Model) -> Extraction:
    """The rows of the tables asked, table by table."""
    reading = _Reading(source, model)
    rows: list[Row] = []
    for wanted in asked:
        if wanted.table.grain == "document":
            document = chunk_document(source.chunk, source.card)
            rows.append(new_row(source, wanted.table.name, 0, await _one_row(reading, source, wanted, document)))
        elif records := records_of(source.chunk):
            for record in records:
                start = record.start - source.offset
                part = source.part(start, start + len(record.text))
                rows.append(new_row(part, wanted.table.name, record.ordinal, await _one_row(reading, part, wanted, record.text)))
        else:
            rows += await _listed(reading, source, wanted, 0)
    return Extraction(source.chunk.id, tuple(rows), tuple(reading.refusals), reading.tokens)


async def _one_row(reading: _Reading, source: Source, asked: Asked, document: str) -> list[Cell]:
    """The cells of the one row that a text tells of: stated ones in one object, then judged ones one by one."""
    stated = [c for c in asked.columns if not is_judged(c)]
    cells = await _stated(reading, source, asked.table.name, stated, document) if stated else {}
    for column in stated if asked.table.grain == "document" else ():  # an entry of a list is one sentence already
        if column.type is ColumnType.INTEGER and _told_in_words(cells[column.name]):
            cells[column.name] = await _counted(reading, source, asked.table.name, column, cells[column.name], document)
    for column in asked.columns:
        if is_judged(column):
            cells[column.name] = await _judged(reading, asked.table.name, column, document)
    return [cells[c.name] for c in asked.columns]


async def _stated(
    reading: _Reading, source: Source, table: str, columns: Sequence[Column], document: str
) -> dict[str, Cell]:
    request = values_prompt(document, columns)
    reply = await reading.ask(request, table)
    if reply is None:
        failed = reading.refusals[-1].reason
        return {c.name: Cell(c.name, absence=Absence.CALL_FAILED, detail=failed) for c in columns}
    cells = _cells(source, columns, reply.data, reply, request, reading.model)
    if unread := [c for c in columns if c.type is ColumnType.DATE and cells[c.name].absence is Absence.NOT_PARSED]:
        cells |= await _in_order(reading, source, table, unread, cells, document)
    lost = [c for c in columns if cells[c.name].absence is Absence.UNGROUNDED]
    for column in (c for c in lost if c.type in (ColumnType.INTEGER, ColumnType.NUMBER)):
        cells[column.name] = await _calculated(reading, source, table, column, cells[column.name], document)
    lost = [c for c in lost if cells[c.name].absence is Absence.UNGROUNDED]
    if not lost:
        return cells
    request = words_prompt(document, lost)
    reply = await reading.ask(request, table, fatal=False)
    told = reply.data if reply is not None and isinstance(reply.data, dict) else {}
    for column in lost:
        if words := str(told.get(column.name) or "").strip():
            cells[column.name] = with_words(source, column, cells[column.name], words)
    return cells


async def _calculated(
    reading: _Reading, source: Source, table: str, column: Column, cell: Cell, document: str
) -> Cell:
    """A number that is printed nowhere, as a calculation over printed ones: the model states it, code works it out."""
    reply = await reading.ask(calculation_prompt(document, column), table, fatal=False)
    if reply is None or not isinstance(reply.data, dict):
        return cell
    return with_calculation(source, column, cell, str(reply.data.get("calculation") or ""))


async def _in_order(
    reading: _Reading, source: Source, table: str, columns: Sequence[Column], cells: Mapping[str, Cell], document: str
) -> dict[str, Cell]:
    """Dates that did not parse as copied, asked once more as year, month and day: which number is the month, the model says."""
    request = dates_prompt(document, columns)
    reply = await reading.ask(request, table, fatal=False)
    if reply is None:
        return {}
    read = _cells(source, columns, reply.data, reply, request, reading.model)
    return {c.name: replace(read[c.name], doubt=cells[c.name].detail) for c in columns if read[c.name].stands}


def _told_in_words(cell: Cell) -> bool:
    """Whether a number is spelled out or printed nowhere: such numbers may be parts of a sum, a figure is one already."""
    return bool(cell.value) and (cell.span is None or not any(char.isdigit() for char in cell.printed))


async def _counted(
    reading: _Reading, source: Source, table: str, column: Column, cell: Cell, document: str
) -> Cell:
    """A whole number read once more from its own sentence: a sum of which the first reading gave one part is the sum.

    Read from a whole page, "the pilot and nine passengers" is nine; read from the sentence alone, it is one and nine.
    """
    request = sentence_prompt(document, column)
    reply = await reading.ask(request, table, fatal=False)
    sentence = str(reply.data.get("sentence") or "").strip() if reply is not None and isinstance(reply.data, dict) else ""
    place = find(sentence, source.text) if sentence else None
    if place is None or place.status is Grounding.NONE:
        return cell
    reply = await reading.ask(counts_prompt(source.text[place.start : place.end], column), table, fatal=False)
    counts = [n for n in (reply.data or {}).get("counts", ()) if n] if reply is not None else []
    if cell.value not in counts or len(counts) < _FEWEST_PARTS or not isinstance(cell.value, int):
        return cell
    return replace(
        cell, value=sum(counts), printed=source.text[place.start : place.end], span=source.span(place.start, place.end),
        grounding=Grounding.DERIVED, how=How.COMPUTED, rationale=" + ".join(map(str, counts)), absence=None,
        detail=f"read from the whole text: {cell.value}",
    )  # fmt: skip


_FEWEST_PARTS = 2


def _cells(
    source: Source, columns: Sequence[Column], data: Any, reply: Response, request: Request, model: Model
) -> dict[str, Cell]:
    """Typed values with their printed places, equal ones beside the row's others."""
    told = data if isinstance(data, dict) else {}
    cells: dict[str, Cell] = {}
    near: list[tuple[int, int]] = []
    for column in columns:
        cell = value_cell(source, column, told.get(column.name), near)
        if cell.span is not None:
            near.append((cell.span.start - source.offset, cell.span.end - source.offset))
        if column.name in reply.odds:
            cell = replace(cell, odds=((TOLD, reply.odds[column.name]), (NOT_TOLD, 0.0)))
        cells[column.name] = replace(cell, call_id=reply.call_id, model=model.name, prompt_hash=request.prompt_hash)
    return cells


async def _judged(reading: _Reading, table: str, column: Column, document: str) -> Cell:
    """The model's own word for now, with the odds that a cut over the collection is made from."""
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
        column.name, chosen_value(column, choice), how=How.JUDGED, odds=odds,
        doubt="" if odds else "the server gives no odds", call_id=reply.call_id, model=reading.model.name,
        prompt_hash=request.prompt_hash,
    )  # fmt: skip


async def _listed(reading: _Reading, source: Source, asked: Asked, depth: int) -> list[Row]:
    """All rows that a text lists: their names first, then the columns of these; a reply that was cut is asked again in halves
    of the text.

    Asked for everything at once, a small model takes the page's heading or an entry's description for each entry's name; asked
    for names alone, it gives kinds or sentences (written catalogue, six pages of 51 entries: 43 names right and 13 others, with
    one column beside them 49 and 6; a page of nine, 0 right with twelve columns).
    """
    columns = _naming_first(asked.columns)
    text = source.text.strip() if depth else chunk_document(source.chunk, source.card)
    if len(columns) > _TOLD_AT_ONCE and columns[0].type is ColumnType.TEXT:
        beside = next((c for c in columns if c.type in _SHORT), columns[1])
        names = await _names(reading, asked.table, (columns[0], beside), text)
        if names is not None:
            return await _named_rows(reading, source, asked, columns, text, names)
    request = rows_prompt(text, reading.model.count_tokens(text), asked.table, columns)
    reply = await generate(request, reading.model)
    looped = isinstance(reply, Response) and says_again(reply.text)  # who has nothing more to say; halves would loop again
    cut = isinstance(reply, TruncatedReply) or (isinstance(reply, Response) and reply.finish_reason == "length" and not looped)
    if cut and depth < _DEEPEST and (halves := source.halves()):
        return [row for half in halves for row in await _listed(reading, half, asked, depth + 1)]
    if isinstance(reply, ModelError):
        reading.refusals.append(Refusal(source.chunk.id, "rows", str(reply), asked.table.name))
        return []
    reading.tokens += reply.usage.tokens
    if reply.salvaged and not looped:
        reading.refusals.append(
            Refusal(source.chunk.id, "rows", "the reply was cut; complete rows were kept", asked.table.name)
        )
    items = list((reply.data or {}).get("rows", ()))
    if looped:
        items, again = _before_loop(items)
        subject = f"{again} rows"
        told = "the reply went round in a loop and said earlier rows again"
        reading.refusals.append(Refusal(source.chunk.id, subject, told, asked.table.name, fatal=False))
    return _rows(reading, source, asked, columns, items, reply, request)


_TOLD_AT_ONCE = 2
_SHORT = (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE)


async def _names(reading: _Reading, table: Table, columns: Sequence[Column], text: str) -> list[str] | None:
    """The names of the rows that a text lists; None where names do not tell the rows apart, or the list did not end."""
    reply = await reading.ask(rows_prompt(text, reading.model.count_tokens(text), table, columns), table.name, fatal=False)
    if reply is None:
        return None
    names = [str(item[columns[0].name]).strip() for item in (reply.data or {}).get("rows", ())]
    ended = reply.finish_reason == "stop" and not reply.salvaged
    return names if ended and all(names) and len(set(map(fold, names))) == len(names) else None


async def _named_rows(
    reading: _Reading, source: Source, asked: Asked, columns: Sequence[Column], text: str, names: Sequence[str]
) -> list[Row]:
    """The rows of these names, some at a time; what fails is recorded, and the others stand."""
    rows: list[Row] = []
    for start in range(0, len(names), _AT_A_TIME):
        some = names[start : start + _AT_A_TIME]
        request = rows_prompt(text, reading.model.count_tokens(text), asked.table, columns, some)
        reply = await reading.ask(request, asked.table.name)
        if reply is not None:
            items = list((reply.data or {}).get("rows", ()))
            rows += _rows(reading, source, asked, columns, items, reply, request, start)
    return rows


_AT_A_TIME = 12


def _rows(
    reading: _Reading, source: Source, asked: Asked, columns: Sequence[Column], items: Sequence[Any], reply: Response,
    request: Request, first: int = 0,
) -> list[Row]:  # fmt: skip
    """The rows of a reply, the first one with this number; those that tell nothing are none."""
    rows = []
    stated = [c for c in columns if not is_judged(c)]
    for number, item in enumerate(items):
        cells = _cells(source, stated, item, replace(reply, odds={}), request, reading.model)
        for column in (c for c in columns if is_judged(c)):
            judged = _judged_in_list(source, column, item.get(column.name), reply.odds.get(numbered(column.name, number)))
            cells[column.name] = replace(
                judged, call_id=reply.call_id, model=reading.model.name, prompt_hash=request.prompt_hash
            )
        if any(cell.absence is not Absence.NOT_STATED for cell in cells.values()):
            rows.append(new_row(source, asked.table.name, first + number, [cells[c.name] for c in asked.columns]))
    return rows


def _judged_in_list(source: Source, column: Column, said: object, odds: float | None) -> Cell:
    """A judgement as the list gives it: beside its neighbours a row is judged better than by a question of its own, in which
    a small model takes what the page says of others (written catalogue, sold out or not: 69 of 75 right, against 41 of 85)."""
    parsed = typed(said, column, source.context) if said is not None else None
    if parsed is None or parsed.absent:
        return Cell(column.name, absence=Absence.NOT_STATED, how=How.JUDGED)
    if parsed.value is None:
        return Cell(column.name, printed=str(said), absence=Absence.NOT_PARSED, detail=parsed.reason, how=How.JUDGED)
    if column.type is not ColumnType.BOOLEAN:
        odds = None  # those of a value against null, which say nothing of the choice
    kept = () if odds is None else tuple(zip(YES_NO, (odds, 0.0), strict=True))
    return Cell(column.name, parsed.value, how=How.JUDGED, odds=kept, doubt="" if kept else "the reply gives no odds")


def _before_loop(items: Sequence[Any]) -> tuple[list[Any], int]:
    """The rows up to the last one that is new, and how many after it say earlier ones again."""
    last = max(n for n, item in enumerate(items) if item not in items[:n])
    return list(items[: last + 1]), len(items) - last - 1


def _naming_first(columns: Sequence[Column]) -> list[Column]:
    """The columns with the one that names the row first: a number that stands before its name is left null."""
    naming = next((c for c in columns if c.type in (ColumnType.TEXT, ColumnType.CATEGORY)), None)
    return [naming, *(c for c in columns if c is not naming)] if naming is not None else list(columns)
