"""Documents that each tell a result get a row of winner, loser and score, whatever a model proposes for one question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sliders
from sliders.executor.results import PrintedResults, asks_of_results, printed_results, shape_results
from sliders.llm.testing import FunctionModel
from sliders.schema.types import Column, ColumnType, Table

MATCHES = [
    ("Hull Kestrels", "Lund Rovers", "31-28"), ("Merrow Otters", "Hull Kestrels", "40-12"),
    ("Lund Rovers", "Merrow Otters", "19-17"),
]  # fmt: skip
TEXTS = tuple(
    f"It was cold. The {winner} beat the {loser}, {score}, in the match on Monday. No team had a rest (3-1)."
    for winner, loser, score in MATCHES
)
PRINTED = PrintedResults(TEXTS, "team", "match")


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("How many times did a team score fewer than 20 points?", True),
        ("What is the average winning margin?", True),
        ("How many of the matches were decided by 10 points?", True),
        ("How many matches did the Hull Kestrels win?", True),
        ("Which keeper won the most matches?", False),
        ("How many points did the team of Oda Brandt score?", True),
        ("How many of the matches were played at night?", False),
        ("What was the weather?", False),
    ],
)
def test_questions_about_sides_are_told_from_others(question: str, about: bool) -> None:
    assert asks_of_results(question, PRINTED) is about


def test_a_name_that_stands_outside_results_is_no_side() -> None:
    texts = (*TEXTS, "Oda Brandt threw well. The Hull Kestrels beat the Lund Rovers, 3-1.")
    printed = PrintedResults(texts, "team", "match")
    assert not asks_of_results("How many points did Oda Brandt score when her team won?", printed)
    assert asks_of_results("How many points did the Hull Kestrels score when the team won?", printed)


def test_a_proposal_becomes_a_table_of_results() -> None:
    proposal = Table("teams", (Column("team"), Column("points", ColumnType.INTEGER), Column("venue")), row="a team", grain="many")
    shaped = shape_results(proposal, "Which team had the lowest score?", PRINTED)
    assert (shaped.name, shaped.grain, shaped.column_names) == ("matchs", "document", ("winner", "loser", "score", "venue"))


def test_other_numbers_of_a_side_keep_their_proposal() -> None:
    proposal = Table("teams", (Column("team"), Column("visitors", ColumnType.INTEGER)), row="a team", grain="many")
    assert shape_results(proposal, "Which team that won had the most visitors?", PRINTED) is proposal


@pytest.mark.parametrize(("text", "told"), [(TEXTS[0], True), ("The Rovers (3-1) met the Otters (2-2) on Monday.", False)])
def test_results_are_seen_in_the_documents(tmp_path: Path, text: str, told: bool) -> None:
    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(lambda _: "")) as ws:
        for number in range(3):
            ws.add_text(f"{text} {number}", f"match_{number}.txt")
        assert (printed_results(ws.session) is not None) is told


def test_one_question_about_any_side_reads_the_sides(tmp_path: Path) -> None:
    def reply(request: object) -> str:
        stage, text = request.stage, request.messages[-1].content  # type: ignore[attr-defined]
        if stage == "schema":
            columns = [
                {"asked": "lowest score", "name": "score", "type": "integer"},
                {"asked": "team", "name": "team", "type": "text"},
            ]
            return json.dumps({"columns": columns, "row": "a match", "in_document": "one"})
        if stage == "extract":
            return json.dumps(next(dict(zip(("winner", "loser", "score"), m, strict=True)) for m in MATCHES if m[2] in text))
        return "SELECT team, MIN(score) FROM matchs_of_teams"

    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        for number, text in enumerate(TEXTS):
            ws.add_text(text, f"match_{number}.txt")
        answer = ws.ask("What is the lowest score of any team, and which team was it?")
        frame = ws.tables["matchs"]
    assert sorted(frame["margin"]) == [2, 3, 28]
    assert [set(row) for row in answer.value] == [{"Hull Kestrels", 12}]


def test_what_no_document_mentions_happened_to_none(tmp_path: Path) -> None:
    def reply(request: object) -> str:
        if request.stage == "schema":  # type: ignore[attr-defined]
            columns = [{"asked": "mutiny", "name": "mutiny", "type": "integer"}]
            return json.dumps({"columns": columns, "row": "a voyage", "in_document": "one"})
        return json.dumps({"mutiny": None})

    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.add_text("The voyage of the Otter was calm.", "otter.txt")
        ws.add_text("The voyage of the Heron was long.", "heron.txt")
        answer = ws.ask("How many of the voyages ended in mutiny?")
        assert (answer.status, answer.value) == ("answered", 0)
        assert "mutiny" in answer.reason
