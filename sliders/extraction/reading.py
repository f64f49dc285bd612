"""The text that one call of extraction reads, and the cell that stands at a place of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sliders.chunks.chunk import Chunk
from sliders.extraction.cell import Absence, Cell, Grounding, Span
from sliders.extraction.coerce import CoerceContext, coerce
from sliders.extraction.refine import Candidate
from sliders.schema.types import Column


@dataclass(frozen=True, slots=True)
class Reading:
    """The text that a row was read from: a part of the document, and where it starts there."""

    chunk: Chunk
    text: str
    offset: int
    context: CoerceContext
    pages: Any
    note_at: Callable[[int], str] | None = None

    def context_at(self, start: int) -> CoerceContext:
        """What holds for a value there: the note of a table ("in thousands") says nothing of the text around it."""
        return self.context if self.note_at is None else replace(self.context, note=self.note_at(start))


def cell_of(reading: Reading, column: Column, candidate: Candidate) -> Cell:
    if not candidate.grounded:
        return Cell(
            column.name,
            None,
            candidate.words,
            Grounding.NONE,
            absence=Absence.UNGROUNDED,
            detail="these words are not in the text",
        )
    start, end = reading.offset + candidate.start, reading.offset + candidate.end
    page = reading.pages(start) if reading.pages else reading.chunk.context.page_from
    span = Span(reading.chunk.document_id, start, end, page)
    printed = reading.text[candidate.start : candidate.end]
    parsed = coerce(printed, column, context=reading.context_at(start))
    if parsed.value is None:
        return Cell(
            column.name,
            None,
            printed,
            candidate.grounding,
            span,
            absence=parsed.absence or Absence.NOT_PARSED,
            detail=parsed.detail,
        )
    grounding = Grounding.DERIVED if parsed.derived else candidate.grounding
    return Cell(
        column.name,
        parsed.value,
        printed,
        grounding,
        span,
        unit=parsed.unit or column.unit,
        scale=parsed.scale,
        detail=parsed.detail,
        rationale=parsed.rationale,
    )


def cell_at(reading: Reading, column: Column, start: int, end: int) -> Cell:
    return cell_of(reading, column, Candidate(column, reading.text[start:end], start, end, Grounding.EXACT, 1))
