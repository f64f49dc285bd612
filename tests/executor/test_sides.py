"""Results with a winner and a loser are also seen from each side, and new documents extend both tables."""

from __future__ import annotations

import json
from pathlib import Path

import sliders
from sliders.executor.scores import split_columns
from sliders.llm.testing import FunctionModel

MATCHES = [
    ("Kestrels", "Rovers", "31-28"), ("Otters", "Kestrels", "40-12"), ("Rovers", "Otters", "19-17"),
    ("Otters", "Rovers", "22-21"),
]  # fmt: skip
ASKED = [
    ("final score", "score", "integer"), ("losing team", "goals", "integer"), ("winner", "winner", "text"),
    ("loser", "loser", "text"), ("team", "team", "text"), ("losing team score", "points", "integer"),
]  # fmt: skip
QUESTION = "What is the lowest final score of any team, winner or loser, and the losing team score in points?"


def reply(request: object) -> str:
    stage, text = request.stage, request.messages[-1].content  # type: ignore[attr-defined]
    if stage == "schema":
        columns = [{"asked": asked, "name": name, "type": kind} for asked, name, kind in ASKED]
        return json.dumps({"columns": columns, "row": "a match", "in_document": "one"})
    if stage == "extract":
        winner, loser, score = next(match for match in MATCHES if match[2] in text)
        goals = score.split("-")[1] + " goals"
        return json.dumps({"score": score, "winner": winner, "loser": loser, "team": winner, "goals": goals, "points": None})
    return "SELECT MIN(score) FROM matchs_of_teams"


def written(folder: Path, matches: list[tuple[str, str, str]]) -> None:
    for winner, loser, score in matches:
        (folder / f"match_{score}.txt").write_text(
            f"The {winner} met the {loser}, {score}, at home. The losers had {score.split('-')[1]} goals."
        )


def test_each_side_of_a_result_is_a_row(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    written(docs, MATCHES[:3])
    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.add(docs)
        answer = ws.ask(QUESTION)
        assert (answer.value, [c.quote for c in answer.citations]) == (12, ["40-12"])
        assert len(ws.tables["matchs_of_teams"]) == 6
        assert set(split_columns(ws.session, "matchs")) == {"score", "team", "goals", "points"}  # SQL reads the sides
        written(docs, MATCHES[3:])
        ws.add(docs)
        ws.ask(QUESTION)
        frame = ws.tables["matchs_of_teams"]
        assert ws.verify() == []
    assert sorted(frame.margin.dropna()) == [1, 2, 3, 28]  # a result counts once, with its winner
    otters = frame[frame.team == "Otters"]
    assert sorted(zip(otters.opponent, otters.score, otters.won, strict=True)) == [
        ("Kestrels", 40, True),
        ("Rovers", 17, False),
        ("Rovers", 22, True),
    ]


def test_a_draw_is_won_by_neither_side(tmp_path: Path) -> None:
    def drawn(request: object) -> str:
        if request.stage != "extract":  # type: ignore[attr-defined]
            return reply(request)
        text = request.messages[-1].content  # type: ignore[attr-defined]
        winner, loser, score = next(match for match in [*MATCHES, ("Kestrels", "Otters", "9-9")] if match[2] in text)
        return json.dumps({"score": score, "winner": winner, "loser": loser, "team": winner, "goals": None, "points": None})

    written(tmp_path, [*MATCHES, ("Kestrels", "Otters", "9-9")])
    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(drawn)) as ws:
        ws.add(tmp_path)
        ws.ask(QUESTION)
        frame = ws.tables["matchs_of_teams"]
    assert sorted(frame[frame.score == 9].won) == [False, False]
    assert sorted(frame.margin.dropna()) == [1, 2, 3, 28]
