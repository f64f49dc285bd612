"""The sandbox: a SQLite database in which statements of others run.

The program gives it tables, rights and limits as values, and takes rows. The engine asks for every
step of a statement whether it is allowed, and stops at limits of time, memory, rows and bytes; it
needs no parser for that.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sliders.errors import StoreError, UnsafeStatement
from sliders.sql.connect import MEMORY, connect
from sliders.sql.functions import ANALYST_AGGREGATES, register_functions
from sliders.sql.limits import Limits, MemoryGauge, Result, Rights, fetch, short
from sliders.sql.names import RESERVED_PREFIXES, RESERVED_TABLES, fold
from sliders.sql.quoting import quote_identifier

PROGRESS_STEPS = 1_000

# Functions that read nothing but their arguments. Not here: load_extension, readfile, writefile,
# edit, fts3_tokenizer, zeroblob, randomblob, sqlite_* and whatever an extension may add.
_FUNCTIONS = """abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat
    concat_ws cos cosh count cume_dist current_date current_time current_timestamp date datetime
    degrees dense_rank exp first_value floor format glob group_concat hex ifnull iif instr json
    json_array json_array_length json_extract json_group_array json_group_object json_object
    json_quote json_type json_valid julianday lag last_value lead length like ln log log10 log2
    lower ltrim max min mod nth_value ntile nullif octet_length percent_rank pi pow power printf
    quote radians random rank replace round row_number rtrim sign sin sinh soundex sqrt strftime
    string_agg substr substring sum tan tanh time timediff total trim trunc typeof unicode
    unixepoch unhex unlikely upper -> ->>"""
ALLOWED_FUNCTIONS = frozenset(_FUNCTIONS.split()) | frozenset(ANALYST_AGGREGATES)

_CHANGES = {
    "nothing": frozenset[int](),
    "cells": frozenset({sqlite3.SQLITE_UPDATE}),
    "rows": frozenset({sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE}),
}
_BEYOND = ("SQLITE_TOOBIG", "SQLITE_NOMEM", "SQLITE_READONLY", "SQLITE_AUTH")
_Decide = Callable[[int, str | None, str | None, str | None, str | None], int]
_FAILURES = (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError)


class SandboxError(Exception):
    """A statement that was stopped or refused, or does not run.

    `words` are the engine's own, `reason` those of the sandbox where it knows more.
    """

    def __init__(
        self,
        statement: str,
        words: str,
        kind: Literal["stopped", "refused", "wrong"],
        reason: str = "",
    ) -> None:
        super().__init__(words)
        self.statement, self.words, self.kind, self.reason = statement, words, kind, reason

    @property
    def sentence(self) -> StoreError:
        """The error for who wrote the statement."""
        told = short(self.statement)
        if self.kind == "stopped":
            return UnsafeStatement(
                f"the statement was stopped: {self.reason}; ask for less: {told}"
            )
        if self.kind == "refused":
            return UnsafeStatement(f"the statement is refused: {self.reason or self.words}: {told}")
        if self.reason:
            return StoreError(f"the statement does not run: {self.reason}: {told}; correct it")
        return StoreError(
            f"the statement does not run: {self.words}: {told}; correct it and try again"
        )


@dataclass(slots=True)
class _Watch:
    """Stops statements from inside the engine, and remembers why."""

    limits: Limits
    started: float = field(default_factory=time.monotonic)
    gauge: MemoryGauge = field(default_factory=MemoryGauge)
    stopped: str = ""
    denied: str = ""
    running: str = ""

    def out_of_time(self) -> None:
        self.stopped = f"it ran longer than {self.limits.seconds:g} s"

    def __call__(self) -> int:
        if time.monotonic() - self.started > self.limits.seconds:
            self.out_of_time()
        elif self.gauge.grown() > self.limits.memory_bytes:
            self.stopped = (
                f"it needed more than {self.limits.memory_bytes / 1_000_000:.0f} MB of memory"
            )
        return int(bool(self.stopped))


class Sandbox(contextlib.AbstractContextManager["Sandbox"]):
    """A database in memory, or a file, with a connection of its own.

    Args:
        file: the URI of a file; it is only read.
        analysts: the functions of `functions` are there, and those of SQLite that one call
            can keep busy for minutes are bounded.
        engine: limits of SQLite that hold for the program's own statements as well.

    Raises:
        sqlite3.Error: the file cannot be opened.
    """

    def __init__(
        self, file: str = "", *, analysts: bool = False, engine: Iterable[tuple[int, int]] = ()
    ) -> None:
        self._connection = connect(file or MEMORY, cached_statements=0 if file else 128)
        if file:
            # Sorting and grouping in memory, where the watch can see it, and never in files
            # beside the workspace.
            self._connection.execute("PRAGMA temp_store=MEMORY")
            self._connection.execute("PRAGMA trusted_schema=OFF")
        self._complaints = (
            register_functions(self._connection, bounded=True) if analysts else list[str]()
        )
        self._readable: dict[frozenset[str], frozenset[tuple[str, str]]] = {}
        for category, value in engine:
            self._connection.setlimit(category, value)

    def add(self, table: str, types: Mapping[str, str], rows: Iterable[Sequence[Any]] = ()) -> None:
        """Make a table of these rows.

        Args:
            types: SQL types by column; "" is none.
        """
        columns = ", ".join(f"{quote_identifier(n)} {kind}".strip() for n, kind in types.items())
        self.execute(f"CREATE TABLE {quote_identifier(table)} ({columns})")
        marks = ", ".join("?" * len(types))
        self._connection.executemany(
            f"INSERT INTO {quote_identifier(table)} VALUES ({marks})", rows
        )
        self._readable = {}

    def execute(self, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """The rows of a statement of the program itself, which has every right.

        Raises:
            SandboxError: it does not run.
        """
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise SandboxError(sql, str(error), "wrong") from error

    @contextlib.contextmanager
    def undone(self) -> Iterator[None]:
        """What is changed inside the block is as before afterwards."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.execute("ROLLBACK")

    def select(self, sql: str, rights: Rights, limits: Limits) -> Result:
        """Run one SELECT of others.

        Raises:
            UnsafeStatement: it is no SELECT, does more than `rights` allow, or passes a limit.
            StoreError: SQLite finds an error in it (unknown column, wrong number of arguments).
        """
        try:
            with self._caged(rights, limits, sql) as watch:
                cursor = self._connection.execute(sql)
                if cursor.description is None:
                    raise UnsafeStatement(
                        f"this is not a SELECT: {short(sql)}; write one SELECT statement"
                    )
                columns = tuple(column[0] for column in cursor.description)
                rows, truncated = fetch(cursor, limits, watch.started)
        except SandboxError as error:
            raise error.sentence from error
        return Result(columns, tuple(rows), truncated, time.monotonic() - watch.started)

    def run(self, statements: Sequence[str], rights: Rights, limits: Limits) -> None:
        """Run statements of others one after the other; the limits hold for all together.

        Raises:
            SandboxError: one of them is refused, stopped, or does not run; those before it are
                not undone.
        """
        with self._caged(rights, limits) as watch:
            for statement in statements:
                watch.running = statement
                self._connection.execute(statement)

    def run_script(self, sql: str, rights: Rights, limits: Limits) -> None:
        """Run a text of several statements of others. Raises SandboxError: as `run`."""
        with self._caged(rights, limits, sql):
            self._connection.executescript(sql)

    @contextlib.contextmanager
    def _caged(self, rights: Rights, limits: Limits, sql: str = "") -> Iterator[_Watch]:
        """Inside the block statements have these rights and limits alone."""
        connection, watch = self._connection, _Watch(limits, running=sql)
        self._complaints.clear()
        decide = _authorizer(rights, self._pairs(rights), self._own_names(rights), watch)
        if rights.writes == "nothing":
            connection.execute("PRAGMA query_only=ON")
        connection.set_authorizer(decide)
        before = [(name, connection.setlimit(name, value)) for name, value in limits.engine]
        if math.isfinite(limits.seconds):
            connection.set_progress_handler(watch, PROGRESS_STEPS)
        try:
            with _alarm(connection, watch):
                yield watch
        except _FAILURES as error:
            raise self._error(watch, error) from error
        finally:
            connection.set_authorizer(None)
            connection.set_progress_handler(None, 0)
            for name, value in before:
                connection.setlimit(name, value)
            connection.execute("PRAGMA query_only=OFF")

    def _error(self, watch: _Watch, error: BaseException) -> SandboxError:
        words = str(error)
        if watch.stopped:
            return SandboxError(watch.running, words, "stopped", watch.stopped)
        if self._complaints:
            return SandboxError(watch.running, words, "wrong", self._complaints[-1])
        if watch.denied:
            return SandboxError(watch.running, words, "refused", watch.denied)
        beyond = getattr(error, "sqlite_errorname", "") in _BEYOND
        kind: Literal["refused", "wrong"] = (
            "refused" if beyond or not isinstance(error, sqlite3.OperationalError) else "wrong"
        )
        return SandboxError(watch.running, words, kind)

    def _own_names(self, rights: Rights) -> frozenset[str]:
        """The folded names of the tables and views that are there."""
        if rights.tables is None:
            return frozenset()
        names = self.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        return frozenset(fold(name) for (name,) in names)

    def _pairs(self, rights: Rights) -> frozenset[tuple[str, str]]:
        """The (table, column) pairs that the readable tables and views are made of, folded."""
        if rights.tables is None:
            return frozenset()
        if rights.tables not in self._readable:
            self._readable[rights.tables] = self._read(rights.tables)
        return self._readable[rights.tables]

    def _read(self, tables: frozenset[str]) -> frozenset[tuple[str, str]]:
        pairs: set[tuple[str, str]] = set()

        def note(
            action: int,
            first: str | None,
            second: str | None,
            _database: str | None,
            _inner: str | None,
        ) -> int:
            if action == sqlite3.SQLITE_READ and first is not None:
                pairs.add((fold(first), fold(second or "")))
            return sqlite3.SQLITE_OK

        self._connection.set_authorizer(note)
        try:
            for name in tables:
                self._connection.execute(f"EXPLAIN SELECT * FROM {quote_identifier(name)}")
        except sqlite3.Error as error:
            raise StoreError(
                f"the workspace has no table {name!r} to query ({error}); list them "
                "with: sliders schema"
            ) from error
        finally:
            self._connection.set_authorizer(None)
        # A table whose rows are only counted is read through the column "".
        return frozenset(pairs | {(table, "") for table, _ in pairs})

    def __exit__(self, *_: object) -> None:
        """Free the database."""
        self._connection.close()


