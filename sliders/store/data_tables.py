"""Data tables: the cells of a schema table that have a value as a real SQL table, and the versions
that repairs make of it.

Each version is a physical table `<relation>__v<N>`; the view `<relation>` shows the current one,
without `_sources`. Every version has the user's columns, the companions that any row needs, then
`document` (name), `document_id`, `row_id` (`Row.id` of the extracted row that it stands for) and
`_sources` (JSON list of the `Row.id`s that were merged into it, NULL for the row alone).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Double,
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
from sliders.extraction.cell import Absence, Cell, Scalar
from sliders.store import codec
from sliders.store.companions import companion_value, companions_read, filled
from sliders.store.database import Database, data_table
from sliders.store.engines import quote_identifier
from sliders.store.layout import (
    ASKED,
    CURRENT,
    TYPES,
    cells,
    chunks,
    columns,
    derivations,
    documents,
    rows,
    tables,
    versions,
)
from sliders.store.records import Derivation, Relation, RelationColumn, TableVersion
from sliders.store.schemas import Schemas
from sliders.store.sql_names import SYSTEM_COLUMNS, version_name

EXTRACT = "extract"
UNVERIFIED = "extract with unverified values"
SAID = (Absence.UNGROUNDED.value, Absence.NOT_PARSED.value)
"""Absences whose cells may keep what the model said."""
_IDENTITY = select(tables.c.key, tables.c.revision).where(tables.c.name == bindparam("name"))
_OWN_IDENTITY = _IDENTITY.with_for_update()
"""Within a transaction, a second writer of the table waits."""
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


@dataclass(frozen=True, slots=True)
class DataRow:
    """A row of a repaired table: `values` by SQL column name; `sources` are the
    `Row.id`s merged into it.
    """

    row_id: str
    document: str
    document_id: str
    values: Mapping[str, Scalar]
    sources: tuple[str, ...] = ()


def enters(cell: Cell, unverified: bool = False) -> bool:
    """Whether a cell's value stands in its data table; `unverified` also lets in what the
    model said without proof.
    """
    return cell.absence is None or (unverified and cell.absence in SAID)


def stands(absence: ColumnElement[Any], unverified: bool) -> ColumnElement[bool]:
    """`enters` for cells with that absence."""
    return absence.is_(None) | absence.in_(SAID) if unverified else absence.is_(None)


def materialise_sql(
    relation: Relation,
    table_key: int,
    keys: Mapping[str, int],
    unverified: bool = False,
    *,
    server: bool = False,
    companions: Sequence[RelationColumn] = (),
) -> Select[Any]:
    """SELECT that turns cells into rows: one look-up a cell, so that the cost is
    linear in the cells.

    Args:
        keys: integer key by schema column name.
        unverified: see `enters`.
        server: for PostgreSQL, where a value is JSON and every column has one type.
        companions: columns that stand beside those of the schema.
    """
    c = cells.c
    values = (
        select(companion_value(column.role) if column.companion_of else _shown(column, server))
        .where(
            c.row_key == rows.c.key,
            c.column_key == keys[column.companion_of or column.name],
            stands(c.absence, unverified),
        )
        .correlate(rows)
        .scalar_subquery()
        .label(column.sql_name)
        for column in (*relation.columns, *companions)
    )
    return (
        select(
            *values,
            documents.c.name.label("document"),
            documents.c.id.label("document_id"),
            rows.c.id.label("row_id"),
            literal_column("NULL").label("_sources"),
        )
        .select_from(
            rows.join(documents, documents.c.key == rows.c.document_key).join(
                chunks, chunks.c.key == rows.c.chunk_key
            )
        )
        .where(rows.c.table_key == table_key, CURRENT, ASKED)
        .order_by(documents.c.key, chunks.c.position, rows.c.ordinal, rows.c.key)
    )


def _shown(column: RelationColumn, server: bool) -> ColumnElement[Any]:
    """The cell's value; words and not-a-number have no place in a number column."""
    value: ColumnElement[Any] = cells.c.value
    number = func.jsonb_typeof(value) == "number" if server else func.typeof(value) != "text"
    if server:
        value = value.op("#>>")(literal_column("'{}'"))
    if column.sql_type == "TEXT":
        return value
    large = func.coalesce(cells.c.kind, 0) == codec.LARGE_INTEGER
    return case(
        (
            number | large,
            cast(value, Double if column.sql_type == "REAL" else Numeric) if server else value,
        )
    )


