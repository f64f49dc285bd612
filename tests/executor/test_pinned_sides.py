"""A pinned table of sides gets its rows from the results that another pinned table holds."""

from __future__ import annotations

import json
from pathlib import Path

import sliders
from sliders.llm.testing import FunctionModel

RACES = [("Kestrel Bay", "Otter Row", 31, 28, "(5-2)", "(1-4)"), ("Otter Row", "Rook Ferry", 40, 12, "(2-4)", "(0-3)")]
SCHEMA = {
    "crew_lines": {
        "crew": "text", "opponent": "text", "points": "integer", "won": "boolean", "wins_after": "integer",
        "losses_after": "integer",
    },
    "races": {"winner": "text", "loser": "text", "winner_points": "integer", "loser_points": "integer"},
}  # fmt: skip
asked_of: list[str] = []


def reply(request: object) -> str:
    stage, text = request.stage, request.messages[-1].content  # type: ignore[attr-defined]
    if stage == "schema":
        return json.dumps({"row": "a race", "rows_per_document": "one"})
    asked_of.append(text)
    winner, loser, high, low, *_ = next(race for race in RACES if f"{race[2]}-{race[3]}" in text)
    return json.dumps({"winner": winner, "loser": loser, "winner_points": str(high), "loser_points": str(low)})


def test_both_sides_of_each_result_stand_in_the_pinned_table(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for winner, loser, high, low, won, lost in RACES:
        text = f"{winner} {won} beat {loser}, {high}-{low}, on Sunday. {loser.split()[0]}'s {lost[:-1]}, a poor year) was long."
        (docs / f"race_{high}.txt").write_text(text)
    with sliders.Workspace(tmp_path / "w.db", model=FunctionModel(reply)) as ws:
        ws.add(docs)
        ws.pin_schema(SCHEMA)
        assert ws.extract() == {"races": 2, "crew_lines": 4}
        frame = ws.tables["crew_lines"]
        assert ws.verify() == []
    assert len(asked_of) == len(RACES)  # no call for what the results say
    lines = frame[["crew", "opponent", "points", "won", "wins_after", "losses_after"]].itertuples(index=False, name=None)
    assert sorted(lines) == [
        ("Kestrel Bay", "Otter Row", 31, True, 5, 2),
        ("Otter Row", "Kestrel Bay", 28, False, 1, 4),
        ("Otter Row", "Rook Ferry", 40, True, 2, 4),
        ("Rook Ferry", "Otter Row", 12, False, 0, 3),
    ]
