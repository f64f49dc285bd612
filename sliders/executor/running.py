"""Coroutines run to their end from plain code, in notebooks too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, in a notebook (where a loop runs already) on a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def plainly(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The twin of an async function for plain code: `ask` of `ask_async`."""

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> T:
        return run_sync(function(*args, **options))

    run.__name__ = function.__name__.removesuffix("_async")
    return run
