"""Reading attributes of one document from some of its segments: the protocol, and the reader
that asks the model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sliders.documents.document import Document
from sliders.engine.date_conventions import context_of
from sliders.engine.session import Session
from sliders.engine.ways import ways_of
from sliders.extraction.cell import Absence, Cell, Row, Span
from sliders.extraction.prompt import Asked
from sliders.extraction.source import Source
from sliders.retrieval.chunk import Chunk, ChunkContext
from sliders.schema.types import Column, Table
from sliders.values.parse import Context

Place = tuple[int, int]
"""Start and end of a segment in `Document.text`."""

_JOINT = "\n\n"


@dataclass(frozen=True, slots=True)
class Reading:
    """What one call gave: a cell for each attribute that was asked for (none when it
    failed), and what it cost.
    """

    cells: tuple[Cell, ...]
    tokens: int
    failed: str = ""


class AttributeReader(Protocol):
    """Reads attributes of a document."""

    overhead: int
    """Tokens of a call beside its segments: instructions and fields."""

    async def read(
        self, document: Document, table: Table, columns: Sequence[Column], places: Sequence[Place]
    ) -> Reading:
        """Read these columns from these segments, given in the order of the text."""
        ...


class ModelReader:
    """Asks the model for the words, and grounds and parses them as every extraction does."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._model = session.models.model_for("extract")
        self._reader = ways_of(self._model).reader
        bare = self._reader.bare().messages
        self.overhead = sum(self._model.count_tokens(message.content) for message in bare)

    async def read(
        self, document: Document, table: Table, columns: Sequence[Column], places: Sequence[Place]
    ) -> Reading:
        """See `AttributeReader.read`."""
        joined = _Joined.of(document, places)
        identity = f"{document.id}\x1f{joined.places}"
        chunk = Chunk(
            id=hashlib.sha256(identity.encode()).hexdigest()[:16],
            document_id=document.id,
            position=0,
            start=0,
            end=len(joined.text),
            text=joined.text,
            tokens=self._model.count_tokens(joined.text),
            context=ChunkContext(),
        )
        single = replace(table, grain="document")
        source = Source(chunk, chunk.text, 0, _context(self._session, document, places))
        found = await self._reader.read(source, [Asked(single, tuple(columns))], self._model)
        for change in found.changes:
            self._session.decide(
                "extract", f"column:{table.name}.{change.column}", "changed", change.told
            )
        if found.failed(table.name):
            return Reading(
                (), found.tokens, "; ".join(refusal.reason for refusal in found.refusals)
            )
        cells = tuple(joined.placed(cell, document) for cell in _of_one_row(found.rows, columns))
        return Reading(cells, found.tokens)


def _of_one_row(rows: Sequence[Row], columns: Sequence[Column]) -> list[Cell]:
    """For each column the first cell with a value, else with a reason of its own to be empty;
    a document has one row.
    """
    found = []
    for column in columns:
        cells = [cell for row in rows if (cell := row.cell(column.name)) is not None]
        refused = (c for c in cells if c.absence is not Absence.NOT_STATED)
        empty = next(refused, Cell(column.name, absence=Absence.NOT_STATED))
        found.append(next((c for c in cells if c.absence is None), empty))
    return found


@dataclass(frozen=True, slots=True)
class _Joined:
    """Segments as one text, and the way back to their places: adjacent ones are
    joined as they stand.
    """

    text: str
    places: tuple[Place, ...]
    offsets: tuple[int, ...]

    @classmethod
    def of(cls, document: Document, places: Sequence[Place]) -> _Joined:
        runs: list[Place] = []
        for start, end in sorted(places):
            if runs and not document.text[runs[-1][1] : start].strip():
                runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
            else:
                runs.append((start, end))
        text, offsets = "", []
        for start, end in runs:
            text += _JOINT if text else ""
            offsets.append(len(text))
            text += document.text[start:end]
        return cls(text, tuple(runs), tuple(offsets))

    def placed(self, cell: Cell, document: Document) -> Cell:
        """The cell with its span and its further words in the document."""
        if cell.span is None:
            return cell
        return replace(
            cell,
            span=self._place(cell.span, document),
            parts=tuple(self._place(part, document) for part in cell.parts),
        )

    def _place(self, span: Span, document: Document) -> Span:
        number = max(n for n, offset in enumerate(self.offsets) if offset <= span.start)
        run_start, run_end = self.places[number]
        start = run_start + span.start - self.offsets[number]
        return Span(
            document.id, start, min(run_end, start + span.end - span.start), document.page_at(start)
        )


def _context(session: Session, document: Document, places: Sequence[Place]) -> Context:
    """What the document shows about its printed values, with the notes of the
    tables that are sent.
    """
    notes = [
        e.grid.note or e.grid.caption
        for e in document.elements
        if e.grid is not None and any(e.start < end and e.end > start for start, end in places)
    ]
    return context_of(session, document.text, " ".join(dict.fromkeys(n for n in notes if n)))
