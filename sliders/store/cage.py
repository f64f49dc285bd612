"""The cage for SQL that a model or a user wrote (contract 8).

Two walls, each of which holds alone wherever SQLite allows it: the parser gives good errors and
bounds what the engine would expand before it can be interrupted; the engine runs on a connection of
its own that is read-only, sees an allow-list of tables and functions, and stops at limits of time,
memory, rows and bytes.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from sliders.errors import StoreError, UnsafeStatement
from sliders.store.database import Database
from sliders.store.engines import quote_identifier
from sliders.store.file import file_uri
from sliders.store.result_limits import Limits, MemoryGauge, Result, fetch, short
from sliders.store.sql_functions import ANALYST_AGGREGATES, register_functions
from sliders.store.sql_names import RESERVED_PREFIXES, RESERVED_TABLES, fold
from sliders.store.statement import MAX_SQL_CHARACTERS, check_statement
from sliders.store.translate import to_postgres

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

# The engine's own limits. LENGTH bounds every single string; the others bound what one
# statement may contain.
_ENGINE_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 300_000),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_CHARACTERS * 4),
    (sqlite3.SQLITE_LIMIT_COLUMN, 512),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 500),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (sqlite3.SQLITE_LIMIT_VDBE_OP, 250_000),
    (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 100),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
    (sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 0),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)


@dataclass(slots=True)
class _Watch:
    """Stops a statement from inside the engine, and remembers why."""

    limits: Limits
    started: float = field(default_factory=time.monotonic)
    gauge: MemoryGauge = field(default_factory=MemoryGauge)
    stopped: str = ""
    denied: str = ""
    complaints: list[str] = field(default_factory=list)

    def out_of_time(self) -> None:
        self.stopped = f"it ran longer than {self.limits.seconds:g} s"

    def __call__(self) -> int:
        if time.monotonic() - self.started > self.limits.seconds:
            self.out_of_time()
        elif self.gauge.grown() > self.limits.memory_bytes:
            self.stopped = (
                f"it needed more than {self.limits.memory_bytes // 1_000_000} MB of memory"
            )
        return int(bool(self.stopped))


def run_readonly(
    database: Database,
    sql: str,
    *,
    tables: Iterable[str],
    limits: Limits | None = None,
    parse: bool = True,
) -> Result:
    """Run one SELECT in the cage.

    Args:
        tables: the tables and views that the statement may see, by SQL name;
            what a view reads is opened with it.
        limits: of time, rows, bytes and memory.
        parse: check the statement with the parser first; only tests of the engine's
            own wall leave it out.

    Raises:
        UnsafeStatement: it is not one SELECT, names what it may not see, or passes a
            limit of time or memory.
        StoreError: SQLite finds an error in it (unknown column, wrong number of arguments ...).
    """
    visible = frozenset(tables)
    names = database.names()
    known = frozenset(names)
    limits = limits or Limits()
    checked = check_statement(sql, visible, known) if parse else None
    if database.on_server:
        from sliders.store.cage_server import run_on_server

        if checked:
            sql = to_postgres(
                checked.tree, [name for table in checked.tables for name in (table, *names[table])]
            )
        return run_on_server(database, sql, visible, limits)
    with contextlib.closing(_open(database)) as connection:
        return run_caged(connection, sql, visible=visible, known=known, limits=limits)


def run_caged(
    connection: sqlite3.Connection,
    sql: str,
    *,
    visible: frozenset[str],
    known: frozenset[str],
    limits: Limits,
) -> Result:
    """Run one SELECT on a connection of its own, which from then on may only read `visible`;
    errors as `run_readonly`.

    `known` are the names of all its tables and views.
    """
    watch = _Watch(limits)
    watch.complaints = register_functions(connection, bounded=True)
    readable = _readable(connection, visible)
    connection.execute("PRAGMA query_only=ON")
    connection.set_authorizer(_authorizer(readable, known, watch))
    for category, value in _ENGINE_LIMITS:
        connection.setlimit(category, value)
    connection.set_progress_handler(watch, PROGRESS_STEPS)
    with _explained(sql, watch), _alarm(connection, watch):
        cursor = connection.execute(sql)
        if cursor.description is None:
            raise UnsafeStatement(f"this is not a SELECT: {short(sql)}; write one SELECT statement")
        columns = tuple(column[0] for column in cursor.description)
        rows, truncated = fetch(cursor, limits, watch.started)
    return Result(columns, tuple(rows), truncated, time.monotonic() - watch.started)


def _open(database: Database) -> sqlite3.Connection:
    assert database.path is not None  # it is a file
    place = file_uri(database.path, database.engine.mode)
    connection = sqlite3.connect(
        place, uri=True, isolation_level=None, check_same_thread=False, cached_statements=0
    )
    # Sorting and grouping in memory, where the watch can see it, and never in files
    # beside the workspace.
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _readable(
    connection: sqlite3.Connection, visible: frozenset[str]
) -> frozenset[tuple[str, str]]:
    """The (table, column) pairs that the visible tables and views are made of, folded."""
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

    connection.set_authorizer(note)
    for name in visible:
        try:
            connection.execute(f"EXPLAIN SELECT * FROM {quote_identifier(name)}")
        except sqlite3.Error as error:
            raise StoreError(
                f"the workspace has no table {name!r} to query ({error}); list them "
                "with: sliders schema"
            ) from error
    connection.set_authorizer(None)
    # A table whose rows are only counted is read through the column "".
    return frozenset(pairs | {(table, "") for table, _ in pairs})


def _authorizer(
    readable: frozenset[tuple[str, str]], known: frozenset[str], watch: _Watch
) -> Callable[[int, str | None, str | None, str | None, str | None], int]:
    folded = frozenset(fold(name) for name in known)

    # The fifth argument, the view that asks, is not trusted: a subquery named like a
    # view passes for one.
    def decide(
        action: int,
        first: str | None,
        second: str | None,
        _database: str | None,
        _inner: str | None,
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            table, column = fold(first or ""), fold(second or "")
            own = table in folded or table in RESERVED_TABLES or table.startswith(RESERVED_PREFIXES)
            # A name of which no column is read can only be a subquery's when it is no table, and
            # none of SQLite's own.
            if (table, column) in readable or (not column and not own):
                return sqlite3.SQLITE_OK
            watch.denied = f"it may not read {first!r}"
        elif action == sqlite3.SQLITE_FUNCTION:
            if fold(second or "") in ALLOWED_FUNCTIONS:
                return sqlite3.SQLITE_OK
            watch.denied = f"it may not call {second}()"
        else:
            watch.denied = "it does more than read"
        return sqlite3.SQLITE_DENY

    return decide


@contextlib.contextmanager
def _alarm(connection: sqlite3.Connection, watch: _Watch) -> Iterator[None]:
    """Interrupts at the time limit: a thread can do so between two steps, the progress handler
    only every thousand.
    """

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


@contextlib.contextmanager
def _explained(sql: str, watch: _Watch) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, MemoryError, UnicodeEncodeError) as error:
        if watch.stopped:
            raise UnsafeStatement(
                f"the statement was stopped: {watch.stopped}; ask for less: {short(sql)}"
            ) from error
        if watch.complaints:
            raise StoreError(
                f"the statement does not run: {watch.complaints[-1]}: {short(sql)}; correct it"
            ) from error
        if watch.denied:
            raise UnsafeStatement(
                f"the statement is refused: {watch.denied}: {short(sql)}"
            ) from error
        name = getattr(error, "sqlite_errorname", "")
        beyond = name in ("SQLITE_TOOBIG", "SQLITE_NOMEM", "SQLITE_READONLY", "SQLITE_AUTH")
        if beyond or not isinstance(error, sqlite3.OperationalError):
            raise UnsafeStatement(f"the statement is refused: {error}: {short(sql)}") from error
        raise StoreError(
            f"the statement does not run: {error}: {short(sql)}; correct it and try again"
        ) from error
