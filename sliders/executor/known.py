"""The cells that are known of a table with one row a document, shared by the queries that run at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from sliders.executor.session import Session
from sliders.executor.vectors import SegmentIndex
from sliders.extraction.cell import Cell, Row, Scalar
from sliders.extraction.extract import row_id
from sliders.schema.types import Table
from sliders.store.catalog import Catalog
from sliders.store.records import Task
from sliders.store.tables import enters

_BATCH = 16


@dataclass(slots=True)
class KnownCells:
    """Values by document and attribute; None is known to be not stated. `flying` are calls that somebody waits for."""

    values: dict[str, dict[str, Scalar]] = field(default_factory=dict)
    flying: dict[tuple[str, str], asyncio.Future[None]] = field(default_factory=dict)
    users: int = 0

    def of(self, document_id: str) -> dict[str, Scalar]:
        """What is known of a document."""
        return self.values.setdefault(document_id, {})


@dataclass(slots=True)
class Shared:
    """What the queries of one open workspace share."""

    index: SegmentIndex | None = None
    tables: dict[str, KnownCells] = field(default_factory=dict)


_OPEN: WeakKeyDictionary[Catalog, Shared] = WeakKeyDictionary()


def shared(session: Session) -> Shared:
    """The shared state of the workspace."""
    return _OPEN.setdefault(session.catalog, Shared())


def load_known(session: Session, table: Table) -> KnownCells:
    """The known cells of a table; read from the workspace unless a running query holds them already."""
    held = shared(session).tables.setdefault(table.name, KnownCells())
    if held.users == 0:
        held.values.clear()
        held.flying.clear()
        _read(session, table, held)
    return held


def _read(session: Session, table: Table, held: KnownCells) -> None:
    settled = session.catalog.extractions.settled(table)
    owned: dict[str, list[str]] = {}
    for chunk in session.catalog.chunks.all():
        owned.setdefault(chunk.document_id, []).append(chunk.id)
    complete = {
        document_id: frozenset.intersection(*(settled.get(chunk, frozenset()) for chunk in chunks))
        for document_id, chunks in owned.items()
    }
    for document_id, columns in complete.items():
        held.of(document_id).update(dict.fromkeys(columns))
    for row in session.catalog.extractions.iterate(table.name):
        values = held.of(row.document_id)
        for cell in row.cells:
            known = cell.column in complete.get(row.document_id, ())
            if known and enters(cell, session.settings.unverified) and values[cell.column] is None:
                values[cell.column] = cell.value


class CellWriter:
    """Stores cells in batches, on the row of the document's first chunk, with tasks that settle them."""

    def __init__(self, session: Session, table: Table) -> None:
        self._session = session
        self._table = table
        self._waiting: dict[str, dict[str, Cell]] = {}

    def add(self, document_id: str, cells: Sequence[Cell]) -> None:
        """Keeps cells to be written."""
        self._waiting.setdefault(document_id, {}).update({cell.column: cell for cell in cells})
        if len(self._waiting) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Writes what waits."""
        rows, tasks = [], []
        for document_id, cells in self._waiting.items():
            chunks = self._session.catalog.chunks.of(document_id)
            if not chunks:
                continue
            first = chunks[0]
            identity = row_id(self._table.name, first.id, first.start, 0)
            rows.append(Row(identity, self._table.name, document_id, first.id, 0, tuple(cells.values())))
            columns = tuple(cells)
            tasks.append(Task(self._table.name, columns, first.id, "done", "read for a query"))
            reason = "a query read the segments that were nearest to its attributes"
            tasks.extend(Task(self._table.name, columns, chunk.id, "pruned", reason) for chunk in chunks[1:])
        self._waiting.clear()
        if rows:
            self._session.catalog.extractions.save(rows, tasks)
