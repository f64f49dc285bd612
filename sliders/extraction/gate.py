"""The gate: which parts of a document can hold a row, biased to recall
(SLIDERS: relevance gate).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sliders.errors import ModelError
from sliders.extraction.asking import generate
from sliders.extraction.prompt import Asked, gate_prompt
from sliders.llm.model import Model
from sliders.retrieval.chunk import Chunk

_AT_ONCE = 24
_SHOWN_TOKENS = 250


class GateChunks(Protocol):
    """Why chunks are not read, by chunk id; see `gate_chunks`."""

    async def __call__(
        self,
        chunks: Sequence[Chunk],
        shown: Mapping[str, str],
        asked: Sequence[Asked],
        model: Model,
        card: str = "",
    ) -> dict[str, str]: ...


@dataclass(frozen=True, slots=True)
class Gate:
    """How a model gates: `out` says which chunks are not read; one call decides on `at_once` of
    them, and sees `shown_tokens` of each at the most (None: all).
    """

    out: GateChunks
    at_once: int
    shown_tokens: int | None = None

    def seen(self, tokens: int) -> int:
        """How many of a chunk's tokens a call sees."""
        return tokens if self.shown_tokens is None else min(tokens, self.shown_tokens)


async def gate_chunks(
    chunks: Sequence[Chunk],
    shown: Mapping[str, str],
    asked: Sequence[Asked],
    model: Model,
    card: str = "",
) -> dict[str, str]:
    """Why chunks are gated out, by chunk id; a chunk that is not in it is read.
    A gate that fails lets its chunks through.

    Args:
        shown: what the gate sees of each chunk, by id: one call decides on many.
    """
    out: dict[str, str] = {}
    for at in range(0, len(chunks), _AT_ONCE):
        batch = chunks[at : at + _AT_ONCE]
        reply = await generate(gate_prompt([shown[c.id] for c in batch], asked, card), model)
        if isinstance(reply, ModelError):
            continue
        chosen = {
            number for number in (reply.data or {}).get("parts", ()) if isinstance(number, int)
        }
        out |= {
            c.id: "the model sees no value of the tables in it"
            for n, c in enumerate(batch, 1)
            if n not in chosen
        }
    return out


BY_PARTS = Gate(gate_chunks, _AT_ONCE, _SHOWN_TOKENS)
"""A model that names the parts of a document that may hold a value."""
