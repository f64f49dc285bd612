"""Tables copied into memory. A statement runs over them as if some values were different; the
workspace is not touched.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sliders.errors import StoreError
from sliders.extraction.cell import Scalar
from sliders.sql.limits import Limits, Result, Rights
from sliders.sql.quoting import quote_identifier
from sliders.sql.sandbox import ALLOWED_FUNCTIONS, Sandbox
from sliders.sql.wall import check_statement
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.records import Relation
from sliders.store.sql_names import SYSTEM_COLUMNS

SHOWN = SYSTEM_COLUMNS[:3]


@dataclass(frozen=True, slots=True)
class TrialChange:
    """A change of one row of a copied table.

    Args:
        relation: the SQL name of the table.
        row_id: the row; an id that the table does not have adds a row.
        values: new values by SQL column name; None removes the row.
    """

    relation: str
    row_id: str
    values: Mapping[str, Scalar] | None


class CopiedTables(contextlib.AbstractContextManager["CopiedTables"]):
    """A copy in memory of the current versions of `relations`, and of further tables that `add`
    makes. Statements run in a sandbox.

    Args:
        database: the workspace's database, which is only read.
        relations: the tables to copy.
        largest: the most rows of all relations together that are copied.

    Raises:
        StoreError: the relations have more rows than `largest`.
    """

    def __init__(
        self, database: Database, relations: Sequence[Relation] = (), largest: int = 200_000
    ) -> None:
        self.rows = 0
        self._names: frozenset[str] = frozenset()
        self._sandbox = Sandbox(analysts=True)
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
        # SQLite reads a quoted name without its table as text when no column is called so.
        listed = ", ".join(f"{name}.{quote_identifier(n)}" for n in types)
        self.add(relation.relation, types, database.query(f"SELECT {listed} FROM {name}"))
        self._sandbox.execute(
            f"CREATE UNIQUE INDEX {quote_identifier('by ' + relation.relation)} ON {name}(row_id)"
        )

    def add(
        self, relation: str, types: Mapping[str, str], rows: Iterable[Sequence[Scalar]]
    ) -> None:
        """Makes a further table.

        Args:
            relation: the SQL name of the table.
            types: the SQL type of each column, by SQL name.
            rows: the values of each row, in the order of `types`.
        """
        lines = ([codec.encode_scalar(value)[0] for value in row] for row in rows)
        self._sandbox.add(relation, types, lines)
        self._names |= {relation}

    def run(self, sql: str, limits: Limits | None = None) -> Result:
        """Runs one SELECT over the copy, with the changes that are in force, and returns its rows.

        Raises:
            UnsafeStatement: the statement is no SELECT, reads another table, or passes a limit.
            StoreError: SQLite finds an error in the statement.
        """
        if sql not in self._checked:
            check_statement(sql, self._names, self._names)
            self._checked.add(sql)
        rights = Rights(self._names, ALLOWED_FUNCTIONS)
        return self._sandbox.select(sql, rights, limits or Limits())

    @contextlib.contextmanager
    def changed(self, changes: Iterable[TrialChange]) -> Iterator[Self]:
        """The copy with changes applied inside the `with` block; they are undone at its end."""
        with self._sandbox.undone():
            for change in changes:
                self._apply(change)
            yield self

    def _apply(self, change: TrialChange) -> None:
        name = quote_identifier(change.relation)
        if change.values is None:
            self._sandbox.execute(f"DELETE FROM {name} WHERE row_id = ?", (change.row_id,))
            return
        values: list[Any] = [codec.encode_scalar(value)[0] for value in change.values.values()]
        columns = [quote_identifier(column) for column in change.values]
        settings = ", ".join(f"{column} = excluded.{column}" for column in columns)
        known = f"UPDATE SET {settings}" if columns else "NOTHING"
        self._sandbox.execute(
            f"INSERT INTO {name} ({', '.join([*columns, 'row_id'])}) VALUES "
            f"({', '.join('?' * (len(columns) + 1))}) ON CONFLICT (row_id) DO {known}",
            (*values, change.row_id),
        )

    def __exit__(self, *_: object) -> None:
        """Frees the memory of the copy."""
        self._sandbox.__exit__()
