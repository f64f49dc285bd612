"""`auto` takes the way that costs least: whole documents where a call holds them, tables for
several questions over them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.answer import Corpus, choose_route
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Hints, QuestionKind
from tests.worlds import TEXTS, reply

LONG = "Nothing of note was said that day, and the sea was calm. " * 40
QUESTIONS = [f"What is the cost of {name}?" for name in ("Anchor", "Beacon", "Crane")]


@pytest.mark.parametrize("kind", ["fact", "explanation", "several", "steps"])
def test_documents_are_read_whole_while_that_costs_no_more(kind: QuestionKind) -> None:
    sizes = range(0, 60_000, 400)
    ways = [choose_route(Hints("q", kind=kind), Corpus(5, size)) for size in sizes]
    whole = [way.workflow == "whole_context" for way in ways]
    assert whole[0] and not whole[-1] and sorted(whole, reverse=True) == whole
    least = [min(way.price, way.whole) == way.price for way in ways]
    assert all(least)


def asked(place: Path, questions: list[str]) -> tuple[list[Any], list[Request]]:
    made: list[Request] = []

    def reader(request: Request) -> Any:
        made.append(request)
        if request.stage == "plan":
            return {"kinds": ["steps"] * len(questions), "hints": []}
        if "quote" in (request.reply.model_fields if request.reply else {}):
            return {"quote": "The cost is 120 euros", "answer": "120 euros"}
        return reply(request)

    with Workspace(place / "w.db", model=FunctionModel(reader), embedder=HashEmbedder()) as ws:
        for name, text in TEXTS.items():
            ws.add_text(text + LONG, name)
        told = ws.explain(questions[0])
        answers = ws.ask_many(questions, workflow="auto")
    assert "tokens: by tables" in told and "read whole" in told
    return answers, made


def test_one_question_over_a_small_pile_is_answered_whole(tmp_path: Path) -> None:
    (answer,), made = asked(tmp_path, QUESTIONS[:1])
    assert answer.workflow == "whole_context" and "120 euros" in answer.text
    assert [request.stage for request in made] == ["plan", "answer"]
    assert answer.citations


def test_several_questions_over_it_are_answered_by_tables(tmp_path: Path) -> None:
    answers, made = asked(tmp_path, QUESTIONS * 3)
    assert {answer.workflow for answer in answers} == {"extract_and_query"}
    assert sum(request.stage == "answer" for request in made) <= 4
