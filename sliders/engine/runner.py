"""The work that documents and chunks take, done in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sliders.documents.apart import load_each
from sliders.documents.discovery import SourceFile
from sliders.documents.document import Document
from sliders.documents.loaders import LoadFailure
from sliders.documents.tables import place_of
from sliders.engine.ways import ways_of
from sliders.extraction.extract import Extraction
from sliders.extraction.pieces import Pieces
from sliders.extraction.prompt import Asked, chunk_head
from sliders.extraction.source import Source
from sliders.llm.limits import Limiter
from sliders.llm.model import Model
from sliders.retrieval.chunk import Chunk
from sliders.retrieval.chunking import chunk_document
from sliders.retrieval.embeddings import Embedder
from sliders.retrieval.index import SegmentVectors
from sliders.retrieval.segments import index_document
from sliders.values.parse import Context


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document, and its chunks when they are needed: one that is known
    already is not cut again.
    """

    document: Document
    chunks: Callable[[], Sequence[Chunk]]


@dataclass(frozen=True, slots=True)
class ExtractionCall:
    """What one call of extraction reads: a chunk of a document, for some columns of some tables.

    `pieces` are the places of the document that the chunk's text is made of, where it is not one of
    those that the document was cut into.
    """

    document: Document
    chunk: Chunk
    asked: tuple[Asked, ...]
    context: Context
    card: str = ""
    questions: tuple[str, ...] = ()
    pieces: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of_pieces(
        cls,
        document: Document,
        places: Sequence[tuple[int, int]],
        asked: Sequence[Asked],
        context: Context,
        tokens: int,
    ) -> ExtractionCall:
        """These places of a document, of so many tokens, read as one text."""
        chunk = Pieces.of(document, places).chunk(tokens)
        return cls(document, chunk, tuple(asked), context, pieces=tuple(places))


class LocalRunner:
    """Does the work that documents and chunks take in this process: calls side by side in its event
    loop, all else one after the other. The store is its caller's; `limiter` holds the limits that
    this process shares with others, if any.
    """

    limiter: Limiter | None = None

    def parse(
        self, sources: Sequence[SourceFile], max_bytes: int, max_tokens: int, model: Model
    ) -> Iterator[ParsedDocument | LoadFailure]:
        """Documents with chunks of at most `max_tokens` of the model's tokens, in the order of the
        sources; each is forgotten before the next is read.
        """
        for found in load_each(sources, max_bytes):
            yield found if isinstance(found, LoadFailure) else cut_later(found, max_tokens, model)

    def index(
        self, documents: Iterable[Document], embedder: Embedder, model: Model, max_tokens: int
    ) -> Iterator[SegmentVectors]:
        """Segments of at most `max_tokens` with their vectors, in the order of the documents."""
        for document in documents:
            yield index_document(document, embedder, model.count_tokens, max_tokens=max_tokens)

    async def read(self, reading: ExtractionCall, model: Model) -> Extraction:
        """Rows out of one chunk; every call is in the model's log when this returns.

        Raises:
            ModelUnavailable: the model cannot be reached.
            BudgetExceeded: the run's limit is reached.
        """
        read = ways_of(model).reader.read
        if not reading.pieces:
            return await read(source_of(reading), reading.asked, model)
        pieces = Pieces.of(reading.document, reading.pieces)
        return pieces.placed(await read(source_of_pieces(reading, pieces), reading.asked, model))

    def frame_tokens(self, model: Model) -> int:
        """Tokens of a call beside its text and its columns."""
        messages = ways_of(model).reader.bare().messages
        return sum(model.count_tokens(message.content) for message in messages)

    def close(self) -> None:
        """Give back what was taken."""


def cut_later(document: Document, max_tokens: int, model: Model) -> ParsedDocument:
    """The document with its chunks, which are made when they are asked for."""
    return ParsedDocument(
        document,
        lambda: chunk_document(document, max_tokens=max_tokens, count_tokens=model.count_tokens),
    )


def source_of(reading: ExtractionCall) -> Source:
    """The text that a call of extraction reads, with what its document shows about it."""
    chunk, document = reading.chunk, reading.document
    return Source(
        chunk,
        chunk.text,
        chunk.start,
        reading.context,
        reading.card,
        reading.questions,
        document.page_at,
        _notes_of(document, [(chunk.start, chunk.end)], " ".join(chunk.context.captions)),
        chunk_head(chunk, reading.card),
        document.text,
    )


def source_of_pieces(reading: ExtractionCall, pieces: Pieces) -> Source:
    """The text of a call that reads pieces of a document: its silence says nothing of the rest."""
    note_at = _notes_of(reading.document, pieces.places)
    return Source(
        reading.chunk,
        reading.chunk.text,
        0,
        reading.context,
        reading.card,
        reading.questions,
        page_at=lambda offset: reading.document.page_at(pieces.at(offset)),
        note_at=lambda offset: note_at(pieces.at(offset)),
    )


def _notes_of(
    document: Document, places: Sequence[tuple[int, int]], captions: str = ""
) -> Callable[[int], str]:
    """What states the scale ("in millions") at a place of a table: its column's name and the notes;
    without tables, captions.
    """
    tables = [
        e
        for e in document.elements
        if e.grid is not None and any(e.start < end and e.end > start for start, end in places)
    ]

    def note_at(start: int) -> str:
        if not tables:
            return captions
        table = next((e for e in tables if e.start <= start < e.end), None)
        if table is None or table.grid is None:
            return ""
        place = place_of(table, start)
        return " ".join(
            dict.fromkeys(
                n for n in (place.column if place else "", table.grid.note, table.grid.caption) if n
            )
        )

    return note_at
