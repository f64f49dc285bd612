"""Runs that end with any exception give back what they hold: each of their
tasks reaches its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sliders.engine import run_sync, together

ENDS = [KeyboardInterrupt, SystemExit, asyncio.CancelledError, OSError]


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("deep", [0, 3])
def test_every_task_of_a_run_reaches_its_end(kind: type[BaseException], deep: int) -> None:
    held: list[str] = []
    known: list[object] = []  # a task that somebody knows is not closed when nobody waits for it

    @asynccontextmanager
    async def holding(name: str) -> AsyncIterator[None]:
        held.append(name)
        known.append(asyncio.current_task())
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
            try:
                await asyncio.sleep(3600)
            finally:
                await asyncio.sleep(0.01)  # its end takes time

    async def loose() -> None:
        waiting = asyncio.create_task(waits())
        await asyncio.sleep(0)
        async with holding("loose"):
            await ends(deep)
        await waiting

    with pytest.raises(kind):
        run_sync(loose())
    assert not held
