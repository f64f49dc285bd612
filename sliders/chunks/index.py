"""The two-level index: which documents, then which segments, are near a query (QUEST, section 4).

Vectors are kept as int8 with one scale a row (384 bytes a segment). Search is exact up to a size; beyond it the search
for the nearest segments of all documents asks an approximate index first and ranks its candidates exactly. Not safe for
changes from several threads at once.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sliders.chunks.approximate import ApproximateIndex, available
from sliders.chunks.embeddings import Vectors
from sliders.chunks.rows import VectorRows, quantize
from sliders.errors import SlidersError


@dataclass(frozen=True, slots=True, eq=False)
class SegmentVectors:
    """The index entry of one document, as the store keeps it.

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
        cls, document_id: str, embedder: str, document: Vectors, spans: NDArray[np.int64], vectors: Vectors
    ) -> SegmentVectors:
        """Quantizes float vectors (n, d)."""
        codes, scales = quantize(vectors)
        return cls(document_id, embedder, document, spans.astype(np.int64).reshape(-1, 3), codes, scales)

    @property
    def vectors(self) -> Vectors:
        """The segments' vectors, float32 (n, d)."""
        return self.codes.astype(np.float32) * self.scales[:, None]

    def to_bytes(self) -> bytes:
        """A compact form for the store."""
        buffer = io.BytesIO()
        np.savez(
            buffer, ids=np.array([self.document_id, self.embedder]), document=self.document, spans=self.spans,
            codes=self.codes, scales=self.scales,
        )  # fmt: skip
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> SegmentVectors:
        """Reads what `to_bytes` wrote."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            document_id, embedder = (str(entry) for entry in arrays["ids"])
            return cls(
                document_id, embedder, arrays["document"], arrays["spans"], arrays["codes"], arrays["scales"]
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class DocumentHit:
    """A document with the Euclidean distance (0 to 2) of its key sentences to the query."""

    document_id: str
    distance: float


@dataclass(frozen=True, slots=True)
class SegmentHit:
    """A segment `Document.text[start:end]` with its distance (0 to 2) to the nearest of the query vectors."""

    document_id: str
    start: int
    end: int
    tokens: int
    distance: float


class TwoLevelIndex:
    """Documents and their segments, searchable by distance; one document is added or removed at a time."""

    def __init__(self, dimensions: int, *, exact_limit: int = 200_000) -> None:
        """Up to `exact_limit` segments all are compared; beyond it `faiss` is asked, if installed."""
        self._dimensions = dimensions
        self._exact_limit = exact_limit
        self._entries: dict[str, SegmentVectors] = {}
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._rows = VectorRows(dimensions)
        self._document_rows = VectorRows(dimensions)
        self._approximate: ApproximateIndex | None = None

    def __len__(self) -> int:
        """Number of segments."""
        return self._rows.live

    def __contains__(self, document_id: object) -> bool:
        return document_id in self._entries

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Documents in the order in which they were added."""
        return tuple(self._entries)

    @property
    def nbytes(self) -> int:
        """Memory of vectors, spans and the approximate index, in bytes."""
        extra = self._approximate.nbytes if self._approximate is not None else 0
        return self._rows.nbytes + self._document_rows.nbytes + extra

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
        """Adds a document, or replaces it. Cost grows with its segments, not with the index."""
        if entry.document.shape != (self._dimensions,) or entry.codes.shape[1:] != (self._dimensions,):
            raise SlidersError(
                f"the vectors of document {entry.document_id!r} ({entry.embedder}) do not have {self._dimensions} "
                "dimensions; rebuild its entry with the embedder of this index"
            )
        self.remove(entry.document_id)
        number = len(self._names)
        self._names.append(entry.document_id)
        self._numbers[entry.document_id] = number
        first = self._rows.append(entry.codes, entry.scales, entry.spans, number)
        # The rows hold the only copy of the codes and spans.
        self._entries[entry.document_id] = SegmentVectors(
            entry.document_id, entry.embedder, entry.document, *self._rows.views(first, len(entry.codes))
        )
        codes, scales = quantize(entry.document[None, :])
        self._document_rows.append(codes, scales, np.zeros((1, 3), dtype=np.int64), number)
        if self._approximate is not None:
            self._approximate.extend([(entry.document_id, entry.codes)])

    def remove(self, document_id: str) -> None:
        """Removes a document; an unknown one is not an error. Space is taken back when half of the rows are dead."""
        number = self._numbers.pop(document_id, None)
        if number is None:
            return
        entry = self._entries.pop(document_id)
        if self._approximate is not None:
            self._approximate.remove(document_id, len(entry.codes))
        self._rows.kill(number)
        self._document_rows.kill(number)
        if self._rows.size > 1000 and self._rows.live * 2 < self._rows.size:
            self._compact()

    def _compact(self) -> None:
        entries = list(self._entries.values())
        self._entries, self._numbers, self._names = {}, {}, []
        self._rows, self._document_rows = VectorRows(self._dimensions), VectorRows(self._dimensions)
        self._approximate = None  # mostly dead as well: built again when it is needed
        for entry in entries:
            self.add(entry)

    def search_documents(self, vector: Vectors, tau: float | None = None) -> tuple[DocumentHit, ...]:
        """All documents within distance `tau` (None: all), nearest first.

        Args:
            vector: the query e(Q), unit length, shape (d,).
        """
        hits = [
            DocumentHit(self._names[int(number)], float(distance))
            for numbers, _, distances in self._document_rows.scan(vector[None, :])
            for number, distance in zip(numbers, distances, strict=True)
            if tau is None or distance <= tau
        ]
        return tuple(sorted(hits, key=lambda hit: (hit.distance, hit.document_id)))

    def search_segments(
        self, document_id: str | None, vectors: Vectors, *, gamma: float | None = None, top_k: int | None = None
    ) -> tuple[SegmentHit, ...]:
        """Segments by their distance to the nearest query vector, nearest first, each once.

        Args:
            document_id: one document, or None for all.
            vectors: unit rows, shape (k, d) (evidence centres), or one vector (d,).
            gamma: keep those within this distance; exact at any size.
            top_k: keep the nearest so many; over all documents beyond `exact_limit` it is approximate.
        """
        queries = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
        if document_id is not None:
            entry = self.entry(document_id)
            parts: Iterator[_Part] = iter([self._score(document_id, entry, queries)] if len(entry.codes) else [])
        elif gamma is None and top_k is not None and (index := self._approximation_if_large()) is not None:
            parts = self._candidates(index, queries, top_k)
        else:
            parts = self._rows.scan(queries)
        return self._best(parts, gamma, top_k)

    def _score(self, document_id: str, entry: SegmentVectors, queries: Vectors) -> _Part:
        numbers = np.full(len(entry.codes), self._numbers[document_id], dtype=np.int32)
        distances = distances_to(entry.vectors, queries)
        return numbers, entry.spans, distances

    def _best(self, parts: Iterator[_Part], gamma: float | None, top_k: int | None) -> tuple[SegmentHit, ...]:
        hits: list[SegmentHit] = []
        for numbers, spans, distances in parts:
            chosen = np.arange(len(distances)) if gamma is None else np.flatnonzero(distances <= gamma)
            if top_k is not None and len(chosen) > top_k:
                chosen = chosen[np.argpartition(distances[chosen], top_k - 1)[:top_k]]
            for row in chosen:
                start, end, tokens = (int(value) for value in spans[row])
                hits.append(SegmentHit(self._names[int(numbers[row])], start, end, tokens, float(distances[row])))
        hits.sort(key=lambda hit: (hit.distance, hit.document_id, hit.start))
        return tuple(hits if top_k is None else hits[:top_k])

    def _approximation_if_large(self) -> ApproximateIndex | None:
        """Beyond the exact limit the approximate index, built when it is first needed; None without the library."""
        if self._rows.live <= self._exact_limit:
            return None
        if self._approximate is not None and self._approximate.worn:
            self._approximate = None
        if self._approximate is None and available():
            entries = [(name, entry.codes) for name, entry in self._entries.items()]
            self._approximate = ApproximateIndex.build(self._dimensions, entries)
        return self._approximate

    def approximate_bytes(self) -> bytes | None:
        """The approximate index for the store, None if there is none; a million segments take a minute to build."""
        return None if self._approximate is None else self._approximate.to_bytes()

    def load_approximate(self, data: bytes) -> None:
        """Takes over a stored approximate index; documents added or removed since then are brought up to date.

        A document that was replaced since must have got another id (ids are derived from the content).
        """
        index = ApproximateIndex.from_bytes(data)
        for name in index.document_ids - self._entries.keys():
            index.remove(name, 0)
        known = index.document_ids
        index.extend((name, entry.codes) for name, entry in self._entries.items() if name not in known)
        self._approximate = index

    def _candidates(self, index: ApproximateIndex, queries: Vectors, top_k: int) -> Iterator[_Part]:
        """Four times as many candidates as wanted, with exact distances."""
        codes, _ = quantize(queries)
        for name, rows in index.search(codes, 4 * top_k).items():
            entry = self._entries[name]
            rows = [row for row in rows if row < len(entry.codes)]  # a stored index may be of other segments
            vectors = entry.codes[rows].astype(np.float32) * entry.scales[rows, None]
            numbers = np.full(len(rows), self._numbers[name], dtype=np.int32)
            yield numbers, entry.spans[rows], distances_to(vectors, queries)


_Part = tuple[NDArray[np.int32], NDArray[np.int64], Vectors]


def distances_to(vectors: Vectors, queries: Vectors) -> Vectors:
    """Euclidean distance of each unit row to the nearest query: sqrt(2 - 2 cos), shape (n,)."""
    nearest: Vectors = (vectors @ queries.T).max(axis=1)
    distances: Vectors = np.sqrt(np.maximum(0.0, 2.0 - 2.0 * nearest))
    return distances
