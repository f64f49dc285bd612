"""The two-level index of the optimizer (QUEST, section 4): documents by their key sentences,
segments by their vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sliders.retrieval.embeddings import Embedder, Vectors
from sliders.retrieval.index import SegmentVectors, distances_to

SEGMENT_TOKENS = 64
"""The most tokens of a segment in the optimizer's index. Segments for reading are larger; here
every token sent is paid.
"""
_KEPT = 512


class SegmentIndex:
    """The two-level index of all current documents (QUEST, section 4): it finds documents, and then
    segments, near a query.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.entries: dict[str, SegmentVectors] = {}
        self.vectors = lru_cache(maxsize=_KEPT)(self._vectors)
        """Unit vectors of a document's segments, shape (n, d); those used last are kept."""

    def _vectors(self, document_id: str) -> Vectors:
        return self.entries[document_id].vectors

    def by_distance(self, query: Vectors) -> dict[str, float]:
        """Returns all documents by id, nearest first, with the Euclidean distance (0 to 2) to the
        query, a unit vector (d,). A document has one vector for all its key sentences together.
        """
        if not self.entries:
            return {}
        distances = distances_to(
            np.stack([entry.document for entry in self.entries.values()]), query[None, :]
        )
        found = sorted(zip(distances.tolist(), self.entries, strict=True))
        return {document_id: distance for distance, document_id in found}

    def sizes(self, document_id: str) -> list[int]:
        """Tokens of the document's segments, in the order of the text."""
        return [int(tokens) for tokens in self.entries[document_id].spans[:, 2]]

    def places(self, document_id: str, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Returns the start and the end of segments, by their numbers."""
        spans = self.entries[document_id].spans
        return [(int(spans[row, 0]), int(spans[row, 1])) for row in rows]

    def row_at(self, document_id: str, offset: int) -> int | None:
        """Returns the number of the segment that holds a character of the document; None when none
        does.
        """
        spans = self.entries[document_id].spans
        row = int(np.searchsorted(spans[:, 0], offset, side="right")) - 1
        return row if row >= 0 and offset < spans[row, 1] else None
