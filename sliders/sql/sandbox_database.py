"""The database inside a sandbox's process: SQLite with rights and limits (see `sandbox`).

SQLite asks before every step of a statement whether it is allowed, and stops at the limits of time,
memory, rows and bytes. No parser is needed for this.
"""

from __future__ import annotations

import contextlib
import math
import re
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from sliders.child import limited
from sliders.errors import StoreError, UnsafeStatement
from sliders.sql.connect import MEMORY, connect
from sliders.sql.functions import ANALYST_AGGREGATES, register_functions
from sliders.sql.identifiers import RESERVED_PREFIXES, RESERVED_TABLES, fold
from sliders.sql.limits import Limits, MemoryGauge, Result, Rights, fetch, short
from sliders.sql.quoting import quote_identifier

PROGRESS_STEPS = 1_000
_NO_COLUMN = re.compile(r"no such column: (.*)", re.DOTALL)
_PIECES = re.compile(
    r"""'(?:[^']|'')*' | \[[^\]]*\] | `(?:[^`]|``)*` | --[^\n]* | /\*.*?\*/ | "((?:[^"]|"")*)" """,
    re.DOTALL | re.VERBOSE,
)
"""The texts, names and comments of a statement; the group is a name in double quotes."""

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

_ROWS = frozenset({sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE})
_CHANGES = {"nothing": frozenset(), "cells": {sqlite3.SQLITE_UPDATE}, "rows": _ROWS}
_BEYOND = ("SQLITE_TOOBIG", "SQLITE_NOMEM", "SQLITE_READONLY", "SQLITE_AUTH")
_FAILURES = (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError)


def _in_backticks(sql: str) -> str:
    """A statement with backticks in the place of double quotes around names; SQLite never reads a
    name in backticks as text.
    """

    def name(piece: re.Match[str]) -> str:
        inside = piece[1]
        if inside is None:
            return piece[0]
        return "`" + inside.replace('""', '"').replace("`", "``") + "`"

    return _PIECES.sub(name, sql)


class SandboxError(Exception):
    """A statement that was refused or stopped, or does not run.

    `words` are SQLite's message, `reason` the reason of the sandbox if it stopped the statement.
    """

    def __init__(
        self, statement: str, words: str, kind: Literal["stopped", "refused", "wrong"], reason: str
    ) -> None:
        super().__init__(words)
        self.statement, self.words, self.kind, self.reason = statement, words, kind, reason

    @property
    def sentence(self) -> StoreError:
        """The error for the writer of the statement."""
        told, why = short(self.statement), self.reason or self.words
        if self.kind == "stopped":
            return UnsafeStatement(f"the statement was stopped: {why}; ask for less: {told}")
        if self.kind == "refused":
            return UnsafeStatement(f"the statement is refused: {why}: {told}")
        again = "correct it" if self.reason else "correct it and try again"
        return StoreError(f"the statement does not run: {why}: {told}; {again}")


