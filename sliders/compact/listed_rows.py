"""The rows that a document lists when a small model is asked for all of them."""

from __future__ import annotations

from dataclasses import replace

from sliders.compact.grain import SEVERAL
from sliders.compact.value_prompts import (
    ONE_SEVERAL,
    rows_begun,
    rows_prompt,
    says_again,
    several_prompt,
)
from sliders.errors import ModelError
from sliders.extraction.asking import generate
from sliders.llm.model import Model
from sliders.schema.types import Table
from sliders.values.folding import fold


async def listed_rows(table: Table, text: str, model: Model) -> frozenset[str]:
    """The printed names of the rows that a text lists; none where the model gave no usable reply.
    Asked for a list, a small model lists what else there is: where it does not say of the text that
    it tells of several, one name at the most.
    """
    request = rows_prompt(text, model.count_tokens(text), table, table.columns)
    reply = await generate(replace(request, enough=_enough), model)
    if isinstance(reply, ModelError):
        return frozenset()
    said = {
        fold(str(row.get(table.columns[0].name) or ""))
        for row in (reply.data or {}).get("rows", ())
    }
    names = sorted(name for name in said if name and name in fold(text))
    return frozenset(names if len(names) > 1 and await _several(table, text, model) else names[:1])


async def _several(table: Table, text: str, model: Model) -> bool:
    """Whether a text tells of several such rows, by the odds of two plain questions (documents
    written for it and look sets, 32 pairs of document and noun: 28 right, the others entries of one
    line); true of a server without odds.
    """
    odds = 0.0
    for counted in (True, False):
        reply = await generate(several_prompt(text, table, counted=counted), model)
        if isinstance(reply, ModelError) or not reply.odds:
            return True
        odds += reply.odds[ONE_SEVERAL[1]] - reply.odds[ONE_SEVERAL[0]]
    return odds > 0


def _enough(reply: str) -> bool:
    return len(rows_begun(reply)) > SEVERAL + 1 or says_again(reply)
