"""The cells that are known of a table with one row a document, and those that
a query adds to them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sliders.engine.session import Session
from sliders.extraction.cell import Absence, Cell, Row, Scalar
from sliders.extraction.drafts import row_id
from sliders.schema.types import Table
from sliders.store import codec
from sliders.store.materialise import enters
from sliders.store.records import Task
from sliders.store.sql_names import SYSTEM_COLUMNS

_BATCH = 16
Known = defaultdict[str, dict[str, Scalar]]
"""Values by document and attribute; None is known to be not stated."""
Shown = dict[str, list[dict[str, Scalar]]]
"""Rows of the table that stands, with document, document_id and row_id, by each document that
they were read from.
"""


def load_known(session: Session, table: Table) -> tuple[Known, Shown]:
    """What is known of a table: an attribute is where every chunk of the document was asked for it.

    Its value is the one that the table shows, repairs and people's decisions included, and the
    cell's until it is in the table.
    """
    settled = session.catalog.extractions.settled(table)
    complete: dict[str, frozenset[str]] = {}
    for chunk, document in session.catalog.chunks.places():
        columns = settled.get(chunk, frozenset())
        complete[document] = complete.get(document, columns) & columns
    known = Known(
        dict, {document: dict.fromkeys(columns) for document, columns in complete.items()}
    )
    documents: dict[str, str] = {}
    for row in session.catalog.extractions.iterate(table.name):
        values, documents[row.id] = known[row.document_id], row.document_id
        for cell in row.cells:
            asked = cell.column in complete.get(row.document_id, ())
            if asked and enters(cell, session.settings.unverified) and values[cell.column] is None:
                values[cell.column] = cell.value
    shown = _shown(session, table, documents)
    for document, rows in shown.items():
        for name in known[document].keys() & rows[0].keys():
            known[document][name] = next((row[name] for row in rows if row[name] is not None), None)
    return known, shown


def _shown(session: Session, table: Table, documents: Mapping[str, str]) -> Shown:
    """Rows of the version that stands; `documents` tells of which document
    each extracted row is.
    """
    shown: Shown = {}
    version = session.catalog.tables.current(table.name)
    if version is None:
        return shown
    columns = session.catalog.schemas.relation(table.name).columns
    names = {c.sql_name: c.name for c in columns if c.sql_name in version.columns}
    for *values, sources in session.catalog.tables.lines(version, (*names, *SYSTEM_COLUMNS)):
        row = dict(zip((*names.values(), *SYSTEM_COLUMNS), values, strict=False))
        for source in codec.load(sources) or [row["row_id"]]:
            if source in documents and row not in shown.setdefault(documents[source], []):
                shown[documents[source]].append(row)
    return shown


class CellWriter:
    """Stores cells in batches, on the row of the document's first chunk, with
    tasks that settle them.

    A document of which nothing is stated or refused has no row; it waits for the last batch, since
    something may be found yet.
    """

    def __init__(self, session: Session, table: Table) -> None:
        self._session, self._table = session, table
        self._waiting: dict[str, dict[str, Cell]] = {}
        self._rows: set[str] = set()

    def add(self, document_id: str, cell: Cell, *, row: bool) -> None:
        """Keeps a cell to be written; `row` says whether its document is a row of the table
        by what is known now.
        """
        self._waiting.setdefault(document_id, {})[cell.column] = cell
        if row or cell.absence not in (Absence.NOT_STATED, Absence.DOES_NOT_APPLY):
            self._rows.add(document_id)
        if len(self._rows) >= _BATCH:
            self._write(list(self._rows))

    def flush(self) -> None:
        """Writes what waits."""
        self._write(list(self._waiting))

    def _write(self, documents: Sequence[str]) -> None:
        rows, tasks, table = [], [], self._table.name
        for document_id in documents:
            cells = self._waiting.pop(document_id)
            first, *others = self._session.catalog.chunks.of(
                document_id
            )  # it was read, so it has some
            identity = row_id(table, first.id, first.start, 0)
            if document_id in self._rows:
                rows.append(Row(identity, table, document_id, first.id, 0, tuple(cells.values())))
            tasks.append(Task(table, tuple(cells), first.id, "done", "read for a query"))
            reason = "a query read the segments that were nearest to its attributes"
            tasks.extend(Task(table, tuple(cells), chunk.id, "pruned", reason) for chunk in others)
            self._rows.discard(document_id)
        if tasks:
            self._session.catalog.extractions.save(rows, tasks)
