"""Extracted rows and the state of the work: what was read, from which words, and what is still to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sliders.errors import StoreError
from sliders.extraction.cell import Absence, Cell, Grounding, Row, Span
from sliders.schema.types import Table
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.journal import Journal
from sliders.store.migrations import now
from sliders.store.records import Decision, Task

_LOOKUP_BATCH = 5_000

_INSERT_CELL = "INSERT OR REPLACE INTO sl_cells VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_CELLS = """SELECT r.id, r.key, r.table_name, r.document_id, r.chunk_id, r.ordinal, k.name, c.value, c.kind, c.printed,
    c.grounding, CASE WHEN c.start IS NULL THEN NULL WHEN c.document_key IS NULL THEN r.document_id ELSE cd.id END,
    c.start, c.stop, c.page, c.unit, c.scale, c.absence, c.detail, c.rationale, o.call_id, o.model, o.prompt_hash
    FROM ({rows}) r LEFT JOIN sl_cells c ON c.row_key = r.key LEFT JOIN sl_columns k ON k.key = c.column_key
    LEFT JOIN sl_documents cd ON cd.key = c.document_key LEFT JOIN sl_origins o ON o.key = c.origin_key"""
# Rows are put in order before their cells are joined: sorting a million rows is cheap, sorting their cells is not. The
# LIMIT keeps SQLite from merging the two steps.
_ROWS = """SELECT r.id, r.key, t.name AS table_name, d.id AS document_id, ch.id AS chunk_id, r.ordinal FROM sl_rows r
    JOIN sl_tables t ON t.key = r.table_key JOIN sl_documents d ON d.key = r.document_key
    JOIN sl_chunks ch ON ch.key = r.chunk_key WHERE {where} ORDER BY d.key, ch.position, r.ordinal, r.key LIMIT -1"""


class Extractions:
    """Rows, cells and tasks."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal
        self._shared: _Known | None = None

    def save(
        self,
        rows: Iterable[Row],
        tasks: Iterable[Task] = (),
        decisions: Iterable[Decision] = (),
        schema: Mapping[str, Table] | None = None,
    ) -> int:
        """Store rows, the state of the tasks that gave them, and the decisions on the way: all or nothing.

        A row that is known gets the new cells added, and replaced where the column was there; the other cells stay.

        Args:
            schema: definitions by table name, needed with tasks that are not of the current schema.

        Raises:
            StoreError: a row names a table, column, document or chunk that the workspace does not have.
        """
        count = 0
        known = self._known()
        with self._database.transaction():
            batch: list[Row] = []
            names = _Names(self._database, known)
            for row in rows:
                batch.append(row)
                count += 1
                if len(batch) >= _LOOKUP_BATCH:
                    self._save_batch(batch, names)
                    batch = []
            self._save_batch(batch, names)
            for key in names.touched:
                self._database.execute("UPDATE sl_tables SET revision = revision + 1 WHERE key = ?", (key,))
            self._save_tasks(tasks, known.schema if schema is None else schema, names)
            self._journal.record(decisions)
        if not self._database.in_transaction:
            known.works.update(names.works)
        return count

    def _known(self) -> _Known:
        """What the saves under one version of the schema share; nothing is shared inside a transaction, which may be
        undone."""
        version = int(self._database.value("SELECT max(version) FROM sl_schemas") or 0)
        if self._database.in_transaction or self._shared is None or self._shared.version != version:
            text = self._database.value("SELECT schema FROM sl_schemas ORDER BY version DESC LIMIT 1")
            known = _Known(version, {t.name: t for t in codec.decode_schema(text).tables} if text else {})
            if self._database.in_transaction:
                return known
            self._shared = known
        return self._shared

    def _save_batch(self, rows: Sequence[Row], names: _Names) -> None:
        if not rows:
            return
        keys = {
            identifier: (key, chunk)
            for identifier, key, chunk in self._database.query(
                "SELECT id, key, chunk_key FROM sl_rows WHERE id IN (SELECT value FROM json_each(?))",
                (codec.dump([row.id for row in rows]),),
            )
        }
        following = int(self._database.value("SELECT max(key) FROM sl_rows") or 0)
        fresh: list[tuple[Any, ...]] = []
        cells: list[tuple[Any, ...]] = []
        for row in rows:
            chunk = names.chunk(row.chunk_id)
            if row.id not in keys:
                following += 1
                keys[row.id] = (following, chunk)
                fresh.append(
                    (following, row.id, names.table(row.table), names.document(row.document_id), chunk, row.ordinal)
                )
            key, owner = keys[row.id]
            if owner != chunk:
                raise StoreError(f"row {row.id!r} was read from another chunk before; row ids must be unique")
            names.touched.add(names.table(row.table))
            cells.extend(_cell_lines(row, key, names))
        self._database.insert_many("INSERT INTO sl_rows VALUES (?,?,?,?,?,?)", fresh)
        self._database.insert_many(_INSERT_CELL, cells)

    def _save_tasks(self, tasks: Iterable[Task], schema: Mapping[str, Table], names: _Names) -> None:
        current = schema is names.known.schema
        works = dict(names.known.works) if current else {}
        values = []
        for task in tasks:
            asked = (task.table, task.columns)
            if asked not in works:
                works[asked] = self._work_key(task, schema, names)
            values.append((works[asked], names.chunk(task.chunk_id), task.state, task.reason, now()))
        names.works = works if current else {}
        self._database.insert_many(
            """INSERT INTO sl_tasks VALUES (?,?,?,?,1,?) ON CONFLICT DO UPDATE SET state = excluded.state,
            reason = excluded.reason, attempts = attempts + 1, at = excluded.at""",
            values,
        )

    def _work_key(self, task: Task, schema: Mapping[str, Table], names: _Names) -> int:
        if task.table not in schema:
            raise StoreError(f"a task names table {task.table!r}, which is not in the schema; save the schema first")
        table = schema[task.table]
        hashes = {name: codec.column_hash(table, table.column(name)) for name in sorted(task.columns)}
        text = codec.dump(hashes)
        identity = (names.table(task.table), codec.digest(text)[:16])
        self._database.execute(
            "INSERT INTO sl_work (table_key, hash, columns) VALUES (?,?,?) ON CONFLICT DO NOTHING", (*identity, text)
        )
        return int(self._database.value("SELECT key FROM sl_work WHERE table_key = ? AND hash = ?", identity))

    def settled(self, table: Table) -> dict[str, frozenset[str]]:
        """Columns that need no more calls, by chunk id: extracted, gated out or pruned under their present definition.

        What a chunk of a current document lacks here is still to do; failed and pending work is not in it.
        """
        current = {column.name: codec.column_hash(table, column) for column in table.columns}
        found: dict[str, set[str]] = {}
        rows = self._database.query(
            """SELECT c.id, w.columns FROM sl_tasks s JOIN sl_work w ON w.key = s.work_key
            JOIN sl_tables t ON t.key = w.table_key JOIN sl_chunks c ON c.key = s.chunk_key
            WHERE t.name = ? AND c.active AND s.state IN ('done', 'gated', 'pruned')""",
            (table.name,),
        )
        covered: dict[str, list[str]] = {}
        for chunk_id, text in rows:
            if text not in covered:
                covered[text] = [name for name, asked in codec.load(text).items() if current.get(name) == asked]
            found.setdefault(chunk_id, set()).update(covered[text])
        return {chunk_id: frozenset(columns) for chunk_id, columns in found.items()}

    def tasks(self, table: str | None = None, state: str | None = None) -> list[Task]:
        """Tasks on the chunks of current documents, filtered."""
        rows = self._database.query(
            """SELECT t.name, w.columns, c.id, s.state, s.reason FROM sl_tasks s JOIN sl_work w ON w.key = s.work_key
            JOIN sl_tables t ON t.key = w.table_key JOIN sl_chunks c ON c.key = s.chunk_key
            JOIN sl_documents d ON d.key = c.document_key
            WHERE c.active AND d.superseded_by IS NULL AND (?1 IS NULL OR t.name = ?1) AND (?2 IS NULL OR s.state = ?2)
            ORDER BY w.key, d.key, c.position""",
            (table, state),
        )
        columns = {text: tuple(codec.load(text)) for text in {row[1] for row in rows}}
        return [Task(name, columns[text], *rest) for name, text, *rest in rows]

    def forget(self, table: str, chunk_ids: Sequence[str] | None = None) -> int:
        """Delete the rows and tasks of a table (in these chunks), so that they are asked again; rows deleted."""
        chunks = "(SELECT key FROM sl_chunks WHERE id IN (SELECT value FROM json_each(?)))"
        only = "" if chunk_ids is None else f" AND chunk_key IN {chunks}"
        parameters = [table] if chunk_ids is None else [table, codec.dump(list(chunk_ids))]
        of_table = "(SELECT key FROM sl_tables WHERE name = ?)"
        with self._database.transaction():
            self._database.execute(
                f"DELETE FROM sl_tasks WHERE work_key IN (SELECT key FROM sl_work WHERE table_key = {of_table}){only}",
                parameters,
            )
            deleted = self._database.execute(f"DELETE FROM sl_rows WHERE table_key = {of_table}{only}", parameters)
            self._database.execute("UPDATE sl_tables SET revision = revision + 1 WHERE name = ?", (table,))
        return deleted

    def rows(self, table: str, *, document_ids: Sequence[str] | None = None, superseded: bool = False) -> list[Row]:
        """The extracted rows of a table with all their cells, in document order, trusted or not."""
        return list(self.iterate(table, document_ids=document_ids, superseded=superseded))

    def iterate(
        self, table: str, *, document_ids: Sequence[str] | None = None, superseded: bool = False
    ) -> Iterator[Row]:
        """As `rows`, one at a time."""
        where = "t.name = ?" + ("" if superseded else " AND d.superseded_by IS NULL AND ch.active")
        parameters = [table]
        if document_ids is not None:
            where += " AND d.id IN (SELECT value FROM json_each(?))"
            parameters.append(codec.dump(list(document_ids)))
        return _grouped(self._database.stream(_CELLS.format(rows=_ROWS.format(where=where)), parameters))

    def get(self, row_ids: Sequence[str]) -> dict[str, Row]:
        """Extracted rows by id; ids that the workspace does not have are missing."""
        chosen = _ROWS.format(where="r.id IN (SELECT value FROM json_each(?))")
        rows = self._database.query(_CELLS.format(rows=chosen), (codec.dump(list(row_ids)),))
        return {row.id: row for row in _grouped(iter(rows))}

    def count(self, table: str) -> int:
        """Number of extracted rows of a table in current documents."""
        return int(
            self._database.value(
                """SELECT count(*) FROM sl_rows r JOIN sl_tables t ON t.key = r.table_key
                JOIN sl_documents d ON d.key = r.document_key JOIN sl_chunks h ON h.key = r.chunk_key
                WHERE t.name = ? AND d.superseded_by IS NULL AND h.active""",
                (table,),
            )
        )

    def absences(self, table: str) -> dict[str, dict[str, int]]:
        """How many cells of each column are empty, by reason (contract 4)."""
        found: dict[str, dict[str, int]] = {}
        for column, why, number in self._database.query(
            "SELECT column_name, why, count(*) FROM cell_absence WHERE table_name = ? GROUP BY 1, 2 ORDER BY 1, 2",
            (table,),
        ):
            found.setdefault(column, {})[why] = number
        return found


