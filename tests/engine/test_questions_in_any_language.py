"""No question is turned away by code, whatever its language or form; the model's own judgement is
told and can be overruled.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.errors import PlanError
from sliders.llm import COMPACT, Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from tests.worlds import document, reply, shape_of

QUESTIONS = (
    "总费用是多少？",
    "Umsatz 2022",
    "売上高はいくらですか",
    "Сколько всего стоит?",
    "Quel est le montant total des factures?",
    "كم التكلفة الإجمالية؟",
    "कुल लागत क्या है?",
    "Wer hat das unterschrieben?",
    "EBITDA margin",
    "total cost",
    "Hello!",
)
TEXTS = {
    "anchor.txt": document("Anchor", cost="120 euros"),
    "beacon.txt": document("Beacon", cost="340 euros") + "总费用是多少\n",
}


def judging(kind: str = "all", made: list[Request] | None = None) -> FunctionModel:
    """A reader of the costs that judges every input to be of one kind."""

    def function(request: Request) -> Any:
        if made is not None:
            made.append(request)
        shape = shape_of(request).get("properties", ())
        if request.stage == "plan":
            return {"kinds": [kind], "hints": []}
        if request.stage == "schema":
            idle = {"no_question": [1]} if kind == "no question" else {}
            return {**reply(request), **idle}
        if "action" in shape:
            return {"action": "answer", "sql": "SELECT SUM(cost) FROM things"}
        if "answer" in shape:
            return {"quote": "The cost is 120 euros", "answer": "120 euros"}
        return reply(request)

    return FunctionModel(function)


def opened(place: Path, model: FunctionModel) -> Workspace:
    ws = Workspace(place, model=model, embedder=HashEmbedder())
    for name, text in TEXTS.items():
        ws.add_text(text, name)
    return ws


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_the_model_takes_for_a_question_is_answered(tmp_path: Path, question: str) -> None:
    with opened(tmp_path / "w.db", judging()) as ws:
        answer = ws.ask(question)
    assert (answer.status, answer.value) == ("answered", 460)


@pytest.mark.parametrize("kind", ["", "poem", "NO-QUESTION?"])
def test_a_kind_that_there_is_not_is_no_refusal(tmp_path: Path, kind: str) -> None:
    with opened(tmp_path / "w.db", judging(kind)) as ws:
        assert ws.ask("Umsatz 2022", workflow="auto").value == 460


def test_a_schema_reply_without_a_word_on_hints_leaves_them_to_a_call(tmp_path: Path) -> None:
    def function(request: Request) -> Any:
        said = model._function(request)
        return {k: v for k, v in said.items() if k != "hints"}

    made: list[Request] = []
    model = judging("no question", made)
    with opened(tmp_path / "w.db", FunctionModel(function)) as ws:
        assert ws.ask("Hello!").workflow == "reply"
    assert [request.stage for request in made] == ["schema", "plan"]


def test_what_the_model_takes_for_no_question_is_told_with_how_to_insist(tmp_path: Path) -> None:
    made: list[Request] = []
    with opened(tmp_path / "w.db", judging("no question", made)) as ws:
        for asked in (ws.ask("Hello!"), ws.ask("Hello!", workflow="auto")):
            assert (asked.status, asked.value, asked.workflow) == ("failed", None, "reply")
            assert "--workflow lookup" in asked.text and 'workflow="lookup"' in asked.text
            assert "no question" in asked.reason
        assert [request.stage for request in made] == ["schema", "plan"]
        insisted = ws.ask("Hello!", workflow="lookup")
        assert (insisted.status, insisted.text) == ("answered", "120 euros")


def test_one_that_is_none_does_not_keep_the_others_back(tmp_path: Path) -> None:
    def function(request: Request) -> Any:
        said = model._function(request)
        return {**said, "no_question": [1]} if request.stage == "schema" else said

    model = judging()
    with opened(tmp_path / "w.db", FunctionModel(function)) as ws:
        greeting, costs = ws.ask_many(["Hello!", "What is the total cost?"])
    assert (greeting.status, costs.status, costs.value) == ("failed", "answered", 460)


@pytest.mark.parametrize("question", QUESTIONS)
def test_without_a_model_nothing_is_turned_away(tmp_path: Path, question: str) -> None:
    with Workspace(
        tmp_path / "w.db",
        model=FunctionModel(lambda _: {}, dialect=COMPACT),
        embedder=HashEmbedder(),
    ) as ws:
        for name, text in TEXTS.items():
            ws.add_text(text, name)
        assert ws.plan(question)[0] == "workflow: extract and query"
        assert "calls" in str(ws.estimate(question))
        assert ws.session.models.model_for("")._model.history == []


@pytest.mark.parametrize("question", ["", "  \n", "?!", "…"])
def test_signs_without_a_letter_or_digit_are_an_empty_question(
    tmp_path: Path, question: str
) -> None:
    with opened(tmp_path / "w.db", judging()) as ws, pytest.raises(PlanError, match="empty"):
        ws.ask(question)
