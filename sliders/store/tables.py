"""Data tables: the cells of a schema table that have a value as a real SQL table, and the versions that repairs make of it.

Each version is a physical table `<relation>__v<N>`; the view `<relation>` shows the current one, without `_sources`.
Every version has the user's columns, then `document` (name), `document_id`, `row_id` (`Row.id` of the extracted row
that it stands for) and `_sources` (JSON list of the `Row.id`s that were merged into it, NULL for the row alone).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sliders.errors import RepairError, StoreError
from sliders.extraction.cell import Absence, Cell, Scalar
from sliders.store import codec
from sliders.store.database import Database, quote_identifier
from sliders.store.migrations import now
from sliders.store.naming import SYSTEM_COLUMNS, version_name
from sliders.store.records import Derivation, Relation, RelationColumn, TableVersion
from sliders.store.schemas import Schemas

EXTRACT = "extract"
UNVERIFIED = "extract with unverified values"
_SAID = (Absence.UNGROUNDED, Absence.NOT_PARSED)
SAID_SQL = ", ".join(f"'{absence.value}'" for absence in _SAID)
"""Absences whose cells may keep what the model said."""
_VERSION = """SELECT t.name, v.version, v.parent, v.relation, v.operation, v.sql, v.reason, v.columns, v.rows,
    v.revision, v.created FROM sl_table_versions v JOIN sl_tables t ON t.key = v.table_key"""


@dataclass(frozen=True, slots=True)
class DataRow:
    """A row of a repaired table: `values` by SQL column name; `sources` are the `Row.id`s merged into it."""

    row_id: str
    document: str
    document_id: str
    values: Mapping[str, Scalar]
    sources: tuple[str, ...] = field(default=())


def enters(cell: Cell, unverified: bool = False) -> bool:
    """Whether a cell's value stands in its data table; `unverified` also lets in what the model said without proof."""
    return cell.absence is None or (unverified and cell.absence in _SAID)


def stands_sql(cell: str, unverified: bool) -> str:
    """`enters` for the cell of that alias."""
    return f"({cell}.absence IS NULL OR {cell}.absence IN ({SAID_SQL}))" if unverified else f"{cell}.absence IS NULL"


def materialise_sql(relation: Relation, table_key: int, columns: Mapping[str, int], unverified: bool = False) -> str:
    """SELECT that turns cells into rows: one look-up a cell, so that the cost is linear in the cells.

    Args:
        columns: integer key by schema column name.
        unverified: also show values that were not found in the text or did not parse.
    """
    values = "".join(
        f"(SELECT {_typed('c', column)} FROM sl_cells c WHERE c.row_key = r.key "
        f"AND c.column_key = {columns[column.name]} AND {stands_sql('c', unverified)}) AS {quote_identifier(column.sql_name)}, "
        for column in relation.columns
    )
    return (
        f"SELECT {values}d.name AS document, d.id AS document_id, r.id AS row_id, NULL AS _sources "
        f"FROM sl_rows r JOIN sl_documents d ON d.key = r.document_key JOIN sl_chunks h ON h.key = r.chunk_key "
        f"WHERE r.table_key = {table_key} AND d.superseded_by IS NULL AND h.active "
        "ORDER BY d.key, h.position, r.ordinal, r.key"
    )


def _typed(cell: str, column: RelationColumn) -> str:
    """The cell's value; words and not-a-number have no place in a number column."""
    if column.sql_type == "TEXT":
        return f"{cell}.value"
    large = f"{cell}.kind IS {codec.LARGE_INTEGER}"
    return f"CASE WHEN typeof({cell}.value) <> 'text' OR {large} THEN {cell}.value END"


