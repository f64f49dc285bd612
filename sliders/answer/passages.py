"""Passages for a call: retrieved segments are joined with their neighbours, and cut tables are made
whole (OkraLong, section 3.3 and appendix B.3).

A *segment* is the unit of the search; a *passage* is a stretch of text that a model reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sliders.documents.document import Document
from sliders.retrieval.context import Outline
from sliders.retrieval.embeddings import Embedder
from sliders.retrieval.index import SegmentVectors
from sliders.retrieval.search import RankedSegment, RetrievalIndex

CountTokens = Callable[[str], int]
Span = tuple[int, int]
Weights = tuple[float, float]

_TABLE_TOKENS = 400
"""The largest table, in tokens, that is shown whole when a part of it was found."""
_JOIN_CHARACTERS = 3
"""The most characters between two segments that are joined to one passage."""

#: Gives the index entry of a document at a granularity, as the store keeps it.
EntryOf = Callable[[Document, int], SegmentVectors]
#: Decides which segments of one document (spans, their vectors) are skipped.
Skip = Callable[[Document, Sequence[Span], np.ndarray], Sequence[bool]]


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document: `text` is `Document.text[start:end]`, `header` names document and
    section.

    `head` holds the lines that a table in the passage needs and that stand elsewhere: the note on
    its units, and its header when the table began before the passage.
    """

    document_id: str
    document: str
    start: int
    end: int
    text: str
    tokens: int
    score: float
    header: str = ""
    page: int | None = None
    head: str = ""

    @property
    def shown(self) -> str:
        """The text for the reader: the words, below the head of their table."""
        return f"{self.head}\n{self.text}".strip()


@dataclass(frozen=True, slots=True)
class SearchContext:
    """The settings of a search.

    Args:
        segments: the number of segments.
        tokens: the most tokens of a segment.
        weights: the weights of words and of meaning.
        threshold: segments below this share (0 to 1) of the best score are left out.
    """

    segments: int = 5
    tokens: int = 150
    weights: Weights = (1, 1)
    threshold: float = 0.1


