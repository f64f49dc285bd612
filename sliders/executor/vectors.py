"""The two-level index of a workspace: made from its documents, kept in it, brought up to date document by document."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from sliders.chunks.embeddings import Embedder, Vectors
from sliders.chunks.index import SegmentVectors, TwoLevelIndex
from sliders.chunks.segments import index_document
from sliders.executor.session import Session

SEGMENT_TOKENS = 64
"""Largest segment of the optimizer's index: smaller ones than for reading, since every token sent is paid."""
_DOCUMENT, _SEGMENT, _SPANS = "query document", "query segment", "query spans"
_KEPT = 512


class SegmentIndex:
    """Entries of all current documents, with their segments' vectors at hand."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.index = TwoLevelIndex(embedder.dimensions)
        self._floats: OrderedDict[str, Vectors] = OrderedDict()

    def vectors(self, document_id: str) -> Vectors:
        """Unit vectors of a document's segments, shape (n, d); those used last are kept."""
        if document_id not in self._floats:
            self._floats[document_id] = self.index.entry(document_id).vectors
            while len(self._floats) > _KEPT:
                self._floats.popitem(last=False)
        self._floats.move_to_end(document_id)
        return self._floats[document_id]

    def sizes(self, document_id: str) -> list[int]:
        """Tokens of the document's segments, in the order of the text."""
        return [int(tokens) for tokens in self.index.entry(document_id).spans[:, 2]]

    def places(self, document_id: str, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Start and end of segments by number."""
        spans = self.index.entry(document_id).spans
        return [(int(spans[row, 0]), int(spans[row, 1])) for row in rows]

    def row_at(self, document_id: str, offset: int) -> int | None:
        """Number of the segment that holds a character of the document."""
        spans = self.index.entry(document_id).spans
        row = int(np.searchsorted(spans[:, 0], offset, side="right")) - 1
        return row if row >= 0 and offset < spans[row, 1] else None


def update_index(session: Session, kept: SegmentIndex | None = None) -> SegmentIndex:
    """The index of the current documents; only documents that are not in it yet are embedded."""
    held = kept or SegmentIndex(session.embedder)
    current = [d.id for d in session.catalog.documents.all()]
    for gone in set(held.index.document_ids) - set(current):
        held.index.remove(gone)
    missing = [document_id for document_id in current if document_id not in held.index]
    if not missing:
        return held
    stored = _stored(session)
    count = session.models.model_for("extract").count_tokens
    for number, document_id in enumerate(missing, 1):
        entry = stored.get(document_id)
        if entry is None:
            document = session.catalog.documents.get(document_id)
            entry = index_document(document, session.embedder, count, max_tokens=SEGMENT_TOKENS)
            _save(session, entry)
            session.progress("index", number, len(missing))
        held.index.add(entry)
    return held


def _stored(session: Session) -> dict[str, SegmentVectors]:
    name = session.embedder.name
    load = session.catalog.knowledge.vectors
    documents, segments, spans = load(_DOCUMENT, name), load(_SEGMENT, name), load(_SPANS, name)
    return {
        owner: SegmentVectors.build(owner, name, documents[owner][0], _whole(spans[owner]), segments[owner])
        for owner in documents
        if owner in segments and owner in spans
    }


def _save(session: Session, entry: SegmentVectors) -> None:
    save = session.catalog.knowledge.save_vectors
    with session.catalog.database.transaction():
        save(_SEGMENT, entry.embedder, {entry.document_id: entry.vectors})
        save(_SPANS, entry.embedder, {entry.document_id: _halves(entry.spans)})
        save(_DOCUMENT, entry.embedder, {entry.document_id: entry.document})


def _halves(spans: np.ndarray) -> Vectors:
    """Integers as pairs of 16-bit halves: the store keeps 32-bit floats, which hold no offset beyond 16 million."""
    return np.concatenate([spans >> 16, spans & 0xFFFF], axis=1).astype(np.float32)


def _whole(halves: Vectors) -> np.ndarray:
    parts = halves.astype(np.int64)
    return (parts[:, :3] << 16) | parts[:, 3:]
