"""The schema of a workspace: its versions, and the SQL names of its tables and columns."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, bindparam, func, select, update

from sliders.errors import StoreError
from sliders.schema.types import ColumnType, Schema, Table
from sliders.sql.identifiers import fold
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.layout import columns, schemas, tables, versions
from sliders.store.records import Relation, RelationColumn
from sliders.store.sql_names import column_name, relation_name

LAST = select(schemas.c.version, schemas.c.schema).order_by(schemas.c.version.desc()).limit(1)
VERSION = select(func.max(schemas.c.version))
_SHOWN = and_(versions.c.table_key == tables.c.key, versions.c.version == tables.c.current_version)
_RELATION = (
    select(tables.c.key, tables.c.relation, tables.c.current_version, versions.c.companions)
    .outerjoin_from(tables, versions, _SHOWN)
    .where(tables.c.name == bindparam("name"))
)
_SHAPE = (
    select(columns.c.name, columns.c.sql_name, columns.c.type)
    .where(columns.c.table_key == bindparam("table"), columns.c.active == 1)
    .order_by(columns.c.position)
)


class Schemas:
    """The versions of the schema."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, schema: Schema, reason: str = "") -> int:
        """Makes `schema` the current one, and returns its version number (the present number when
        nothing changed).

        Tables and columns that are no longer in it keep their cells, hidden, and have them again
        when they return.
        """
        text = codec.encode_schema(schema)
        with self._database.transaction():
            self._database.exclusive("schema")
            last = self._database.one(LAST)
            if last is not None and last[1] == text:
                return int(last[0])
            version = int(last[0]) + 1 if last else 1
            self._database.add(
                schemas, version=version, schema=text, reason=reason, created=codec.now()
            )
            self._database.execute(update(tables).values(active=0))
            for table in schema.tables:
                self._describe(table)
        return version

    def _describe(self, table: Table) -> None:
        meaning = {
            "row_meaning": table.row,
            "description": table.description,
            "grain": table.grain,
            "key_columns": codec.dump(table.key),
            "key_scope": table.key_scope,
            "documents": table.documents,
        }
        key = self._database.value(select(tables.c.key).where(tables.c.name == table.name))
        if key is None:
            taken = {
                fold(relation) for (relation,) in self._database.query(select(tables.c.relation))
            }
            relation = relation_name(table.name, taken, self._database.engine.longest_table)
            key = self._database.add(tables, name=table.name, relation=relation, **meaning)
        else:
            self._database.execute(
                update(tables).where(tables.c.key == key).values(active=1, **meaning)
            )
        self._describe_columns(int(key), table)

    def _describe_columns(self, key: int, table: Table) -> None:
        listed = select(columns.c.name, columns.c.sql_name).where(columns.c.table_key == key)
        known: dict[str, str] = dict(self._database.query(listed))
        taken = {fold(sql_name) for sql_name in known.values()}
        before = self._shape(key)
        self._database.execute(update(columns).where(columns.c.table_key == key).values(active=0))
        for position, column in enumerate(table.columns):
            facts: dict[str, Any] = {
                "position": position,
                "type": column.type.value,
                "description": column.description,
                "unit": column.unit,
                "scale": column.scale,
                "currency": column.currency,
                "allowed": codec.dump(column.values),
                "reading": column.reading,
            }
            if column.name in known:
                here = update(columns).where(
                    columns.c.table_key == key, columns.c.name == column.name
                )
                self._database.execute(here.values(active=1, **facts))
            else:
                sql_name = column_name(column.name, taken, self._database.engine.longest_column)
                taken.add(fold(sql_name))
                self._database.add(
                    columns, table_key=key, name=column.name, sql_name=sql_name, **facts
                )
        if self._shape(key) != before:  # only then does the data table have to be made again
            self._database.execute(
                update(tables).where(tables.c.key == key).values(revision=tables.c.revision + 1)
            )

    def _shape(self, key: int) -> list[tuple[Any, ...]]:
        """The names and types of a table's columns that are in the schema, in order."""
        return self._database.query(_SHAPE, {"table": key})

    def current(self) -> Schema | None:
        """The current schema, None before the first one."""
        last = self._database.one(LAST)
        return None if last is None else codec.decode_schema(last[1])

    def relation(self, table: str) -> Relation:
        """Returns the SQL names of a table and its columns.

        Raises:
            StoreError: the workspace has no table of that name.
        """
        row = self._database.one(_RELATION, {"name": table})
        if row is None:
            known = (
                ", ".join(name for (name,) in self._database.query(select(tables.c.name))) or "none"
            )
            raise StoreError(f"the workspace has no table {table!r}; its tables are: {known}")
        shape = tuple(
            RelationColumn(name, sql, ColumnType(kind).sql)
            for name, sql, kind in self._shape(row[0])
        )
        companions = codec.decode_companions(row[3])
        return Relation(
            table, row[1], shape, row[2], companions, self._database.engine.longest_column
        )

    def relations(self) -> list[Relation]:
        """The tables of the current schema with their SQL names."""
        names = self._database.query(
            select(tables.c.name).where(tables.c.active == 1).order_by(tables.c.key)
        )
        return [self.relation(name) for (name,) in names]