def _authorizer(
    rights: Rights, readable: frozenset[tuple[str, str]], own: frozenset[str], watch: _Watch
) -> _Decide:
    """Decides for the engine about each step of a statement."""

    # The fifth argument, the view or subquery that asks, only says that there is one: a subquery
    # named like a view passes for it.
    def decide(
        action: int,
        first: str | None,
        second: str | None,
        _database: str | None,
        inner: str | None,
    ) -> int:
        if action == sqlite3.SQLITE_FUNCTION:
            if rights.functions is None or fold(second or "") in rights.functions:
                return sqlite3.SQLITE_OK
            watch.denied = f"it may not call {second}()"
        elif inner is not None and not rights.subqueries:
            watch.denied = f"it may not hold the subquery {inner!r}"
        elif action == sqlite3.SQLITE_READ:
            if _may_read(rights, readable, own, fold(first or ""), fold(second or "")):
                return sqlite3.SQLITE_OK
            watch.denied = f"it may not read {first!r}"
        elif (
            action == sqlite3.SQLITE_SELECT
            or (action == sqlite3.SQLITE_RECURSIVE and rights.recursive)
            or (action == sqlite3.SQLITE_TRANSACTION and rights.writes != "nothing")
            or (action in _CHANGES[rights.writes] and _may_change(rights, first or "", second))
        ):
            return sqlite3.SQLITE_OK
        else:
            watch.denied = (
                "it does more than read" if rights.writes == "nothing" else "it does too much"
            )
        return sqlite3.SQLITE_DENY

    return decide


def _may_read(
    rights: Rights,
    readable: frozenset[tuple[str, str]],
    own: frozenset[str],
    table: str,
    column: str,
) -> bool:
    if rights.tables is None or (table, column) in readable:
        return True
    if rights.writes != "nothing" and (table, "") in readable:  # its row number as well
        return True
    # A name of which no column is read can only be a subquery's when it is no table, and
    # none of SQLite's own.
    known = table in own or table in RESERVED_TABLES or table.startswith(RESERVED_PREFIXES)
    return not column and not known


def _may_change(rights: Rights, table: str, column: str | None) -> bool:
    permitted = rights.tables is None or table in rights.tables
    return permitted and not table.startswith("sqlite_") and column not in rights.fixed


@contextlib.contextmanager
def _alarm(connection: sqlite3.Connection, watch: _Watch) -> Iterator[None]:
    """Interrupts at the time limit: a thread can do so between two steps, the progress handler
    only every thousand.
    """
    if not math.isfinite(watch.limits.seconds):
        yield
        return

    def ring() -> None:
        watch.out_of_time()
        connection.interrupt()

    timer = threading.Timer(watch.limits.seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
