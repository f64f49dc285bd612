"""Coroutines run from plain code, also in notebooks; and runs recorded in the journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit, urlunsplit

from sliders.engine.session import Session
from sliders.errors import BudgetExceeded
from sliders.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end; in a notebook, which has a running event loop, on a thread of
    its own.
    """
    if not _in_a_loop():
        return _run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_run, work).result()


def _in_a_loop() -> bool:
    """True in a notebook and in other code of an event loop. An error of the work itself does not
    show this question as its cause.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner() as runner:
        try:
            return runner.run(work)
        except BaseException:
            _end(runner.get_loop())
            raise


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """Ends all tasks of a stopped loop, so that each releases what it holds.

    A KeyboardInterrupt or SystemExit inside a task stops the loop at once, and again when the task
    that waits for it raises it too. So the loop goes on as long as that ends tasks.
    """
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    before = len(tasks) + 1
    while 0 < len(tasks) < before:
        before = len(tasks)
        with suppress(KeyboardInterrupt, SystemExit):
            loop.run_until_complete(asyncio.wait(tasks))
        ended = {task for task in tasks if task.done()}
        tasks -= ended
        for task in ended:
            if not task.cancelled():
                # the loop warns of unread errors; the error that ended the run is raised
                task.exception()


def plainly(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Returns the plain twin of an async function: `ask` for `ask_async`."""

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> T:
        return run_sync(function(*args, **options))

    run.__name__ = function.__name__.removesuffix("_async")
    return run


async def together(*work: Coroutine[None, None, None]) -> None:
    """Runs all coroutines at once. When one fails, the others are ended before its
    error is raised.
    """
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def server_address(settings: Settings) -> str:
    """Returns the address of the server without user, password, query and fragment; "" for none."""
    parts = urlsplit(settings.base_url or "")
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


@asynccontextmanager
async def journaled(
    workspace: Session, kind: str, *questions: str
) -> AsyncIterator[tuple[Session, dict[str, Any]]]:
    """Records a run in the journal, with a session of its own. The `with` block puts the outcome
    into the mapping; its entry "stopped" records why the run ended early.
    """
    session = workspace.for_run()
    journal = session.catalog.journal
    held: dict[str, Any] = {"model": session.settings.model, "questions": list(questions)}
    if server := server_address(session.settings):
        held["base_url"] = server
    run = journal.start_run(kind, " / ".join(questions), held)
    outcome: dict[str, Any] = {}
    try:
        async with session.models.connected():
            yield session, outcome
    except BaseException as error:
        stopped = isinstance(error, BudgetExceeded)
        journal.finish_run(
            run, "stopped" if stopped else "failed", {"error": f"{type(error).__name__}: {error}"}
        )
        raise
    finally:
        workspace.spent = session.models.meter.total
    journal.finish_run(run, "stopped" if outcome.pop("stopped", "") else "done", outcome)
