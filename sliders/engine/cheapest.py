"""The choice between tables and reading documents whole, by the tokens that both take."""

from __future__ import annotations

from collections.abc import Sequence

from sliders.answer.route import Corpus, Route
from sliders.engine.estimate import Estimate, estimate
from sliders.engine.question import TABLES, Question
from sliders.engine.session import Session


def prefer_tables(session: Session, questions: Sequence[Question]) -> None:
    """Sends questions that would each read all documents whole to tables instead, when tables take
    fewer tokens for all of the questions together.
    """
    whole = [q for q in questions if q.route.workflow == "whole_context" and not q.alone]
    if len(whole) < 2:
        return
    alone = sum(question.route.price for question in whole)
    tables = estimate(session, [question.text for question in whole]).tokens
    if tables < alone:
        reason = f"{len(whole)} questions take {tables:,} tokens by tables, {alone:,} read whole"
        for question in whole:
            question.route = Route(TABLES, reasons=(*question.route.reasons, reason))


def prices(session: Session, tables: Estimate) -> str:
    """Returns in words the tokens of a question answered by tables, and of one call with all
    documents when they fit the model's window.
    """
    characters = sum(document.characters for document in session.catalog.documents.all())
    whole, model = Corpus(1, characters).whole, session.models.model_for("answer")
    read = f"{whole:,}" if whole < model.context_tokens else "more than a call holds"
    return f"tokens: by tables {tables.tokens:,}, read whole {read}"
