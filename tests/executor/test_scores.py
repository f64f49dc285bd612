"""Printed scores become two number columns that walk back to the printed pair."""

from __future__ import annotations

import json
from pathlib import Path

import sliders
from sliders.llm.testing import FunctionModel

TEAMS = [
    ("Kestrels", "Rovers", "31-28"), ("Otters", "Kestrels", "40-12"), ("Rovers", "Otters", "19-17"),
    ("Otters", "Rovers", "22-21"),
]  # fmt: skip


def test_a_score_column_gets_its_two_sides(tmp_path: Path) -> None:
    for number, (winner, loser, score) in enumerate(TEAMS):
        (tmp_path / f"match_{number}.txt").write_text(f"The {winner} met the {loser}, {score}, at home.")

    def reply(request: object) -> str:
        stage, text = request.stage, request.messages[-1].content  # type: ignore[attr-defined]
        if stage == "schema":
            column = {"asked": "final score", "name": "score", "type": "integer"}
            return json.dumps({"columns": [column], "row": "a match", "in_document": "one"})
        if stage == "extract":
            return json.dumps({"score": next(score for _, _, score in TEAMS if score in text)})
        return "SELECT SUM(winner_score - loser_score) FROM matchs"

    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.add(tmp_path)
        answer = ws.ask("What is the sum of the margins of the final score?")
        frame = ws.tables["matchs"]
    assert sorted(zip(frame["winner_score"], frame["loser_score"], strict=True)) == [(19, 17), (22, 21), (31, 28), (40, 12)]
    assert answer.value == 34
    assert sorted(frame["total_score"]) == [36, 43, 52, 59]
