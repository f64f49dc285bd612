"""The documents in which a question's answer is searched, limited by hints and by the names in the
question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from sliders.answer.passages import PassageSource, SearchContext, Skip, Span
from sliders.documents.document import Document
from sliders.engine.hint_sections import ignored, locate
from sliders.engine.kept_segments import KeptSegments
from sliders.engine.session import Session
from sliders.progress import counted
from sliders.retrieval.context import Outline
from sliders.schema.hints import Hints, Ignore, Locate

PROBE = SearchContext(5, 150, (1, 1))
"""The search that tests a question and its hints: the number of passages, and their size in
tokens.
"""
MOST_CHARACTERS = 2_000_000
"""With more text than this, documents are first chosen by full-text search: embedding takes about a
second for 20,000 characters.
"""
_HITS = 400


def passage_source(session: Session, question: str) -> PassageSource:
    """Returns all current documents; when they hold too much text, the documents that a full-text
    search ranks first.
    """
    stored = session.catalog.documents.all()
    chosen = [d.id for d in stored]
    if sum(d.characters for d in stored) > MOST_CHARACTERS:
        sizes = {d.id: d.characters for d in stored}
        ranked = dict.fromkeys(
            hit.document_id for hit in session.catalog.chunks.search(question, limit=_HITS)
        )
        chosen, room = [], MOST_CHARACTERS
        for document_id in [*ranked] or chosen[:1]:
            if sizes[document_id] <= room or not chosen:
                chosen.append(document_id)
                room -= sizes[document_id]
        chosen = chosen or [stored[0].id]
        session.note(
            f"{len(chosen)} of {counted(len(stored), 'document')} were searched closely, "
            "those with the question's words"
        )
    documents = [session.catalog.documents.get(document_id) for document_id in chosen]
    count = session.models.model_for("answer").count_tokens
    kept = KeptSegments(session, "answer")
    return PassageSource(
        documents, session.embedder, count, lambda document, tokens: kept.of(document.id, tokens)
    )


def source_of(session: Session) -> PassageSource:
    """Returns the documents in which the answer to the session's question is searched."""
    question = session.question
    if question.source is None:
        question.source = passage_source(session, question.text)
    return question.source


def narrow(
    session: Session, source: PassageSource, hints: Hints, named: frozenset[str] = frozenset()
) -> PassageSource | None:
    """Returns the documents of a source that are left by Locate and Ignore hints and, if any are
    `named`, by these; None when nothing limits them.
    """
    places, skips = hints.of(Locate), hints.of(Ignore)
    spans: dict[str, tuple[Span, ...]] = {}
    skipped: dict[str, int] = {}
    for document in source.documents.values() if places else ():
        if named and document.id not in named:
            continue
        located = locate(document, places, session.embedder)
        if located.pruned:
            spans[document.id] = located.spans
            kept = sum(end - start for start, end in located.spans)
            session.decide(
                "plan",
                "document",
                "located",
                f"{', '.join(located.matched)}: {kept} of {len(document.text)} characters",
                document=document.name,
            )
        for hint in located.skipped:
            skipped[hint] = skipped.get(hint, 0) + 1
    for hint, count in skipped.items():
        if count == len(named or source.documents):
            session.note(f'no document has "{hint}": the hint is skipped')
            session.decide("plan", "hint", "skipped", f"no document has {hint!r}")
    if named:
        spans |= {identifier: () for identifier in source.documents if identifier not in named}
        listed = ", ".join(sorted(source.documents[d].name for d in named)[:5])
        session.decide(
            "plan", "documents", "named", f"{len(named)} of {len(source.documents)}: {listed}"
        )
    skip = _skip(session, skips, hints.question) if skips else None
    return source.narrowed(spans, skip) if spans or skip else None


def _skip(session: Session, directives: Sequence[Ignore], question: str) -> Skip:
    def dropped(document: Document, spans: Sequence[Span], vectors: np.ndarray) -> list[bool]:
        outline = Outline(document)
        texts = [document.text[start:end] for start, end in spans]
        headings = [" ".join(outline.heading_path(start)) for start, _ in spans]
        out = ignored(texts, headings, vectors, question, directives, session.embedder)
        if any(out):
            topics = ", ".join(topic for d in directives for topic in d.topics)
            session.decide(
                "plan",
                "document",
                "ignored",
                f"{sum(out)} of {len(out)} segments: {topics}",
                document=document.name,
            )
        return out

    return dropped


def switch_off(session: Session, reason: str, hinted: bool = True) -> None:
    """Lifts the limits on the documents: records the reason, and tells the user."""
    told = (
        "Locate and Ignore were switched off"
        if hinted
        else "the documents that the question does not name were read, too"
    )
    session.note(f"{told}: {reason}")
    session.decide("plan", "hints", "switched off", reason)


_NAME = re.compile(
    r"(?<!^)(?<![.?!]\s)\b[A-Z][\w'’.-]*(?:\s+(?:of|the|de|and|&)?\s*[A-Z0-9][\w'’.-]*)*"
)
_LEAST_NAME = 4
_BEGINNING = 300


def names_in(question: str) -> tuple[str, ...]:
    """Returns runs of capitalised words in a question, without the first word of a sentence."""
    return tuple(dict.fromkeys(match.group().strip() for match in _NAME.finditer(question)))


def named_documents(source: PassageSource, question: str) -> frozenset[str]:
    """Returns the documents whose file name, title or first lines hold a name in the question,
    while most others do not; empty when no name tells documents apart.
    """
    marks = {
        d.id: _squeezed(f"{d.name} {d.title} {d.text[:_BEGINNING]}")
        for d in source.documents.values()
    }
    hits: dict[str, int] = {}
    for name in {_squeezed(re.sub(r"['’]s\b", "", name)) for name in names_in(question)}:
        bearing = (
            [identifier for identifier, mark in marks.items() if name in mark]
            if len(name) >= _LEAST_NAME
            else []
        )
        if 2 * len(bearing) <= len(marks):
            for identifier in bearing:
                hits[identifier] = hits.get(identifier, 0) + 1
    most = max(hits.values(), default=0)
    return frozenset(identifier for identifier, number in hits.items() if number == most)


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()
