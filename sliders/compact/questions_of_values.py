"""A chunk while it is read in the compact dialect, and the cells of one reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import Any

from sliders.compact.check_values import value_cell
from sliders.compact.judgements import NOT_TOLD, TOLD
from sliders.errors import ModelError
from sliders.extraction.asking import Refusal, generate
from sliders.extraction.cell import Cell
from sliders.extraction.check import Checked
from sliders.extraction.extract import CodeChange
from sliders.extraction.grid_rows import Unread
from sliders.extraction.source import Source
from sliders.llm.model import Model, Request, Response
from sliders.schema.types import Column

UNSURE = 0.5
"""The log-probability (natural) of a token below which its value is unverified: less likely than
not. Measured on 211 readings (64 wrong): 13 have such a token, and 8 of these are wrong. On five
unseen sets 9 of 32 answers without a warning are then wrong, 10 of 28 without this rule (7 of 22 at
a probability of 0.6).
"""


@dataclass(slots=True)
class ChunkReading:
    """A chunk while it is read: refused parts of replies, values that code changed, and lines of
    grids that gave no row.
    """

    source: Source
    model: Model
    refusals: list[Refusal] = field(default_factory=list)
    changes: list[CodeChange] = field(default_factory=list)
    missed: list[Unread] = field(default_factory=list)

    def kept(self, checked: Checked, table: str) -> Cell:
        """Returns the cell of a check; a value that code changed is recorded with the value of the
        reply.
        """
        cell = checked.cell
        if checked.before is not None:
            self.changes.append(
                CodeChange(table, cell.column, checked.before, cell.value, checked.finding)
            )
        return cell

    async def ask(self, request: Request, table: str, *, fatal: bool = True) -> Response | None:
        """Returns the reply; None when the call fails, with its refusal recorded. `fatal` False is
        for a second question, whose failure costs nothing else.
        """
        reply = await generate(request, self.model)
        if isinstance(reply, ModelError):
            self.refusals.append(
                Refusal(self.source.chunk.id, request.stage, str(reply), table, fatal)
            )
            return None
        return reply


def cells_of(
    reading: ChunkReading,
    source: Source,
    table: str,
    columns: Sequence[Column],
    data: Any,
    reply: Response,
    request: Request,
) -> dict[str, Cell]:
    """Returns typed values with their printed places, by column; of equal places, those beside the
    row's other values.
    """
    told = data if isinstance(data, dict) else {}
    cells: dict[str, Cell] = {}
    near: list[tuple[int, int]] = []
    for column in columns:
        cell = reading.kept(value_cell(source, column, told.get(column.name), near), table)
        if cell.span is not None:
            near.append((cell.span.start - source.offset, cell.span.end - source.offset))
        if column.name in reply.odds:
            cell = replace(cell, odds=((TOLD, reply.odds[column.name]), (NOT_TOLD, 0.0)))
        if (
            cell.stands
            and not cell.doubt
            and (chance := exp(reply.sureness.get(column.name, 0.0))) < UNSURE
        ):
            cell = replace(
                cell, doubt=f"the model was not sure of it: a token with a chance of {chance:.0%}"
            )
        cells[column.name] = replace(
            cell, call_id=reply.call_id, model=reading.model.name, prompt_hash=request.prompt_hash
        )
    return cells
