"""Questions whose SQL fetches the cells that it needs: answers as with everything filled, for fewer cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reading_model import asked_columns, document, reading_model, reply, reply_shape

from sliders import Workspace
from sliders.chunks.embeddings import HashEmbedder
from sliders.llm.model import Request
from sliders.llm.testing import FunctionModel

COUNT = 24
KEEPERS = ("Ida Holm", "Jon Marsh", "Ada Finch")
PROSE = "Nobody was seen on the road that day. The mill stood still, and the harbour was empty until the evening. " * 6


def thing(number: int) -> str:
    """A long document: its facts stand far from each other."""
    facts = document(f"Thing{number}", cost=f"{100 + number} euros", length=f"{number} metres", keeper=KEEPERS[number % 3])
    return "\n\n".join(f"{line}\n\n{PROSE}" for line in facts.splitlines() if line)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "documents"
    place.mkdir()
    for number in range(COUNT):
        (place / f"thing{number:02}.txt").write_text(thing(number), encoding="utf-8")
    return place


def cells_asked(model: FunctionModel, fact: str) -> int:
    """Calls of extraction that asked for a fact."""
    asked = [asked_columns(r.messages[-1].content) for r in model.history if r.stage == "extract"]
    return sum(fact in names for tables in asked for _, names in tables)


def prompt_characters(model: FunctionModel) -> int:
    return sum(len(m.content) for r in model.history if r.stage == "extract" for m in r.messages)


def written(sql: str) -> FunctionModel:
    """The reading double, with its statement given."""

    def function(request: Request) -> Any:
        shape = reply_shape(request)
        if "action" in shape.get("properties", ()):
            return {"action": "answer", "sql": sql}
        return reply("\n".join(m.content for m in request.messages), shape)

    return FunctionModel(function)


def test_the_answer_is_that_of_filled_tables(folder: Path, tmp_path: Path) -> None:
    answers = []
    for lazy in (False, True):
        with Workspace(tmp_path / f"{lazy}.db", model=reading_model(), embedder=HashEmbedder()) as ws:
            ws.add(folder)
            answers.append(ws.ask("What is the total cost?", lazy=lazy))
    assert answers[0].value == answers[1].value == sum(100 + n for n in range(COUNT))
    assert answers[1].status == "answered"
    assert answers[1].citations


def test_a_condition_spares_the_cells_of_the_documents_that_it_rejects(folder: Path, tmp_path: Path) -> None:
    question = "Which keeper has a thing with a length over 20?"
    sql = "SELECT keeper FROM things WHERE length > 20"
    models = {}
    for lazy in (False, True):
        models[lazy] = written(sql)
        with Workspace(tmp_path / f"{lazy}.db", model=models[lazy], embedder=HashEmbedder()) as ws:
            ws.add(folder)
            answer = ws.ask(question, lazy=lazy)
            assert sorted(str(row[0]) for row in answer.rows) == sorted(KEEPERS[n % 3] for n in (21, 22, 23))
            assert answer.sql == sql or "length" in answer.sql
    assert prompt_characters(models[True]) < prompt_characters(models[False])
    assert cells_asked(models[True], "keeper") < cells_asked(models[True], "length")


def test_a_statement_that_cannot_be_planned_gets_every_column(folder: Path, tmp_path: Path) -> None:
    sql = "SELECT name FROM things WHERE cost = (SELECT max(cost) FROM things)"
    with Workspace(tmp_path / "w.db", model=written(sql), embedder=HashEmbedder()) as ws:
        ws.add(folder)
        answer = ws.ask("Which name has the largest cost?", lazy=True)
    assert answer.value == f"Thing{COUNT - 1}"


def test_no_row_in_the_sample_is_no_answer_yet(tmp_path: Path) -> None:
    place = tmp_path / "documents"
    place.mkdir()
    for number in range(COUNT):
        text = thing(number) if number == 7 else PROSE * 3 + f"\n\nIt was the {number}th day.\n"
        (place / f"d{number:02}.txt").write_text(text, encoding="utf-8")
    with Workspace(tmp_path / "w.db", model=reading_model(), embedder=HashEmbedder()) as ws:
        ws.add(place)
        answer = ws.ask("What is the total cost?", lazy=True)
    assert answer.value == 107
