"""The gate: which parts of a document can hold a row, biased to recall
(SLIDERS: relevance gate).
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
"""The most words of the model's own that are searched for."""


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """A part of a document, and its line in the outline."""

    chunk: Chunk
    told: str


@dataclass(frozen=True, slots=True)
class Gated:
    """The reply of the gate.

    Args:
        out: why parts are not read, by chunk id.
        search: words that the text of values would print for which no listed part stands.
    """

    out: dict[str, str]
    search: tuple[str, ...] = ()


class GateChunks(Protocol):
    """The parts that are not read; see `gate_chunks`."""

    async def __call__(
        self, listed: Sequence[OutlineLine], asked: Sequence[Asked], model: Model, card: str = ""
    ) -> Gated: ...


@dataclass(frozen=True, slots=True)
class Gate:
    """How a model gates.

    Args:
        out: says which parts are not read.
        most: the most parts of a document that it is asked about.
        at_once: the parts that one call decides on.
        shown_tokens: the tokens of a part that a call sees; None: all.
    """

    out: GateChunks
    most: int
    at_once: int
    shown_tokens: int | None = None

    @property
    def by_outline(self) -> bool:
        """Whether a call sees an outline of a document's parts, not their texts."""
        return self.at_once > 1

    def seen(self, tokens: int) -> int:
        """How many of a chunk's tokens a call sees."""
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
"""A model that names the parts of a document that may hold a value, by an outline of them all."""
