"""The entry of a document in a vector index: the vector of its key sentences, and the vectors of
its segments, stored as int8 with one scale for each row (384 bytes for a segment).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sliders.retrieval.embeddings import Vectors


@dataclass(frozen=True, slots=True, eq=False)
class SegmentVectors:
    """The index entry of one document.

    `document` is the vector of the key sentences, float32 (d,); `spans` is int64 (n, 3): start,
    end, tokens of each segment in `Document.text`; the segments' vectors are `codes` int8 (n, d)
    times `scales` float32 (n,).
    """

    document_id: str
    embedder: str
    document: Vectors
    spans: NDArray[np.int64]
    codes: NDArray[np.int8]
    scales: Vectors

    @classmethod
    def build(
        cls,
        document_id: str,
        embedder: str,
        document: Vectors,
        spans: NDArray[np.int64],
        vectors: NDArray[np.floating[Any]],
    ) -> SegmentVectors:
        """Quantizes float vectors (n, d)."""
        peaks = np.abs(vectors).max(axis=1, initial=0.0)
        scales = np.where(peaks > 0, peaks / 127.0, 1.0).astype(np.float32)
        codes = np.rint(vectors / scales[:, None]).astype(np.int8)
        return cls(
            document_id, embedder, document, spans.astype(np.int64).reshape(-1, 3), codes, scales
        )

    @property
    def vectors(self) -> Vectors:
        """The segments' vectors, float32 (n, d)."""
        return self.codes.astype(np.float32) * self.scales[:, None]


def distances_to(vectors: Vectors, queries: Vectors) -> Vectors:
    """Euclidean distance of each unit row to the nearest query: sqrt(2 - 2 cos), shape (n,)."""
    nearest: Vectors = (vectors @ queries.T).max(axis=1)
    distances: Vectors = np.sqrt(np.maximum(0.0, 2.0 - 2.0 * nearest))
    return distances
