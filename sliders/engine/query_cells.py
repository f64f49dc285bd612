"""The known cells of a table with one row for each document, and the storage of cells that a query
adds.
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

KnownValues = defaultdict[str, dict[str, Scalar]]
"""Values by document and attribute; None means that the document is known not to state it."""
ShownRows = dict[str, list[dict[str, Scalar]]]
"""Rows of the current table, with document, document_id and row_id, by each document that they were
read from.
"""


def load_known(session: Session, table: Table) -> tuple[KnownValues, ShownRows]:
    """Returns the known values and rows of a table.

    An attribute of a document is known when every chunk of the document was asked for it. Its value
    is the one that the table shows, with repairs and people's decisions; before the table shows it,
    the value of the cell.
    """
    settled = session.catalog.extractions.settled(table)
    complete: dict[str, frozenset[str]] = {}
    for chunk, document in session.catalog.chunks.places():
        columns = settled.get(chunk, frozenset())
        complete[document] = complete.get(document, columns) & columns
    known = KnownValues(
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


def _shown(session: Session, table: Table, documents: Mapping[str, str]) -> ShownRows:
    """Returns the rows of the current version.

    Args:
        documents: the document of each extracted row.
    """
    shown: ShownRows = {}
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


def save_cells(
    session: Session, table: Table, cells: Mapping[str, Mapping[str, Cell]], *, row: bool
) -> None:
    """Stores cells by document and column, in the row of the document's first chunk, with their
    tasks; with `row` False only the tasks.
    """
    rows, tasks, name = [], [], table.name
    for document_id, read in cells.items():
        first, *others = session.catalog.chunks.of(document_id)  # it was read, so it has some
        if row:
            identity = row_id(name, first.id, first.start, 0)
            rows.append(Row(identity, name, document_id, first.id, 0, tuple(read.values())))
        tasks.append(Task(name, tuple(read), first.id, "done", "read for a query"))
        reason = "a query read the segments that were nearest to its attributes"
        tasks += [Task(name, tuple(read), chunk.id, "pruned", reason) for chunk in others]
    if tasks:
        session.catalog.extractions.save(rows, tasks)


def cells_of_one_row(rows: Sequence[Row], names: Sequence[str]) -> list[Cell]:
    """Returns for each column the first cell with a value, else the first cell whose reason is
    other than "not stated". For documents with one row.
    """
    found = []
    for name in names:
        cells = [cell for row in rows if (cell := row.cell(name)) is not None]
        refused = (c for c in cells if c.absence is not Absence.NOT_STATED)
        empty = next(refused, Cell(name, absence=Absence.NOT_STATED))
        found.append(next((c for c in cells if c.absence is None), empty))
    return found
