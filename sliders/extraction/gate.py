"""The gate: a call that chooses the parts of a document that can hold a row, and rather keeps a
part too many (SLIDERS: relevance gate).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sliders.errors import ModelError
from sliders.extraction.asking import generate
from sliders.extraction.prompt import Asked, Chosen, gate_prompt
from sliders.llm.model import Model
from sliders.retrieval.chunk import Chunk

_SEARCHED = 4
"""The most words that are searched for because the model named them."""


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """A part of a document, and its line in the outline."""

    chunk: Chunk
    told: str


@dataclass(frozen=True, slots=True)
class Gated:
    """The reply of the gate.

    Args:
        out: the reason for each part that is not read, by chunk id.
        search: words that a value would be printed with, for values for which no listed part was
            chosen.
    """

    out: dict[str, str]
    search: tuple[str, ...] = ()


class GateChunks(Protocol):
    """Returns the parts that are not read; see `gate_chunks`."""

    async def __call__(
        self, listed: Sequence[OutlineLine], asked: Sequence[Asked], model: Model, card: str = ""
    ) -> Gated: ...


@dataclass(frozen=True, slots=True)
class Gate:
    """The functions by which a model chooses parts.

    Args:
        out: returns the parts that are not read.
        most: the most parts of a document that the model is asked about.
        at_once: the parts that one call decides on.
        shown_tokens: the tokens of a part that a call shows; None shows all.
    """

    out: GateChunks
    most: int
    at_once: int
    shown_tokens: int | None = None

    @property
    def by_outline(self) -> bool:
        """True when a call shows an outline of a document's parts, and not their texts."""
        return self.at_once > 1

    def seen(self, tokens: int) -> int:
        """The number of a chunk's tokens that a call shows."""
        return tokens if self.shown_tokens is None else min(tokens, self.shown_tokens)


async def gate_chunks(
    listed: Sequence[OutlineLine], asked: Sequence[Asked], model: Model, card: str = ""
) -> Gated:
    """Asks a model once which parts of an outline may hold a value. A gate that fails lets its
    parts through.
    """
    reply = await generate(gate_prompt([part.told for part in listed], asked, card), model)
    if isinstance(reply, ModelError):
        return Gated({})
    said = Chosen.model_validate(reply.data or {})
    out = {
        part.chunk.id: "the model sees no value of the tables in it"
        for number, part in enumerate(listed, 1)
        if number not in said.parts
    }
    return Gated(out, tuple(said.search[:_SEARCHED]))


BY_OUTLINE = Gate(gate_chunks, most=150, at_once=150, shown_tokens=30)
"""The gate of a model that chooses among all parts of a document by an outline of them."""
