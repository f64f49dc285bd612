"""Extracted rows and the state of the work: what was read, from which words, and what is still to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sliders.errors import StoreError
from sliders.extraction.cell import Cell, Row
from sliders.schema.types import Table
from sliders.store import codec
from sliders.store.cell_lines import CELLS, INSERT_CELL, ROWS, Keys, Known, cell_lines, rows_of
from sliders.store.database import Database
from sliders.store.journal import Journal
from sliders.store.migrations import now
from sliders.store.records import Decision, Reliability, Task

_LOOKUP_BATCH = 5_000


_SHOWN = 6
"""Values that stood before a cut, in the words of its decision."""


class Extractions:
    """Rows, cells and tasks."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal
        self._shared: Known | None = None

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
            keys = Keys(self._database, known)
            for row in rows:
                batch.append(row)
                count += 1
                if len(batch) >= _LOOKUP_BATCH:
                    self._save_batch(batch, keys)
                    batch = []
            self._save_batch(batch, keys)
            for key in keys.touched:
                self._database.execute("UPDATE sl_tables SET revision = revision + 1 WHERE key = ?", (key,))
            self._save_tasks(tasks, known.schema if schema is None else schema, keys)
            self._journal.record(decisions)
        if not self._database.in_transaction:
            known.works.update(keys.works)
        return count

    def _known(self) -> Known:
        """What the saves under one version of the schema share; nothing is shared inside a transaction, which may be
        undone."""
        version = int(self._database.value("SELECT max(version) FROM sl_schemas") or 0)
        if self._database.in_transaction or self._shared is None or self._shared.version != version:
            text = self._database.value("SELECT schema FROM sl_schemas ORDER BY version DESC LIMIT 1")
            known = Known(version, {t.name: t for t in codec.decode_schema(text).tables} if text else {})
            if self._database.in_transaction:
                return known
            self._shared = known
        return self._shared

    def _save_batch(self, rows: Sequence[Row], keys: Keys) -> None:
        if not rows:
            return
        stored = {
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
            chunk = keys.chunk(row.chunk_id)
            if row.id not in stored:
                following += 1
                stored[row.id] = (following, chunk)
                fresh.append(
                    (following, row.id, keys.table(row.table), keys.document(row.document_id), chunk, row.ordinal)
                )
            key, owner = stored[row.id]
            if owner != chunk:
                raise StoreError(f"row {row.id!r} was read from another chunk before; row ids must be unique")
            keys.touched.add(keys.table(row.table))
            cells.extend(cell_lines(row, key, keys))
        self._database.insert_many("INSERT INTO sl_rows VALUES (?,?,?,?,?,?)", fresh)
        self._database.insert_many(INSERT_CELL, cells)

    def _save_tasks(self, tasks: Iterable[Task], schema: Mapping[str, Table], keys: Keys) -> None:
        current = schema is keys.known.schema
        works = dict(keys.known.works) if current else {}
        values = []
        for task in tasks:
            asked = (task.table, task.columns)
            if asked not in works:
                works[asked] = self._work_key(task, schema, keys)
            values.append((works[asked], keys.chunk(task.chunk_id), task.state, task.reason, now()))
        keys.works = works if current else {}
        self._database.insert_many(
            """INSERT INTO sl_tasks VALUES (?,?,?,?,1,?) ON CONFLICT DO UPDATE SET state = excluded.state,
            reason = excluded.reason, attempts = attempts + 1, at = excluded.at""",
            values,
        )

    def _work_key(self, task: Task, schema: Mapping[str, Table], keys: Keys) -> int:
        if task.table not in schema:
            raise StoreError(f"a task names table {task.table!r}, which is not in the schema; save the schema first")
        table = schema[task.table]
        hashes = {name: codec.column_hash(table, table.column(name)) for name in sorted(task.columns)}
        text = codec.dump(hashes)
        identity = (keys.table(task.table), codec.digest(text)[:16])
        self._database.execute(
            "INSERT INTO sl_work (table_key, hash, columns) VALUES (?,?,?) ON CONFLICT DO NOTHING", (*identity, text)
        )
        return int(self._database.value("SELECT key FROM sl_work WHERE table_key = ? AND hash = ?", identity))

    def recalibrate(self, table: str, column: str, cells: Mapping[str, Cell], reason: str) -> int:
        """Give cells what a cut of their odds says: value, doubt, and whether they are empty; all else stays, odds included.

        Args:
            cells: by `Row.id`; only `value`, `doubt`, `absence` and `detail` are stored.
            reason: how the cut was made, for the decision that says what stood before.

        Returns:
            How many values changed.

        Raises:
            StoreError: the workspace has no such table, or a row has no cell of that column with a value.
        """
        with self._database.transaction():
            column_key, found = self._standing(table, column, list(cells))
            before: Counter[str] = Counter()
            lines, changed = [], 0
            for row_id, key, value, kind, absence, *rest in found:
                cell = cells[row_id]
                empty = cell.absence.value if cell.absence else None
                new = (*codec.encode_scalar(cell.value), empty, cell.doubt or None, cell.detail or None)
                before[absence or codec.dump(codec.decode_scalar(value, kind))] += 1
                changed += new[:3] != (value, kind, absence)
                if new != (value, kind, absence, *rest):
                    lines.append((*new, key, column_key))
            if lines:
                self._database.insert_many(
                    """UPDATE sl_cells SET value = ?, kind = ?, absence = ?, doubt = ?, detail = ?
                    WHERE row_key = ? AND column_key = ?""",
                    lines,
                )
                self._database.execute("UPDATE sl_tables SET revision = revision + 1 WHERE name = ?", (table,))
                stood = ", ".join(f"{value} {number}" for value, number in sorted(before.most_common(_SHOWN)))
                told = f"{reason}; {changed} of {len(found)} values changed, before: {stood}"
                self._journal.record(Decision("extract", f"column:{table}.{column}", "calibrated", told))
        return changed

    def _standing(self, table: str, column: str, row_ids: Sequence[str]) -> tuple[int | None, list[tuple[Any, ...]]]:
        """The key of a column, and (row id, row key, value, kind, absence, doubt, detail) of its cells with a value, also one
        that a cut took out."""
        key = Keys(self._database, self._known()).columns(table).get(column)
        found = self._database.query(
            """SELECT r.id, c.row_key, c.value, c.kind, c.absence, c.doubt, c.detail
            FROM sl_cells c JOIN sl_rows r ON r.key = c.row_key
            WHERE c.column_key = ? AND c.value IS NOT NULL AND coalesce(c.absence, 'not stated') = 'not stated'
            AND r.id IN (SELECT value FROM json_each(?))""",
            (key, codec.dump(row_ids)),
        )
        missing = set(row_ids) - {line[0] for line in found}
        if missing:
            raise StoreError(f"row {min(missing)!r} of {table!r} has no value of {column!r} to calibrate; read it first")
        return key, found

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

    def columns_asked(self, table: str) -> frozenset[str]:
        """The columns of a table that any chunk was asked for."""
        rows = self._database.query(
            "SELECT w.columns FROM sl_work w JOIN sl_tables t ON t.key = w.table_key WHERE t.name = ?", (table,)
        )
        return frozenset(name for (text,) in rows for name in codec.load(text))

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
        return rows_of(self._database.stream(CELLS.format(rows=ROWS.format(where=where)), parameters))

    def get(self, row_ids: Sequence[str]) -> dict[str, Row]:
        """Extracted rows by id; ids that the workspace does not have are missing."""
        chosen = ROWS.format(where="r.id IN (SELECT value FROM json_each(?))")
        rows = self._database.query(CELLS.format(rows=chosen), (codec.dump(list(row_ids)),))
        return {row.id: row for row in rows_of(iter(rows))}

    def documents_with_rows(self, table: str) -> frozenset[str]:
        """Ids of the current documents that gave rows of a table."""
        found = self._database.query(
            """SELECT DISTINCT d.id FROM sl_rows r JOIN sl_tables t ON t.key = r.table_key
            JOIN sl_documents d ON d.key = r.document_key JOIN sl_chunks h ON h.key = r.chunk_key
            WHERE t.name = ? AND d.superseded_by IS NULL AND h.active""",
            (table,),
        )
        return frozenset(identifier for (identifier,) in found)

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

    def reliability(self, table: str, columns: Iterable[str] | None = None) -> Reliability:
        """What the values of these columns (schema names; all when left out) rest on, counted over current documents."""
        row = self._database.one(
            """SELECT coalesce(sum(absence IS NULL), 0), coalesce(sum(absence IS NULL AND how = 'computed'), 0),
                coalesce(sum(absence IS NULL AND how = 'judged'), 0),
                coalesce(sum(absence IS NULL AND doubt IS NOT NULL), 0), coalesce(sum(absence = 'ungrounded'), 0),
                coalesce(sum(absence = 'did not parse'), 0)
            FROM sl_cells c JOIN sl_rows r ON r.key = c.row_key JOIN sl_tables t ON t.key = r.table_key
            JOIN sl_documents d ON d.key = r.document_key JOIN sl_chunks h ON h.key = r.chunk_key
            JOIN sl_columns k ON k.key = c.column_key
            WHERE t.name = ?1 AND d.superseded_by IS NULL AND h.active AND k.active
            AND (?2 IS NULL OR k.name IN (SELECT value FROM json_each(?2)))""",
            (table, None if columns is None else codec.dump(list(columns))),
        )
        assert row is not None  # an aggregate gives one row
        return Reliability(*row)
