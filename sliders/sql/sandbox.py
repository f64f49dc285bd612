"""The sandbox: a SQLite database in a child process, in which statements of others run.

The program gives it tables, rights and limits as values, and takes rows. The engine asks for every
step of a statement whether it is allowed, and stops at limits of time, memory, rows and bytes. The
kernel holds the memory and the processor time of the child; one that does not answer is ended.
"""

from __future__ import annotations

import contextlib
import marshal
import math
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import islice
from typing import Any

from sliders.child import Child, ChildEnded, give_back, take
from sliders.errors import StoreError, UnsafeStatement
from sliders.sql.limits import Limits, Result, Rights
from sliders.sql.sandbox_database import ALLOWED_FUNCTIONS, SandboxError

__all__ = ["ALLOWED_FUNCTIONS", "Sandbox", "SandboxError"]

_MODULE = "sliders.sql.sandbox_process"
_BATCH = 5_000
"""Rows of one message."""
_GRACE = 0.5
"""Seconds beyond its limit in which the engine stops a statement by itself."""


class Sandbox(contextlib.AbstractContextManager["Sandbox"]):
    """A database in memory, or a file that is only read, in a child process of its own.

    Args:
        file: the URI of a file.
        analysts: the functions of `functions` are there, and those of SQLite that one call
            can keep busy for minutes are bounded.
        engine: limits of SQLite that hold for the program's own statements as well.

    Raises:
        sqlite3.Error: the file cannot be opened.
    """

    def __init__(
        self, file: str = "", *, analysts: bool = False, engine: Iterable[tuple[int, int]] = ()
    ) -> None:
        self._lock = threading.RLock()
        self._child: Child | None = take(_MODULE)
        self._ask("", None, "open", file, analysts, tuple(engine))

    def add(self, table: str, types: Mapping[str, str], rows: Iterable[Sequence[Any]] = ()) -> None:
        """Make a table of these rows.

        Args:
            types: SQL types by column; "" is none.
        """
        self._ask("", None, "table", table, tuple(types.items()))
        left = iter(rows)
        while batch := [tuple(row) for row in islice(left, _BATCH)]:
            self._ask("", None, "rows", table, batch)

    def execute(self, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """The rows of a statement of the program itself, which has every right.

        Raises:
            SandboxError: it does not run.
        """
        rows: list[tuple[Any, ...]] = self._ask(sql, None, "execute", sql, values)
        return rows

    @contextlib.contextmanager
    def undone(self) -> Iterator[None]:
        """What is changed inside the block is as before afterwards."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            if self._child is not None and self._child.alive:
                self.execute("ROLLBACK")

    def decide(self, sql: str, values: Any, rights: Rights, limits: Limits) -> Any:
        """The one value of a statement of others with parameters.

        Raises:
            SandboxError: it is refused, stopped, or does not run.
        """
        return self._ask(sql, limits, "decide", sql, values, astuple(rights), astuple(limits))

    def select(self, sql: str, rights: Rights, limits: Limits) -> Result:
        """Run one SELECT of others.

        Raises:
            UnsafeStatement: it is no SELECT, does more than `rights` allow, or passes a limit.
            StoreError: SQLite finds an error in it (unknown column, wrong number of arguments).
        """
        try:
            found = self._ask(sql, limits, "select", sql, astuple(rights), astuple(limits))
        except SandboxError as error:
            raise error.sentence from error
        return Result(*found)

    def run(self, statements: Sequence[str], rights: Rights, limits: Limits) -> None:
        """Run statements of others one after the other; the limits hold for all together.

        Raises:
            SandboxError: one of them is refused, stopped, or does not run; those before it are
                not undone.
        """
        texts = tuple(statements)
        self._ask("; ".join(texts), limits, "run", texts, astuple(rights), astuple(limits))

    def run_script(self, sql: str, rights: Rights, limits: Limits) -> None:
        """Run a text of several statements of others. Raises SandboxError: as `run`."""
        self._ask(sql, limits, "script", sql, astuple(rights), astuple(limits))

    def _ask(self, sql: str, limits: Limits | None, *message: Any) -> Any:
        """What the child gives for a message; `sql` is the statement that it runs, for errors.

        Args:
            limits: those of a statement of others; its child is ended beyond them.
        """
        bounded = limits is not None and math.isfinite(limits.seconds)
        seconds = limits.seconds + _GRACE if limits is not None and bounded else None
        with self._lock:
            if self._child is None or not self._child.alive:
                raise SandboxError(sql, "the database is gone", "stopped", _GONE)
            try:
                state, *told = marshal.loads(self._child.ask(marshal.dumps(message), seconds))
            except ChildEnded as error:
                raise SandboxError(sql, str(error), "stopped", _why(limits, error)) from error
        if state == "done":
            return told[0]
        if state == "sandbox":
            raise SandboxError(*told)
        raise {"unsafe": UnsafeStatement, "store": StoreError, "sqlite": sqlite3.OperationalError}[
            state
        ](told[0])

    def __exit__(self, *_: object) -> None:
        """Free the database; its process serves the next one."""
        with self._lock, contextlib.suppress(SandboxError):
            small, child = self._ask("", None, "close"), self._child
            self._child = None
            if child is not None and small:
                give_back(child)
            elif child is not None:
                child.end()


_GONE = "an earlier statement took more than its limits, and the tables went with it"


def _why(limits: Limits | None, error: ChildEnded) -> str:
    """Why a child ended, in words."""
    if limits is None:
        return "its process ended"
    if error.out_of_time:
        return f"it ran longer than {limits.seconds:g} s"
    return (
        f"it needed more than {limits.memory_bytes / 1_000_000:.0f} MB of memory or "
        f"{limits.seconds:g} s of the processor"
    )
