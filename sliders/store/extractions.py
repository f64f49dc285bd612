"""Extracted rows with their cells, and the state of the work: the columns that each chunk was asked
for, and the work that is left.

A *task* records the outcome of a chunk for a table's columns. *Work* is a table's columns under
their definitions, which many tasks share. A *cut* is the probability from which a judged value
counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import delete, func, or_, select, update

from sliders.errors import StoreError
from sliders.extraction.cell import Absence, Cell, Row
from sliders.schema.types import Table
from sliders.store import codec
from sliders.store import extraction_sql as sql
from sliders.store.cell_writer import OF_ROWS, Keys, Known, Works, cell_lines, cells_of, rows_of
from sliders.store.database import Database
from sliders.store.journal import Journal
from sliders.store.layout import (
    ASKED,
    CURRENT,
    cells,
    chunks,
    columns,
    documents,
    rows,
    tables,
    tasks,
    work,
)
from sliders.store.layout_columns import among
from sliders.store.records import Decision, Reliability, Task
from sliders.store.schemas import LAST, VERSION

_LOOKUP_BATCH = 5_000
_SAYS_NOTHING = [a.value for a in (Absence.NOT_STATED, Absence.DOES_NOT_APPLY, Absence.NOT_ASKED)]
_OF_CELLS = OF_ROWS.join(cells, cells.c.row_key == rows.c.key).join(
    columns, columns.c.key == cells.c.column_key
)
_SHOWN = 6
"""The most distinct earlier values that the decision about a cut lists."""


class Extractions:
    """The rows, cells and tasks of a workspace."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal
        self._shared: Known | None = None

    def save(
        self,
        read: Iterable[Row],
        ended: Iterable[Task] = (),
        decisions: Iterable[Decision] = (),
        schema: Mapping[str, Table] | None = None,
    ) -> int:
        """Stores rows, the tasks that gave them, and the decisions made meanwhile: all or nothing.
        A row that is stored already gets the new cells, which replace its cells in the same
        columns.

        Args:
            schema: definitions by table name, for tasks of another schema than the current one.

        Returns:
            The number of rows that were stored.

        Raises:
            StoreError: a row names a table, column, document or chunk that the workspace lacks.
        """
        count = 0
        known = self._known()
        with self._database.transaction():
            keys = Keys(self._database, known)
            remaining = iter(read)
            while batch := list(islice(remaining, _LOOKUP_BATCH)):
                self._save_batch(batch, keys)
                count += len(batch)
            for key in sorted(keys.touched):
                self._database.execute(sql.CHANGED, {"table": key})
            works = self._save_tasks(ended, known.schema if schema is None else schema, keys)
            self._journal.record(decisions)
        if not self._database.in_transaction:
            known.works.update(works)
        return count

    def _known(self) -> Known:
        """Returns the keys that saves under one version of the schema share; fresh ones inside a
        transaction, which may be undone.
        """
        version = int(self._database.value(VERSION) or 0)
        shared = self._shared
        if shared and shared.version == version and not self._database.in_transaction:
            return shared
        last = self._database.one(LAST)
        schema = codec.decode_schema(last[1]).tables if last else ()
        known = Known(version, {table.name: table for table in schema})
        if not self._database.in_transaction:
            self._shared = known
        return known

    def _save_batch(self, read: Sequence[Row], keys: Keys) -> None:
        stored = self._stored(read)
        fresh = {
            row.id: (
                row.id,
                keys.key("table", row.table),
                keys.key("document", row.document_id),
                keys.key("chunk", row.chunk_id),
                row.ordinal,
            )
            for row in read
            if row.id not in stored
        }
        if fresh and self._database.on_server:
            # Another writer may be first with a row, and takes numbers meanwhile.
            self._database.add_many(rows, fresh.values(), sql.ROW_COLUMNS, there="skip")
            stored = self._stored(read)
        elif fresh:
            last = int(self._database.value(sql.LAST_ROW) or 0)
            numbered = list(enumerate(fresh.values(), last + 1))
            self._database.add_many(rows, ((key, *line) for key, line in numbered))
            stored |= {line[0]: (key, line[3]) for key, line in numbered}
        lines: list[tuple[Any, ...]] = []
        for row in read:
            key, owner = stored[row.id]
            if owner != keys.key("chunk", row.chunk_id):
                raise StoreError(
                    f"row {row.id!r} was read from another chunk before; row ids must be unique"
                )
            keys.touched.add(keys.key("table", row.table))
            lines.extend(cell_lines(row, key, keys))
        self._database.add_many(cells, lines, there="replace")

    def _stored(self, read: Sequence[Row]) -> dict[str, tuple[int, int]]:
        """Returns the row key and the chunk key of rows that are stored already, by id."""
        identifiers = {"rows": codec.dump([row.id for row in read])}
        found = self._database.query(sql.STORED_ROWS, identifiers)
        return {identifier: (key, chunk) for identifier, key, chunk in found}

    def _save_tasks(self, ended: Iterable[Task], schema: Mapping[str, Table], keys: Keys) -> Works:
        """Stores tasks. Returns the keys of work that are known from now on."""
        current = schema is keys.known.schema
        works = dict(keys.known.works) if current else {}
        lines = []
        for task in ended:
            asked = (task.table, task.columns)
            if asked not in works:
                works[asked] = self._work_key(task, schema, keys)
            chunk = keys.key("chunk", task.chunk_id)
            lines.append((works[asked], chunk, task.state, task.reason, 1, codec.now()))
        if lines:
            self._database.insert_many(sql.SET_TASK, lines)
        return works if current else {}

    def _work_key(self, task: Task, schema: Mapping[str, Table], keys: Keys) -> int:
        if task.table not in schema:
            raise StoreError(
                f"a task names table {task.table!r}, which is not in the schema; save "
                "the schema first"
            )
        table = schema[task.table]
        hashes = {
            name: codec.column_hash(table, table.column(name)) for name in sorted(task.columns)
        }
        return self._key_of_work(keys.key("table", task.table), hashes)

    def _key_of_work(self, table_key: int, hashes: Mapping[str, str]) -> int:
        text = codec.dump(hashes)
        identity = {"table": table_key, "hash": codec.digest(text)[:16]}
        key = self._database.value(sql.WORK, identity)
        if key is None:
            self._database.add_many(
                work, [(*identity.values(), text)], ("table_key", "hash", "columns"), there="skip"
            )
            key = self._database.value(sql.WORK, identity)
        return int(key)

    def recalibrate(self, table: str, column: str, cut: Mapping[str, Cell], reason: str) -> int:
        """Gives judged cells the result of a new cut: value, doubt, and whether they are empty. The
        odds and all else stay.

        Args:
            cut: the new cells by `Row.id`; only `value`, `doubt`, `absence` and `detail` are
                stored.
            reason: how the cut was made; the recorded decision holds it with the earlier values.

        Returns:
            The number of values that changed.

        Raises:
            StoreError: the workspace has no such table, or a row has no value in that column.
        """
        with self._database.transaction():
            column_key, found = self._standing(table, column, list(cut))
            before: Counter[str] = Counter()
            lines, changed = [], 0
            for row_id, key, *stood in found:
                new = _cut_values(cut[row_id])
                value, kind, absence = stood[:3]
                before[absence or codec.dump(codec.decode_scalar(value, kind))] += 1
                changed += new[:3] != stood[:3]
                if new != stood:
                    lines.append((self._database.engine.encode(new[0]), *new[1:], key, column_key))
            if lines:
                self._database.insert_many(sql.RECUT, lines)
                self._database.execute(sql.CHANGED_BY_NAME, {"of": table})
                shown = sorted(before.most_common(_SHOWN))
                told = f"{reason}; {changed} of {len(found)} values changed, before: " + ", ".join(
                    f"{value} {number}" for value, number in shown
                )
                self._journal.record(
                    Decision("extract", "column", "calibrated", told, table=table, column=column)
                )
        return changed

    def _standing(
        self, table: str, column: str, row_ids: Sequence[str]
    ) -> tuple[int | None, list[tuple[Any, ...]]]:
        """Returns the key of a column, and for each of its cells with a value (row id, row key,
        value, kind, absence, detail, doubt). Values that an earlier cut took out are included.
        """
        key = Keys(self._database, self._known()).columns(table).get(column)
        c = cells.c
        standing = select(rows.c.id, c.row_key, *(c[name] for name in sql.CUT)).join_from(
            cells, rows, rows.c.key == c.row_key
        )
        said = c.value.is_not(None) & (func.coalesce(c.absence, "not stated") == "not stated")
        wanted = (c.column_key == key, said, among(rows.c.id, "rows"))
        found = self._database.query(standing.where(*wanted), {"rows": codec.dump(row_ids)})
        missing = set(row_ids) - {line[0] for line in found}
        if missing:
            raise StoreError(
                f"row {min(missing)!r} of table {table!r} has no value in column {column!r} to "
                "calibrate; extract the column first, with: sliders extract"
            )
        return key, found

    def settled(self, table: Table, document_id: str | None = None) -> dict[str, frozenset[str]]:
        """Returns the columns that need no more calls, by chunk id: extracted, gated out or pruned
        under their present definition. Failed and pending tasks are not included.

        Args:
            document_id: the only document to look at; None looks at all.
        """
        current = {column.name: codec.column_hash(table, column) for column in table.columns}
        found: dict[str, set[str]] = {}
        covered: dict[str, list[str]] = {}
        wanted = {"table": table.name, "document": document_id}
        statement = sql.SETTLED if document_id is None else sql.SETTLED_ONE
        for chunk_id, text in self._database.query(statement, wanted):
            if text not in covered:
                asked = codec.load(text)
                covered[text] = [name for name in asked if current.get(name) == asked[name]]
            found.setdefault(chunk_id, set()).update(covered[text])
        return {chunk_id: frozenset(columns) for chunk_id, columns in found.items()}

    def supersede(self, table: Table) -> int:
        """Hides the cells that were read under earlier definitions of a table's columns, until they
        are read again. Such cells are "not asked"; a row without other cells stands in no table.

        Returns:
            The number of values that were hidden.
        """
        current = {column.name: codec.column_hash(table, column) for column in table.columns}
        with self._database.transaction():
            found = self._database.query(sql.WORKS, {"table": table.name})
            works = [(key, codec.load(text)) for key, text in found]
            stood: Counter[str] = Counter()
            for key, asked in works:
                stale = [name for name, old in asked.items() if current.get(name, old) != old]
                for name in stale:
                    again = [other for other, known in works if known.get(name) == current[name]]
                    stood[name] += self._unask(table.name, name, key, again)
                if stale:
                    self._forget(key, {n: h for n, h in asked.items() if n not in stale})
            if stood:
                self._database.execute(sql.CHANGED_BY_NAME, {"of": table.name})
                self._tell_superseded(table.name, stood)
        return stood.total()

    def _tell_superseded(self, table: str, stood: Mapping[str, int]) -> None:
        """Records how many values of each column are read again."""
        shown = select(tables.c.current_version).where(tables.c.name == table)
        told = (
            "values were read under an earlier definition and are read again; version "
            f"{self._database.value(shown)} of the table has them"
        )
        self._journal.record(
            Decision(
                "extract", "column", "superseded", f"{number} {told}", table=table, column=name
            )
            for name, number in stood.items()
        )

    def _unask(self, table: str, column: str, work_key: int, again: Sequence[int]) -> int:
        """Empties the cells of a column in the chunks that only this work asked (and no work of
        `again`). Returns the number of values that stood there.
        """
        key = Keys(self._database, self._known()).columns(table)[column]
        asked = select(tasks.c.chunk_key).where(tasks.c.work_key == work_key)
        since = select(tasks.c.chunk_key).where(tasks.c.work_key.in_(again))
        there = select(rows.c.key).where(
            rows.c.chunk_key.in_(asked), rows.c.chunk_key.not_in(since)
        )
        here = (cells.c.column_key == key, cells.c.row_key.in_(there))
        stood = self._database.value(
            select(func.count()).where(*here, cells.c.value.is_not(None), cells.c.absence.is_(None))
        )
        self._database.execute(update(cells).where(*here).values(sql.EARLIER))
        return int(stood)

    def _forget(self, work_key: int, kept: Mapping[str, str]) -> None:
        """Deletes a work, except for the columns in `kept`."""
        if kept:
            owner = self._database.value(select(work.c.table_key).where(work.c.key == work_key))
            done = self._database.query(select(tasks).where(tasks.c.work_key == work_key))
            key = self._key_of_work(int(owner), kept)
            self._database.add_many(tasks, [(key, *line[1:]) for line in done], there="skip")
        self._database.execute(delete(work).where(work.c.key == work_key))

    def columns_asked(self, table: str) -> frozenset[str]:
        """Returns the columns of a table that any chunk was asked for."""
        asked = select(work.c.columns).join_from(work, tables).where(tables.c.name == table)
        return frozenset(
            name for (text,) in self._database.query(asked) for name in codec.load(text)
        )

    def tasks(self, table: str | None = None, state: str | None = None) -> list[Task]:
        """Returns the tasks on chunks of current documents, of one table or in one state when
        given.
        """
        wanted = ((tables.c.name, table), (tasks.c.state, state))
        found = (
            select(tables.c.name, work.c.columns, chunks.c.id, tasks.c.state, tasks.c.reason)
            .select_from(sql.OF_TASKS.join(documents, documents.c.key == chunks.c.document_key))
            .where(CURRENT, *(column == value for column, value in wanted if value is not None))
            .order_by(work.c.key, documents.c.key, chunks.c.position)
        )
        lines = self._database.query(found)
        names = {text: tuple(codec.load(text)) for text in {line[1] for line in lines}}
        return [Task(name, names[text], *rest) for name, text, *rest in lines]

    def rows(
        self, table: str, *, document_ids: Sequence[str] | None = None, superseded: bool = False
    ) -> list[Row]:
        """Returns the extracted rows of a table with all their cells, verified or not, in document
        order.
        """
        return list(self.iterate(table, document_ids=document_ids, superseded=superseded))

    def iterate(
        self,
        table: str,
        *,
        document_ids: Sequence[str] | None = None,
        superseded: bool = False,
        odds: bool = False,
    ) -> Iterator[Row]:
        """Yields the rows as `rows` returns them, one at a time; with `odds`, only rows with odds
        in a cell.
        """
        kinds = {
            "table": True,
            "current": not superseded,
            "documents": document_ids is not None,
            "odds": odds,
        }
        wanted = [kind for kind, asked in kinds.items() if asked]
        statement = cells_of(*wanted, ordered=self._database.on_server)
        values = {"table": table, "documents": codec.dump(list(document_ids or ()))}
        return rows_of(self._database.stream(statement, values))

    def get(self, row_ids: Sequence[str]) -> dict[str, Row]:
        """Returns extracted rows by id; unknown ids are left out."""
        chosen = cells_of("rows", ordered=self._database.on_server)
        lines = self._database.query(chosen, {"rows": codec.dump(list(row_ids))})
        return {row.id: row for row in rows_of(iter(lines))}

    def documents_with_rows(self, table: str) -> frozenset[str]:
        """Returns the ids of the current documents that gave rows of a table."""
        found = (
            select(documents.c.id)
            .distinct()
            .select_from(OF_ROWS)
            .where(tables.c.name == table, CURRENT, ASKED)
        )
        return frozenset(identifier for (identifier,) in self._database.query(found))

    def documents_with_values(self, table: str) -> frozenset[str]:
        """Returns the ids of the current documents whose rows of a table say anything: a value, or
        words that were refused.
        """
        says = or_(cells.c.absence.is_(None), cells.c.absence.not_in(_SAYS_NOTHING))
        found = (
            select(documents.c.id)
            .distinct()
            .select_from(_OF_CELLS)
            .where(tables.c.name == table, CURRENT, says)
        )
        return frozenset(identifier for (identifier,) in self._database.query(found))

    def count(self, table: str) -> int:
        """Returns the number of extracted rows of a table in current documents."""
        counted = select(func.count()).select_from(OF_ROWS)
        return int(self._database.value(counted.where(tables.c.name == table, CURRENT, ASKED)))

    def judged(self, table: str) -> dict[str, int]:
        """Returns how many values of current documents were judged, by column; columns without any
        are left out.
        """
        c = cells.c
        judged = (c.absence.is_(None), c.how == "judged")
        found = (
            select(columns.c.name, func.count())
            .select_from(_OF_CELLS)
            .where(tables.c.name == table, CURRENT, columns.c.active == 1, *judged)
            .group_by(columns.c.name)
        )
        return dict(self._database.query(found))

    def reliability(self, table: str, names: Iterable[str] | None = None) -> Reliability:
        """Returns the counts of values of these columns by their evidence, over current documents.

        Args:
            names: schema names of columns; all columns when left out.
        """
        c = cells.c
        stands = c.absence.is_(None)
        counted = (
            stands,
            stands & (c.how == "computed"),
            stands & (c.how == "judged"),
            stands & c.doubt.is_not(None),
            c.absence == "ungrounded",
            c.absence == "did not parse",
        )
        found = (
            select(*(func.count().filter(kind) for kind in counted))
            .select_from(_OF_CELLS)
            .where(tables.c.name == table, CURRENT, columns.c.active == 1)
        )
        if names is not None:
            found = found.where(columns.c.name.in_(list(names)))
        row = self._database.one(found)
        assert row is not None  # an aggregate gives one row
        return Reliability(*row)


def _cut_values(cell: Cell) -> list[Any]:
    """Returns the columns of `sql.CUT` for a cell, as they are stored."""
    empty = cell.absence.value if cell.absence else None
    return [*codec.encode_scalar(cell.value), empty, cell.detail or None, cell.doubt or None]