class Tables:
    """The data tables of a workspace."""

    def __init__(self, database: Database, schemas: Schemas) -> None:
        self._database = database
        self._schemas = schemas

    def materialise(
        self, table: str, *, unverified: bool = False, reason: str = ""
    ) -> TableVersion:
        """The table as extracted: a new current version when rows, documents or columns
        changed since the last one.

        When nothing changed, the version that stands is returned and stays
        current, repaired or not.

        Args:
            unverified: see `enters` (contract 2: only when the user says so).

        Raises:
            StoreError: the workspace has no table of that name.
        """
        relation = self._schemas.relation(table)
        operation = UNVERIFIED if unverified else EXTRACT
        with self._database.transaction():
            key, revision = self._identity(table)
            base = next(
                (v for v in reversed(self.versions(table)) if v.operation == operation), None
            )
            current = self.current(table)
            if base is not None and base.revision == revision:
                # An older version of the same kind can only be current because
                # somebody undid: that stands.
                if current is not None and self.lineage(table)[-1].operation == operation:
                    return current
                return self.undo(table, base.version)
            keys: dict[str, int] = dict(self._database.query(_KEYS, {"table": key}))
            beside = companions_read(self._database, relation, keys, SAID if unverified else ())
            found = materialise_sql(
                relation, key, keys, unverified, server=self._database.on_server, companions=beside
            )
            sql = self._database.sql(found)
            version, target = self._reserve(
                relation, None, operation, sql, reason or "as extracted", self._odd(keys), beside
            )
            listed = ", ".join(map(quote_identifier, (*version.columns, *SYSTEM_COLUMNS)))
            self._database.execute(f"INSERT INTO {quote_identifier(target.name)} ({listed}) {sql}")
            return self._finish(version)

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
        """A repaired version of a table, made current; all in one transaction.

        Args:
            made: the rows; one that leaves out a companion has none.
            operation: "deduplicate", "resolve conflict" ...
            sql: the SQL of the repair, to be recorded.
            derived: declares values that no source row has.
            companions: columns beside those of the schema and of the version before;
                those without any value are left out.

        Raises:
            RepairError: a column is missing, a row id is unknown or comes twice, or a
                source row does not exist.
        """
        relation = self._schemas.relation(table)
        with self._database.transaction():
            parent = self.current(table)
            if parent is None:
                raise RepairError(f"table {table!r} has no version to repair; materialise it first")
            odd: set[str] = set()
            beside = (*parent.companions, *companions)
            if (
                beside or self._database.on_server
            ):  # which companions and types a version needs is known once all values are
                made = list(made)
                beside = filled(beside, (row.values for row in made))
            if self._database.on_server:
                odd = {n for row in made for n, value in row.values.items() if _is_odd(value)}
            version, target = self._reserve(
                relation, parent.version, operation, sql, reason, odd, beside
            )
            self._database.add_many(target, _lines(made, version))
            version = self._finish(version)
            self._check_rows(version)
            self._declare(version, derived)
        return version

    def _revision(self, table: str) -> tuple[int, int]:
        """A table's key and revision, without keeping other writers out."""
        row = self._database.one(_IDENTITY, {"name": table})
        return (0, -1) if row is None else (int(row[0]), int(row[1]))

    def _identity(self, table: str) -> tuple[int, int]:
        row = self._database.one(
            _OWN_IDENTITY if self._database.write else _IDENTITY, {"name": table}
        )
        assert row is not None  # the caller has asked for the table's relation
        return int(row[0]), int(row[1])

    def _odd(self, keys: Mapping[str, int]) -> set[str]:
        """Columns of whole numbers that hold others, or larger ones than an
        integer of the server.
        """
        if not self._database.on_server:
            return set()
        value = cast(cells.c.value, Numeric)
        number, large = (
            func.jsonb_typeof(cells.c.value) == "number",
            cells.c.kind == codec.LARGE_INTEGER,
        )
        broken = case((number, value != func.trunc(value)), else_=large)
        found = (
            select(cells.c.column_key)
            .distinct()
            .where(cells.c.column_key.in_(list(keys.values())), broken)
        )
        odd = {key for (key,) in self._database.query(found)}
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
        """An empty version: its physical table and its line in the catalog."""
        key, revision = self._identity(relation.name)
        last = self._database.value(
            select(func.max(versions.c.version)).where(versions.c.table_key == key)
        )
        number = int(last or 0) + 1
        names = tuple(column.sql_name for column in (*relation.columns, *companions))
        version = TableVersion(
            relation.name,
            number,
            parent,
            version_name(relation.relation, number),
            operation,
            sql,
            reason,
            names,
            0,
            revision,
            codec.now(),
            companions,
        )
        types: dict[str, Any] = {
            c.sql_name: TYPES[c.sql_type] for c in (*relation.columns, *companions)
        }
        types |= {
            c.sql_name: Numeric
            for c in relation.columns
            if {c.name, c.sql_name} & odd and c.sql_type == "INTEGER"
        }
        target = data_table(version.relation, types | dict.fromkeys(SYSTEM_COLUMNS, TYPES["TEXT"]))
        self._database.execute(CreateTable(target))
        line = {f.name: getattr(version, f.name) for f in fields(TableVersion) if f.name != "table"}
        line |= {
            "table_key": key,
            "columns": codec.dump(names),
            "companions": codec.encode_companions(companions),
        }
        self._database.add_many(versions, [tuple(line[column.name] for column in versions.c)])
        return version, target

    def _finish(self, version: TableVersion) -> TableVersion:
        """Count the rows, index them, and show this version as the current one."""
        target = _physical(version)
        number = int(self._database.value(select(func.count()).select_from(target)))
        key, _ = self._identity(version.table)
        try:
            with self._database.transaction():
                self._database.execute(
                    CreateIndex(
                        Index(f"sl_row_{key}_{version.version}", target.c.row_id, unique=True)
                    )
                )
        except StoreError as error:
            again = (
                select(target.c.row_id).group_by(target.c.row_id).having(func.count() > 1).limit(1)
            )
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
        """Every row, and every source of a merged row, is an extracted row of this table."""
        key, _ = self._identity(version.table)
        target = _physical(version)
        known = {
            name
            for (name,) in self._database.query(select(rows.c.id).where(rows.c.table_key == key))
        }
        for row_id, sources in self._database.stream(select(target.c.row_id, target.c._sources)):
            strangers = [
                name for name in (row_id, *(codec.load(sources) or ())) if name not in known
            ]
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
            )
            for d in derived
        )
        self._database.add_many(derivations, lines, [column.name for column in derivations.c][1:])

    def versions(self, table: str) -> list[TableVersion]:
        """All versions of a table, oldest first."""
        return [_version(line) for line in self._database.query(_VERSION, {"name": table})]

    def current(self, table: str) -> TableVersion | None:
        """The version that the view shows, None before the first one."""
        line = self._database.one(_CURRENT, {"name": table})
        return _version(line) if line else None

    def is_current(self, table: str) -> bool:
        """Whether the version that the view shows has all that was read since:
        rows, documents and columns did not change.
        """
        _, revision = self._revision(table)
        shown = self.lineage(table)
        return bool(shown) and shown[0].revision == shown[-1].revision == revision

    def lineage(self, table: str) -> list[TableVersion]:
        """The current version and those that it was made from, newest first;
        empty before the first one.
        """
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
        rows = self.lines(version, (*SYSTEM_COLUMNS, *version.columns))
        return [
            DataRow(
                row_id,
                document,
                document_id,
                dict(zip(version.columns, values, strict=True)),
                tuple(codec.load(sources) or (row_id,)),
            )
            for document, document_id, row_id, sources, *values in rows
        ]

    def derivations(self, table: str, row_id: str, version: int | None = None) -> list[Derivation]:
        """What a version (the current one when left out) declares of the values of one row."""
        d = derivations.c
        number = tables.c.current_version if version is None else version
        found = (
            select(d.column_name, d.value, d.kind, d.reason, d.row_id, d.source_value)
            .join_from(derivations, tables)
            .where(
                tables.c.name == table,
                d.version == number,
                (d.row_id == row_id) | d.row_id.is_(None),
            )
            .order_by(d.key)
        )
        return [Derivation(*line) for line in self._database.query(found)]

    def merged_rows(self, table: str) -> dict[str, tuple[str, ...]]:
        """The extracted rows that each merged row of the current version stands for;
        a row alone is not in it.
        """
        _, lines = self.read(table, ["row_id", "_sources"])
        return {
            row_id: tuple(codec.load(sources)) for row_id, sources in lines if sources is not None
        }

    def sources(self, table: str, row_id: str) -> tuple[str, ...]:
        """The extracted rows that a row of the current version stands for;
        empty when it has no such row.
        """
        row = self.shown(table, row_id, ["_sources"])
        return () if row is None else tuple(codec.load(row[0]) or (row_id,))

    def shown(self, table: str, row_id: str, names: Sequence[str]) -> tuple[Any, ...] | None:
        """These columns (SQL names) of a row of the current version;
        None when it has no such row.
        """
        current = self.current(table)
        if current is None:
            return None
        target = _physical(current)
        return self._database.one(
            select(*(target.c[name] for name in names)).where(target.c.row_id == row_id)
        )

    def read(
        self, table: str, names: Sequence[str] = ()
    ) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
        """Columns (SQL names; when left out, the schema's, then companions and the system's) and
        rows of the current version; none before it.
        """
        current = self.current(table)
        if current is None:
            return tuple(names), iter(())
        columns = (
            () if names else (column.sql_name for column in self._schemas.relation(table).columns)
        )
        chosen = tuple(names) or (
            *columns,
            *(c.sql_name for c in current.companions),
            *SYSTEM_COLUMNS[:3],
        )
        return chosen, self.lines(current, chosen)

    def lines(self, version: TableVersion, names: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """These columns (SQL names) of all rows of a version in the order of writing, NULL of one
        that it was made before.
        """
        target = _physical(version)
        return self._database.stream(
            select(*(target.c.get(name, literal_column("NULL")) for name in names)).select_from(
                target
            )
        )


def _physical(version: TableVersion) -> DataTable:
    return data_table(version.relation, (*version.columns, *SYSTEM_COLUMNS))


def _is_odd(value: Scalar) -> bool:
    return (isinstance(value, float) and not value.is_integer()) or (
        isinstance(value, int) and abs(value) >= 2**63
    )


def _version(line: tuple[Any, ...]) -> TableVersion:
    values = dict(zip((f.name for f in fields(TableVersion)), line, strict=True))
    decoded = {
        "columns": tuple(codec.load(values["columns"])),
        "companions": codec.decode_companions(values["companions"]),
    }
    return TableVersion(**{**values, **decoded})


def _lines(made: Iterable[DataRow], version: TableVersion) -> Iterator[tuple[Any, ...]]:
    beside = {c.sql_name for c in version.companions}
    for row in made:
        missing = [
            name for name in version.columns if name not in row.values and name not in beside
        ]
        if missing:
            raise RepairError(
                f"row {row.row_id!r} of the repair loses {', '.join(missing)}; give every column"
            )
        values = (codec.encode_scalar(row.values.get(name))[0] for name in version.columns)
        yield (
            *values,
            row.document,
            row.document_id,
            row.row_id,
            codec.dump(row.sources) if row.sources else None,
        )
