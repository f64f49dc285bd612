"""The workflows that answer from passages, with the check that switches off harmful hints (HALO,
section 6).
"""

from __future__ import annotations

from dataclasses import replace

from sliders.answer.passage_reader import Mode
from sliders.answer.passages import PassageSource, SearchContext
from sliders.answer.reading_workflows import (
    PassageQuestion,
    candidates,
    lookup,
    precise,
    split,
    stepwise,
    whole,
)
from sliders.answer.result import Answer
from sliders.answer.route import search_words, with_verify
from sliders.engine.hint_scope import named_documents, narrow, source_of, switch_off
from sliders.engine.session import Session
from sliders.engine.ways import ways_of
from sliders.schema.hints import Ignore, Locate, Verify

_RUN = {
    "lookup": lookup,
    "split": split,
    "stepwise": stepwise,
    "candidates": candidates,
    "whole_context": whole,
}
_ABOUT_ONE = ("fact", "explanation", "calculation", None)
"""The kinds of questions that are about one thing. A document that does not name this thing is
about something else.
"""


async def read_passages(session: Session, cascade: bool) -> Answer:
    """Answers the session's question out of passages, by the workflow of its route.

    Args:
        cascade: True reads everything when the passages do not answer the question.

    Raises:
        BudgetExceeded: a limit was reached.
    """
    question, source = session.question, source_of(session)
    hints, run = question.hints, _RUN[question.route.workflow]
    named = named_documents(source, hints.question) if hints.kind in _ABOUT_ONE else frozenset()
    narrowed = narrow(session, source, hints, named)
    asked = _asked(session, narrowed or source)
    answer = await run(asked)
    if may_switch_off(answer, narrowed):
        hinted = bool(hints.of(Locate) or hints.of(Ignore))
        switch_off(session, "every passage was refused as holding no answer", hinted)
        asked = replace(asked, source=source)
        again = await run(asked)
        answer = replace(again, decisions=(*answer.decisions, *again.decisions))
    if cascade and answer.status == "not_found" and question.route.workflow != "whole_context":
        again = await precise(asked, answer)
        reason = "unanswerable from the passages: read again with more"
        session.decide("plan", "question", "cascade", reason)
        answer = again
    return answer


def may_switch_off(answer: Answer, narrowed: PassageSource | None) -> bool:
    """Says whether hints limited the documents, and no passage among the remaining ones gave an
    answer (HALO, section 6.2).
    """
    return narrowed is not None and answer.status == "not_found"


def _asked(session: Session, source: PassageSource) -> PassageQuestion:
    hints, route = session.question.hints, session.question.route
    mode: Mode = "number" if route.calculate else "prose" if route.prose else "words"
    verify, words = hints.of(Verify), with_verify(hints)
    model = session.models.model_for("answer")
    return PassageQuestion(
        words,
        source,
        model,
        SearchContext(route.segments, route.tokens, route.weights, route.share),
        mode,
        search_words(words, hints),
        tuple(p for d in verify for p in d.positive),
        tuple(n for d in verify for n in d.negative),
        route.first,
        form=ways_of(model).passages,
    )
