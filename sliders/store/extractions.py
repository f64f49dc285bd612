"""Extracted rows and the state of the work: what was read, from which words, and
what is still to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import bindparam, delete, func, null, or_, select, update
from sqlalchemy.dialects import postgresql

from sliders.errors import StoreError
from sliders.extraction.cell import Absence, Cell, Row
from sliders.schema.types import Table
from sliders.store import codec
from sliders.store.cell_writer import OF_ROWS, Keys, Known, Works, cell_lines, cells_of, rows_of
from sliders.store.database import Database
from sliders.store.journal import Journal
from sliders.store.layout import (
    ASKED,
    CURRENT,
    among,
    cells,
    chunks,
    columns,
    documents,
    rows,
    tables,
    tasks,
    work,
)
from sliders.store.records import Decision, Reliability, Task
from sliders.store.schemas import LAST, VERSION

_LOOKUP_BATCH = 5_000
_SHOWN = 6
"""Values that stood before a cut, in the words of its decision."""
_ROW = tuple(column.name for column in rows.columns)[1:]
_LAST_ROW = select(func.max(rows.c.key))
_STORED = select(rows.c.id, rows.c.key, rows.c.chunk_key).where(among(rows.c.id, "rows"))
_CHANGED = (
    update(tables).where(tables.c.key == bindparam("table")).values(revision=tables.c.revision + 1)
)
_WORK = select(work.c.key).where(
    work.c.table_key == bindparam("table"), work.c.hash == bindparam("hash")
)
_ENDED = postgresql.insert(tasks).values(
    {column.name: bindparam(f"v_{column.name}") for column in tasks.columns}
)
_SET_TASK = _ENDED.on_conflict_do_update(
    index_elements=["work_key", "chunk_key"],
    set_={name: _ENDED.excluded[name] for name in ("state", "reason", "at")}
    | {"attempts": tasks.c.attempts + _ENDED.excluded.attempts},
)
_CUT = ("value", "kind", "absence", "detail", "doubt")
_RECUT = (
    update(cells)
    .where(cells.c.row_key == bindparam("row"), cells.c.column_key == bindparam("column"))
    .values({name: bindparam(f"new_{name}") for name in _CUT})
)
_WORKS = (
    select(work.c.key, work.c.columns)
    .join_from(work, tables)
    .where(tables.c.name == bindparam("table"))
)
_EARLIER = dict.fromkeys(("value", "kind", "odds", "doubt", "bound"), null()) | {
    "absence": Absence.NOT_ASKED.value,
    "detail": "what was read under an earlier definition of the column is superseded",
}
_OF_TASKS = (
    tasks.join(work)
    .join(tables, tables.c.key == work.c.table_key)
    .join(chunks, chunks.c.key == tasks.c.chunk_key)
)
_OVER = or_(*(tasks.c.state == state for state in ("done", "gated", "pruned")))
_SETTLED = (
    select(chunks.c.id, work.c.columns)
    .select_from(_OF_TASKS)
    .where(tables.c.name == bindparam("table"), chunks.c.active == 1, _OVER)
)
_SETTLED_ONE = _SETTLED.join(documents, documents.c.key == chunks.c.document_key).where(
    documents.c.id == bindparam("document")
)


class Extractions:
    """Rows, cells and tasks."""

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
        """Store rows, the state of the tasks that gave them, and the decisions on the
        way: all or nothing.

        A row that is known gets the new cells added, and replaced where the column was there;
        the other cells stay.

        Args:
            schema: definitions by table name, needed with tasks that are not of the current schema.

        Raises:
            StoreError: a row names a table, column, document or chunk that the
                workspace does not have.
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
                self._database.execute(_CHANGED, {"table": key})
            works = self._save_tasks(ended, known.schema if schema is None else schema, keys)
            self._journal.record(decisions)
        if not self._database.in_transaction:
            known.works.update(works)
        return count

    def _known(self) -> Known:
        """What the saves under one version of the schema share; nothing inside a transaction,
        which may be undone.
        """
        version = int(self._database.value(VERSION) or 0)
        if (
            self._shared is not None
            and self._shared.version == version
            and not self._database.in_transaction
        ):
            return self._shared
        last = self._database.one(LAST)
        known = Known(
            version, {t.name: t for t in codec.decode_schema(last[1]).tables} if last else {}
        )
        if not self._database.in_transaction:
            self._shared = known
        return known

    def _save_batch(self, read: Sequence[Row], keys: Keys) -> None:
        identifiers = {"rows": codec.dump([row.id for row in read])}
        stored = {
            identifier: key for identifier, *key in self._database.query(_STORED, identifiers)
        }
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
        if (
            fresh and self._database.on_server
        ):  # another writer may be first with a row, and takes numbers meanwhile
            self._database.add_many(rows, fresh.values(), _ROW, there="skip")
            stored = {
                identifier: key for identifier, *key in self._database.query(_STORED, identifiers)
            }
        elif fresh:
            numbered = list(
                enumerate(fresh.values(), int(self._database.value(_LAST_ROW) or 0) + 1)
            )
            self._database.add_many(rows, ((key, *line) for key, line in numbered))
            stored |= {line[0]: [key, line[3]] for key, line in numbered}
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

    def _save_tasks(self, ended: Iterable[Task], schema: Mapping[str, Table], keys: Keys) -> Works:
        """Keys of the work that may be known from now on."""
        current = schema is keys.known.schema
        works = dict(keys.known.works) if current else {}
        lines = []
        for task in ended:
            asked = (task.table, task.columns)
            if asked not in works:
                works[asked] = self._work_key(task, schema, keys)
            lines.append(
                (
                    works[asked],
                    keys.key("chunk", task.chunk_id),
                    task.state,
                    task.reason,
                    1,
                    codec.now(),
                )
            )
        if lines:
            self._database.insert_many(_SET_TASK, lines)
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
        key = self._database.value(_WORK, identity)
        if key is None:
            self._database.add_many(
                work, [(*identity.values(), text)], ("table_key", "hash", "columns"), there="skip"
            )
            key = self._database.value(_WORK, identity)
        return int(key)

    def recalibrate(self, table: str, column: str, cut: Mapping[str, Cell], reason: str) -> int:
        """Give cells what a cut of their odds says: value, doubt, and whether they are empty;
        all else stays, odds included.

        Args:
            cut: by `Row.id`; only `value`, `doubt`, `absence` and `detail` are stored.
            reason: how the cut was made, for the decision that says what stood before.

        Returns:
            How many values changed.

        Raises:
            StoreError: the workspace has no such table, or a row has no cell of that
                column with a value.
        """
        with self._database.transaction():
            column_key, found = self._standing(table, column, list(cut))
            before: Counter[str] = Counter()
            lines, changed = [], 0
            for row_id, key, value, kind, absence, *rest in found:
                cell = cut[row_id]
                empty = cell.absence.value if cell.absence else None
                new = (
                    *codec.encode_scalar(cell.value),
                    empty,
                    cell.detail or None,
                    cell.doubt or None,
                )
                before[absence or codec.dump(codec.decode_scalar(value, kind))] += 1
                changed += new[:3] != (value, kind, absence)
                if new != (value, kind, absence, *rest):
                    lines.append((self._database.engine.encode(new[0]), *new[1:], key, column_key))
            if lines:
                self._database.insert_many(_RECUT, lines)
                self._database.execute(
                    update(tables)
                    .where(tables.c.name == table)
                    .values(revision=tables.c.revision + 1)
                )
                stood = ", ".join(
                    f"{value} {number}" for value, number in sorted(before.most_common(_SHOWN))
                )
                told = f"{reason}; {changed} of {len(found)} values changed, before: {stood}"
                self._journal.record(
                    Decision("extract", f"column:{table}.{column}", "calibrated", told)
                )
        return changed

    def _standing(
        self, table: str, column: str, row_ids: Sequence[str]
    ) -> tuple[int | None, list[tuple[Any, ...]]]:
        """The key of a column, and (row id, row key, value, kind, absence, detail, doubt) of its
        cells with a value, also one that a cut took out.
        """
        key = Keys(self._database, self._known()).columns(table).get(column)
        c = cells.c
        standing = select(rows.c.id, c.row_key, *(c[name] for name in _CUT)).join_from(
            cells, rows, rows.c.key == c.row_key
        )
        said = c.value.is_not(None) & (func.coalesce(c.absence, "not stated") == "not stated")
        wanted = (c.column_key == key, said, among(rows.c.id, "rows"))
        found = self._database.query(standing.where(*wanted), {"rows": codec.dump(row_ids)})
        missing = set(row_ids) - {line[0] for line in found}
        if missing:
            raise StoreError(
                f"row {min(missing)!r} of {table!r} has no value of {column!r} to "
                "calibrate; read it first"
            )
        return key, found

    def settled(self, table: Table, document_id: str | None = None) -> dict[str, frozenset[str]]:
        """Columns that need no more calls, by chunk id: extracted, gated out or pruned under
        their present definition.

        One document's only if it is named. What a chunk of a current document lacks here is still
        to do; failed and pending work is not in it.
        """
        current = {column.name: codec.column_hash(table, column) for column in table.columns}
        found: dict[str, set[str]] = {}
        covered: dict[str, list[str]] = {}
        wanted = {"table": table.name, "document": document_id}
        for chunk_id, text in self._database.query(
            _SETTLED if document_id is None else _SETTLED_ONE, wanted
        ):
            if text not in covered:
                covered[text] = [
                    name for name, asked in codec.load(text).items() if current.get(name) == asked
                ]
            found.setdefault(chunk_id, set()).update(covered[text])
        return {chunk_id: frozenset(columns) for chunk_id, columns in found.items()}

    def supersede(self, table: Table) -> int:
        """Take out of sight what chunks gave under other definitions of a table's columns, until
        they are read again.

        Such cells are "not asked"; a row that has no other stands in no table.

        Returns:
            How many values stood.
        """
        current = {column.name: codec.column_hash(table, column) for column in table.columns}
        with self._database.transaction():
            works = [
                (key, codec.load(text))
                for key, text in self._database.query(_WORKS, {"table": table.name})
            ]
            stale = [
                (key, asked)
                for key, asked in works
                if any(current.get(n, h) != h for n, h in asked.items())
            ]
            stood: Counter[str] = Counter()
            for key, asked in stale:
                for name in (n for n, h in asked.items() if current.get(n, h) != h):
                    again = [other for other, known in works if known.get(name) == current[name]]
                    stood[name] += self._unask(table.name, name, key, again)
                self._forget(key, {n: h for n, h in asked.items() if current.get(n, h) == h})
            if stale:
                self._database.execute(
                    update(tables)
                    .where(tables.c.name == table.name)
                    .values(revision=tables.c.revision + 1)
                )
                version = self._database.value(
                    select(tables.c.current_version).where(tables.c.name == table.name)
                )
                told = (
                    "values were read under an earlier definition and are read again; version "
                    f"{version} of the table has them"
                )
                self._journal.record(
                    Decision(
                        "extract", f"column:{table.name}.{name}", "superseded", f"{number} {told}"
                    )
                    for name, number in stood.items()
                )
        return stood.total()

    def _unask(self, table: str, column: str, work_key: int, again: Sequence[int]) -> int:
        """Empty the cells of a column in the chunks that a work asked and no work of `again` has;
        the values that stood.
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
        self._database.execute(update(cells).where(*here).values(_EARLIER))
        return int(stood)

    def _forget(self, work_key: int, kept: Mapping[str, str]) -> None:
        """Forget a work, but for what it asked of these columns."""
        if kept:
            owner = self._database.value(select(work.c.table_key).where(work.c.key == work_key))
            done = self._database.query(select(tasks).where(tasks.c.work_key == work_key))
            key = self._key_of_work(int(owner), kept)
            self._database.add_many(tasks, [(key, *line[1:]) for line in done], there="skip")
        self._database.execute(delete(work).where(work.c.key == work_key))

    def columns_asked(self, table: str) -> frozenset[str]:
        """The columns of a table that any chunk was asked for."""
        asked = select(work.c.columns).join_from(work, tables).where(tables.c.name == table)
        return frozenset(
            name for (text,) in self._database.query(asked) for name in codec.load(text)
        )

    def tasks(self, table: str | None = None, state: str | None = None) -> list[Task]:
        """Tasks on the chunks of current documents, filtered."""
        wanted = ((tables.c.name, table), (tasks.c.state, state))
        found = (
            select(tables.c.name, work.c.columns, chunks.c.id, tasks.c.state, tasks.c.reason)
            .select_from(_OF_TASKS.join(documents, documents.c.key == chunks.c.document_key))
            .where(CURRENT, *(column == value for column, value in wanted if value is not None))
            .order_by(work.c.key, documents.c.key, chunks.c.position)
        )
        lines = self._database.query(found)
        names = {text: tuple(codec.load(text)) for text in {line[1] for line in lines}}
        return [Task(name, names[text], *rest) for name, text, *rest in lines]

    def rows(
        self, table: str, *, document_ids: Sequence[str] | None = None, superseded: bool = False
    ) -> list[Row]:
        """The extracted rows of a table with all their cells, in document order, trusted or not."""
        return list(self.iterate(table, document_ids=document_ids, superseded=superseded))

    def iterate(
        self,
        table: str,
        *,
        document_ids: Sequence[str] | None = None,
        superseded: bool = False,
        odds: bool = False,
    ) -> Iterator[Row]:
        """As `rows`, one at a time; with `odds` those alone of which a cell has some."""
        wanted = (
            ["table"]
            + ([] if superseded else ["current"])
            + ([] if document_ids is None else ["documents"])
        )
        wanted += ["odds"] if odds else []
        values = {"table": table, "documents": codec.dump(list(document_ids or ()))}
        return rows_of(
            self._database.stream(cells_of(*wanted, ordered=self._database.on_server), values)
        )

    def get(self, row_ids: Sequence[str]) -> dict[str, Row]:
        """Extracted rows by id; ids that the workspace does not have are missing."""
        chosen = cells_of("rows", ordered=self._database.on_server)
        return {
            row.id: row
            for row in rows_of(
                iter(self._database.query(chosen, {"rows": codec.dump(list(row_ids))}))
            )
        }

    def documents_with_rows(self, table: str) -> frozenset[str]:
        """Ids of the current documents that gave rows of a table."""
        found = (
            select(documents.c.id)
            .distinct()
            .select_from(OF_ROWS)
            .where(tables.c.name == table, CURRENT, ASKED)
        )
        return frozenset(identifier for (identifier,) in self._database.query(found))

    def count(self, table: str) -> int:
        """Number of extracted rows of a table in current documents."""
        found = (
            select(func.count()).select_from(OF_ROWS).where(tables.c.name == table, CURRENT, ASKED)
        )
        return int(self._database.value(found))

    def judged(self, table: str) -> dict[str, int]:
        """How many values of current documents a reader judged, by column;
        columns without any are missing.
        """
        c = cells.c
        found = (
            select(columns.c.name, func.count())
            .select_from(
                OF_ROWS.join(cells, c.row_key == rows.c.key).join(
                    columns, columns.c.key == c.column_key
                )
            )
            .where(
                tables.c.name == table,
                CURRENT,
                columns.c.active == 1,
                c.absence.is_(None),
                c.how == "judged",
            )
            .group_by(columns.c.name)
        )
        return dict(self._database.query(found))

    def reliability(self, table: str, names: Iterable[str] | None = None) -> Reliability:
        """What the values of these columns (schema names; all when left out) rest on, counted
        over current documents.
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
            .select_from(
                OF_ROWS.join(cells, c.row_key == rows.c.key).join(
                    columns, columns.c.key == c.column_key
                )
            )
            .where(tables.c.name == table, CURRENT, columns.c.active == 1)
        )
        if names is not None:
            found = found.where(columns.c.name.in_(list(names)))
        row = self._database.one(found)
        assert row is not None  # an aggregate gives one row
        return Reliability(*row)
