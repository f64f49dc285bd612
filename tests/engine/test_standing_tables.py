"""Later questions: those over known columns cost one call, and answer as they did before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.llm import FULL, Request
from sliders.llm.testing import ONE_DOCUMENT, FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Verify
from tests.worlds import ANSWERS, TEXTS, Reader, document, prompt_of

FIRST, SECOND, OTHER = (
    "What is the total cost?",
    "Which name has the largest cost?",
    "What is the total length?",
)


def asked_first(place: Path, model: FunctionModel) -> Workspace:
    """A workspace whose documents were read for the first question."""
    ws = Workspace(
        place / f"{model.dialect.standing_first}.db", model=model, embedder=HashEmbedder()
    )
    for name, text in TEXTS.items():
        ws.add_text(text, name)
    assert ws.ask(FIRST).value == ANSWERS[FIRST]
    model.history.clear()
    return ws


def stages(model: FunctionModel) -> list[str]:
    return [request.stage for request in model.history]


def changed(reply: Callable[[Request, Any], Any]) -> FunctionModel:
    """The perfect reader of reports, whose replies a function changes."""
    reader = Reader()
    return FunctionModel(lambda request: reply(request, reader.reply(request)), dialect=FULL)


def test_a_second_question_over_known_columns_costs_one_call(tmp_path: Path) -> None:
    model = Reader(dialect=FULL).model
    with asked_first(tmp_path, model) as ws:
        answer = ws.ask(SECOND)
        assert stages(model) == ["answer"] and answer.usage.calls == 1
        assert (answer.value, answer.status) == ("Beacon", "answered") and answer.citations
        told = [d.reason for d in ws.session.catalog.journal.decisions(verdict="columns known")]
        assert told == ["things (name, cost)"]
        model.history.clear()
        assert ws.ask(SECOND).value == "Beacon" and not model.history


@pytest.mark.parametrize("cannot", [True, False])
def test_columns_are_planned_where_one_is_missing(tmp_path: Path, cannot: bool) -> None:
    """The model says so, or its statement names a column that no table has."""

    def reply(request: Request, said: Any) -> Any:
        over = "filled for other questions" in prompt_of(request)
        none = {"action": "cannot", "sql": "", "reason": "no length"}
        return none if cannot and over and OTHER in prompt_of(request) else said

    model = changed(reply)
    with asked_first(tmp_path, model) as ws:
        assert ws.ask(OTHER).value == ANSWERS[OTHER]
        assert stages(model)[:2] == ["answer", "schema"]
        assert stages(model).count("answer") == 2 and stages(model).count("schema") == 1


def test_answers_are_those_that_planned_columns_give(tmp_path: Path) -> None:
    given = []
    for dialect in (FULL, ONE_DOCUMENT):
        model = Reader(dialect=dialect).model
        with asked_first(tmp_path, model) as ws:
            answers = [ws.ask(question) for question in ANSWERS]
            given.append([(a.value, a.status, a.text, a.citations) for a in answers])
    assert given[0] == given[1]
    assert [one[0] for one in given[0]] == list(ANSWERS.values())


def test_a_new_document_is_read_before_the_answer_stands(tmp_path: Path) -> None:
    model = Reader(dialect=FULL).model
    with asked_first(tmp_path, model) as ws:
        ws.add_text(document("Derrick", cost="900 euros"), "derrick.txt")
        assert ws.ask(SECOND).value == "Derrick"
        assert stages(model) == ["answer", "extract", "answer"]


def test_a_finding_goes_back_to_the_model(tmp_path: Path) -> None:
    def reply(request: Request, said: Any) -> Any:
        first = len(request.messages) == 2 and SECOND in prompt_of(request)
        if request.stage == "answer" and first:
            return {"action": "answer", "sql": "SELECT name FROM things WHERE name = 'Bacon'"}
        return said

    model = changed(reply)
    with asked_first(tmp_path, model) as ws:
        assert ws.ask(SECOND).value == "Beacon"
        assert stages(model) == ["answer", "answer"]
        assert "'Beacon'" in model.history[-1].messages[-1].content


def test_hints_beside_a_question_have_its_columns_planned(tmp_path: Path) -> None:
    model = Reader(dialect=FULL).model
    with asked_first(tmp_path, model) as ws:
        assert ws.ask(SECOND, directives=[Verify(("cost",))]).value == "Beacon"
        assert "schema" in stages(model)
        assert "filled for other questions" not in "".join(map(prompt_of, model.history))
