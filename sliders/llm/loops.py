"""Things that belong to one event loop: clients and locks cannot be carried from one `asyncio.run` to the next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One `T` for each running event loop, made when it is first asked for."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def get(self) -> T:
        """The running loop's own `T`."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            self._made[loop] = self._make()
        return self._made[loop]

    def drop(self) -> T | None:
        """Forget the running loop's `T` and return it, so that it can be closed."""
        return self._made.pop(asyncio.get_running_loop(), None)
