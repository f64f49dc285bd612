"""The text that an extraction call reads: a chunk or a part of it, and the conventions of its
document's printed values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import takewhile

from sliders.extraction.cell import Span
from sliders.retrieval.chunk import Chunk
from sliders.values.parse import Context


@dataclass(frozen=True, slots=True)
class Source:
    """A text with its place: it begins at character `offset` of its document. `card` is the
    document's card, `questions` are the questions that the columns are for.

    `context` holds the conventions of its printed values (decimal mark, order of dates). `page_at`
    gives the page of a place of the document, `note_at` the note of the table that covers it ("in
    millions"), or "". `head` is what the model reads above the text (card, headings); its words
    have their place in `whole`, the document's text. `others` are the texts of other documents in
    the same call.
    """

    chunk: Chunk
    text: str
    offset: int
    context: Context = field(default_factory=Context)
    card: str = ""
    questions: tuple[str, ...] = ()
    page_at: Callable[[int], int | None] | None = None
    note_at: Callable[[int], str] | None = None
    head: str = ""
    whole: str = ""
    others: tuple[str, ...] = ()

    @classmethod
    def of(cls, chunk: Chunk) -> Source:
        """A chunk by itself."""
        return cls(chunk, chunk.text, chunk.start)

    @property
    def is_whole(self) -> bool:
        """True when the text is all of its document. Only then can a missing statement mean
        anything.
        """
        return bool(self.whole) and self.text.strip() == self.whole.strip()

    def part(self, start: int, end: int) -> Source:
        """The characters `start` to `end` of the text."""
        return replace(self, text=self.text[start:end], offset=self.offset + start)

    def words(self, start: int, end: int) -> str:
        """The words at a place, in characters of the text; a place outside the text counts in
        characters of the document.
        """
        inside = start >= 0 and end <= len(self.text)
        return (
            self.text[start:end] if inside else self.whole[self.offset + start : self.offset + end]
        )

    def span(self, start: int, end: int) -> Span:
        """A place of the text as a place of the document, with its page."""
        place = self.offset + start
        page = self.page_at(place) if self.page_at else self.chunk.context.page_from
        return Span(self.chunk.document_id, place, self.offset + end, page)

    def context_at(self, start: int) -> Context:
        """The conventions that hold for a value at a place. The note of a table does not hold for
        the text around the table.
        """
        if self.note_at is None:
            return self.context
        return replace(self.context, note=self.note_at(self.offset + start))

    def halves(self) -> tuple[Source, ...]:
        """The text cut at the line or sentence end nearest to its middle, each half under the card
        and headings of the whole; empty when it is too short to cut.
        """
        if len(self.text) < _SHORTEST:
            return ()
        middle = len(self.text) // 2
        for mark in ("\n", ". ", " "):
            cut = self.text.find(mark, middle)
            if 0 < cut < len(self.text) - _SHORTEST // 10:
                return self._half(0, cut + len(mark)), self._half(cut + len(mark), len(self.text))
        return ()

    def _half(self, start: int, end: int) -> Source:
        half = self.part(start, end)
        if not start:
            return replace(half, chunk=replace(self.chunk, text=half.text))
        above = _table_head(self.text[:start], half.text)
        captions = (*self.chunk.context.captions, *([above] if above else ()))
        context, position = (
            replace(self.chunk.context, captions=captions),
            max(1, self.chunk.position),
        )
        chunk = replace(self.chunk, text=half.text, position=position, context=context)
        return replace(half, chunk=chunk, head="\n".join(filter(None, (self.head, above))))


def _table_head(before: str, after: str) -> str:
    """The header rows of a table that is cut between two texts: without them its
    numbers have no columns.
    """
    if not after.startswith("|"):
        return ""
    rows = list(takewhile(lambda line: line.startswith("|"), reversed(before.splitlines())))[::-1]
    rule = next((number for number, row in enumerate(rows) if not row.strip("|- ")), -1)
    return "\n".join(rows[: rule + 1])


_SHORTEST = 400
