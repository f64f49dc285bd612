"""The front of `ask`: what is no question gets a plain reply, hints in a question's own words are followed, and all other
questions share one schema and one pass of extraction."""

from __future__ import annotations

from collections.abc import Sequence

from sliders.answer.result import Answer
from sliders.executor import run
from sliders.executor.routing import ask_routed, plain_reply, turned_away
from sliders.executor.session import Session
from sliders.plan.directives import Verify
from sliders.plan.hint_reader import read_all_hints


async def ask_many(session: Session, questions: Sequence[str]) -> list[Answer]:
    """Answer several questions out of tables, in their order.

    A question that says where to look, what to skip, which terms mean the same or which source wins is asked by itself, after the
    others: what its hints leave out must not be missing for them. Raises PlanError: a question is empty, or there is no document.
    """
    run.check(session, questions)
    answers: dict[int, Answer] = {}
    asked = []
    for number, question in enumerate(questions):
        kind = turned_away(session, question)
        if kind is not None:
            answers[number] = plain_reply(question, kind)
        else:
            asked.append(number)
    hints = await read_all_hints([questions[n] for n in asked], session.models.model_for("plan"))
    # Verify ranks candidates, of which tables know none: its sentence stays in the question.
    hinted = {n: read for n, read in zip(asked, hints, strict=True) if read.without(Verify).directives}
    shared = [n for n in asked if n not in hinted]
    if shared:
        found = await run.ask_many(session, [questions[n] for n in shared])
        answers |= dict(zip(shared, found, strict=True))
    for number, read in hinted.items():
        answers[number] = await ask_routed(session, questions[number], workflow="extract_and_query", hints=read)
    return [answers[number] for number in range(len(questions))]
