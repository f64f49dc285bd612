"""Tables in memory, to ask what a statement gives over other values than those of the workspace,
which is not touched.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sliders.errors import StoreError
from sliders.extraction.cell import Scalar
from sliders.store import codec
from sliders.store.cage import run_caged
from sliders.store.database import Database
from sliders.store.engines import quote_identifier
from sliders.store.records import Relation
from sliders.store.result_limits import Limits, Result
from sliders.store.sql_names import SYSTEM_COLUMNS
from sliders.store.statement import check_statement

SHOWN = SYSTEM_COLUMNS[:3]


@dataclass(frozen=True, slots=True)
class Change:
    """Other values of one row, by SQL column name; None takes the row out, and a row id that is
    not there is a new row.
    """

    relation: str
    row_id: str
    values: Mapping[str, Scalar] | None


class Sandbox(contextlib.AbstractContextManager["Sandbox"]):
    """The current versions of `relations`, in memory, and what is added to them;
    statements run in the cage.

    Args:
        largest: rows of all relations together beyond which no copy is made.

    Raises:
        StoreError: the tables have more rows than that.
    """

    def __init__(
        self, database: Database, relations: Sequence[Relation] = (), largest: int = 200_000
    ) -> None:
        self.rows = 0
        self._names: frozenset[str] = frozenset()
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        self._checked: set[str] = set()
        for relation in relations:
            self.rows += int(
                database.value(f"SELECT count(*) FROM {quote_identifier(relation.relation)}")
            )
            if self.rows > largest:
                raise StoreError(
                    f"the tables have more than {largest:,} rows: no copy is made of them"
                )
            self._copy(database, relation)

    def _copy(self, database: Database, relation: Relation) -> None:
        name = quote_identifier(relation.relation)
        columns = (*relation.columns, *relation.companions)
        types = {c.sql_name: c.sql_type for c in columns} | dict.fromkeys(SHOWN, "TEXT")
        listed = ", ".join(
            f"{name}.{quote_identifier(n)}" for n in types
        )  # alone, an unknown one would be its own name as text
        self.add(relation.relation, types, database.query(f"SELECT {listed} FROM {name}"))
        self._connection.execute(
            f"CREATE UNIQUE INDEX {quote_identifier('by ' + relation.relation)} ON {name}(row_id)"
        )

    def add(
        self, relation: str, types: Mapping[str, str], rows: Iterable[Sequence[Scalar]]
    ) -> None:
        """A table of these rows, by the SQL types of its columns; before the
        first statement is run.
        """
        name, columns = (
            quote_identifier(relation),
            ", ".join(f"{quote_identifier(n)} {kind}" for n, kind in types.items()),
        )
        self._connection.execute(f"CREATE TABLE {name} ({columns})")
        lines = ([codec.encode_scalar(value)[0] for value in row] for row in rows)
        self._connection.executemany(
            f"INSERT INTO {name} VALUES ({', '.join('?' * len(types))})", lines
        )
        self._names |= {relation}

    def run(self, sql: str, limits: Limits | None = None) -> Result:
        """Run one SELECT over the copy as it stands.

        Raises:
            UnsafeStatement, StoreError: as `run_readonly`.
        """
        if sql not in self._checked:
            check_statement(sql, self._names, self._names)
            self._checked.add(sql)
        return run_caged(
            self._connection, sql, visible=self._names, known=self._names, limits=limits or Limits()
        )

    @contextlib.contextmanager
    def changed(self, changes: Iterable[Change]) -> Iterator[Self]:
        """The copy with other values inside the block; afterwards it is as before."""
        self._uncage()
        self._connection.execute("BEGIN")
        try:
            for change in changes:
                self._apply(change)
            yield self
        finally:
            self._uncage()
            self._connection.execute("ROLLBACK")

    def _uncage(self) -> None:
        """Let the program itself write again; the next statement that is run
        closes the cage anew.
        """
        self._connection.set_authorizer(None)
        self._connection.set_progress_handler(None, 0)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 1_000)
        self._connection.execute("PRAGMA query_only=OFF")

    def _apply(self, change: Change) -> None:
        name = quote_identifier(change.relation)
        if change.values is None:
            self._connection.execute(f"DELETE FROM {name} WHERE row_id = ?", (change.row_id,))
            return
        values: list[Any] = [codec.encode_scalar(value)[0] for value in change.values.values()]
        columns = [quote_identifier(column) for column in change.values]
        settings = ", ".join(f"{column} = excluded.{column}" for column in columns)
        known = f"UPDATE SET {settings}" if columns else "NOTHING"
        self._connection.execute(
            f"INSERT INTO {name} ({', '.join([*columns, 'row_id'])}) VALUES "
            f"({', '.join('?' * (len(columns) + 1))}) ON CONFLICT (row_id) DO {known}",
            (*values, change.row_id),
        )

    def __exit__(self, *_: object) -> None:
        """Free the copy."""
        self._connection.close()
