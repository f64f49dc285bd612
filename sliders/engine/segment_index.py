"""The segments of a workspace's documents with their vectors, kept in it: for reading, and as the optimizer's two-level index."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sliders.engine.session import Session
from sliders.retrieval.embeddings import Embedder, Vectors
from sliders.retrieval.index import SegmentVectors, distances_to

SEGMENT_TOKENS = 64
"""Largest segment of the optimizer's index: smaller ones than for reading, since every token sent is paid."""
_KEPT = 512


class SegmentIndex:
    """The two-level index of all current documents (QUEST, section 4): which documents, then which segments, are near a query."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.entries: dict[str, SegmentVectors] = {}
        self.vectors = lru_cache(maxsize=_KEPT)(self._vectors)
        """Unit vectors of a document's segments, shape (n, d); those used last are kept."""

    def _vectors(self, document_id: str) -> Vectors:
        return self.entries[document_id].vectors

    def by_distance(self, query: Vectors) -> dict[str, float]:
        """Documents with the Euclidean distance (0 to 2) of their key sentences to e(Q), a unit vector (d,); nearest first."""
        if not self.entries:
            return {}
        distances = distances_to(np.stack([entry.document for entry in self.entries.values()]), query[None, :])
        found = sorted(zip(distances.tolist(), self.entries, strict=True))
        return {document_id: distance for distance, document_id in found}

    def sizes(self, document_id: str) -> list[int]:
        """Tokens of the document's segments, in the order of the text."""
        return [int(tokens) for tokens in self.entries[document_id].spans[:, 2]]

    def places(self, document_id: str, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Start and end of segments by number."""
        spans = self.entries[document_id].spans
        return [(int(spans[row, 0]), int(spans[row, 1])) for row in rows]

    def row_at(self, document_id: str, offset: int) -> int | None:
        """Number of the segment that holds a character of the document."""
        spans = self.entries[document_id].spans
        row = int(np.searchsorted(spans[:, 0], offset, side="right")) - 1
        return row if row >= 0 and offset < spans[row, 1] else None


class KeptSegments:
    """Segment vectors of documents at any granularity: those of the workspace, computed and kept where they are missing."""

    def __init__(self, session: Session, stage: str) -> None:
        self._session, self._model = session, session.models.model_for(stage)
        self._levels: dict[int, dict[str, Vectors]] = {}
        self._entries: dict[tuple[str, int], SegmentVectors] = {}

    def of(self, document_id: str, tokens: int) -> SegmentVectors:
        """The segments of a document, of at most `tokens` each."""
        key = (document_id, tokens)
        if key not in self._entries:
            self.prepare([document_id], tokens)
        return self._entries[key]

    def prepare(self, document_ids: Sequence[str], tokens: int) -> None:
        """Look these documents up, and compute and keep what is missing, side by side where the runner can."""
        session, missing = self._session, []
        for document_id in document_ids:
            entry = self._entries.get((document_id, tokens)) or self._stored(document_id, tokens)
            if entry is None:
                missing.append(document_id)
            else:
                self._entries[document_id, tokens] = entry
        documents = (session.catalog.documents.get(document_id) for document_id in missing)
        for number, entry in enumerate(session.runner.index(documents, session.embedder, self._model, tokens), 1):
            session.progress("index", number, len(missing))
            self._keep(entry, tokens)

    def _stored(self, document_id: str, tokens: int) -> SegmentVectors | None:
        knowledge, embedder = self._session.catalog.knowledge, self._session.embedder
        if tokens not in self._levels:
            self._levels[tokens] = dict(knowledge.vectors(f"segments:{tokens}", embedder.name))
        rows = self._levels[tokens].get(document_id)
        spans: Sequence[Sequence[int]] | None = knowledge.statistic(f"segments:{tokens}:{document_id}")
        if rows is None or spans is None or len(rows) != len(spans) + 1:
            return None
        table = np.array(spans, dtype=np.int64).reshape(-1, 3)
        return SegmentVectors.build(document_id, embedder.name, rows[0], table, rows[1:])

    def _keep(self, entry: SegmentVectors, tokens: int) -> None:
        session, knowledge = self._session, self._session.catalog.knowledge
        rows = np.vstack([entry.document[None, :], entry.vectors]).astype(np.float32)
        with session.catalog.database.transaction():
            knowledge.save_vectors(f"segments:{tokens}", session.embedder.name, {entry.document_id: rows})
            knowledge.set_statistic(f"segments:{tokens}:{entry.document_id}", entry.spans.tolist())
        self._entries[entry.document_id, tokens] = entry


def update_index(session: Session, kept: SegmentIndex | None = None) -> SegmentIndex:
    """The index of the current documents; only documents that are not in it yet are embedded."""
    held, segments = kept or SegmentIndex(session.embedder), KeptSegments(session, "extract")
    current = [d.id for d in session.catalog.documents.all()]
    for gone in held.entries.keys() - set(current):
        del held.entries[gone]
    unseen = [document_id for document_id in current if document_id not in held.entries]
    segments.prepare(unseen, SEGMENT_TOKENS)
    held.entries |= {document_id: segments.of(document_id, SEGMENT_TOKENS) for document_id in unseen}
    return held
