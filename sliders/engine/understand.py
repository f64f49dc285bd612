"""The first stage of a question: its hints, its kind, and the workflow that can answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sliders.answer.route import WORKFLOWS, Corpus, Route, choose_route, shortened
from sliders.compact.hint_patterns import parse_hints
from sliders.engine.hint_scope import source_of
from sliders.engine.question import TABLES, Need, Question
from sliders.engine.question_columns import plan_tables
from sliders.engine.session import Session
from sliders.engine.standing_tables import needs_of_texts
from sliders.engine.ways import ways_of
from sliders.errors import PlanError
from sliders.schema.hints import Directive, Hints

AUTO = "auto"
CHOICES = tuple(name for name in WORKFLOWS if name != "reply")
_JUDGED_LATER = (
    "note: when it is asked, a model judges the kind of question, which may choose another workflow"
)


def check(session: Session, questions: Sequence[str], workflow: str = TABLES) -> None:
    """Checks questions before anything is asked.

    Raises:
        PlanError: a question is empty, the workflow is unknown, or the workspace has no documents.
    """
    if workflow != AUTO and workflow not in CHOICES:
        raise PlanError(
            f"there is no workflow {workflow!r}; choose auto or one of {', '.join(CHOICES)}"
        )
    if any(not any(map(str.isalnum, question)) for question in questions):
        raise PlanError("the question is empty; ask something about the documents")
    if not session.catalog.documents.count():
        raise PlanError("the workspace has no documents; add some first: sliders add FILES")


async def understand(
    session: Session, texts: Sequence[str], workflow: str, directives: Sequence[Directive] = ()
) -> list[Question]:
    """Returns the questions with their hints and workflows. One model call reads the hints of all;
    where tables answer them, the same call plans the columns that they need.

    Args:
        workflow: "auto", or one of `CHOICES`, which then answers any question.
        directives: hints beside those in the words of the questions.
    """
    short = [text if workflow == TABLES else shortened(text) for text in texts]
    together = ways_of(session.models.model_for("schema")).induction.reads_hints
    needs: dict[str, Need] = {}
    if together and workflow == TABLES:
        plan = plan_tables if directives else needs_of_texts
        needs = dict(zip(texts, await plan(session, texts), strict=True))
    read = {text: need.hints for text, need in needs.items() if need.hints is not None}
    if missing := [cut for cut in dict.fromkeys(short) if cut not in read]:
        model = session.models.model_for("plan")
        pairs = zip(missing, await ways_of(model).hints.read(missing, model), strict=True)
        read |= dict(pairs)
    return [
        planned(session, Question(text, need=needs.get(text)), cut, read[cut], workflow, directives)
        for text, cut in zip(texts, short, strict=True)
    ]


def planned(
    session: Session,
    question: Question,
    cut: str,
    hints: Hints,
    workflow: str,
    directives: Sequence[Directive] = (),
) -> Question:
    """Returns the question with its hints and its route; no model is called."""
    hints = hints.with_given(directives)
    if cut != question.text:
        words = f"it was cut to the {len(cut.split())} that ask"
        question.notes.append(f"the question has {len(question.text.split())} words; {words}")
    question.hints = hints
    question.alone = workflow not in (AUTO, TABLES) or bool(directives) or hints.narrow
    if hints.kind == "no question" and workflow in (AUTO, TABLES) and not directives:
        question.route = Route("reply", reasons=("kind of question: no question",))
    elif workflow == TABLES:
        question.route = Route(TABLES, reasons=("asked for",))
    else:
        question.route = _route(session, question, workflow)
    return question


def _route(session: Session, question: Question, workflow: str) -> Route:
    source = source_of(session.asking(question))
    route = choose_route(question.hints, Corpus(len(source.documents), source.characters))
    if workflow != AUTO:
        route = replace(route, workflow=workflow, reasons=("asked for",))  # type: ignore[arg-type]
    return route


def explain(
    session: Session, text: str, directives: Sequence[Directive] = (), workflow: str = AUTO
) -> tuple[str, ...]:
    """Returns the way in which `ask` would answer a question, line by line, without a model call.

    Raises:
        PlanError: the question is empty, the workflow is unknown, or there is no document.
    """
    check(session, [text], workflow)
    cut = shortened(text)
    question = planned(session, Question(text), cut, parse_hints(cut), workflow, directives)
    judged = workflow == AUTO and ways_of(session.models.model_for("plan")).hints.requests([cut])
    lines = (": ".join(pair) for pair in question.explained())
    return (*lines, *([_JUDGED_LATER] if judged else []))
