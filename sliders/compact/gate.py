"""The gate of the compact dialect: one question about each part, decided by the
log-odds of its first token.
"""

from __future__ import annotations

from collections.abc import Sequence

from sliders.compact.value_prompts import YES_NO, judge_gate_prompt
from sliders.extraction.asking import generate
from sliders.extraction.gate import Gate, Gated, OutlineLine
from sliders.extraction.prompt import Asked, chunk_document
from sliders.llm.model import Model, Response
from sliders.retrieval.chunk import Chunk

_CLEARLY_NOT = 3.0
"""The log-odds of no over yes from which on a part is left out."""


async def gate_by_odds(
    listed: Sequence[OutlineLine], asked: Sequence[Asked], model: Model, card: str = ""
) -> Gated:
    """Asks about each chunk. When the call fails, the chunk is kept. The model sees the whole
    chunk; `card` is not used.
    """
    chunks = [part.chunk for part in listed]
    return Gated({c.id: why for c in chunks if (why := await _clearly_not(c, asked, model))})


BY_ODDS = Gate(gate_by_odds, most=24, at_once=1)
"""The gate of a model that is asked about each chunk by itself."""


async def _clearly_not(chunk: Chunk, asked: Sequence[Asked], model: Model) -> str:
    text = chunk_document(chunk)
    for wanted in asked:
        reply = await generate(judge_gate_prompt(text, wanted.table, wanted.columns), model)
        if not isinstance(reply, Response) or not reply.odds:
            return ""
        yes, no = (reply.odds[word] for word in YES_NO)
        if no - yes < _CLEARLY_NOT:
            return ""
    return f"the model sees no value of the tables in it (log-odds beyond {_CLEARLY_NOT:g})"
