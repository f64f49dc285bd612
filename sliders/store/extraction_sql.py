"""The SQL statements of `Extractions`."""

from __future__ import annotations

from sqlalchemy import bindparam, func, null, or_, select, update
from sqlalchemy.dialects import postgresql

from sliders.extraction.cell import Absence
from sliders.store.layout import cells, chunks, documents, rows, tables, tasks, work
from sliders.store.layout_columns import among

ROW_COLUMNS = tuple(column.name for column in rows.columns)[1:]
LAST_ROW = select(func.max(rows.c.key))
STORED_ROWS = select(rows.c.id, rows.c.key, rows.c.chunk_key).where(among(rows.c.id, "rows"))
CHANGED = (
    update(tables).where(tables.c.key == bindparam("table")).values(revision=tables.c.revision + 1)
)
CHANGED_BY_NAME = (
    update(tables).where(tables.c.name == bindparam("of")).values(revision=tables.c.revision + 1)
)
WORK = select(work.c.key).where(
    work.c.table_key == bindparam("table"), work.c.hash == bindparam("hash")
)
_ENDED = postgresql.insert(tasks).values(
    {column.name: bindparam(f"v_{column.name}") for column in tasks.columns}
)
SET_TASK = _ENDED.on_conflict_do_update(
    index_elements=["work_key", "chunk_key"],
    set_={name: _ENDED.excluded[name] for name in ("state", "reason", "at")}
    | {"attempts": tasks.c.attempts + _ENDED.excluded.attempts},
)
CUT = ("value", "kind", "absence", "detail", "doubt")
RECUT = (
    update(cells)
    .where(cells.c.row_key == bindparam("row"), cells.c.column_key == bindparam("column"))
    .values({name: bindparam(f"new_{name}") for name in CUT})
)
WORKS = (
    select(work.c.key, work.c.columns)
    .join_from(work, tables)
    .where(tables.c.name == bindparam("table"))
)
EARLIER = dict.fromkeys(("value", "kind", "odds", "doubt", "bound"), null()) | {
    "absence": Absence.NOT_ASKED.value,
    "detail": "what was read under an earlier definition of the column is superseded",
}
OF_TASKS = (
    tasks.join(work)
    .join(tables, tables.c.key == work.c.table_key)
    .join(chunks, chunks.c.key == tasks.c.chunk_key)
)
_OVER = or_(*(tasks.c.state == state for state in ("done", "gated", "pruned")))
SETTLED = (
    select(chunks.c.id, work.c.columns)
    .select_from(OF_TASKS)
    .where(tables.c.name == bindparam("table"), chunks.c.active == 1, _OVER)
)
SETTLED_ONE = SETTLED.join(documents, documents.c.key == chunks.c.document_key).where(
    documents.c.id == bindparam("document")
)
