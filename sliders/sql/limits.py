"""The rights and limits of statements in a sandbox, and their results, as plain values."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sliders.errors import UnsafeStatement

FETCH_ROWS = 200
MAX_SQL_CHARACTERS = 50_000

# LENGTH bounds every single string; the others bound what one statement may contain.
ENGINE_LIMITS = (
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


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of statements: seconds, rows and bytes of a result, bytes of memory while they
    run, and SQLite's own limits as pairs (number of the limit, value). Infinity is no limit.
    """

    seconds: float = 10.0
    rows: int = 10_000
    result_bytes: int = 20_000_000
    memory_bytes: float = 512_000_000
    engine: tuple[tuple[int, int], ...] = ENGINE_LIMITS


def longest_value(size: int) -> tuple[tuple[int, int], ...]:
    """Returns SQLite's limit for the bytes of a value or statement alone."""
    return ((sqlite3.SQLITE_LIMIT_LENGTH, size),)


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights of statements.

    `tables` are the tables and views that they may read (with the tables behind a view),
    `functions` the functions that they may call; None allows all. `writes` is "cells" when they may
    update the tables except for the `fixed` columns, "rows" when they may also add and delete rows.
    `subqueries` allows subqueries in FROM and WITH, `recursive` recursive ones.
    """

    tables: frozenset[str] | None = None
    functions: frozenset[str] | None = None
    writes: Literal["nothing", "cells", "rows"] = "nothing"
    fixed: frozenset[str] = frozenset()
    subqueries: bool = True
    recursive: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a statement; `truncated` is True when a limit of rows or bytes cut them off."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False
    seconds: float = 0.0

    @property
    def cut(self) -> str:
        """The sentence for a result that was cut off."""
        return f"the result was cut after {len(self.rows)} rows; add a LIMIT or aggregate"


class MemoryGauge:
    """A process's own memory in bytes, and its growth since the gauge was made; always 0 when the
    system does not report it.

    Args:
        process: the process id; this process when left out.
    """

    def __init__(self, process: int | None = None) -> None:
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):
            place = f"/proc/{process or 'self'}/statm"
            self._descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
        self._before = self.own()

    def own(self) -> int:
        """Bytes that the process shares with no other."""
        if self._descriptor is None:
            return 0
        try:
            resident, shared = os.pread(self._descriptor, 128, 0).split()[1:3]
        except (OSError, ValueError):  # the process ended
            return 0
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")

    def grown(self) -> int:
        """The growth in bytes."""
        return self.own() - self._before

    def __del__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def fetch(
    cursor: Any, limits: Limits, started: float, plain: Callable[[Any], Any] | None = None
) -> tuple[list[Any], bool]:
    """Returns the rows within the limits, and True when they were cut off; `plain` converts each
    value.

    Raises:
        UnsafeStatement: the time since `started` is over.
    """
    rows: list[tuple[Any, ...]] = []
    size = 0
    while batch := cursor.fetchmany(1 if size > limits.result_bytes // 10 else FETCH_ROWS):
        if time.monotonic() - started > limits.seconds:
            raise UnsafeStatement(
                f"the statement was stopped: it ran longer than {limits.seconds:g} s; ask for less"
            )
        for row in batch:
            values = tuple(map(plain, row)) if plain else row
            size += sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in values)
            if len(rows) >= limits.rows or size > limits.result_bytes:
                return rows, True
            rows.append(values)
    return rows, False


def short(sql: str) -> str:
    """A statement on one line, cut for a message."""
    text = " ".join(sql.split())
    return text if len(text) <= 300 else f"{text[:300]} ..."
