"""What differs between the two kinds of workspace: a SQLite file and a schema of
a PostgreSQL server.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy.engine import Dialect

from sliders.errors import StoreError


class Connection(Protocol):
    """An open workspace, as an engine sees it."""

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """Run one writing statement; the number of rows that it changed."""

    def value(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """The first value of the first row of a statement."""

    def query(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement."""

    def stream(self, statement: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Rows of a statement in constant memory."""

    def names(self) -> dict[str, set[str]]:
        """Columns by table and view."""


Sums = tuple[int, int]
"""How many rows, and the sum of their digests: the same in whatever order they stand."""


class TableWatch(Protocol):
    """What one open workspace changes, taken down for `sl_digests`. A change that somebody else
    makes is not in it, and so is found when the rows are counted again.
    """

    def mark(self) -> Any:
        """What was changed up to a savepoint."""

    def back(self, mark: Any) -> None:
        """Forget what was changed after a mark; after None all of the transaction."""

    def defining(self) -> None:
        """Look at the definitions of tables and views before one of them is changed."""

    def add(self, subject: str, sums: Sums) -> None:
        """Take down rows of a table that nobody watches: of a version of a data table."""

    def fold(self) -> None:
        """Write the sums of the transaction, before it is committed."""


class Engine:
    """What differs between a file and a server."""

    name: str
    """The workspace in messages: its path, or its address without password."""
    path: Path | None = None
    """The file, None on a server."""
    mode = "ro"
    """How the file is opened for reading: "ro&immutable=1" where the folder is read-only."""
    dialect: Dialect
    plain: Dialect
    """The same for statements without values, in which no sign is doubled."""
    errors: tuple[type[Exception], ...]
    begin: str
    longest_table: int
    longest_column: int
    """Bytes of a name."""
    listing: str
    """A query for the columns of every table and view."""

    def open(self) -> Any:
        """A connection of the driver, in autocommit mode."""
        raise NotImplementedError

    def sentence(self, error: BaseException, sql: str = "") -> StoreError:
        """The sentence for an error."""
        raise NotImplementedError

    def check_place(self) -> None:
        """Raises StoreError: the workspace is no longer where it was opened."""

    def in_transaction(self, raw: Any) -> bool:
        """Whether there is something left to roll back."""
        raise NotImplementedError

    def cursor(self, raw: Any, sql: str, values: Any) -> Any:
        """A cursor over rows in constant memory."""
        return raw.execute(sql, values)

    def layout(self, database: Connection) -> int:
        """The layout's version, 0 of an empty workspace; raises where it is another program's."""
        raise NotImplementedError

    def set_layout(self, database: Connection, version: int) -> None:
        """Note the layout's version."""
        raise NotImplementedError

    def make(self, database: Connection) -> None:
        """Make the place of an empty workspace; a file is there when it is open."""

    def exclusive(self, database: Connection, subject: str) -> None:
        """Keep other writers out of `subject` until the transaction ends; a file
        has one writer anyway.
        """

    def may_be_written(self) -> bool:
        """Says whether a process may be writing to the workspace now; a server does not tell."""
        return True

    def encode(self, value: Any) -> Any:
        """A number or text as a `Value` column takes it."""
        return value

    def install(self, database: Connection, tables: Sequence[str]) -> None:
        """Put into the workspace what it needs to watch these tables."""

    def watch(self, database: Connection, raw: Any, tables: Sequence[str]) -> TableWatch:
        """What is changed in these tables from now on."""
        raise NotImplementedError

    def sums(self, database: Connection, table: str, rows: str = "", *values: str) -> Sums:
        """The sums of a table's rows.

        Args:
            rows: a condition in SQL, with its values; all rows when left out.
        """
        raise NotImplementedError

    def definitions(self, database: Connection) -> Sums:
        """The sums of the definitions of tables, views and indexes; none where the engine keeps
        no text of them.
        """
        return 0, 0

    def damage(self, raw: Any) -> Iterator[str]:
        """What the engine itself finds wrong, in sentences."""
        return iter(())

    def purge(self, database: Connection, raw: Any) -> None:
        """Overwrite what was deleted: free pages, and the log of a file. Outside a transaction.

        Raises:
            WorkspaceLocked: another program reads the workspace.
        """
        raise NotImplementedError

    def expose(self, database: Connection, relation: str) -> None:
        """Let the cage read a table or view."""

    def close(self, raw: Any) -> None:
        """End the connection and free what was held."""
        raw.close()
