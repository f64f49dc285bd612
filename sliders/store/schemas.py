"""The schema of a workspace: every version of it, and the names that its tables and columns have in SQL."""

from __future__ import annotations

from sliders.errors import StoreError
from sliders.schema.types import ColumnType, Schema, Table
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.migrations import now
from sliders.store.naming import column_name, fold, relation_name
from sliders.store.records import Relation, RelationColumn


class Schemas:
    """The versions of the schema."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, schema: Schema, reason: str = "") -> int:
        """Make `schema` the current one; its version number (the present one when nothing changed).

        Tables and columns that are no longer in it keep their cells, out of sight, and find them when they return.
        """
        text = codec.encode_schema(schema)
        with self._database.transaction():
            last = self._database.one("SELECT version, schema FROM sl_schemas ORDER BY version DESC LIMIT 1")
            if last is not None and last[1] == text:
                return int(last[0])
            version = int(last[0]) + 1 if last else 1
            self._database.execute("INSERT INTO sl_schemas VALUES (?,?,?,?)", (version, text, reason, now()))
            self._database.execute("UPDATE sl_tables SET active = 0")
            for table in schema.tables:
                self._describe(table)
        return version

    def _describe(self, table: Table) -> None:
        meaning = (table.row, table.description, table.grain, codec.dump(table.key), table.documents)
        key = self._database.value("SELECT key FROM sl_tables WHERE name = ?", (table.name,))
        if key is None:
            taken = {fold(row[0]) for row in self._database.query("SELECT relation FROM sl_tables")}
            key = self._database.insert(
                """INSERT INTO sl_tables (name, relation, row_meaning, description, grain, key_columns, documents)
                VALUES (?,?,?,?,?,?,?)""",
                (table.name, relation_name(table.name, taken), *meaning),
            )
        else:
            self._database.execute(
                """UPDATE sl_tables SET active = 1, row_meaning = ?, description = ?,
                grain = ?, key_columns = ?, documents = ? WHERE key = ?""",
                (*meaning, key),
            )
        self._describe_columns(int(key), table)

    def _describe_columns(self, key: int, table: Table) -> None:
        known = self._database.query("SELECT name, sql_name FROM sl_columns WHERE table_key = ?", (key,))
        taken = {fold(sql_name) for _, sql_name in known}
        names = {name for name, _ in known}
        shape = "SELECT name, type FROM sl_columns WHERE table_key = ? AND active ORDER BY position"
        before = self._database.query(shape, (key,))
        self._database.execute("UPDATE sl_columns SET active = 0 WHERE table_key = ?", (key,))
        for position, column in enumerate(table.columns):
            asked = (column.type.value, column.description, column.unit, column.scale, column.currency)
            facts = (position, *asked, codec.dump(column.values), column.reading, key, column.name)
            if column.name in names:
                self._database.execute(
                    """UPDATE sl_columns SET active = 1, position = ?, type = ?, description = ?, unit = ?, scale = ?,
                    currency = ?, allowed = ?, reading = ? WHERE table_key = ? AND name = ?""",
                    facts,
                )
            else:
                sql_name = column_name(column.name, taken)
                taken.add(fold(sql_name))
                self._database.execute(
                    """INSERT INTO sl_columns (position, type, description, unit, scale, currency, allowed, reading,
                    table_key, name, sql_name) VALUES (?,?,?,?,?,?,?,?,?,?,?)""",
                    (*facts, sql_name),
                )
        if self._database.query(shape, (key,)) != before:  # only then does the data table have to be made again
            self._database.execute("UPDATE sl_tables SET revision = revision + 1 WHERE key = ?", (key,))

    def current(self) -> Schema | None:
        """The current schema, None before the first one."""
        text = self._database.value("SELECT schema FROM sl_schemas ORDER BY version DESC LIMIT 1")
        return None if text is None else codec.decode_schema(text)

    def relation(self, table: str) -> Relation:
        """What a table and its columns are called in SQL.

        Raises:
            StoreError: the workspace has no table of that name.
        """
        row = self._database.one("SELECT key, relation, current_version FROM sl_tables WHERE name = ?", (table,))
        if row is None:
            known = ", ".join(name for (name,) in self._database.query("SELECT name FROM sl_tables")) or "none"
            raise StoreError(f"the workspace has no table {table!r}; its tables are: {known}")
        columns = self._database.query(
            "SELECT name, sql_name, type FROM sl_columns WHERE table_key = ? AND active ORDER BY position", (row[0],)
        )
        return Relation(
            table, row[1], tuple(RelationColumn(name, sql, ColumnType(kind).sql) for name, sql, kind in columns), row[2]
        )

    def relations(self) -> list[Relation]:
        """The tables of the current schema as SQL sees them."""
        names = self._database.query("SELECT name FROM sl_tables WHERE active ORDER BY key")
        return [self.relation(name) for (name,) in names]
