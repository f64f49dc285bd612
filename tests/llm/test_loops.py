"""Turns: what waits goes on one at a time, and the loop works in between."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.llm import Turns


@settings(deadline=None, max_examples=40)
@given(cancelled=st.sets(st.integers(0, 11)))
def test_one_goes_on_in_each_round_of_the_loop_and_the_cancelled_hold_up_nobody(
    cancelled: set[int],
) -> None:
    async def scene() -> list[tuple[int, int]]:
        turns, rounds, went = Turns(), 0, list[tuple[int, int]]()

        async def one(number: int) -> None:
            await turns.take()
            went.append((number, rounds))

        tasks = [asyncio.create_task(one(number)) for number in range(12)]
        await asyncio.sleep(0)
        for number in cancelled:
            tasks[number].cancel()
        while not all(task.done() for task in tasks) and rounds < 100:
            rounds += 1
            await asyncio.sleep(0)
        late = asyncio.create_task(one(12))  # the turns go on after a pause
        await asyncio.wait_for(late, 5)
        return went

    went = asyncio.run(scene())
    assert [number for number, _ in went] == [n for n in range(12) if n not in cancelled] + [12]
    seen = [at for _, at in went[:-1]]
    assert len(set(seen)) == len(seen), "two went on in one round"
