"""Runs that end with any exception give back what they hold: documents, turns, and the terms under which tables stand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from reading_model import document, reply, reply_shape

from sliders import Workspace
from sliders.chunks.embeddings import HashEmbedder
from sliders.executor.running import run_sync, together
from sliders.llm.model import Request
from sliders.llm.testing import FunctionModel

QUESTION = "What is the total cost?"
ENDS = [KeyboardInterrupt, SystemExit, asyncio.CancelledError, OSError]


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("deep", [0, 3])
def test_every_task_of_a_run_reaches_its_end(kind: type[BaseException], deep: int) -> None:
    held: list[str] = []

    @asynccontextmanager
    async def holding(name: str) -> AsyncIterator[None]:
        held.append(name)
        try:
            yield
        finally:
            held.remove(name)

    async def ends(level: int) -> None:
        async with holding(f"level {level}"):
            if level:
                await together(ends(level - 1), waits())
            await asyncio.sleep(0)
            raise kind

    async def waits() -> None:
        async with holding("waits"):
            await asyncio.sleep(3600)

    async def loose() -> None:
        waiting = asyncio.create_task(waits())
        await asyncio.sleep(0)
        async with holding("loose"):
            await ends(deep)
        await waiting

    with pytest.raises(kind):
        run_sync(loose())
    assert not held


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_run_that_is_ended_keeps_no_other_waiting(tmp_path: Path, kind: type[BaseException], concurrency: int) -> None:
    texts = {f"{name}.txt": document(name, cost="70 euros") for name in ("Orla Mill", "Tarn Ferry", "Long Wall", "Crane")}
    for number in range(1, 40):
        asked: list[str] = []

        def function(request: Request, number: int = number, asked: list[str] = asked) -> object:
            asked.append(request.stage)
            if len(asked) == number:
                raise kind
            return reply("\n".join(m.content for m in request.messages), reply_shape(request))

        place = tmp_path / f"{number}.db"
        with Workspace(place, model=FunctionModel(function), embedder=HashEmbedder(), concurrency=concurrency) as ws:
            for name, text in texts.items():
                ws.add_text(text, name)
            try:
                ws.ask(QUESTION)
            except kind:
                pass
            else:
                break

            async def next_one(ws: Workspace = ws) -> object:
                return (await asyncio.wait_for(ws.ask_async(QUESTION), 30)).value

            assert asyncio.run(next_one()) == 280, f"ended at call {number}, {asked[-1]}"
    assert 5 < number < 40