@dataclass(frozen=True, slots=True)
class _Known:
    """What stays the same while a version of the schema stands: definitions, keys of tables, columns and work."""

    version: int
    schema: dict[str, Table]
    tables: dict[str, int] = field(default_factory=dict)
    columns: dict[str, dict[str, int]] = field(default_factory=dict)
    works: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)


class _Names:
    """Integer keys of the texts that rows name, looked up once."""

    def __init__(self, database: Database, known: _Known) -> None:
        self._database = database
        self.known = known
        self.works: dict[tuple[str, tuple[str, ...]], int] = {}
        self._tables = known.tables
        self._documents: dict[str, int] = {}
        self._chunks: dict[str, int] = {}
        self._columns = known.columns
        self.origins: dict[tuple[str, str, str], int] = {}
        self.touched: set[int] = set()

    def _key(self, kind: str, sql: str, name: str) -> int:
        key = self._database.value(sql, (name,))
        if key is None:
            raise StoreError(f"an extracted row names {kind} {name!r}, which is not in the workspace; save it first")
        return int(key)

    def table(self, name: str) -> int:
        if name not in self._tables:
            self._tables[name] = self._key("table", "SELECT key FROM sl_tables WHERE name = ?", name)
        return self._tables[name]

    def document(self, name: str) -> int:
        if name not in self._documents:
            self._documents[name] = self._key("document", "SELECT key FROM sl_documents WHERE id = ?", name)
        return self._documents[name]

    def chunk(self, name: str) -> int:
        if name not in self._chunks:
            self._chunks[name] = self._key("chunk", "SELECT key FROM sl_chunks WHERE id = ?", name)
        return self._chunks[name]

    def columns(self, table: str) -> dict[str, int]:
        if table not in self._columns:
            sql = "SELECT name, key FROM sl_columns WHERE table_key = ?"
            self._columns[table] = {name: int(key) for name, key in self._database.query(sql, (self.table(table),))}
        return self._columns[table]

    def no_column(self, row: Row, cell: Cell) -> int:
        raise StoreError(
            f"row {row.id!r} has a cell for column {cell.column!r}, which table {row.table!r} does not have"
        )

    def origin(self, said: tuple[str, str, str]) -> int | None:
        if not any(said):
            return None
        key = self._database.value("SELECT key FROM sl_origins WHERE call_id = ? AND model = ? AND prompt_hash = ?", said)
        if key is None:
            key = self._database.insert("INSERT INTO sl_origins (call_id, model, prompt_hash) VALUES (?,?,?)", said)
        self.origins[said] = int(key)
        return self.origins[said]


