"""The gate leaves out what the model sees nothing in, and lets everything
through where it fails.
"""

from __future__ import annotations

from typing import Any

import pytest

from sliders.engine import ways_of
from sliders.errors import ModelRefusal, ModelUnavailable
from sliders.extraction import OutlineLine
from sliders.llm import COMPACT, FULL, Dialect, Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import Chunk

from .passages import FERRIES, QUAYS, asked_for, chunk_of

CHUNKS = [chunk_of(f"This is part {n}.", start=100 * n, number=n) for n in range(30)]


async def gate(
    reply: Any, dialect: Dialect = FULL, chunks: list[Chunk] = CHUNKS
) -> tuple[set[str], FunctionModel]:
    model = FunctionModel(reply if callable(reply) else lambda request: reply, dialect=dialect)
    listed = [OutlineLine(chunk, f"shown of {chunk.text}") for chunk in chunks]
    gated = await ways_of(model).gate.out(listed, asked_for(FERRIES, QUAYS), model, "a card")
    return set(gated.out), model


async def test_one_call_decides_on_many_parts() -> None:
    def reply(request: Request) -> Any:
        content = request.messages[-1].content
        assert "a card" in content and "ferries" in content and "quays" in content
        return {"parts": [n for n in range(1, content.count("<part ") + 1) if n % 2]}

    out, model = await gate(reply)
    assert len(model.history) == 1 and len(out) == 15
    assert out == {chunk.id for chunk in CHUNKS if chunk.position % 2}
    assert "shown of This is part 7." in "".join(
        m.content for r in model.history for m in r.messages
    )


async def test_none_is_a_possible_answer_and_unknown_numbers_mean_nothing() -> None:
    assert len((await gate({"parts": []}))[0]) == 30
    assert len((await gate({"parts": [0, 99, -1]}, chunks=CHUNKS[:3]))[0]) == 3


@pytest.mark.parametrize("dialect", [FULL, COMPACT])
async def test_a_gate_that_fails_lets_its_parts_through(dialect: Dialect) -> None:
    assert (await gate(ModelRefusal("no"), dialect))[0] == set()
    with pytest.raises(ModelUnavailable):
        await gate(ModelUnavailable("no server"), dialect)


async def test_the_gate_may_name_words_to_search_the_other_parts_for() -> None:
    model = FunctionModel(lambda request: {"parts": [1], "search": ["draught of the hull"]})
    listed = [OutlineLine(chunk, chunk.text) for chunk in CHUNKS]
    gated = await ways_of(model).gate.out(listed, asked_for(FERRIES), model)
    assert gated.search == ("draught of the hull",) and len(gated.out) == 29
    assert "outline" in model.history[0].messages[-1].content


async def test_a_small_models_odds_must_be_clear_for_every_table() -> None:
    def reply(request: Request) -> Any:
        content = request.messages[-1].content
        if "part 0" in content:
            return {"yes": -6.0, "no": -0.01}
        if "part 1" in content:
            return {"yes": -6.0, "no": -0.01} if "ferry" in content else {"yes": -0.1, "no": -2.0}
        return {"yes": -0.9, "no": -0.6}

    out, model = await gate(reply, COMPACT, CHUNKS[:3])
    assert out == {CHUNKS[0].id}, "no of little weight is no no: recall first"
    assert all(
        request.choices == ("yes", "no") and request.max_tokens == 1 for request in model.history
    )


async def test_a_server_without_odds_gates_nothing() -> None:
    assert (await gate("no", COMPACT, CHUNKS[:3]))[0] == set()
