"""Data tables: each table of the schema as a real SQL table of its values, in versions, one for
each repair.

Each version is a physical table `<relation>__v<N>`; the view `<relation>` shows the current one,
without `_sources`. Every version has the user's columns, the companion columns (bound, doubt,
canonical form) that any row needs, then `document` (name), `document_id`, `row_id` (`Row.id` of the
extracted row that it stands for) and `_sources` (JSON list of the `Row.id`s that were merged into
it, NULL for a row that was not merged). A *revision* is a counter that grows with each change of
rows, documents or columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Index,
    Numeric,
    Select,
    bindparam,
    case,
    cast,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy import Table as DataTable
from sqlalchemy.schema import CreateIndex, CreateTable

from sliders.errors import RepairError, StoreError
from sliders.sql.quoting import quote_identifier
from sliders.store import codec
from sliders.store.companions import companions_read, filled
from sliders.store.data_rows import DataRow, lines_of, odd_columns
from sliders.store.database import Database, data_table
from sliders.store.layout import cells, columns, derivations, rows, tables, versions
from sliders.store.layout_columns import TYPES, among
from sliders.store.materialise import SAID, materialise_sql
from sliders.store.records import Derivation, Relation, RelationColumn, TableVersion
from sliders.store.schemas import Schemas
from sliders.store.sql_names import SYSTEM_COLUMNS, version_name

EXTRACT = "extract"
UNVERIFIED = "extract with unverified values"
_IDENTITY = select(tables.c.key, tables.c.revision).where(tables.c.name == bindparam("name"))
_OWN_IDENTITY = _IDENTITY.with_for_update()
"""The same query with a lock on the table's line: a second writer of the table waits for the end of
the transaction.
"""
_VERSION = (
    select(
        *(tables.c.name if f.name == "table" else versions.c[f.name] for f in fields(TableVersion))
    )
    .join_from(versions, tables)
    .where(tables.c.name == bindparam("name"))
    .order_by(versions.c.version)
)
_CURRENT = _VERSION.where(versions.c.version == tables.c.current_version)
_KEYS = select(columns.c.name, columns.c.key).where(
    columns.c.table_key == bindparam("table"), columns.c.active == 1
)
_SHOW = (
    update(tables)
    .where(tables.c.name == bindparam("of"))
    .values(current_version=bindparam("version"))
)


class Tables:
    """The data tables of a workspace."""

    def __init__(self, database: Database, schemas: Schemas) -> None:
        self._database = database
        self._schemas = schemas

    def materialise(self, table: str, *, unverified: bool = False) -> TableVersion:
        """Makes a table's values a new current version, when rows, documents or columns changed
        since the last version. Returns the current version; when nothing changed, it stays as it
        is, repaired or not.

        Args:
            unverified: True shows unverified values too (see `enters`); only when the user says so.

        Raises:
            StoreError: the workspace has no table of that name.
        """
        relation = self._schemas.relation(table)
        operation = UNVERIFIED if unverified else EXTRACT
        database = self._database
        with database.transaction():
            key, revision = self._identity(table)
            unchanged = self._unchanged(table, operation, revision)
            if unchanged is not None:
                return unchanged
            keys: dict[str, int] = dict(database.query(_KEYS, {"table": key}))
            beside = companions_read(database, relation, keys, SAID if unverified else ())
            sql = database.sql(self._extracted(relation, keys, unverified, beside))
            version, target = self._reserve(
                relation, None, operation, sql, "as extracted", self._odd(keys), beside
            )
            listed = ", ".join(map(quote_identifier, (*version.columns, *SYSTEM_COLUMNS)))
            database.execute(f"INSERT INTO {quote_identifier(target.name)} ({listed}) {sql}")
            return self._finish(version)

    def as_extracted(self, version: TableVersion) -> Select[Any]:
        """Returns the statement that gives the rows of an extracted version from its cells, if
        nothing changed since.
        """
        relation = self._schemas.relation(version.table)
        keys: dict[str, int] = dict(
            self._database.query(_KEYS, {"table": self._revision(version.table)[0]})
        )
        unverified = version.operation == UNVERIFIED
        return self._extracted(relation, keys, unverified, version.companions)

    def _extracted(
        self,
        relation: Relation,
        keys: Mapping[str, int],
        unverified: bool,
        companions: tuple[RelationColumn, ...],
    ) -> Select[Any]:
        return materialise_sql(
            relation,
            self._revision(relation.name)[0],
            keys,
            unverified,
            server=self._database.on_server,
            companions=companions,
        )

    def _unchanged(self, table: str, operation: str, revision: int) -> TableVersion | None:
        """Returns the version to show when nothing changed since the last version of that
        operation; None when something changed or there is no such version.
        """
        ours = (v for v in reversed(self.versions(table)) if v.operation == operation)
        base = next(ours, None)
        if base is None or base.revision != revision:
            return None
        # An older version of the same kind is current only when somebody undid a repair: it stays.
        current = self.current(table)
        if current is not None and self.lineage(table)[-1].operation == operation:
            return current
        return self.undo(table, base.version)

    def create_version(
        self,
        table: str,
        made: Iterable[DataRow],
        *,
        operation: str,
        sql: str = "",
        reason: str = "",
        derived: Iterable[Derivation] = (),
        companions: Iterable[RelationColumn] = (),
    ) -> TableVersion:
        """Makes a repaired version of a table the current one, in one transaction.

        Args:
            made: the rows; a row without a value for a companion column has NULL there.
            operation: "deduplicate", "resolve conflict" ...
            sql: the SQL of the repair, for the record.
            derived: declarations of values that no source row has.
            companions: new companion columns; those without any value are left out.

        Raises:
            RepairError: a column or source is missing, or a row id is unknown or stands twice.
        """
        relation = self._schemas.relation(table)
        with self._database.transaction():
            parent = self._to_repair(table)
            # The companions and types that a version needs are known once all values are known.
            beside, server = (*parent.companions, *companions), self._database.on_server
            if beside or server:
                made = list(made)
                beside = filled(beside, (row.values for row in made))
            odd = odd_columns(made) if server else set()
            version, target = self._reserve(
                relation, parent.version, operation, sql, reason, odd, beside
            )
            self._database.add_many(target, lines_of(made, version))
            version = self._finish(version)
            self._check_rows(version)
            self._declare(version, derived)
        return version

    def _to_repair(self, table: str) -> TableVersion:
        current = self.current(table)
        if current is None:
            raise RepairError(
                f"table {table!r} has no version to repair; fill it first, with: sliders extract"
            )
        return current

    def _revision(self, table: str) -> tuple[int, int]:
        """Returns a table's key and revision, without a lock; (0, -1) for an unknown table."""
        row = self._database.one(_IDENTITY, {"name": table})
        return (0, -1) if row is None else (int(row[0]), int(row[1]))

    def _identity(self, table: str) -> tuple[int, int]:
        row = self._database.one(
            _OWN_IDENTITY if self._database.write else _IDENTITY, {"name": table}
        )
        assert row is not None  # the caller has asked for the table's relation
        return int(row[0]), int(row[1])

    def _odd(self, keys: Mapping[str, int]) -> set[str]:
        """Returns the integer columns that hold other numbers, or numbers too large for an integer
        of the server.
        """
        if not self._database.on_server:
            return set()
        value = cast(cells.c.value, Numeric)
        number = func.jsonb_typeof(cells.c.value) == "number"
        large = cells.c.kind == codec.LARGE_INTEGER
        broken = case((number, value != func.trunc(value)), else_=large)
        here = cells.c.column_key.in_(list(keys.values()))
        found = self._database.query(select(cells.c.column_key).distinct().where(here, broken))
        odd = {key for (key,) in found}
        return {name for name, key in keys.items() if key in odd}

    def _reserve(
        self,
        relation: Relation,
        parent: int | None,
        operation: str,
        sql: str,
        reason: str,
        odd: set[str],
        companions: tuple[RelationColumn, ...],
    ) -> tuple[TableVersion, DataTable]:
        """Creates an empty version: its physical table, and its line in the catalog."""
        key, revision = self._identity(relation.name)
        last = self._database.value(
            select(func.max(versions.c.version)).where(versions.c.table_key == key)
        )
        number = int(last or 0) + 1
        shown = (*relation.columns, *companions)
        version = TableVersion(
            table=relation.name,
            version=number,
            parent=parent,
            relation=version_name(relation.relation, number),
            operation=operation,
            sql=sql,
            reason=reason,
            columns=tuple(column.sql_name for column in shown),
            rows=0,
            revision=revision,
            created=codec.now(),
            companions=companions,
        )
        target = data_table(version.relation, _types(shown, odd))
        self._database.execute(CreateTable(target))
        self._record(key, version)
        return version, target

    def _record(self, key: int, version: TableVersion) -> None:
        """Writes a version's line in the catalog."""
        line = {f.name: getattr(version, f.name) for f in fields(TableVersion)}
        encoded = {
            "table_key": key,
            "columns": codec.dump(version.columns),
            "companions": codec.encode_companions(version.companions),
        }
        self._database.add_many(versions, [tuple((line | encoded)[c.name] for c in versions.c)])

    def _finish(self, version: TableVersion) -> TableVersion:
        """Counts the rows of a version, indexes them, and makes the version the current one."""
        target = _physical(version)
        number = int(self._database.value(select(func.count()).select_from(target)))
        key, _ = self._identity(version.table)
        try:
            with self._database.transaction():
                name = f"sl_row_{key}_{version.version}"
                self._database.execute(CreateIndex(Index(name, target.c.row_id, unique=True)))
        except StoreError as error:
            row = target.c.row_id
            again = select(row).group_by(row).having(func.count() > 1).limit(1)
            doubled = self._database.value(again)
            if doubled is None:
                raise
            told = (
                f"{version.operation} of {version.table!r} gives row {doubled!r} twice; "
                "merge its copies"
            )
            raise RepairError(told) from error
        here = (versions.c.table_key == key, versions.c.version == version.version)
        self._database.execute(update(versions).where(*here).values(rows=number))
        self._database.written(version.relation)
        return self._show(replace(version, rows=number))

    def _show(self, version: TableVersion) -> TableVersion:
        relation = self._schemas.relation(version.table).relation
        view = quote_identifier(relation)
        target = _physical(version)
        shown = select(*(target.c[name] for name in (*version.columns, *SYSTEM_COLUMNS[:3])))
        self._database.execute(f"DROP VIEW IF EXISTS {view}")
        self._database.execute(f"CREATE VIEW {view} AS {self._database.sql(shown)}")
        self._database.engine.expose(self._database, relation)
        self._database.execute(_SHOW, {"of": version.table, "version": version.version})
        return version

    def _check_rows(self, version: TableVersion) -> None:
        """Checks that every row, and every source of a merged row, is an extracted row of this
        table.
        """
        key, _ = self._identity(version.table)
        target = _physical(version)
        extracted = self._database.query(select(rows.c.id).where(rows.c.table_key == key))
        known = {name for (name,) in extracted}
        for row_id, sources in self._database.stream(select(target.c.row_id, target.c._sources)):
            named = (row_id, *(codec.load(sources) or ()))
            strangers = [name for name in named if name not in known]
            if strangers:
                raise RepairError(
                    f"{version.operation} of {version.table!r} names row {strangers[0]!r}, which "
                    "was never extracted; take row ids and sources from the table"
                )

    def _declare(self, version: TableVersion, derived: Iterable[Derivation]) -> None:
        key, _ = self._identity(version.table)
        encode = self._database.engine.encode
        lines = (
            (
                key,
                version.version,
                d.row_id,
                d.column,
                encode(codec.encode_scalar(d.source_value)[0]),
                encode(codec.encode_scalar(d.value)[0]),
                d.kind,
                d.reason,
                d.correction,
            )
            for d in derived
        )
        self._database.add_many(derivations, lines, [column.name for column in derivations.c][1:])

    def versions(self, table: str) -> list[TableVersion]:
        """Returns all versions of a table, the oldest first."""
        return [_version(line) for line in self._database.query(_VERSION, {"name": table})]

    def current(self, table: str) -> TableVersion | None:
        """Returns the version that the view shows; None before the first version."""
        line = self._database.one(_CURRENT, {"name": table})
        return _version(line) if line else None

    def is_current(self, table: str) -> bool:
        """Says whether the version that the view shows is up to date: rows, documents and columns
        did not change since.
        """
        _, revision = self._revision(table)
        shown = self.lineage(table)
        return bool(shown) and shown[0].revision == shown[-1].revision == revision

    def lineage(self, table: str) -> list[TableVersion]:
        """Returns the current version and the versions that it was made from, the newest first; []
        before the first version.
        """
        known = {v.version: v for v in self.versions(table)}
        current = self.current(table)
        chain = [current] if current else []
        while chain and chain[-1].parent is not None:
            chain.append(known[chain[-1].parent])
        return chain

    def undo(self, table: str, version: int) -> TableVersion:
        """Makes an earlier (or later) version the current one again; no version is deleted.

        Raises:
            StoreError: the table has no such version.
        """
        found = [v for v in self.versions(table) if v.version == version]
        if not found:
            known = ", ".join(str(v.version) for v in self.versions(table)) or "none"
            raise StoreError(f"table {table!r} has no version {version}; its versions are: {known}")
        with self._database.transaction():
            return self._show(found[0])

    def rows_of(self, version: TableVersion, row_ids: Sequence[str] | None = None) -> list[DataRow]:
        """Returns the rows of any version: the rows with these ids, or all."""
        lines = self.lines(version, (*SYSTEM_COLUMNS, *version.columns), row_ids)
        return [DataRow.of(line, version.columns) for line in lines]

    def derivations(
        self, version: TableVersion, row_ids: Sequence[str]
    ) -> dict[str, list[Derivation]]:
        """Returns the declarations of a version about the values of rows, by row id."""
        d = derivations.c
        found = (
            select(d.column_name, d.value, d.kind, d.reason, d.row_id, d.source_value, d.correction)
            .join_from(derivations, tables)
            .where(
                tables.c.name == version.table,
                d.version == version.version,
                among(d.row_id, "rows") | d.row_id.is_(None),
            )
            .order_by(d.key)
        )
        declared: dict[str, list[Derivation]] = {row_id: [] for row_id in row_ids}
        for line in self._database.query(found, {"rows": codec.dump(list(row_ids))}):
            one = Derivation(*line)
            for row_id in row_ids if one.row_id is None else (one.row_id,):
                declared[row_id].append(one)
        return declared

    def merged_rows(self, table: str) -> dict[str, tuple[str, ...]]:
        """Returns the ids of the extracted rows behind each merged row of the current version. Rows
        that were not merged are left out.
        """
        _, lines = self.read(table, ["row_id", "_sources"])
        return {row_id: tuple(codec.load(text)) for row_id, text in lines if text is not None}

    def sources(self, table: str, row_id: str) -> tuple[str, ...]:
        """Returns the ids of the extracted rows behind a row of the current version; () when there
        is no such row.
        """
        current = self.current(table)
        held = self.rows_of(current, [row_id]) if current else []
        return held[0].sources if held else ()

    def read(
        self, table: str, names: Sequence[str] = ()
    ) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
        """Returns the columns and rows of the current version; no rows before the first version.

        Args:
            names: SQL names; when left out, the schema's columns, the companions and the system
                columns.
        """
        current = self.current(table)
        if current is None:
            return tuple(names), iter(())
        columns = (c.sql_name for c in self._schemas.relation(table).columns)
        beside = (c.sql_name for c in current.companions)
        chosen = tuple(names) or (*columns, *beside, *SYSTEM_COLUMNS[:3])
        return chosen, self.lines(current, chosen)

    def lines(
        self, version: TableVersion, names: Iterable[str], row_ids: Sequence[str] | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Yields the rows of a version with these columns, in the order in which they were written.
        A column that the version does not have is NULL.

        Args:
            names: SQL names of columns.
            row_ids: the ids of the rows; None yields all.
        """
        target = _physical(version)
        null: ColumnElement[Any] = literal_column("NULL")
        chosen = [target.c.get(name, null) for name in names]
        found = select(*chosen).select_from(target)
        if row_ids is None:
            return self._database.stream(found)
        some = found.where(among(target.c.row_id, "rows"))
        return iter(self._database.query(some, {"rows": codec.dump(list(row_ids))}))


def _physical(version: TableVersion) -> DataTable:
    return data_table(version.relation, (*version.columns, *SYSTEM_COLUMNS))


def _types(columns: Iterable[RelationColumn], odd: set[str]) -> dict[str, Any]:
    """Returns SQL types by column. An integer column that holds other numbers (`odd`)
    is numeric.
    """
    types: dict[str, Any] = {
        c.sql_name: Numeric
        if c.sql_type == "INTEGER" and not c.companion_of and {c.name, c.sql_name} & odd
        else TYPES[c.sql_type]
        for c in columns
    }
    return types | dict.fromkeys(SYSTEM_COLUMNS, TYPES["TEXT"])


def _version(line: tuple[Any, ...]) -> TableVersion:
    values = dict(zip((f.name for f in fields(TableVersion)), line, strict=True))
    decoded = {
        "columns": tuple(codec.load(values["columns"])),
        "companions": codec.decode_companions(values["companions"]),
    }
    return TableVersion(**{**values, **decoded})
