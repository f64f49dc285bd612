"""Assembled retrieval: exact words and meaning, normalized and weighed (OkraLong, section 3.4 and appendix B.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sliders.chunks.embeddings import Embedder, Vectors
from sliders.chunks.index import SegmentVectors, TwoLevelIndex, distances_to
from sliders.chunks.lexical import BM25
from sliders.chunks.segments import CountTokens, index_document
from sliders.documents.document import Document
from sliders.errors import SlidersError

SegmentKey = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class RankedSegment:
    """A segment `Document.text[start:end]` with its rank score and the two scores behind it.

    `score` is in [0, 1]; `exact` is the BM25 score, `semantic` the cosine with the question.
    """

    document_id: str
    start: int
    end: int
    text: str
    tokens: int
    score: float
    exact: float
    semantic: float


class RetrievalIndex:
    """The segments of some documents, searchable by word and by meaning."""

    def __init__(self, embedder: Embedder, count_tokens: CountTokens, *, segment_tokens: int = 150) -> None:
        """`segment_tokens` is the granularity: the largest segment in tokens."""
        self.embedder = embedder
        self.vectors = TwoLevelIndex(embedder.dimensions)
        self.lexical: BM25[SegmentKey] = BM25()
        self._count = count_tokens
        self._segment_tokens = segment_tokens
        self._documents: dict[str, Document] = {}

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents that are in the index."""
        return tuple(self._documents.values())

    def add(self, document: Document, entry: SegmentVectors | None = None) -> SegmentVectors:
        """Adds a document, or replaces it; returns its entry, which the store may keep and give back as `entry`.

        Raises:
            SlidersError: `entry` was made with another embedder.
        """
        if entry is None:
            entry = index_document(document, self.embedder, self._count, max_tokens=self._segment_tokens)
        elif entry.embedder != self.embedder.name:
            raise SlidersError(
                f"the index entry of {document.name!r} was made with {entry.embedder}, not {self.embedder.name}; "
                "leave it out to make a new one"
            )
        self.remove(document.id)
        self._documents[document.id] = document
        self.vectors.add(entry)
        for start, end, _ in entry.spans.tolist():
            self.lexical.add((document.id, start, end), document.text[start:end])
        return entry

    def remove(self, document_id: str) -> None:
        """Removes a document; an unknown one is not an error."""
        if self._documents.pop(document_id, None) is None:
            return
        for start, end, _ in self.vectors.entry(document_id).spans.tolist():
            self.lexical.remove((document_id, start, end))
        self.vectors.remove(document_id)

    def text(self, key: SegmentKey) -> str:
        """The text of a segment."""
        document_id, start, end = key
        return self._documents[document_id].text[start:end]

    def keys(self, documents: Collection[str]) -> list[SegmentKey]:
        """The segments of the given documents."""
        return [
            (document_id, start, end)
            for document_id in documents
            if document_id in self._documents
            for start, end, _ in self.vectors.entry(document_id).spans.tolist()
        ]


def retrieve(
    question: str,
    index: RetrievalIndex,
    *,
    weights: tuple[float, float] = (3, 2),
    top: int = 20,
    threshold: float = 0.1,
    documents: Collection[str] | None = None,
) -> tuple[RankedSegment, ...]:
    """The best segments for a question, best first.

    The candidates are the best `top` of each of the two searches; each score is min-max normalized over them, and a
    segment's score is their weighted mean.

    Args:
        weights: of exact words and of meaning: (3, 2) for names and numbers, (2, 3) for meaning, (1, 1) for both.
        threshold: segments below this share of the best score are left out.
        documents: search only these documents; None for all.
    """
    within = None if documents is None else index.keys(documents)
    query = index.embedder.embed([question])
    by_words = [key for key, _ in index.lexical.search(question, top, within=within)]
    candidates = list(dict.fromkeys([*by_words, *_by_meaning(query, index, top, documents)]))
    if not candidates:
        return ()
    exact = np.array(index.lexical.scores(question, candidates))
    semantic = _cosines(query, index, candidates)
    total = sum(weights)
    scores = (weights[0] * min_max(exact) + weights[1] * min_max(semantic)) / total
    floor = threshold * float(scores.max())
    order = sorted(range(len(candidates)), key=lambda number: (-scores[number], candidates[number]))
    tokens = _tokens(index, candidates)
    return tuple(
        RankedSegment(
            *candidates[number], index.text(candidates[number]), tokens[candidates[number]], float(scores[number]),
            float(exact[number]), float(semantic[number]),
        )
        for number in order[:top]
        if scores[number] >= floor
    )  # fmt: skip


def min_max(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values scaled to [0, 1]; values that are all the same become 1 if they are positive, else 0."""
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-12:
        return np.full(len(values), 1.0 if high > 0 else 0.0)
    return (values - low) / (high - low)


def _by_meaning(query: Vectors, index: RetrievalIndex, top: int, documents: Collection[str] | None) -> list[SegmentKey]:
    if documents is None:
        hits = list(index.vectors.search_segments(None, query, top_k=top))
    else:
        known = [document_id for document_id in documents if document_id in index.vectors]
        hits = [hit for name in known for hit in index.vectors.search_segments(name, query, top_k=top)]
        hits.sort(key=lambda hit: (hit.distance, hit.document_id, hit.start))
    return [(hit.document_id, hit.start, hit.end) for hit in hits[:top]]


def _cosines(query: Vectors, index: RetrievalIndex, keys: Sequence[SegmentKey]) -> NDArray[np.float64]:
    """Cosine of each segment with the question."""
    cosines = np.zeros(len(keys))
    for document_id in {key[0] for key in keys}:
        entry = index.vectors.entry(document_id)
        places = {(start, end): row for row, (start, end, _) in enumerate(entry.spans.tolist())}
        numbers = [number for number, key in enumerate(keys) if key[0] == document_id]
        rows = [places[keys[number][1:]] for number in numbers]
        vectors = entry.codes[rows].astype(np.float32) * entry.scales[rows, None]
        cosines[numbers] = 1.0 - distances_to(vectors, query) ** 2 / 2.0
    return cosines


def _tokens(index: RetrievalIndex, keys: Sequence[SegmentKey]) -> dict[SegmentKey, int]:
    """Token counts of the segments."""
    counts: dict[SegmentKey, int] = {}
    for document_id in {key[0] for key in keys}:
        for start, end, tokens in index.vectors.entry(document_id).spans.tolist():
            counts[document_id, start, end] = tokens
    return counts
