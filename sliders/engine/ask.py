"""The way of a question on one page.

Stages: understand (hints, kind, workflow), plan the schema, fill the cells, settle the tables,
answer with SQL, try other values for the doubtful ones, and cite the words. `answer_need` does the
last three. When tables answer, one model call does the first two stages. Questions without
narrowing hints share one schema and one pass over the documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sliders.answer.doubts import Gap
from sliders.answer.result import Answer, Completeness
from sliders.answer.route import INSIST
from sliders.engine.answer import answer_need
from sliders.engine.cheapest import prefer_tables
from sliders.engine.hinted import apply_hints, starved_documents
from sliders.engine.question import TABLES, Need, Question
from sliders.engine.session import Session
from sliders.engine.standing_tables import needs_of
from sliders.engine.statements import shown_tables
from sliders.engine.table_stages import fill_for, settle_tables
from sliders.engine.understand import check, understand
from sliders.engine.workflow import read_passages
from sliders.errors import BudgetExceeded
from sliders.llm.model import Usage
from sliders.schema.hints import Directive


async def ask_questions(
    session: Session,
    texts: Sequence[str],
    workflow: str = TABLES,
    directives: Sequence[Directive] = (),
    *,
    cascade: bool = True,
) -> list[Answer]:
    """Returns the answers to questions, in their order.

    Questions that are asked alone (by a workflow that reads passages, or under a hint that narrows
    the documents) come after those that share a pass over the documents.

    Args:
        texts: the questions.
        workflow: "auto" for the cheapest workflow that can answer, or one of `CHOICES`.
        directives: hints beside those in the words of the questions.
        cascade: True reads everything when passages do not answer a question.

    Raises:
        PlanError: a question is empty, the workflow is unknown, or there is no document.
    """
    check(session, texts, workflow)
    questions = await understand(session, texts, workflow, directives)
    prefer_tables(session, questions)
    shared = [q for q in questions if not q.alone and q.route.workflow == TABLES]
    if workflow != TABLES:
        _tell_plans(session, shared)
    given = await from_tables(session, await needs_of(session, shared)) if shared else []
    answers = {id(question): answer for question, answer in zip(shared, given, strict=True)}
    for question in questions:
        if id(question) not in answers:
            before = session.models.meter.total if len(texts) > 1 else Usage()
            answer = await _alone(session.asking(question), cascade)
            answers[id(question)] = _as_told(session, question, answer, before)
    return [answers[id(question)] for question in questions]


async def from_tables(session: Session, needs: Sequence[Need]) -> list[Answer]:
    """Answers several questions with one schema and one pass of extraction."""
    stopped = await fill_for(session, needs)
    wanted = {table for need in needs for table in need.columns}
    wanted |= {table.name for table in session.filled}
    async with session.standing():
        await settle_tables(session, stopped, list(wanted))
        alone = session.models.meter.total if len(needs) == 1 else Usage()
        shown = await shown_tables(session, needs)
        return [
            await answer_need(session, need, stopped, alone, shown.get(need.question))
            for need in needs
        ]


def _tell_plans(session: Session, questions: Sequence[Question]) -> None:
    """Records the workflow of each question, and the reasons for it."""
    for verdict, reason in (line for question in questions for line in question.explained()):
        session.decide("plan", "question", verdict, reason)


async def _alone(session: Session, cascade: bool) -> Answer:
    """Answers the session's question by its workflow."""
    question = session.question
    _tell_plans(session, [question])
    if question.route.workflow == "reply":
        return turned_away(question.text)
    try:
        if question.route.workflow == TABLES:
            return await _under_hints(session)
        return await read_passages(session, cascade)
    except BudgetExceeded as error:
        text, missing = (
            f"No answer yet: {error}",
            Completeness(missing=(Gap("stopped", str(error)),)),
        )
        return Answer(
            question.text, "incomplete", None, text, reason=str(error), completeness=missing
        )


async def _under_hints(session: Session) -> Answer:
    """Answers from tables under the hints. A document of which the hints leave nothing is read
    whole.
    """
    apply_hints(session)
    needs = await needs_of(session, [session.question])
    (answer,) = await from_tables(session, needs)
    if starved_documents(session, answer):
        (answer,) = await from_tables(session, needs)
    return answer


def turned_away(question: str) -> Answer:
    """Returns the answer to a text that the model judges to be no question. The answer says so, and
    how to ask it all the same.
    """
    reason = "the model judges that this is no question about documents"
    return Answer(question, "failed", None, INSIST, workflow="reply", reason=reason)


def _as_told(session: Session, question: Question, answer: Answer, before: Usage) -> Answer:
    """Returns the answer with the user's own words, all notes, and all usage."""
    notes = (*question.hints.notes, *question.notes, *answer.decisions)
    return replace(
        answer,
        question=question.text,
        workflow=question.route.workflow,
        usage=session.models.meter.total - before,
        decisions=tuple(dict.fromkeys(notes)),
    )
