"""The work on documents and chunks in this process: parsing, indexing, and extraction calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from sliders.documents.apart import OnPage, load_each
from sliders.documents.discovery import SourceFile
from sliders.documents.document import Document
from sliders.documents.loaders import LoadFailure
from sliders.documents.tables import LEVEL, place_of
from sliders.engine.ways import ways_of
from sliders.extraction.extract import Extraction
from sliders.extraction.pieces import Pieces
from sliders.extraction.prompt import Asked, chunk_head
from sliders.extraction.second_opinion import second_opinions
from sliders.extraction.source import Source
from sliders.llm.limits import Limiter
from sliders.llm.model import Model
from sliders.retrieval.chunk import Chunk
from sliders.retrieval.chunking import chunk_document
from sliders.retrieval.embeddings import Embedder
from sliders.retrieval.index import SegmentVectors
from sliders.retrieval.segments import index_document
from sliders.values.notes import head_note
from sliders.values.parse import Context


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document, and a function that cuts it into chunks. A document that is known already is not
    cut again.
    """

    document: Document
    chunks: Callable[[], Sequence[Chunk]]


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A part of a document that a call reads: a chunk, or `pieces` of the document (start and end)
    that make up the chunk's text. `card` is a short description of the document that stands above
    the text.
    """

    document: Document
    chunk: Chunk
    context: Context
    card: str = ""
    pieces: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of_pieces(
        cls,
        document: Document,
        places: Sequence[tuple[int, int]],
        context: Context,
        tokens: int,
    ) -> DocumentPart:
        """Returns the part that shows pieces of a document as one text.

        Args:
            document: the document.
            places: the start and the end of each piece, in characters of the document's text.
            context: the headings above the pieces.
            tokens: the tokens of all pieces together.
        """
        chunk = Pieces.of(document, places).chunk(tokens)
        return cls(document, chunk, context, pieces=tuple(places))


@dataclass(frozen=True, slots=True)
class ExtractionCall:
    """The input of one extraction call: parts of different documents, and the columns that all of
    them are asked for. `expected` are the usual tokens of the reply, 0 when nothing is known.
    """

    parts: tuple[DocumentPart, ...]
    asked: tuple[Asked, ...]
    questions: tuple[str, ...] = ()
    expected: int = 0


class LocalRunner:
    """Does the work in this process: model calls side by side in the event loop, everything else
    one after the other. It never touches the store; the caller stores the results. `limiter` holds
    the limits that several processes share.
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
        the model's tokens. Each document is dropped from memory before the next is read. `on_page`
        is called for each page that OCR has read.
        """
        for found in load_each(sources, max_bytes, on_page):
            yield found if isinstance(found, LoadFailure) else cut_later(found, max_tokens, model)

    def index(
        self, documents: Iterable[Document], embedder: Embedder, model: Model, max_tokens: int
    ) -> Iterator[SegmentVectors]:
        """Yields the segments of each document, of at most `max_tokens`, with their vectors."""
        for document in documents:
            yield index_document(document, embedder, model.count_tokens, max_tokens=max_tokens)

    async def read(
        self, reading: ExtractionCall, model: Model, second: Model | None = None
    ) -> list[Extraction]:
        """Makes an extraction call, and returns the result for each part; `second` is asked about
        doubtful cells. All calls are in the models' log when it returns.

        Raises:
            ModelUnavailable: the model cannot be reached.
            BudgetExceeded: the run's limit is reached.
        """
        pieces = [Pieces.of(part.document, part.pieces) for part in reading.parts]
        sources = [
            source_of_pieces(part, some, reading.questions)
            if part.pieces
            else source_of(part, reading.questions)
            for part, some in zip(reading.parts, pieces, strict=True)
        ]
        found = await ways_of(model).reader.read(sources, reading.asked, model, reading.expected)
        if second is not None:
            found = await second_opinions(sources, found, reading.asked, second)
        return [
            some.placed(one) if some.places else one
            for some, one in zip(pieces, found, strict=True)
        ]

    def frame_tokens(self, model: Model) -> int:
        """Returns the tokens of a call without its text and its columns: the part that every call
        repeats.
        """
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


def source_of(part: DocumentPart, questions: tuple[str, ...] = ()) -> Source:
    """Returns the text of a chunk, with the conventions by which its document prints values."""
    chunk, document = part.chunk, part.document
    return Source(
        chunk,
        chunk.text,
        chunk.start,
        part.context,
        part.card,
        questions,
        document.page_at,
        _notes_of(document, [(chunk.start, chunk.end)], " ".join(chunk.context.captions)),
        chunk_head(chunk, part.card),
        document.text,
    )


def source_of_pieces(part: DocumentPart, pieces: Pieces, questions: tuple[str, ...] = ()) -> Source:
    """Returns the text of pieces of a document. A value that is not in the pieces may still stand
    in the rest of the document.
    """
    note_at = _notes_of(part.document, pieces.places)
    whole = pieces.text.strip() == part.document.text.strip()
    return Source(
        part.chunk,
        part.chunk.text,
        0,
        part.context,
        part.card,
        questions,
        page_at=lambda offset: part.document.page_at(pieces.at(offset)),
        note_at=lambda offset: note_at(pieces.at(offset)),
        whole=pieces.text if whole else "",
    )


def _notes_of(
    document: Document, places: Sequence[tuple[int, int]], captions: str = ""
) -> Callable[[int], str]:
    """Returns a function that gives the words about the scale ("in millions") at a place: for a
    table its column's name and its notes, else the captions. A letter in brackets behind a column's
    name is a scale, but where the text has that name elsewhere.
    """
    tables = [
        e
        for e in document.elements
        if e.grid is not None and any(e.start < end and e.end > start for start, end in places)
    ]

    @cache
    def is_name(head: str) -> bool:
        texts = (document.text[e.start : e.end] for e in document.elements if e.kind == "paragraph")
        return head in document.title or any(head in text for text in texts)

    def letters(heads: Iterable[str]) -> Iterator[str]:
        return (head_note(head) for head in heads if head_note(head) and not is_name(head))

    def note_at(start: int) -> str:
        if not tables:
            return captions
        table = next((e for e in tables if e.start <= start < e.end), None)
        if table is None or table.grid is None:
            return ""
        place, grid = place_of(table, start), table.grid
        column = place.column if place else ""
        stub = grid.header[0] if grid.header and grid.header[0][:1] in "([" else ""
        heads = (column.rpartition(LEVEL)[2], stub)
        notes = (column, *letters(heads), grid.note, grid.caption)
        return " ".join(dict.fromkeys(filter(None, notes)))

    return note_at