class Tables:
    """The data tables of a workspace."""

    def __init__(self, database: Database, schemas: Schemas) -> None:
        self._database = database
        self._schemas = schemas

    def materialise(self, table: str, *, unverified: bool = False, reason: str = "") -> TableVersion:
        """The table as extracted: a new current version when rows, documents or columns changed since the last one.

        When nothing changed, the version that stands is returned and stays current, repaired or not.

        Args:
            unverified: also show values that were not found in the text or did not parse (contract 2: only when the
                user says so).

        Raises:
            StoreError: the workspace has no table of that name.
        """
        relation = self._schemas.relation(table)
        operation = UNVERIFIED if unverified else EXTRACT
        with self._database.transaction():
            key, revision = self._identity(table)
            base = next((v for v in reversed(self.versions(table)) if v.operation == operation), None)
            current = self.current(table)
            if base is not None and base.revision == revision:
                # An older version of the same kind can only be current because somebody undid: that stands.
                if current is not None and self.lineage(table)[-1].operation == operation:
                    return current
                return self.undo(table, base.version)
            columns = dict(
                self._database.query("SELECT name, key FROM sl_columns WHERE table_key = ? AND active", (key,))
            )
            sql = materialise_sql(relation, key, columns, unverified)
            version = self._reserve(relation, None, operation, sql, reason or "cells to rows")
            return self._fill(version, sql)

    def create_version(
        self, table: str, rows: Iterable[DataRow], *, operation: str, sql: str = "", reason: str = "",
        derived: Iterable[Derivation] = (),
    ) -> TableVersion:
        """A repaired version of a table, made current; all in one transaction.

        Args:
            operation: "deduplicate", "resolve conflict" ...
            sql: the SQL of the repair, to be recorded.
            derived: declares values that no source row has.

        Raises:
            RepairError: a column is missing, a row id is unknown or comes twice, or a source row does not exist.
        """
        relation = self._schemas.relation(table)
        with self._database.transaction():
            parent = self.current(table)
            if parent is None:
                raise RepairError(f"table {table!r} has no version to repair; materialise it first")
            version = self._fill_rows(self._reserve(relation, parent.version, operation, sql, reason), rows)
            self._check_rows(version)
            self._declare(version, derived)
        return version

    def _identity(self, table: str) -> tuple[int, int]:
        row = self._database.one("SELECT key, revision FROM sl_tables WHERE name = ?", (table,))
        assert row is not None  # the caller has asked for the table's relation
        return int(row[0]), int(row[1])

    def _reserve(self, relation: Relation, parent: int | None, operation: str, sql: str, reason: str) -> TableVersion:
        """An empty version: its physical table and its line in the catalog."""
        key, revision = self._identity(relation.name)
        last = self._database.value("SELECT max(version) FROM sl_table_versions WHERE table_key = ?", (key,))
        number = int(last or 0) + 1
        physical = version_name(relation.relation, number)
        names = tuple(column.sql_name for column in relation.columns)
        types = [f"{quote_identifier(column.sql_name)} {column.sql_type}" for column in relation.columns]
        system = "document TEXT, document_id TEXT, row_id TEXT NOT NULL, _sources TEXT"
        self._database.execute(f"CREATE TABLE {quote_identifier(physical)} ({', '.join([*types, system])})")
        created = now()
        self._database.execute(
            "INSERT INTO sl_table_versions VALUES (?,?,?,?,?,?,?,?,0,?,?)",
            (key, number, parent, physical, operation, sql, reason, codec.dump(names), revision, created),
        )
        return TableVersion(
            relation.name, number, parent, physical, operation, sql, reason, names, 0, revision, created
        )  # fmt: skip

    def _fill(self, version: TableVersion, select: str) -> TableVersion:
        listed = ", ".join(quote_identifier(name) for name in (*version.columns, *SYSTEM_COLUMNS))
        target = quote_identifier(version.relation)
        self._database.execute(f"INSERT INTO {target} ({listed}) SELECT {listed} FROM ({select})")
        return self._finish(version)

    def _fill_rows(self, version: TableVersion, rows: Iterable[DataRow]) -> TableVersion:
        places = ", ".join("?" * (len(version.columns) + 4))
        self._database.insert_many(
            f"INSERT INTO {quote_identifier(version.relation)} VALUES ({places})",
            (
                (
                    *(codec.encode_scalar(row.values[name])[0] for name in version.columns),
                    row.document, row.document_id, row.row_id, codec.dump(row.sources) if row.sources else None,
                )
                for row in _complete(rows, version)
            ),
        )  # fmt: skip
        return self._finish(version)

    def _finish(self, version: TableVersion) -> TableVersion:
        """Count the rows, index them, and show this version as the current one."""
        physical = quote_identifier(version.relation)
        key, _ = self._identity(version.table)
        rows = int(self._database.value(f"SELECT count(*) FROM {physical}"))
        try:
            self._database.execute(f"CREATE UNIQUE INDEX sl_row_{key}_{version.version} ON {physical}(row_id)")
        except StoreError as error:
            doubled = self._database.value(f"SELECT row_id FROM {physical} GROUP BY row_id HAVING count(*) > 1 LIMIT 1")
            if doubled is None:
                raise
            raise RepairError(
                f"{version.operation} of {version.table!r} gives row {doubled!r} twice; merge its copies"
            ) from error
        self._database.execute(
            "UPDATE sl_table_versions SET rows = ? WHERE table_key = ? AND version = ?", (rows, key, version.version)
        )
        return self._show(replace(version, rows=rows))

    def _show(self, version: TableVersion) -> TableVersion:
        key, _ = self._identity(version.table)
        view = quote_identifier(self._schemas.relation(version.table).relation)
        names = ", ".join(quote_identifier(name) for name in _names(version))
        self._database.execute(f"DROP VIEW IF EXISTS {view}")
        self._database.execute(f"CREATE VIEW {view} AS SELECT {names} FROM {quote_identifier(version.relation)}")
        self._database.execute("UPDATE sl_tables SET current_version = ? WHERE key = ?", (version.version, key))
        return version

    def _check_rows(self, version: TableVersion) -> None:
        """Every row, and every source of a merged row, is an extracted row of this table."""
        key, _ = self._identity(version.table)
        physical = quote_identifier(version.relation)
        known = "(SELECT 1 FROM sl_rows s WHERE s.id = {} AND s.table_key = ?)"
        stranger = self._database.one(
            f"""SELECT row_id FROM {physical} WHERE NOT EXISTS {known.format("row_id")}
            UNION ALL SELECT j.value FROM {physical} v, json_each(v._sources) j
            WHERE v._sources IS NOT NULL AND NOT EXISTS {known.format("j.value")} LIMIT 1""",
            (key, key),
        )
        if stranger is not None:
            raise RepairError(
                f"{version.operation} of {version.table!r} names row {stranger[0]!r}, which was never extracted; "
                "take row ids and sources from the table"
            )

    def _declare(self, version: TableVersion, derived: Iterable[Derivation]) -> None:
        key, _ = self._identity(version.table)
        self._database.insert_many(
            """INSERT INTO sl_derivations (table_key, version, row_id, column_name, source_value, value, kind, reason)
            VALUES (?,?,?,?,?,?,?,?)""",
            (
                (
                    key, version.version, d.row_id, d.column, codec.encode_scalar(d.source_value)[0],
                    codec.encode_scalar(d.value)[0], d.kind, d.reason,
                )
                for d in derived
            ),
        )  # fmt: skip

    def versions(self, table: str) -> list[TableVersion]:
        """All versions of a table, oldest first."""
        return [
            _version(row) for row in self._database.query(f"{_VERSION} WHERE t.name = ? ORDER BY v.version", (table,))
        ]

    def current(self, table: str) -> TableVersion | None:
        """The version that the view shows, None before the first one."""
        row = self._database.one(f"{_VERSION} WHERE t.name = ? AND v.version = t.current_version", (table,))
        return _version(row) if row else None

    def lineage(self, table: str) -> list[TableVersion]:
        """The current version and those that it was made from, newest first; empty before the first one."""
        known = {v.version: v for v in self.versions(table)}
        current = self.current(table)
        chain = [current] if current else []
        while chain and chain[-1].parent is not None:
            chain.append(known[chain[-1].parent])
        return chain

    def undo(self, table: str, version: int) -> TableVersion:
        """Show an earlier (or later) version again; no version is deleted.

        Raises:
            StoreError: the table has no such version.
        """
        found = [v for v in self.versions(table) if v.version == version]
        if not found:
            known = ", ".join(str(v.version) for v in self.versions(table)) or "none"
            raise StoreError(f"table {table!r} has no version {version}; its versions are: {known}")
        with self._database.transaction():
            return self._show(found[0])

    def rows_of(self, version: TableVersion) -> list[DataRow]:
        """The rows of one version, the current or an earlier one."""
        listed = ", ".join(quote_identifier(name) for name in (*SYSTEM_COLUMNS, *version.columns))
        rows = self._database.query(f"SELECT {listed} FROM {quote_identifier(version.relation)}")
        return [
            DataRow(row_id, document, document_id, dict(zip(version.columns, values, strict=True)),
                    tuple(codec.load(sources) or (row_id,)))
            for document, document_id, row_id, sources, *values in rows
        ]  # fmt: skip

    def derivations(self, table: str, row_id: str, version: int | None = None) -> list[Derivation]:
        """What a version (the current one when left out) declares of the values of one row."""
        key, _ = self._identity(table)
        current = self.current(table)
        number = version if version is not None else current.version if current else -1
        rows = self._database.query(
            """SELECT column_name, value, kind, reason, row_id, source_value FROM sl_derivations
            WHERE table_key = ? AND version = ? AND (row_id = ? OR row_id IS NULL) ORDER BY rowid""",
            (key, number, row_id),
        )
        return [Derivation(*row) for row in rows]

    def merged_rows(self, table: str) -> dict[str, tuple[str, ...]]:
        """The extracted rows that each merged row of the current version stands for; a row alone is not in it."""
        current = self.current(table)
        if current is None:
            return {}
        select = f"SELECT row_id, _sources FROM {quote_identifier(current.relation)} WHERE _sources IS NOT NULL"
        return {row_id: tuple(codec.load(sources)) for row_id, sources in self._database.query(select)}

    def sources(self, table: str, row_id: str) -> tuple[str, ...]:
        """The extracted rows that a row of the current version stands for; empty when it has no such row."""
        current = self.current(table)
        if current is None:
            return ()
        row = self._database.one(
            f"SELECT _sources FROM {quote_identifier(current.relation)} WHERE row_id = ?", (row_id,)
        )
        return () if row is None else tuple(codec.load(row[0]) or (row_id,))


def _names(version: TableVersion) -> tuple[str, ...]:
    return (*version.columns, *SYSTEM_COLUMNS[:3])


def _version(row: tuple[Any, ...]) -> TableVersion:
    table, number, parent, relation, operation, sql, reason, columns, rows, revision, created = row
    return TableVersion(
        table, number, parent, relation, operation, sql, reason, tuple(codec.load(columns)), rows, revision, created
    )  # fmt: skip


def _complete(rows: Iterable[DataRow], version: TableVersion) -> Iterable[DataRow]:
    for row in rows:
        missing = [name for name in version.columns if name not in row.values]
        if missing:
            raise RepairError(f"row {row.row_id!r} of the repair loses {', '.join(missing)}; give every column")
        yield row
