"""The workspace's documents as passages, and those of them that a question names."""

from __future__ import annotations

import re

from sliders.answer.passages import PassageSource
from sliders.executor.session import Session
from sliders.executor.vectors import KeptSegments
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
    kept = KeptSegments(session, "answer")
    return PassageSource(documents, session.embedder, count, entry_of=lambda document, tokens: kept.of(document.id, tokens))


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
