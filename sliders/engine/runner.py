"""The work on documents and chunks in this process: parsing, indexing, and extraction calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sliders.documents.apart import OnPage, load_each
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
    """A document, and a function that cuts it into chunks. A document that is known already is not
    cut again.
    """

    document: Document
    chunks: Callable[[], Sequence[Chunk]]


@dataclass(frozen=True, slots=True)
class ExtractionCall:
    """The input of one extraction call: a chunk of a document, and the columns that it is asked
    for.

    `pieces` are the places of the document that make up the chunk's text; () for one of the
    document's own chunks. `card` is a short description of the document that stands above the text.
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
        """Returns the call that reads these places of a document as one text.

        Args:
            tokens: the length of the places together.
        """
        chunk = Pieces.of(document, places).chunk(tokens)
        return cls(document, chunk, tuple(asked), context, pieces=tuple(places))


class LocalRunner:
    """Does the work in this process: calls side by side in the event loop, all else one after the
    other. The caller has the store. `limiter` holds the limits that this process shares with
    others.
    """

    limiter: Limiter | None = None

    def parse(
        self,
        sources: Sequence[SourceFile],
        max_bytes: int,
        max_tokens: int,
        model: Model,
        on_page: OnPage | None = None,
    ) -> Iterator[ParsedDocument | LoadFailure]:
        """Yields the documents in the order of the sources, with chunks of at most `max_tokens` of
        the model's tokens. Each is dropped before the next is read. `on_page` is told of each page
        that OCR has read.
        """
        for found in load_each(sources, max_bytes, on_page):
            yield found if isinstance(found, LoadFailure) else cut_later(found, max_tokens, model)

    def index(
        self, documents: Iterable[Document], embedder: Embedder, model: Model, max_tokens: int
    ) -> Iterator[SegmentVectors]:
        """Yields the segments of each document, of at most `max_tokens`, with their vectors."""
        for document in documents:
            yield index_document(document, embedder, model.count_tokens, max_tokens=max_tokens)

    async def read(self, reading: ExtractionCall, model: Model) -> Extraction:
        """Returns the rows of one chunk. When it returns, the model's log has every call.

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
        """Returns the tokens of a call beside its text and its columns."""
        messages = ways_of(model).reader.bare().messages
        return sum(model.count_tokens(message.content) for message in messages)

    def close(self) -> None:
        """Releases what the runner holds; nothing here."""


def cut_later(document: Document, max_tokens: int, model: Model) -> ParsedDocument:
    """Returns the document with its chunks, which are made on demand."""
    return ParsedDocument(
        document,
        lambda: chunk_document(document, max_tokens=max_tokens, count_tokens=model.count_tokens),
    )


def source_of(reading: ExtractionCall) -> Source:
    """Returns the text that an extraction call reads, with what its document shows about it."""
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
    """Returns the text of a call that reads pieces of a document. A value that is missing there may
    still stand in the rest.
    """
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
    """Returns a function that gives the words about the scale ("in millions") at a place: for a
    table its column's name and its notes, else the captions.
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
