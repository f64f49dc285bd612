"""The gate: which parts of a document can hold a row, biased to recall (SLIDERS: relevance gate)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sliders.chunks.chunk import Chunk
from sliders.errors import ModelError
from sliders.extraction.asking import generate
from sliders.extraction.prompt import Asked, chunk_document, gate_prompt
from sliders.extraction.prompt_compact import YES_NO, judge_gate_prompt
from sliders.llm.model import Model, Response

_AT_ONCE = 24
_CLEARLY_NOT = 3.0
"""Log-odds of no over yes from which on a part is left out by a small model's word."""


async def gate_chunks(
    chunks: Sequence[Chunk], shown: Mapping[str, str], asked: Sequence[Asked], model: Model, card: str = ""
) -> dict[str, str]:
    """Why chunks are gated out, by chunk id; a chunk that is not in it is read. A gate that fails lets its chunks through.

    Args:
        shown: what the gate of the full dialect sees of each chunk, by id: one call decides on many.
    """
    if model.dialect.judged == "odds":
        return {c.id: why for c in chunks if (why := await _clearly_not(c, asked, model))}
    out: dict[str, str] = {}
    for at in range(0, len(chunks), _AT_ONCE):
        batch = chunks[at : at + _AT_ONCE]
        reply = await generate(gate_prompt([shown[c.id] for c in batch], asked, card), model)
        if isinstance(reply, ModelError):
            continue
        chosen = {number for number in (reply.data or {}).get("parts", ()) if isinstance(number, int)}
        out |= {c.id: "the model sees no value of the tables in it" for n, c in enumerate(batch, 1) if n not in chosen}
    return out


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

