"""From a question with its hints to the cheapest workflow, with guards that switch off bad
hints (HALO, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.answer.passage_reader import Mode
from sliders.answer.passages import Context, PassageSource
from sliders.answer.reading_workflows import (
    Asked,
    candidates,
    lookup,
    precise,
    split,
    stepwise,
    whole,
)
from sliders.answer.result import Answer
from sliders.answer.route import (
    WORKFLOWS,
    Corpus,
    Route,
    choose_route,
    explain_lines,
    search_words,
    shortened,
    with_verify,
)
from sliders.compact.hint_patterns import parse_hints
from sliders.engine import ask as run
from sliders.engine.hint_scope import named_documents, narrow, passage_source, switch_off
from sliders.engine.hints import with_given
from sliders.engine.session import Question, Session
from sliders.engine.ways import ways_of
from sliders.errors import BudgetExceeded, PlanError
from sliders.llm.model import Usage
from sliders.schema.hints import Directive, Hints, Ignore, Locate, Verify

AUTO = "auto"
_RUN = {
    "lookup": lookup,
    "split": split,
    "stepwise": stepwise,
    "candidates": candidates,
    "whole_context": whole,
}
CHOICES = tuple(name for name in WORKFLOWS if name != "reply")
_JUDGED_LATER = (
    "note: when it is asked, a model judges the kind of question, which may choose another workflow"
)
_ABOUT_ONE = ("fact", "explanation", "calculation", None)
"""Kinds of questions that are about one thing: documents that do not name it are
other things' documents.
"""


@dataclass(frozen=True, slots=True)
class Planned:
    """What the planner decided, before anything is asked: printable by `explain`."""

    question: str
    hints: Hints
    route: Route

    def lines(self) -> tuple[str, ...]:
        """What `explain` shows."""
        return explain_lines(self.route, self.hints)


async def ask_routed(
    session: Session,
    question: str,
    *,
    workflow: str = AUTO,
    directives: Sequence[Directive] = (),
    cascade: bool = True,
) -> Answer:
    """Answer one question by the workflow that fits it.

    Args:
        workflow: "auto", or one of `CHOICES`.
        directives: hints beside those in the question's own words.
        cascade: precise mode: an unanswerable question is read again with everything.

    Raises PlanError: the question is empty, the workflow unknown, or there is no document.
    """
    _check(session, question, workflow)
    session = session.asking(Question(question))
    source, before = passage_source(session, question), session.models.meter.total
    planned = await plan_question(session, question, source, workflow, directives)
    for verdict, reason in (line.split(": ", 1) for line in planned.lines()):
        session.decide("plan", "question", verdict, reason)
    try:
        answer = await _answered(session, planned, source, cascade)
    except BudgetExceeded as error:
        answer = Answer(question, "incomplete", None, f"No answer yet: {error}", reason=str(error))
    return replace(
        run.as_told(session, question, planned.hints, answer, before),
        workflow=planned.route.workflow,
    )


async def explain_routed(
    session: Session, question: str, directives: Sequence[Directive] = (), workflow: str = AUTO
) -> tuple[str, ...]:
    """What `ask_routed` would do with a question, line by line, without any model call.

    Raises PlanError: the question is empty, the workflow unknown, or there is no document.
    """
    _check(session, question, workflow)
    session = session.asking(Question(question))
    source = passage_source(session, question)
    hints = parse_hints(shortened(question), directives)
    planned = await plan_question(session, question, source, workflow, directives, hints)
    asked = ways_of(session.models.model_for("plan")).hints.requests([question])
    return (*planned.lines(), *([_JUDGED_LATER] if workflow == AUTO and asked else []))


def _check(session: Session, question: str, workflow: str) -> None:
    if workflow != AUTO and workflow not in CHOICES:
        raise PlanError(
            f"there is no workflow {workflow!r}; choose auto or one of {', '.join(CHOICES)}"
        )
    run.check(session, [question])


async def plan_question(
    session: Session,
    question: str,
    source: PassageSource,
    workflow: str = AUTO,
    directives: Sequence[Directive] = (),
    hints: Hints | None = None,
) -> Planned:
    """Kind, hints and route; no model is called where the hints are given.

    A workflow that is named answers any input.
    """
    short = shortened(question)
    if short != question:
        session.note(
            f"the question has {len(question.split())} words; it was cut to the "
            f"{len(short.split())} that ask"
        )
    if hints is None:
        model = session.models.model_for("plan")
        hints = await with_given(ways_of(model).hints, short, model, directives)
    if workflow == "extract_and_query":
        return Planned(hints.question, hints, Route("extract_and_query", reasons=("asked for",)))
    if hints.kind == "no question" and workflow == AUTO and not directives:
        return Planned(short, hints, Route("reply", reasons=("kind of question: no question",)))
    route = choose_route(hints, Corpus(len(source.documents), source.characters))
    if workflow != AUTO:
        route = replace(route, workflow=workflow, reasons=("asked for",))  # type: ignore[arg-type]
    return Planned(hints.question, hints, route)


async def _answered(
    session: Session, planned: Planned, source: PassageSource, cascade: bool
) -> Answer:
    route, hints = planned.route, planned.hints
    if route.workflow == "reply":
        return run.turned_away(planned.question, Usage())
    if route.workflow == "extract_and_query":
        return await run.ask_hinted(session, planned.question, hints, source)
    named = named_documents(source, planned.question) if hints.kind in _ABOUT_ONE else frozenset()
    narrowed = narrow(session, source, hints, named)
    asked = _asked(session, planned, narrowed or source)
    answer = await _RUN[route.workflow](asked)
    if may_switch_off(answer, narrowed):
        switch_off(
            session,
            "every passage was refused as holding no answer",
            bool(hints.of(Locate) or hints.of(Ignore)),
        )
        asked = replace(asked, source=source)
        again = await _RUN[route.workflow](asked)
        answer = replace(again, decisions=(*answer.decisions, *again.decisions))
    if cascade and answer.status == "not_found" and route.workflow != "whole_context":
        again = await precise(asked, answer)
        session.decide(
            "plan", "question", "cascade", "unanswerable from the passages: read again with more"
        )
        answer = again
    return answer


def may_switch_off(answer: Answer, narrowed: PassageSource | None) -> bool:
    """Whether hints narrowed the documents and every passage that was left refused
    (HALO, section 6.2).
    """
    return narrowed is not None and answer.status == "not_found"


def _asked(session: Session, planned: Planned, source: PassageSource) -> Asked:
    route = planned.route
    mode: Mode = "number" if route.calculate else "prose" if route.prose else "words"
    verify, question = planned.hints.of(Verify), with_verify(planned.hints)
    model = session.models.model_for("answer")
    return Asked(
        question,
        source,
        model,
        Context(route.segments, route.tokens, route.weights, route.share),
        mode,
        search_words(question, planned.hints),
        tuple(p for d in verify for p in d.positive),
        tuple(n for d in verify for n in d.negative),
        route.first,
        form=ways_of(model).passages,
    )