class PassageSource:
    """The documents in which an answer is searched, with segments of any length.

    `spans` limits documents to parts; documents that it does not name are whole. `skip` decides by
    the subject which segments are dropped. Both come from hints.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        embedder: Embedder,
        count_tokens: CountTokens,
        entry_of: EntryOf,
        *,
        spans: Mapping[str, Sequence[Span]] | None = None,
        skip: Skip | None = None,
    ) -> None:
        self.documents = {d.id: d for d in documents}
        self.embedder, self.count = embedder, count_tokens
        self._entry_of = entry_of
        self._spans = {key: tuple(value) for key, value in (spans or {}).items()}
        self._skip = skip
        self._indexes: dict[int, RetrievalIndex] = {}
        self._outlines: dict[str, Outline] = {}

    def narrowed(self, spans: Mapping[str, Sequence[Span]], skip: Skip | None) -> PassageSource:
        """Returns the same documents, limited by hints."""
        return PassageSource(
            self.documents.values(),
            self.embedder,
            self.count,
            self._entry_of,
            spans=spans,
            skip=skip,
        )

    def index(self, tokens: int) -> RetrievalIndex:
        """Returns the searchable segments of at most `tokens` tokens."""
        if tokens not in self._indexes:
            entries = [
                (d, self._limited(d, self._entry_of(d, tokens))) for d in self.documents.values()
            ]
            self._indexes[tokens] = RetrievalIndex(self.embedder, entries)
        return self._indexes[tokens]

    def _limited(self, document: Document, entry: SegmentVectors) -> SegmentVectors:
        """Returns the entry without the segments that hints leave out."""
        spans = [(int(start), int(end)) for start, end, _ in entry.spans.tolist()]
        wanted = self._spans.get(document.id)
        keep = [
            wanted is None or any(a < end and start < b for a, b in wanted) for start, end in spans
        ]
        if self._skip is not None and spans:
            dropped = self._skip(document, spans, entry.vectors)
            keep = [kept and not drop for kept, drop in zip(keep, dropped, strict=True)]
        if all(keep):
            return entry
        mask = np.array(keep, dtype=bool)
        return SegmentVectors(
            entry.document_id,
            entry.embedder,
            entry.document,
            entry.spans[mask],
            entry.codes[mask],
            entry.scales[mask],
        )

    @property
    def characters(self) -> int:
        """The characters that can be searched: of whole documents, or of the parts that hints
        leave.
        """
        return sum(
            sum(b - a for a, b in self._spans[d.id]) if d.id in self._spans else len(d.text)
            for d in self.documents.values()
        )

    def rank(self, question: str, context: SearchContext) -> tuple[RankedSegment, ...]:
        """Returns the segments that a search finds, the best first, without those under the
        threshold of `context`. Its number of `segments` does not cut them.
        """
        return self.index(context.tokens).retrieve(
            question, weights=context.weights, threshold=context.threshold
        )

    def search(self, question: str, context: SearchContext) -> tuple[Passage, ...]:
        """Returns the best passages, in the order of their best segment."""
        return self.assemble(self.rank(question, context)[: context.segments], context)

    def assemble(
        self, ranked: Sequence[RankedSegment], context: SearchContext
    ) -> tuple[Passage, ...]:
        """Returns passages made of segments: neighbouring segments are joined, and a cut table is
        completed.
        """
        pieces: dict[str, list[tuple[int, int, float]]] = {}
        for segment in ranked:
            start, end = self._with_table(segment.document_id, segment.start, segment.end)
            pieces.setdefault(segment.document_id, []).append((start, end, segment.score))
        passages = [
            self.passage(document_id, start, end, score)
            for document_id, found in pieces.items()
            for start, end, score in _joined(found)
        ]
        return tuple(sorted(passages, key=lambda p: -p.score))

    def whole(self, limit: int) -> tuple[Passage, ...] | None:
        """Returns every document as one passage; None when they have more than `limit` tokens
        together.
        """
        if sum(len(d.text) for d in self.documents.values()) > 8 * limit:
            return None
        passages = tuple(self.passage(d.id, 0, len(d.text), 1.0) for d in self.documents.values())
        return passages if sum(p.tokens for p in passages) <= limit else None

    def passage(self, document_id: str, start: int, end: int, score: float) -> Passage:
        """A span as a passage."""
        document = self.documents[document_id]
        if document_id not in self._outlines:
            self._outlines[document_id] = Outline(document)
        outline = self._outlines[document_id]
        path = outline.heading_path(start)
        text = document.text[start:end]
        title = document.title or document.name
        # A heading that the text repeats would be read twice.
        header = " > ".join(
            dict.fromkeys(part for part in (title, *path[-1:]) if part and part not in text[:200])
        )
        head = outline.table_head(start)
        head = "\n".join(
            filter(
                None,
                (*(note for note in outline.table_notes(start, end) if note not in head), head),
            )
        )
        passage = Passage(
            document_id,
            document.name,
            start,
            end,
            text,
            0,
            score,
            header,
            document.page_at(start),
            head,
        )
        return replace(passage, tokens=self.count(passage.shown))

    def unread(self, passages: Iterable[Passage], seen: Sequence[Passage]) -> tuple[Passage, ...]:
        """Returns the parts of passages that are in none of the seen passages."""
        return tuple(
            self.passage(p.document_id, start, end, p.score)
            for p in passages
            for start, end in _without(
                p.start, p.end, [(s.start, s.end) for s in seen if s.document_id == p.document_id]
            )
            if any(map(str.isalnum, self.documents[p.document_id].text[start:end]))
        )

    def _with_table(self, document_id: str, start: int, end: int) -> Span:
        """Returns the span with the rest of a table that it cuts, when the table is
        small enough.
        """
        for element in self.documents[document_id].elements:
            if element.kind == "table" and element.start < end and element.end > start:
                inside = start <= element.start and element.end <= end
                text = self.documents[document_id].text[element.start : element.end]
                if (
                    not inside
                    and len(text) <= 8 * _TABLE_TOKENS
                    and self.count(text) <= _TABLE_TOKENS
                ):
                    start, end = min(start, element.start), max(end, element.end)
        return start, end


def _without(start: int, end: int, seen: Sequence[Span]) -> list[Span]:
    """Returns the pieces of a span that no other span covers."""
    pieces = []
    for begin, stop in sorted(seen):
        if begin < end and stop > start:
            pieces += [(start, begin)] if begin > start else []
            start = max(start, stop)
    return [*pieces, (start, end)] if start < end else pieces


def _joined(found: Sequence[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Returns spans of one document in order; spans that touch are joined, with the
    better score.
    """
    out: list[tuple[int, int, float]] = []
    for start, end, score in sorted(found):
        if out and start <= out[-1][1] + _JOIN_CHARACTERS:
            out[-1] = (out[-1][0], max(out[-1][1], end), max(out[-1][2], score))
        else:
            out.append((start, end, score))
    return out
