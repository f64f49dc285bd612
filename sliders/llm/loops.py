"""Objects that belong to one event loop: clients and locks cannot be used in another
`asyncio.run`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """An object of type `T` for each running event loop, made on first use."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def get(self) -> T:
        """Returns the object of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            self._made[loop] = self._make()
        return self._made[loop]

    def drop(self) -> T | None:
        """Removes the object of the running loop and returns it, so that it can be closed; None
        when there is none.
        """
        return self._made.pop(asyncio.get_running_loop(), None)


class Turns:
    """Lets waiting coroutines go on one at a time, one in each round of the event loop.

    Otherwise all replies that arrived together would be processed at once, while the loop neither
    sends requests nor reads replies.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self) -> None:
        """Waits for the caller's turn."""
        loop = asyncio.get_running_loop()
        mine: asyncio.Future[None] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._next)
        self._waiting.append(mine)
        await mine

    def _next(self) -> None:
        while self._waiting:
            first = self._waiting.popleft()
            if not first.done():  # else the waiting coroutine was cancelled
                first.set_result(None)
                break
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._next)
