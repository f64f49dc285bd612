"""The workspace's documents as passages: segment vectors are kept, so that the next question starts from them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from sliders.answer.passages import PassageSource
from sliders.chunks.index import SegmentVectors
from sliders.chunks.segments import index_document
from sliders.documents.document import Document
from sliders.executor.session import Session
from sliders.plan.features import names_in

MOST_CHARACTERS = 2_000_000
"""Documents beyond this are chosen by full-text search first: embedding takes about a second for 20,000 characters."""
_HITS = 400


def passage_source(session: Session, question: str) -> PassageSource:
    """All current documents, or those that full-text search prefers when there is too much text."""
    stored = session.catalog.documents.all()
    chosen = [d.id for d in stored]
    if sum(d.characters for d in stored) > MOST_CHARACTERS:
        sizes = {d.id: d.characters for d in stored}
        ranked = dict.fromkeys(hit.document_id for hit in session.catalog.chunks.search(question, limit=_HITS))
        chosen, room = [], MOST_CHARACTERS
        for document_id in [*ranked] or chosen[:1]:
            if sizes[document_id] <= room or not chosen:
                chosen.append(document_id)
                room -= sizes[document_id]
        chosen = chosen or [stored[0].id]
        session.note(f"{len(chosen)} of {len(stored)} documents were searched closely, those with the question's words")
    documents = [session.catalog.documents.get(document_id) for document_id in chosen]
    count = session.models.model_for("answer").count_tokens
    return PassageSource(documents, session.embedder, count, entry_of=_Kept(session))


_LEAST_NAME = 4
_BEGINNING = 300


def named_documents(source: PassageSource, question: str) -> frozenset[str]:
    """Documents that bear the question's names (in file name, title or first lines) while most others do not.

    Empty when no name tells documents apart.
    """
    marks = {d.id: _squeezed(f"{d.name} {d.title} {d.text[:_BEGINNING]}") for d in source.documents.values()}
    hits: dict[str, int] = {}
    for name in {_squeezed(re.sub(r"['’]s\b", "", name)) for name in names_in(question)}:
        bearing = [identifier for identifier, mark in marks.items() if name in mark] if len(name) >= _LEAST_NAME else []
        if 2 * len(bearing) <= len(marks):
            for identifier in bearing:
                hits[identifier] = hits.get(identifier, 0) + 1
    most = max(hits.values(), default=0)
    return frozenset(identifier for identifier, number in hits.items() if number == most)


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


class _Kept:
    """Index entries of the store, computed where they are missing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._levels: dict[int, dict[str, np.ndarray]] = {}
        self._entries: dict[tuple[str, int], SegmentVectors] = {}

    def __call__(self, document: Document, tokens: int) -> SegmentVectors:
        key = (document.id, tokens)
        if key not in self._entries:
            self._entries[key] = self._stored(document, tokens) or self._computed(document, tokens)
        return self._entries[key]

    def _name(self, tokens: int) -> str:
        return f"segments:{tokens}"

    def _stored(self, document: Document, tokens: int) -> SegmentVectors | None:
        knowledge, embedder = self._session.catalog.knowledge, self._session.embedder
        if tokens not in self._levels:
            self._levels[tokens] = dict(knowledge.vectors(self._name(tokens), embedder.name))
        rows = self._levels[tokens].get(document.id)
        spans: Sequence[Sequence[int]] | None = knowledge.statistic(f"{self._name(tokens)}:{document.id}")
        if rows is None or spans is None or len(rows) != len(spans) + 1:
            return None
        table = np.array(spans, dtype=np.int64).reshape(-1, 3)
        return SegmentVectors.build(document.id, embedder.name, rows[0], table, rows[1:])

    def _computed(self, document: Document, tokens: int) -> SegmentVectors:
        session = self._session
        count = session.models.model_for("answer").count_tokens
        session.progress("index", detail=document.name)
        entry = index_document(document, session.embedder, count, max_tokens=tokens)
        rows = np.vstack([entry.document[None, :], entry.vectors]).astype(np.float32)
        with session.catalog.database.transaction():
            session.catalog.knowledge.save_vectors(self._name(tokens), session.embedder.name, {document.id: rows})
            session.catalog.knowledge.set_statistic(f"{self._name(tokens)}:{document.id}", entry.spans.tolist())
        return entry
