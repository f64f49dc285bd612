"""The sandbox: a SQLite database in a child process. It runs statements that the model or a user
wrote (*foreign* statements below), apart from the program.

The program sends tables, rights and limits, and receives rows. SQLite asks before every step of a
statement whether the step is allowed, and stops at the limits of time, memory, rows and bytes. The
kernel limits the memory and the processor time of the child; a child that does not answer is
killed.
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
"""The number of rows in one message."""
_GRACE = 0.5
"""Seconds beyond the time limit in which SQLite stops a statement by itself, before the child is
killed.
"""


class Sandbox(contextlib.AbstractContextManager["Sandbox"]):
    """A database in a child process of its own: in memory, or a file that is opened for reading.

    Args:
        file: the URI of a database file; "" is a database in memory.
        analysts: True adds the functions that queries may call (module `functions`) and bounds the
            functions of SQLite that can run for minutes in one call.
        engine: pairs (number of a SQLite limit, value) for all statements, the program's own too.

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
        """Makes a table and fills it.

        Args:
            table: the name of the table.
            types: the SQL type of each column, by name; "" for a column without a type.
            rows: the values of each row, in the order of `types`.
        """
        self._ask("", None, "table", table, tuple(types.items()))
        left = iter(rows)
        while batch := [tuple(row) for row in islice(left, _BATCH)]:
            self._ask("", None, "rows", table, batch)

    def execute(self, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """Returns the rows of a statement of the program itself, which may do anything.

        Args:
            values: the parameters of the statement.

        Raises:
            SandboxError: SQLite refuses the statement, or the child has ended.
        """
        rows: list[tuple[Any, ...]] = self._ask(sql, None, "execute", sql, values)
        return rows

    @contextlib.contextmanager
    def undone(self) -> Iterator[None]:
        """A `with` block whose changes to the database are undone at its end."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            if self._child is not None and self._child.alive:
                self.execute("ROLLBACK")

    def decide(self, sql: str, values: Any, rights: Rights, limits: Limits) -> Any:
        """Returns the single value that a foreign statement gives with these parameters.

        Raises:
            SandboxError: the statement is not allowed, passes a limit, or does not run.
        """
        return self._ask(sql, limits, "decide", sql, values, astuple(rights), astuple(limits))

    def select(self, sql: str, rights: Rights, limits: Limits) -> Result:
        """Runs one foreign SELECT and returns its rows.

        Raises:
            UnsafeStatement: the statement is no SELECT, does more than `rights` allow, or passes a
                limit.
            StoreError: SQLite finds an error in it (unknown column, wrong number of arguments).
        """
        try:
            found = self._ask(sql, limits, "select", sql, astuple(rights), astuple(limits))
        except SandboxError as error:
            raise error.sentence from error
        return Result(*found)

    def run(self, statements: Sequence[str], rights: Rights, limits: Limits) -> None:
        """Runs foreign statements one after the other; the limits hold for all of them together.

        Raises:
            SandboxError: a statement is not allowed, passes a limit, or does not run; the
                statements before it stay done.
        """
        texts = tuple(statements)
        self._ask("; ".join(texts), limits, "run", texts, astuple(rights), astuple(limits))

    def run_script(self, sql: str, rights: Rights, limits: Limits) -> None:
        """Runs foreign statements that stand in one text.

        Raises:
            SandboxError: as `run`.
        """
        self._ask(sql, limits, "script", sql, astuple(rights), astuple(limits))

    def _ask(self, sql: str, limits: Limits | None, *message: Any) -> Any:
        """Sends a message to the child and returns its reply.

        Args:
            sql: the statement that the message holds, for errors.
            limits: the limits of a foreign statement; the child is killed beyond them. None for the
                program's own.
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
        """Frees the database; its process serves the next sandbox."""
        with self._lock, contextlib.suppress(SandboxError):
            small, child = self._ask("", None, "close"), self._child
            self._child = None
            if child is not None and small:
                give_back(child)
            elif child is not None:
                child.end()


_GONE = "an earlier statement passed its limits, and the tables were lost with it"


def _why(limits: Limits | None, error: ChildEnded) -> str:
    """Returns in words why the child ended."""
    if limits is None:
        return "its process ended"
    if error.out_of_time:
        return f"it ran longer than {limits.seconds:g} s"
    return (
        f"it needed more than {limits.memory_bytes / 1_000_000:.0f} MB of memory or "
        f"{limits.seconds:g} s of the processor"
    )
