"""The gate: whether a chunk can hold a row, biased to recall (SLIDERS: relevance gate)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sliders.chunks.chunk import Chunk
from sliders.extraction.request import gate_prompt
from sliders.llm.model import Model
from sliders.schema.types import Column, Table


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a chunk is read, why, and what asking cost in tokens."""

    relevant: bool
    reason: str
    tokens: int = 0


async def gate_chunk(chunk: Chunk, table: Table, columns: Sequence[Column], model: Model) -> Verdict:
    """Ask whether the chunk can hold a row; a reply that is not clearly no counts as yes.

    Raises:
        ModelError: the call failed; the caller lets the chunk through.
    """
    if not chunk.text.strip():
        return Verdict(False, "the chunk has no text")
    reply = await model.generate(gate_prompt(chunk, table, columns))
    data = reply.data if isinstance(reply.data, dict) else {}
    if data.get("relevant") is False:
        return Verdict(False, "the model sees no fact of the table in it", reply.usage.tokens)
    return Verdict(True, "it may hold a row", reply.usage.tokens)
