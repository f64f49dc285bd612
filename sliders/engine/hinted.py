"""Answers from tables under the hints of a question, and the check that switches harmful hints off
(HALO, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence

from sliders.answer.passages import PassageSource
from sliders.answer.result import Answer
from sliders.engine.hint_scope import PROBE, narrow, source_of, switch_off
from sliders.engine.session import Session
from sliders.progress import counted
from sliders.reconcile.repairs import Normalization, Precedence
from sliders.schema.hints import Normalize, Precede

_FEW_ROWS = 0.25
"""The share of the other documents' median number of rows below which a document counts as cut by a
hint.
"""


def apply_hints(session: Session) -> None:
    """Applies the hints of the session's question: they decide what is read, and which
    source wins.
    """
    question = session.question
    hints = question.hints
    narrowed = narrow(session, source_of(session), hints)
    question.normalize = tuple(
        Normalization(d.terms[0], d.terms[1:]) for d in hints.of(Normalize) if len(d.terms) > 1
    )
    question.precede = tuple(Precedence(d.prefer, d.over) for d in hints.of(Precede))
    question.out_of_scope = _left_out(session, narrowed) if narrowed is not None else frozenset()


def starved_documents(session: Session, answer: Answer) -> Sequence[str]:
    """Returns the documents in which the hints left no rows for the answer, and switches the hints
    off for them.
    """
    question = session.question
    if not question.out_of_scope:
        return ()
    nothing = answer.status == "not_found"
    starved = list(source_of(session).documents) if nothing else _starved(session)
    if starved:
        reason = f"no rows, or far fewer than elsewhere, in {counted(len(starved), 'document')}"
        switch_off(session, reason)
        chunks = (chunk for document in starved for chunk in session.catalog.chunks.of(document))
        question.out_of_scope -= {chunk.id for chunk in chunks}
    return starved


def _left_out(session: Session, narrowed: PassageSource) -> frozenset[str]:
    """Returns the chunks without any segment that the hints keep. The first chunk of a document
    stays, since it names the document.
    """
    kept = narrowed.index(PROBE.tokens)
    out: set[str] = set()
    for document_id in narrowed.documents:
        spans = [(start, end) for start, end, _ in kept.entries[document_id].spans.tolist()]
        for chunk in session.catalog.chunks.of(document_id)[1:]:
            if not any(start < chunk.end and chunk.start < end for start, end in spans):
                out.add(chunk.id)
                session.decide(
                    "gate",
                    "chunk",
                    "left out",
                    "outside of what the hints name",
                    chunk=chunk.id,
                )
    return frozenset(out)


def _starved(session: Session) -> list[str]:
    """Returns the documents with chunks left out that gave no rows, or far fewer than
    the others.
    """
    counts: dict[str, int] = {}
    for table in session.schema.tables:
        for row in session.catalog.extractions.rows(table.name):
            counts[row.document_id] = counts.get(row.document_id, 0) + 1
    cut = {
        c.document_id for c in session.catalog.chunks.all() if c.id in session.question.out_of_scope
    }
    others = sorted(counts.values())
    typical = others[len(others) // 2] if others else 0
    return [d for d in sorted(cut) if counts.get(d, 0) < max(1.0, _FEW_ROWS * typical)]
