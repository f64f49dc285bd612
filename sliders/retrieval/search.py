"""Retrieval by exact words and by meaning, with normalized scores and weights (OkraLong, section
3.4 and appendix B.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sliders.documents.document import Document
from sliders.retrieval.embeddings import Embedder
from sliders.retrieval.index import SegmentVectors
from sliders.retrieval.lexical import BM25


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

    def __init__(
        self, embedder: Embedder, entries: Iterable[tuple[Document, SegmentVectors]]
    ) -> None:
        """Makes the index from documents with their segments, whose vectors `embedder` made."""
        self._embedder = embedder
        held = list(entries)
        self.documents = tuple(document for document, _ in held)
        self.entries = {document.id: entry for document, entry in held}
        self._segments = [
            (document.id, start, end, document.text[start:end], tokens)
            for document, entry in held
            for start, end, tokens in entry.spans.tolist()
        ]
        self.words = BM25(segment[3] for segment in self._segments)

    def retrieve(
        self,
        question: str,
        *,
        weights: tuple[float, float] = (3, 2),
        top: int = 20,
        threshold: float = 0.1,
    ) -> tuple[RankedSegment, ...]:
        """Returns the best segments for a question, best first.

        The candidates are the best `top` of each of the two searches; each score is min-max
        normalized over them, and a segment's score is their weighted mean.

        Args:
            weights: the weights of exact words and of meaning: (3, 2) for names and numbers, (2, 3)
                for meaning, (1, 1) for both.
            threshold: segments below this share of the best score are left out.
        """
        if not self._segments:
            return ()
        query = self._embedder.embed([question])[0]
        words = self.words.scores(question)
        vectors = (entry.vectors @ query for entry in self.entries.values())
        meaning = np.concatenate(list(vectors)).astype(np.float64)
        by_words = [n for n in np.argsort(-words, kind="stable")[:top] if words[n] > 0]
        by_meaning = np.argsort(-meaning, kind="stable")[:top]
        candidates = np.array(list(dict.fromkeys([*by_words, *by_meaning])))
        exact, semantic = words[candidates], meaning[candidates]
        scores = (weights[0] * min_max(exact) + weights[1] * min_max(semantic)) / sum(weights)
        columns = (column.tolist() for column in (candidates, scores, exact, semantic))
        ranked = [
            RankedSegment(*self._segments[number], *scored)
            for number, *scored in zip(*columns, strict=True)
            if scored[0] >= threshold * scores.max()
        ]
        ranked.sort(key=lambda segment: (-segment.score, segment.document_id, segment.start))
        return tuple(ranked[:top])


def min_max(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values scaled to [0, 1]; values that are all the same become 1 if they
    are positive, else 0.
    """
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-12:
        return np.full(len(values), 1.0 if high > 0 else 0.0)
    return (values - low) / (high - low)
