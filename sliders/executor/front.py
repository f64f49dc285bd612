"""The front of `ask`: what is no question gets a plain reply, hints in a question's own words are followed, and all other
questions share one schema and one pass of extraction."""

from __future__ import annotations

from collections.abc import Sequence

from sliders.answer.result import Answer
from sliders.executor import run
from sliders.executor.routing import ask_routed, plain_reply, turned_away
from sliders.executor.session import Session
from sliders.plan.directives import Verify, parse_hints


async def ask_many(session: Session, questions: Sequence[str], *, lazy: bool = False) -> list[Answer]:
    """Answer several questions out of tables, in their order.

    A question that says where to look, what to skip, which terms mean the same or which source wins is asked by itself,
    after the others: what its hints leave out must not be missing for them.

    Raises:
        PlanError: a question is empty, or there is no document.
        ModelUnavailable: the model cannot be reached.
    """
    run.check(session, questions)
    answers: dict[int, Answer] = {}
    shared: list[int] = []
    hinted: list[int] = []
    for number, question in enumerate(questions):
        kind = turned_away(session, question)
        if kind is not None:
            answers[number] = plain_reply(question, kind)
        else:
            # Verify ranks candidates, of which tables know none: its sentence stays in the question.
            (hinted if parse_hints(question).without(Verify).directives else shared).append(number)
    if shared:
        found = await run.ask_many(session, [questions[n] for n in shared], lazy=lazy)
        answers |= dict(zip(shared, found, strict=True))
    for number in hinted:
        answers[number] = await ask_routed(session, questions[number], workflow="extract_and_query")
    return [answers[number] for number in range(len(questions))]