class SandboxDatabase:
    """A database in memory, or a file, with a connection of its own. Arguments and errors are those
    of `Sandbox`.
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
        self._complaints = register_functions(self._connection, bounded=True) if analysts else []
        self._readable: dict[frozenset[str], frozenset[tuple[str, str]]] = {}
        for category, value in engine:
            self._connection.setlimit(category, value)

    def add(self, table: str, types: Mapping[str, str]) -> None:
        """Makes a table with columns of these SQL types; "" is no type."""
        columns = ", ".join(f"{quote_identifier(n)} {kind}".strip() for n, kind in types.items())
        self.execute(f"CREATE TABLE {quote_identifier(table)} ({columns})")
        self._readable = {}

    def insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Adds rows to a table."""
        marks = ", ".join("?" * len(rows[0]))
        self._connection.executemany(
            f"INSERT INTO {quote_identifier(table)} VALUES ({marks})", rows
        )

    def execute(self, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """See `Sandbox.execute`."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise SandboxError(sql, str(error), "wrong", "") from error

    def decide(self, sql: str, values: Any, rights: Rights, limits: Limits) -> Any:
        """See `Sandbox.decide`."""
        with self._caged(rights, limits, sql):
            return self._connection.execute(sql, values).fetchone()[0]

    def select(self, sql: str, rights: Rights, limits: Limits) -> Result:
        """See `Sandbox.select`."""
        started = time.monotonic()
        try:
            with self._caged(rights, limits, sql):
                if '"' in sql:
                    self._check_names(sql)
                cursor = self._connection.execute(sql)
                if cursor.description is None:
                    raise UnsafeStatement(
                        f"this is not a SELECT: {short(sql)}; write one SELECT statement"
                    )
                columns = tuple(column[0] for column in cursor.description)
                rows, truncated = fetch(cursor, limits, started)
        except SandboxError as error:
            raise error.sentence from error
        return Result(columns, tuple(rows), truncated, time.monotonic() - started)

    def _check_names(self, sql: str) -> None:
        """Refuses a name in double quotes that means no column: SQLite would read it as text."""
        try:
            self._connection.execute(f"EXPLAIN {_in_backticks(sql)}")
        except sqlite3.OperationalError as error:
            if missing := _NO_COLUMN.fullmatch(str(error)):
                name = missing[1]
                words = f"there is no column {name!r}; a text stands in single quotes"
                raise SandboxError(sql, str(error), "wrong", words) from error

    def run(self, statements: Sequence[str], rights: Rights, limits: Limits) -> None:
        """See `Sandbox.run`."""
        with self._caged(rights, limits) as watch:
            for statement in statements:
                watch.running = statement
                self._connection.execute(statement)

    def run_script(self, sql: str, rights: Rights, limits: Limits) -> None:
        """See `Sandbox.run_script`."""
        with self._caged(rights, limits, sql):
            self._connection.executescript(sql)

    @contextlib.contextmanager
    def _caged(self, rights: Rights, limits: Limits, sql: str = "") -> Iterator[_Watch]:
        """A `with` block in which statements have only these rights and limits."""
        connection, watch = self._connection, _Watch(rights, limits, sql)
        if rights.tables is not None:
            names = self.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            watch.tables = {fold(name) for (name,) in names}
            watch.readable = self._read(rights.tables)
        self._complaints.clear()
        if rights.writes == "nothing":
            connection.execute("PRAGMA query_only=ON")
        connection.set_authorizer(watch.allows)
        before = [(name, connection.setlimit(name, value)) for name, value in limits.engine]
        if math.isfinite(limits.seconds):
            connection.set_progress_handler(watch.is_over, PROGRESS_STEPS)
        try:
            with (
                limited(limits.memory_bytes, limits.seconds),
                _alarm(connection, watch),
            ):
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
        words, beyond = str(error), getattr(error, "sqlite_errorname", "") in _BEYOND
        if isinstance(error, MemoryError) or "out of memory" in words:
            watch.out_of_memory()
        if watch.stopped:
            return SandboxError(watch.running, words, "stopped", watch.stopped)
        if self._complaints:
            return SandboxError(watch.running, words, "wrong", self._complaints[-1])
        if watch.denied or beyond or not isinstance(error, sqlite3.OperationalError):
            return SandboxError(watch.running, words, "refused", watch.denied)
        return SandboxError(watch.running, words, "wrong", "")

    def _read(self, tables: frozenset[str]) -> frozenset[tuple[str, str]]:
        """The (table, column) pairs behind the tables and views, folded."""
        if tables in self._readable:
            return self._readable[tables]
        pairs: set[tuple[str, str]] = set()

        def note(action: int, first: str | None, second: str | None, *_: str | None) -> int:
            if action == sqlite3.SQLITE_READ and first is not None:
                # A table whose rows are only counted is read through the column "".
                pairs.update({(fold(first), fold(second or "")), (fold(first), "")})
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
        return self._readable.setdefault(tables, frozenset(pairs))

    def close(self) -> None:
        """Frees the database."""
        self._connection.close()


class _Watch:
    """Decides on the steps of a statement from inside SQLite, and remembers why it stopped one."""

    def __init__(self, rights: Rights, limits: Limits, running: str) -> None:
        self.rights, self.limits, self.running = rights, limits, running
        self.readable: frozenset[tuple[str, str]] = frozenset()
        self.tables: set[str] = set()
        self.stopped = self.denied = ""
        self._started, self._gauge = time.monotonic(), MemoryGauge()

    def out_of_time(self) -> None:
        self.stopped = f"it ran longer than {self.limits.seconds:g} s"

    def out_of_memory(self) -> None:
        size = f"{self.limits.memory_bytes / 1_000_000:.0f} MB"
        self.stopped = f"it needed more than {size} of memory"

    def is_over(self) -> int:
        """1 when SQLite has to stop, else 0."""
        if time.monotonic() - self._started > self.limits.seconds:
            self.out_of_time()
        elif self._gauge.grown() > self.limits.memory_bytes:
            self.out_of_memory()
        return int(bool(self.stopped))

    def allows(
        self, action: int, first: str | None, second: str | None, _: str | None, inner: str | None
    ) -> int:
        """Decides whether a statement may take a step (SQLite's authorizer callback)."""
        refusal = self._refusal(action, first or "", second or "", inner)
        self.denied = refusal or self.denied
        return sqlite3.SQLITE_DENY if refusal else sqlite3.SQLITE_OK

    def _refusal(self, action: int, first: str, second: str, inner: str | None) -> str:
        # `inner`, the view or subquery that asks, only says that there is one: a subquery named
        # like a view passes for it.
        rights = self.rights
        if action == sqlite3.SQLITE_FUNCTION:
            known = rights.functions is None or fold(second) in rights.functions
            return "" if known else f"it may not call {second}()"
        if inner is not None and not rights.subqueries:
            return f"it may not hold the subquery {inner!r}"
        if action == sqlite3.SQLITE_READ:
            allowed = self._may_read(fold(first), fold(second))
            return "" if allowed else f"it may not read {first!r}"
        if action in _CHANGES[rights.writes]:
            open_table = rights.tables is None or first in rights.tables
            fixed = second in rights.fixed or first.startswith("sqlite_")
            return "" if open_table and not fixed else f"it may not change {first!r}"
        allowed = (
            action == sqlite3.SQLITE_SELECT
            or (action == sqlite3.SQLITE_RECURSIVE and rights.recursive)
            or (action == sqlite3.SQLITE_TRANSACTION and rights.writes != "nothing")
        )
        return "" if allowed else "it does more than read"

    def _may_read(self, table: str, column: str) -> bool:
        if self.rights.tables is None or (table, column) in self.readable:
            return True
        if self.rights.writes != "nothing" and (table, "") in self.readable:
            return True  # its row number as well
        # A name of which no column is read can only be a subquery's when it is no table, and
        # none of SQLite's own.
        own = table in RESERVED_TABLES or table.startswith(RESERVED_PREFIXES)
        return not column and not own and table not in self.tables


@contextlib.contextmanager
def _alarm(connection: sqlite3.Connection, watch: _Watch) -> Iterator[None]:
    """Interrupts a statement at the time limit. A thread can interrupt between any two steps, the
    progress handler only every thousand.
    """

    def ring() -> None:
        watch.out_of_time()
        connection.interrupt()

    timer = threading.Timer(min(watch.limits.seconds, threading.TIMEOUT_MAX), ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
