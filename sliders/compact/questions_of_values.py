"""One chunk on its way through the compact dialect, and the cells of one reply."""

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
"""A value with a token that was less likely than not is unverified. Of 211 readings of a written
and a look set (64 wrong) 13 have such a token, 8 of them wrong; over five sets that nobody looked
at 9 of the 32 answers without a warning are wrong then, before 10 of 28 (under 0.6: 7 of 22).
"""


@dataclass(slots=True)
class ChunkReading:
    """One chunk on its way: what was refused, what code changed, and lines of
    grids that gave no row.
    """

    source: Source
    model: Model
    refusals: list[Refusal] = field(default_factory=list)
    changes: list[CodeChange] = field(default_factory=list)
    missed: list[Unread] = field(default_factory=list)

    def kept(self, checked: Checked, table: str) -> Cell:
        """The cell, with a value that code changed kept as it was given."""
        cell = checked.cell
        if checked.before is not None:
            self.changes.append(
                CodeChange(table, cell.column, checked.before, cell.value, checked.finding)
            )
        return cell

    async def ask(self, request: Request, table: str, *, fatal: bool = True) -> Response | None:
        """The reply, or None with the refusal kept; a second look that fails costs
        no more than itself.
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
    """Typed values with their printed places, equal ones beside the row's others."""
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
