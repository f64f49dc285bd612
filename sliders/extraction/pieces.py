"""Pieces of one document that a call reads as one text, and the way from the text back to places in
the document.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sliders.documents.document import Document
from sliders.extraction.cell import Cell, Row, Span
from sliders.extraction.extract import Extraction
from sliders.retrieval.chunk import Chunk, ChunkContext

_JOINT = "\n\n[...]\n\n"
"""The characters between two pieces; text of the document is left out there."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of a document: their `places` (start and end) in the order of the text, adjacent
    pieces joined. `text` holds the pieces one after the other, `offsets` the position of each in
    it.
    """

    document: Document
    text: str
    places: tuple[tuple[int, int], ...]
    offsets: tuple[int, ...]

    @classmethod
    def of(cls, document: Document, places: Iterable[tuple[int, int]]) -> Pieces:
        """The pieces at these places."""
        runs: list[tuple[int, int]] = []
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
        return cls(document, text, tuple(runs), tuple(offsets))

    def chunk(self, tokens: int) -> Chunk:
        """Returns the pieces as one chunk of `tokens` tokens."""
        identity = hashlib.sha256(f"{self.document.id}\x1f{self.places}".encode()).hexdigest()[:16]
        end = len(self.text)
        return Chunk(identity, self.document.id, 0, 0, end, self.text, tokens, ChunkContext())

    def at(self, offset: int) -> int:
        """The place in the document of a character of the text."""
        return self._in_document(offset)[0]

    def _in_document(self, offset: int) -> tuple[int, int]:
        """The place of a character of the text, and where its piece ends."""
        number = bisect_right(self.offsets, offset) - 1
        start, end = self.places[number]
        return start + offset - self.offsets[number], end

    def placed(self, extraction: Extraction) -> Extraction:
        """Returns the extraction from the text, with its places changed to places in the
        document.
        """
        return replace(extraction, rows=tuple(map(self._row, extraction.rows)))

    def _row(self, row: Row) -> Row:
        return replace(row, cells=tuple(map(self._cell, row.cells)))

    def _cell(self, cell: Cell) -> Cell:
        if cell.span is None:
            return cell
        return replace(cell, span=self._span(cell.span), parts=tuple(map(self._span, cell.parts)))

    def _span(self, span: Span) -> Span:
        start, last = self._in_document(span.start)
        end = min(last, start + span.end - span.start)
        return Span(self.document.id, start, end, self.document.page_at(start))
