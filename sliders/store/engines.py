"""The interface of the two kinds of workspace: a SQLite file, and a schema of a PostgreSQL
server.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy.engine import Dialect

from sliders.errors import StoreError


class Connection(Protocol):
    """The part of an open workspace that an engine uses."""

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """Runs one statement that writes. Returns the number of rows that it changed."""

    def value(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """Returns the first value of the first row of a statement."""

    def query(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Returns all rows of a statement."""

    def stream(self, statement: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yields the rows of a statement in constant memory."""

    def names(self) -> dict[str, set[str]]:
        """Columns by table and view."""


Sums = tuple[int, int]
"""The number of rows, and the sum of their digests, which does not depend on their order."""


class TableWatch(Protocol):
    """Counts the changes that one open workspace makes, for `sl_digests`. Changes by other programs
    are not counted, so that they show when the rows are summed again.
    """

    def mark(self) -> Any:
        """Returns the changes up to a savepoint."""

    def back(self, mark: Any) -> None:
        """Forgets the changes after a mark; for None all of the transaction."""

    def defining(self) -> None:
        """Sums the definitions of tables and views, before a statement changes one of them."""

    def add(self, subject: str, sums: Sums) -> None:
        """Counts rows of a table that is not watched, such as a version of a data table."""

    def fold(self) -> None:
        """Stores the sums of the transaction, before it is committed."""


class Engine:
    """The operations that differ between a file and a server."""

    name: str
    """The workspace in messages: its path, or its address without password."""
    path: Path | None = None
    """The file, None on a server."""
    mode = "ro"
    """How the file is opened for reading: "ro&immutable=1" where the folder is read-only."""
    dialect: Dialect
    plain: Dialect
    """The dialect for statements without values, in which a percent sign is not doubled."""
    errors: tuple[type[Exception], ...]
    begin: str
    longest_table: int
    longest_column: int
    """The most bytes of a column's name."""
    listing: str
    """A query for the columns of every table and view."""

    def open(self) -> Any:
        """Returns a connection of the driver, in autocommit mode."""
        raise NotImplementedError

    def sentence(self, error: BaseException, sql: str = "") -> StoreError:
        """Returns the error of the package for an error of the driver."""
        raise NotImplementedError

    def check_place(self) -> None:
        """Checks that the workspace is still where it was opened.

        Raises:
            StoreError: it is not.
        """

    def in_transaction(self, raw: Any) -> bool:
        """True when a transaction is open that can be rolled back."""
        raise NotImplementedError

    def cursor(self, raw: Any, sql: str, values: Any) -> Any:
        """A cursor over rows in constant memory."""
        return raw.execute(sql, values)

    def layout(self, database: Connection) -> int:
        """Returns the version of the layout, 0 for an empty workspace.

        Raises:
            StoreError: the database belongs to another program.
        """
        raise NotImplementedError

    def set_layout(self, database: Connection, version: int) -> None:
        """Stores the version of the layout."""
        raise NotImplementedError

    def make(self, database: Connection) -> None:
        """Creates the place of an empty workspace (a schema on a server; an open file has it)."""

    def exclusive(self, database: Connection, subject: str) -> None:
        """Keeps other writers out of `subject` until the transaction ends; a file has one writer
        anyway.
        """

    def may_be_written(self) -> bool:
        """True when a process may be writing to the workspace now; a server does not show it."""
        return True

    def encode(self, value: Any) -> Any:
        """Returns a number or text in the form of a `Value` column."""
        return value

    def install(self, database: Connection, tables: Sequence[str]) -> None:
        """Adds the triggers or functions that watching these tables needs."""

    def watch(self, database: Connection, raw: Any, tables: Sequence[str]) -> TableWatch:
        """Returns the watch of all further changes of these tables."""
        raise NotImplementedError

    def sums(self, database: Connection, table: str, rows: str = "", *values: str) -> Sums:
        """Returns the sums of a table's rows.

        Args:
            rows: a condition in SQL, with its values; all rows when left out.
        """
        raise NotImplementedError

    def definitions(self, database: Connection) -> Sums:
        """Returns the sums of the definitions of tables, views and indexes; (0, 0) when the engine
        does not store their text.
        """
        return 0, 0

    def damage(self, raw: Any) -> Iterator[str]:
        """Yields a sentence for each fault that the engine itself finds."""
        return iter(())

    def purge(self, database: Connection, raw: Any) -> None:
        """Overwrites deleted data: free pages, and the log of a file. It must run outside a
        transaction.

        Raises:
            WorkspaceLocked: another program reads the workspace.
        """
        raise NotImplementedError

    def expose(self, database: Connection, relation: str) -> None:
        """Allows the cage to read a table or view."""

    def close(self, raw: Any) -> None:
        """Closes the connection and frees its locks."""
        raw.close()
