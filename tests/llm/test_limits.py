"""Rate limits, on a clock that the test turns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sliders.llm import WINDOW, RateLimiter


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


async def starts(limiter: RateLimiter, clock: Clock, sizes: list[int]) -> list[float]:
    times = []
    for size in sizes:
        await limiter.acquire(size)
        times.append(clock.now)
    return times


async def test_without_limits_nothing_waits() -> None:
    clock = Clock()
    assert (
        await starts(RateLimiter(None, None, clock, clock.sleep), clock, [10**9] * 5) == [0.0] * 5
    )


async def test_the_request_after_the_limit_waits_for_the_window() -> None:
    clock = Clock()
    assert await starts(RateLimiter(2, None, clock, clock.sleep), clock, [1, 1, 1]) == [
        0.0,
        0.0,
        WINDOW,
    ]


async def test_settling_frees_what_was_not_used() -> None:
    clock = Clock()
    limiter = RateLimiter(None, 100, clock, clock.sleep)
    limiter.settle(await limiter.acquire(90), 10)
    await limiter.acquire(90)
    assert clock.now == 0.0


async def test_a_request_above_the_whole_limit_goes_alone() -> None:
    clock = Clock()
    assert await starts(RateLimiter(None, 100, clock, clock.sleep), clock, [50, 500, 50]) == [
        0.0,
        WINDOW,
        2 * WINDOW,
    ]


async def test_a_pause_holds_for_all() -> None:
    clock = Clock()
    limiter = RateLimiter(None, None, clock, clock.sleep)
    limiter.pause(7.0)
    assert await starts(limiter, clock, [1]) == [7.0]


@given(st.integers(1, 5), st.integers(50, 200), st.lists(st.integers(1, 50), max_size=30))
async def test_no_window_ever_holds_more_than_the_limits(
    rpm: int, tpm: int, sizes: list[int]
) -> None:
    clock = Clock()
    times = await starts(RateLimiter(rpm, tpm, clock, clock.sleep), clock, sizes)
    for start in times:
        inside = [
            size for at, size in zip(times, sizes, strict=True) if start - WINDOW < at <= start
        ]
        assert len(inside) <= rpm
        assert sum(inside) <= tpm
