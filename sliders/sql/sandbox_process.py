"""The child process of a sandbox: `python -m sliders.sql.sandbox_process`.

It holds one database at a time, and carries out the messages of `Sandbox`. A message is an
operation and its arguments; a reply is "done" with a value, or the parts of an error.
"""

from __future__ import annotations

import marshal
import sqlite3
from collections.abc import Callable
from typing import Any

from sliders.child import Messages
from sliders.errors import StoreError, UnsafeStatement
from sliders.sql.limits import Limits, MemoryGauge, Rights
from sliders.sql.sandbox_database import SandboxDatabase, SandboxError

_GROWN = 100_000_000
"""The bytes of memory that a child may keep from earlier work; a child that keeps more is ended."""


class Server:
    """The database of the messages so far."""

    def __init__(self) -> None:
        self._database: SandboxDatabase | None = None
        self._gauge = MemoryGauge()

    @property
    def database(self) -> SandboxDatabase:
        """The open database."""
        assert self._database is not None, "no database is open"
        return self._database

    def open(self, file: str, analysts: bool, engine: tuple[tuple[int, int], ...]) -> None:
        """Opens a database."""
        self._database = SandboxDatabase(file, analysts=analysts, engine=engine)

    def close(self) -> bool:
        """Frees the database. Returns True when the process is as small as before."""
        if self._database is not None:
            self._database.close()
        self._database = None
        return self._gauge.grown() < _GROWN

    def table(self, table: str, types: tuple[tuple[str, str], ...]) -> None:
        """Makes a table."""
        self.database.add(table, dict(types))

    def rows(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        """Adds rows to a table."""
        self.database.insert(table, rows)

    def execute(self, sql: str, values: Any) -> list[tuple[Any, ...]]:
        """See `Sandbox.execute`."""
        return self.database.execute(sql, values)

    def decide(
        self, sql: str, values: Any, rights: tuple[Any, ...], limits: tuple[Any, ...]
    ) -> Any:
        """See `Sandbox.decide`."""
        return self.database.decide(sql, values, Rights(*rights), Limits(*limits))

    def select(self, sql: str, rights: tuple[Any, ...], limits: tuple[Any, ...]) -> Any:
        """See `Sandbox.select`."""
        found = self.database.select(sql, Rights(*rights), Limits(*limits))
        return found.columns, found.rows, found.truncated, found.seconds

    def run(
        self, statements: tuple[str, ...], rights: tuple[Any, ...], limits: tuple[Any, ...]
    ) -> None:
        """See `Sandbox.run`."""
        self.database.run(statements, Rights(*rights), Limits(*limits))

    def script(self, sql: str, rights: tuple[Any, ...], limits: tuple[Any, ...]) -> None:
        """See `Sandbox.run_script`."""
        self.database.run_script(sql, Rights(*rights), Limits(*limits))


def answered(work: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The reply to one message."""
    try:
        return ("done", work(*arguments))
    except SandboxError as error:
        return ("sandbox", error.statement, error.words, error.kind, error.reason)
    except UnsafeStatement as error:
        return ("unsafe", str(error))
    except StoreError as error:
        return ("store", str(error))
    except sqlite3.Error as error:
        return ("sqlite", str(error))


def main() -> None:
    """The child process of the sandbox: answers one message after the other from its standard
    input, and returns when the parent closes the pipe.
    """
    messages, server = Messages(), Server()
    for message in messages:
        name, *arguments = marshal.loads(message)
        messages.reply(marshal.dumps(answered(getattr(server, name), tuple(arguments))))


if __name__ == "__main__":
    main()
