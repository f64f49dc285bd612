"""The segments of a workspace's documents with their vectors, stored in the workspace. Reading
workflows use them, and the optimizer's two-level index.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sliders.engine.session import Session
from sliders.retrieval.embeddings import Vectors
from sliders.retrieval.index import SegmentVectors
from sliders.retrieval.segment_index import SEGMENT_TOKENS, SegmentIndex
from sliders.store.knowledge import Places

_NONE: tuple[Vectors, Places] = (np.empty((0, 0), np.float32), np.empty((0, 3), np.int64))


class KeptSegments:
    """The segment vectors of documents, for any length of segment. Missing ones are computed and
    stored.
    """

    def __init__(self, session: Session, stage: str) -> None:
        self._session, self._model = session, session.models.model_for(stage)
        self._levels: dict[int, dict[str, tuple[Vectors, Places]]] = {}
        self._entries: dict[tuple[str, int], SegmentVectors] = {}

    def of(self, document_id: str, tokens: int) -> SegmentVectors:
        """Returns the segments of a document, of at most `tokens` each."""
        key = (document_id, tokens)
        if key not in self._entries:
            self.prepare([document_id], tokens)
        return self._entries[key]

    def prepare(self, document_ids: Sequence[str], tokens: int) -> None:
        """Loads the segments of these documents; missing ones are computed and stored, side by side
        when the runner can.
        """
        session, missing = self._session, []
        for document_id in document_ids:
            entry = self._entries.get((document_id, tokens)) or self._stored(document_id, tokens)
            if entry is None:
                missing.append(document_id)
            else:
                self._entries[document_id, tokens] = entry
        documents = (session.catalog.documents.get(document_id) for document_id in missing)
        for number, entry in enumerate(
            session.runner.index(documents, session.embedder, self._model, tokens), 1
        ):
            session.progress("index", number, len(missing))
            self._keep(entry, tokens)

    def _stored(self, document_id: str, tokens: int) -> SegmentVectors | None:
        knowledge, embedder = self._session.catalog.knowledge, self._session.embedder
        if tokens not in self._levels:
            self._levels[tokens] = knowledge.segments(f"segments:{tokens}", embedder.name)
        rows, places = self._levels[tokens].get(document_id, _NONE)
        if len(rows) != len(places) + 1:
            return None
        return SegmentVectors.build(document_id, embedder.name, rows[0], places, rows[1:])

    def _keep(self, entry: SegmentVectors, tokens: int) -> None:
        session, knowledge = self._session, self._session.catalog.knowledge
        rows = np.vstack([entry.document[None, :], entry.vectors]).astype(np.float32)
        knowledge.save_vectors(
            f"segments:{tokens}",
            session.embedder.name,
            {entry.document_id: rows},
            {entry.document_id: entry.spans},
        )
        self._entries[entry.document_id, tokens] = entry


def update_index(session: Session, kept: SegmentIndex | None = None) -> SegmentIndex:
    """Returns the index of the current documents; only documents that are not in it yet are
    embedded.
    """
    held, segments = kept or SegmentIndex(session.embedder), KeptSegments(session, "extract")
    current = [d.id for d in session.catalog.documents.all()]
    for gone in held.entries.keys() - set(current):
        del held.entries[gone]
    unseen = [document_id for document_id in current if document_id not in held.entries]
    segments.prepare(unseen, SEGMENT_TOKENS)
    held.entries |= {
        document_id: segments.of(document_id, SEGMENT_TOKENS) for document_id in unseen
    }
    return held