def _cell_lines(row: Row, key: int, names: _Names) -> Iterator[tuple[Any, ...]]:
    """The lines of `sl_cells` for one row; the hot loop of an extraction."""
    columns = names.columns(row.table)
    for cell in row.cells:
        value, kind = cell.value, None
        if type(value) is not str and value is not None:
            value, kind = codec.encode_scalar(value)
        span, elsewhere, start, stop, page = cell.span, None, None, None, None
        if span is not None:
            start, stop, page = span.start, span.end, span.page
            if span.document_id != row.document_id:
                elsewhere = names.document(span.document_id)
        said = (cell.call_id, cell.model, cell.prompt_hash)
        yield (
            key, columns[cell.column] if cell.column in columns else names.no_column(row, cell), value, kind,
            cell.printed or None, cell.grounding.value, elsewhere, start, stop, page, cell.unit or None,
            cell.scale or None, cell.absence.value if cell.absence is not None else None, cell.detail or None,
            cell.rationale or None, names.origins.get(said) or names.origin(said),
        )  # fmt: skip


def _grouped(lines: Iterator[tuple[Any, ...]]) -> Iterator[Row]:
    identity: tuple[Any, ...] | None = None
    cells: list[Cell] = []
    for line in lines:
        if identity is not None and line[1] != identity[1]:
            yield _row(identity, cells)
            cells = []
        identity = line[:6]
        if line[6] is not None:
            cells.append(_cell(line[6:]))
    if identity is not None:
        yield _row(identity, cells)


def _row(identity: tuple[Any, ...], cells: list[Cell]) -> Row:
    identifier, _, table, document_id, chunk_id, ordinal = identity
    return Row(identifier, table, document_id, chunk_id, ordinal, tuple(cells))


def _cell(line: tuple[Any, ...]) -> Cell:
    column, value, kind, printed, grounding, document_id, start, stop, page, unit, scale = line[:11]
    absence, detail, rationale, call_id, model, prompt_hash = line[11:]
    return Cell(
        column=column,
        value=codec.decode_scalar(value, kind),
        printed=printed or "",
        grounding=Grounding(grounding),
        span=None if start is None else Span(document_id, start, stop, page),
        unit=unit or "",
        scale=scale or "",
        absence=Absence(absence) if absence else None,
        detail=detail or "",
        rationale=rationale or "",
        call_id=call_id or "",
        model=model or "",
        prompt_hash=prompt_hash or "",
    )
