"""A second model for doubtful cells: it is asked about these cells alone. A doubt is removed when
this model reads the same value from words of the text; else it stays, with the other value added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sliders.extraction.asking import generate
from sliders.extraction.check import Checked, check_cell
from sliders.extraction.drafts import Draft, Drafts
from sliders.extraction.extract import CodeChange, Extraction
from sliders.extraction.prompt import Asked, recheck_prompt
from sliders.extraction.recheck import described, passages
from sliders.extraction.source import Source
from sliders.llm.model import Model, Response

STAGE = "doubt"
_MOST = 20
"""The most cells in one call."""


async def second_opinions(
    sources: Sequence[Source], found: Sequence[Extraction], asked: Sequence[Asked], second: Model
) -> list[Extraction]:
    """Asks a second model about the doubtful cells of extractions. Returns the extractions in their
    order, with the doubts that are left. A call that fails changes nothing.

    Args:
        sources: the texts that were read, in the order of `found`.
        asked: the tables that were asked for.
        second: the second model.
    """
    pairs = zip(sources, found, strict=True)
    return [await _asked_again(source, one, asked, second) for source, one in pairs]


async def _asked_again(
    source: Source, found: Extraction, asked: Sequence[Asked], second: Model
) -> Extraction:
    drafts = _drafts(source, found, asked)
    doubted = [
        (draft, name)
        for draft in drafts.rows
        for name, checked in draft.cells.items()
        if checked.cell.stands and checked.cell.doubt
    ]
    changes: list[CodeChange] = []
    for first in range(0, len(doubted), _MOST):
        some = doubted[first : first + _MOST]
        lines = [f"{n}. {described(draft, name)}" for n, (draft, name) in enumerate(some, 1)]
        request = replace(recheck_prompt([passages(drafts, some)], lines), stage=STAGE)
        reply = await generate(request, second)
        told = reply.data if isinstance(reply, Response) and isinstance(reply.data, Mapping) else {}
        for item in told.get("cells") or ():
            number = item.get("number")
            if isinstance(number, int) and 1 <= number <= len(some):
                changes.append(_take(drafts, *some[number - 1], item, second.name))
    cells = {draft.ordinal: draft.cells for draft in drafts.rows}
    rows = tuple(
        replace(row, cells=tuple(cells[number][c.column].cell for c in row.cells))
        for number, row in enumerate(found.rows)
    )
    return replace(found, rows=rows, changes=(*found.changes, *changes))


def _drafts(source: Source, found: Extraction, asked: Sequence[Asked]) -> Drafts:
    """The rows of an extraction as drafts, numbered in their order, so that all checks of a reading
    apply.
    """
    of_table = {one.table.name: one for one in asked}
    drafts = Drafts(source, asked)
    for number, row in enumerate(found.rows):
        cells = {cell.column: Checked(cell, cell.doubt) for cell in row.cells}
        given: dict[str, Mapping[str, Any]] = {
            cell.column: {"value": cell.value, "words": [cell.printed]} for cell in row.cells
        }
        drafts.rows.append(Draft(of_table[row.table], number, cells, given))
    return drafts


def _take(
    drafts: Drafts, draft: Draft, name: str, item: Mapping[str, Any], model: str
) -> CodeChange:
    """Takes the second model's reply about one cell: removes the doubt when its words show the same
    value, else adds the other value to the doubt. Returns the record of it.

    Args:
        item: the reply: the value and its words.
        model: the name of the second model.
    """
    before = draft.cells[name].cell
    again = check_cell(drafts.source, draft.column(name), item, drafts.near(draft, name))
    verified = again.cell.stands and not again.finding and not again.cell.doubt
    said = f"{before.model} reads {before.value!r}, {model} {item.get('value')!r}"
    if verified and again.cell.value == before.value:
        draft.cells[name] = Checked(replace(before, doubt=""))
        drafts.compare_with_grids()  # a value that a grid prints in another row stays in doubt
    left = draft.cells[name].cell.doubt
    if left and again.cell.value != before.value:
        told = f"{before.doubt}; {model} reads {item.get('value')!r}"
        draft.cells[name] = Checked(replace(before, doubt=told), told)
    settled = "the doubt stays" if left else f"the doubt goes, for {again.cell.printed!r} shows it"
    reason = f"{said}; {settled}: {before.doubt}"
    return CodeChange(draft.asked.table.name, name, before.value, before.value, reason)
