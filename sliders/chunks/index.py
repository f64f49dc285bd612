"""The two-level index: which documents, then which segments, are near a query (QUEST, section 4). Search is exact.

Segments' vectors are kept as int8 with one scale a row (384 bytes a segment).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sliders.chunks.embeddings import Vectors
from sliders.errors import SlidersError


@dataclass(frozen=True, slots=True, eq=False)
class SegmentVectors:
    """The index entry of one document.

    `document` is the vector of the key sentences, float32 (d,); `spans` is int64 (n, 3): start, end, tokens of each
    segment in `Document.text`; the segments' vectors are `codes` int8 (n, d) times `scales` float32 (n,).
    """

    document_id: str
    embedder: str
    document: Vectors
    spans: NDArray[np.int64]
    codes: NDArray[np.int8]
    scales: Vectors

    @classmethod
    def build(
        cls, document_id: str, embedder: str, document: Vectors, spans: NDArray[np.int64], vectors: NDArray[np.floating[Any]]
    ) -> SegmentVectors:
        """Quantizes float vectors (n, d)."""
        peaks = np.abs(vectors).max(axis=1, initial=0.0)
        scales = np.where(peaks > 0, peaks / 127.0, 1.0).astype(np.float32)
        codes = np.rint(vectors / scales[:, None]).astype(np.int8)
        return cls(document_id, embedder, document, spans.astype(np.int64).reshape(-1, 3), codes, scales)

    @property
    def vectors(self) -> Vectors:
        """The segments' vectors, float32 (n, d)."""
        return self.codes.astype(np.float32) * self.scales[:, None]


@dataclass(frozen=True, slots=True)
class DocumentHit:
    """A document with the Euclidean distance (0 to 2) of its key sentences to the query."""

    document_id: str
    distance: float


class TwoLevelIndex:
    """Documents searchable by distance, each with the vectors of its segments."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._entries: dict[str, SegmentVectors] = {}

    def __contains__(self, document_id: object) -> bool:
        return document_id in self._entries

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Documents in the order in which they were added."""
        return tuple(self._entries)

    def entry(self, document_id: str) -> SegmentVectors:
        """The entry of a document.

        Raises:
            SlidersError: the document is not in the index.
        """
        try:
            return self._entries[document_id]
        except KeyError:
            raise SlidersError(f"document {document_id!r} is not in the index; add it before it is searched") from None

    def add(self, entry: SegmentVectors) -> None:
        """Adds a document, or replaces it.

        Raises:
            SlidersError: its vectors are of another length.
        """
        if entry.document.shape != (self._dimensions,) or entry.codes.shape[1:] != (self._dimensions,):
            raise SlidersError(
                f"the vectors of document {entry.document_id!r} ({entry.embedder}) do not have {self._dimensions} "
                "dimensions; rebuild its entry with the embedder of this index"
            )
        self.remove(entry.document_id)
        self._entries[entry.document_id] = entry

    def remove(self, document_id: str) -> None:
        """Removes a document; an unknown one is not an error."""
        self._entries.pop(document_id, None)

    def search_documents(self, vector: Vectors) -> tuple[DocumentHit, ...]:
        """All documents by their distance to the query e(Q), a unit vector (d,); nearest first."""
        if not self._entries:
            return ()
        distances = distances_to(np.stack([entry.document for entry in self._entries.values()]), vector[None, :])
        hits = (DocumentHit(name, float(distance)) for name, distance in zip(self._entries, distances, strict=True))
        return tuple(sorted(hits, key=lambda hit: (hit.distance, hit.document_id)))


def distances_to(vectors: Vectors, queries: Vectors) -> Vectors:
    """Euclidean distance of each unit row to the nearest query: sqrt(2 - 2 cos), shape (n,)."""
    nearest: Vectors = (vectors @ queries.T).max(axis=1)
    distances: Vectors = np.sqrt(np.maximum(0.0, 2.0 - 2.0 * nearest))
    return distances
