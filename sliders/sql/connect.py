"""The one place where a SQLite database is opened."""

from __future__ import annotations

import sqlite3

MEMORY = ":memory:"


def connect(place: str = MEMORY, cached_statements: int = 128) -> sqlite3.Connection:
    """Returns a connection in autocommit mode that any thread may use.

    Args:
        place: a file's URI; without it a new database in memory.

    Raises:
        sqlite3.Error: the file cannot be opened.
    """
    return sqlite3.connect(
        place,
        uri=place != MEMORY,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=cached_statements,
    )
