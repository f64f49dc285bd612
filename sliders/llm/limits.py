"""Limits of a server: requests a minute, tokens a minute, requests in flight, and pauses that
the server asks for.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from sliders.llm.loops import PerLoop

WINDOW = 60.0


class Limiter(Protocol):
    """The limits of a server, in this process or shared with others."""

    async def acquire(self, tokens: int) -> list[float]:
        """Waits until a call of about `tokens` tokens may start. Returns its booking, which
        `settle` takes.
        """
        ...

    def settle(self, booking: list[float], tokens: int) -> None:
        """Replaces the estimate of a booking by the tokens that the call used."""
        ...

    def pause(self, seconds: float) -> None:
        """Starts no call for that many seconds."""
        ...


class RateLimiter:
    """Limits the requests and the tokens in any 60 seconds.

    Tokens are booked as an estimate before a call and corrected by `settle` after it. A request
    larger than the whole window is let through alone, because waiting would never help.
    """

    def __init__(
        self,
        rpm: int | None = None,
        tpm: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._rpm, self._tpm, self._clock, self._sleep = rpm, tpm, clock, sleep
        self._booked: deque[list[float]] = deque()  # [time, tokens], oldest first
        self._paused_until = 0.0

    async def acquire(self, tokens: int) -> list[float]:
        """See `Limiter.acquire`."""
        while (wait := self._wait(tokens)) > 0:
            await self._sleep(wait)
        booking = [self._clock(), float(tokens)]
        self._booked.append(booking)
        return booking

    def settle(self, booking: list[float], tokens: int) -> None:
        """See `Limiter.settle`."""
        booking[1] = float(tokens)

    def pause(self, seconds: float) -> None:
        """Starts no call for that many seconds, since the server asked one call to wait."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _wait(self, tokens: int) -> float:
        now = self._clock()
        while self._booked and self._booked[0][0] <= now - WINDOW:
            self._booked.popleft()
        wait = self._paused_until - now
        if self._rpm is not None and len(self._booked) >= self._rpm:
            wait = max(wait, self._booked[len(self._booked) - self._rpm][0] + WINDOW - now)
        if self._tpm is not None:
            wait = max(wait, self._token_wait(tokens, now))
        return wait

    def _token_wait(self, tokens: int, now: float) -> float:
        assert self._tpm is not None
        over = sum(booking[1] for booking in self._booked) + tokens - self._tpm
        for started, used in self._booked:
            if over <= 0:
                break
            over -= used
            if over <= 0 or started == self._booked[-1][0]:
                return started + WINDOW - now
        return 0.0


class RequestGate:
    """At most `size` requests in flight in each event loop."""

    def __init__(self, size: int) -> None:
        self._semaphores = PerLoop(lambda: asyncio.Semaphore(size))

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Holds one of the places for the `with` block."""
        async with self._semaphores.get():
            yield
