"""Reading of lists by a small model: all rows of a text in one reply, the column that names the row
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sliders.compact.questions_of_values import ChunkReading, cells_of
from sliders.compact.value_prompts import YES_NO, is_judged, rows_prompt, says_again
from sliders.errors import ModelError, TruncatedReply
from sliders.extraction.asking import Refusal, generate
from sliders.extraction.cell import Absence, Cell, How, Row
from sliders.extraction.drafts import new_row
from sliders.extraction.grid_rows import ReadRow, misplaced, unread
from sliders.extraction.prompt import Asked, chunk_document
from sliders.extraction.source import Source
from sliders.llm.model import Request, Response
from sliders.llm.odds import numbered
from sliders.progress import counted
from sliders.schema.types import Column, ColumnType
from sliders.values.expected import TEXTUAL
from sliders.values.parse import typed

_DEEPEST = 4


async def read_list(
    reading: ChunkReading, source: Source, asked: Asked, depth: int = 0
) -> list[Row]:
    """Returns all rows that a text lists. When a reply is cut, the text is asked again in two
    halves.

    Two other methods were measured. Asking for the names first and then for each entry was better
    on the catalogue with which it was made (47 of 56 cells right, 41 in one reply), and worse on
    unseen documents (4 of 8 answers right, 6 in one reply). Asking for the name "as its entry
    begins" was better on the catalogue too (543 of 680 cells, 527 without), and no better
    elsewhere. With a worked example in the prompt, the reply is often an empty list.
    """
    columns = _naming_first(asked.columns)
    text = chunk_document(source.chunk, source.card)
    request = rows_prompt(text, reading.model.count_tokens(text), asked.table, columns)
    reply = await generate(request, reading.model)
    # Who has nothing more to say loops, and halves would loop again.
    looped = isinstance(reply, Response) and says_again(reply.text)
    cut = isinstance(reply, TruncatedReply) or (
        isinstance(reply, Response) and reply.finish_reason == "length" and not looped
    )
    if cut and depth < _DEEPEST and (halves := source.halves()):
        return [row for half in halves for row in await read_list(reading, half, asked, depth + 1)]
    if isinstance(reply, ModelError):
        reading.refusals.append(Refusal(source.chunk.id, "rows", str(reply), asked.table.name))
        return []
    if reply.salvaged and not looped:
        told = "rows that were cut or of another shape were left out"
        reading.refusals.append(Refusal(source.chunk.id, "rows", told, asked.table.name))
    items = list((reply.data or {}).get("rows", ()))
    if looped:
        items, again = _before_loop(items)
        subject = counted(again, "row")
        told = "the reply went round in a loop and said earlier rows again"
        reading.refusals.append(
            Refusal(source.chunk.id, subject, told, asked.table.name, fatal=False)
        )
    return _rows(reading, source, asked, items, reply, request)


def _rows(
    reading: ChunkReading,
    source: Source,
    asked: Asked,
    items: Sequence[Any],
    reply: Response,
    request: Request,
) -> list[Row]:
    """Returns the rows of a reply, without rows that have no value."""
    rows = []
    taken: dict[tuple[str, str], int] = {}
    for number, item in enumerate(items):
        cells = _cells(reading, source, asked, item, reply, request, number)
        cells = {name: _at_next_place(source, cell, taken) for name, cell in cells.items()}
        if any(cell.absence is not Absence.NOT_STATED for cell in cells.values()):
            rows.append(
                new_row(source, asked.table.name, number, [cells[c.name] for c in asked.columns])
            )
    return _beside_grids(reading, source, asked, rows)


def _beside_grids(
    reading: ChunkReading, source: Source, asked: Asked, rows: Sequence[Row]
) -> list[Row]:
    """Returns the rows; values that a grid prints in another row get a doubt, and lines of the grid
    without a row are recorded.
    """
    columns = {c.name: c for c in asked.columns}
    read = [
        ReadRow(asked.table, columns, {cell.column: cell for cell in row.cells}) for row in rows
    ]
    doubts = {(one.row, one.column): one.finding for one in misplaced(source, read)}
    reading.missed += unread(source, read)
    return [
        replace(
            row,
            cells=tuple(
                replace(c, doubt=c.doubt or doubts.get((number, c.column), "")) for c in row.cells
            ),
        )
        for number, row in enumerate(rows)
    ]


def _at_next_place(source: Source, cell: Cell, taken: dict[tuple[str, str], int]) -> Cell:
    """Returns the cell with its words at their next place behind the row before, if they occur
    again: two rows with equal words are two rows.
    """
    if cell.span is None or not cell.printed:
        return cell
    same, span = (cell.column, cell.printed), cell.span
    later = (
        source.text.find(cell.printed, taken[same])
        if span.start - source.offset < taken.get(same, 0)
        else -1
    )
    if later >= 0:
        span = source.span(later, later + len(cell.printed))
    taken[same] = span.end - source.offset
    return replace(cell, span=span)


def _cells(
    reading: ChunkReading,
    source: Source,
    asked: Asked,
    item: dict[str, Any],
    reply: Response,
    request: Request,
    number: int = 0,
) -> dict[str, Cell]:
    """Returns the cells of one object of a reply; `number` is the number of the object."""
    columns = _naming_first(asked.columns)
    stated = [c for c in columns if not is_judged(c)]
    sure = {
        c.name: chance
        for c in stated
        if (chance := reply.sureness.get(numbered(c.name, number))) is not None
    }
    read = replace(reply, odds={}, sureness=sure)
    cells = cells_of(reading, source, asked.table.name, stated, item, read, request)
    for column in (c for c in columns if is_judged(c)):
        judged = _judged_in_list(
            source, column, item.get(column.name), reply.odds.get(numbered(column.name, number))
        )
        cells[column.name] = replace(
            judged, call_id=reply.call_id, model=reading.model.name, prompt_hash=request.prompt_hash
        )
    return cells


def _judged_in_list(source: Source, column: Column, said: object, odds: float | None) -> Cell:
    """Returns a judgement as the reply gives it within its row. Asked alone over the whole page, a
    small model uses statements about other rows (written catalogue, sold out or not: 41 of 85
    right, in the list 69 of 75).
    """
    parsed = typed(said, column, source.context) if said is not None else None
    if parsed is None or parsed.absent:
        return Cell(column.name, absence=Absence.NOT_STATED, how=How.JUDGED)
    if parsed.value is None:
        return Cell(
            column.name,
            printed=str(said),
            absence=Absence.NOT_PARSED,
            detail=parsed.reason,
            how=How.JUDGED,
        )
    if column.type is not ColumnType.BOOLEAN:
        odds = None  # the odds of a value against null say nothing about the choice
    kept = () if odds is None else tuple(zip(YES_NO, (odds, 0.0), strict=True))
    return Cell(
        column.name,
        parsed.value,
        how=How.JUDGED,
        odds=kept,
        doubt="" if kept else "the reply gives no odds",
    )


def _before_loop(items: Sequence[Any]) -> tuple[list[Any], int]:
    """Returns the rows up to the last new one, and the number of rows after it that repeat earlier
    ones.
    """
    last = max((n for n, item in enumerate(items) if item not in items[:n]), default=-1)
    return list(items[: last + 1]), len(items) - last - 1


def _naming_first(columns: Sequence[Column]) -> list[Column]:
    """Returns the columns with the one that names the row first; a number before its name is often
    left null.
    """
    naming = next((c for c in columns if c.type in TEXTUAL), None)
    return (
        [naming, *(c for c in columns if c is not naming)] if naming is not None else list(columns)
    )
