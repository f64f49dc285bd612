"""The rows of a chunk that are known before it is read again, and how new cells find their row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sliders.engine.session import Session
from sliders.extraction.cell import Row
from sliders.extraction.extract import Extraction, joined
from sliders.extraction.prompt import Asked
from sliders.retrieval.chunk import Chunk


@dataclass(frozen=True, slots=True)
class KnownRows:
    """The rows of a chunk that are known, and the `identity`: the columns by which new cells find
    their row.
    """

    rows: tuple[Row, ...] = ()
    identity: tuple[str, ...] = ()


def known_rows(session: Session, asked: Asked, chunk: Chunk) -> KnownRows:
    """Returns the known rows of a chunk. Columns that are asked for later are read together with
    the table's key, or, when the rows have no key, with the first columns that they have.
    """
    if asked.table.grain != "many":
        return KnownRows()
    known = session.catalog.extractions.rows(asked.table.name, document_ids=[chunk.document_id])
    names = {c.name for c in asked.columns}
    read = {cell.column for row in known for cell in row.cells if cell.value is not None}
    first = [n for n in asked.table.column_names if n in read and n not in names][:_FIRST]
    key = [n for n in asked.table.key if n not in names]
    identity = key if read.intersection(key) else dict.fromkeys([*key, *first])
    return KnownRows(tuple(row for row in known if row.chunk_id == chunk.id), tuple(identity))


_FIRST = 2
"""The number of columns that identify rows without a key."""


def rows_of(asked: Asked, found: Extraction, placed: KnownRows) -> Sequence[Row]:
    """Returns the rows of a table from a reply, joined with the rows that are known."""
    table, names = asked.table, [c.name for c in asked.columns]
    rows, whole = found.of(table.name), not found.failed(table.name)
    if not placed.rows:
        return rows
    return joined(rows, placed.rows, placed.identity, names, whole=whole, key=table.key)
