"""What changed between two runs, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sliders
from sliders.audit import AnswerChange, Cause
from sliders.cli import run
from sliders.errors import StoreError
from sliders.retrieval import HashEmbedder
from tests.worlds import BRIDGES, Reader

QUESTION = "What is the average length of the bridges in metres?"
ALDER = "The Alder Bridge is 100 metres long. It cost 1,000,000 euros. It opened in 1990."
BIRCH = "The Birch Bridge is 50 metres long. It cost 500,000 euros. It opened in 2005."


@pytest.fixture
def ws(tmp_path: Path) -> Any:
    with sliders.Workspace(
        tmp_path / "w.db", model=Reader(BRIDGES).model, embedder=HashEmbedder()
    ) as ws:
        ws.add_text(ALDER, "alder.txt")
        ws.add_text(BIRCH, "birch.txt")
        assert ws.ask(QUESTION).value == 75
        yield ws


def kinds(changes: Any) -> set[str]:
    return {change.cause.kind for change in changes}


def test_nothing_changed(ws: sliders.Workspace) -> None:
    ws.ask(QUESTION)
    found = ws.diff()
    assert not found and found.same == (QUESTION,) and "nothing changed" in str(found)


def test_a_new_document(ws: sliders.Workspace) -> None:
    ws.add_text(
        "The Cedar Bridge is 150 metres long. It cost 900,000 euros. It opened in 1999.",
        "cedar.txt",
    )
    ws.ask(QUESTION)
    found = ws.diff()
    assert [(a.before, a.after) for a in found.answers] == [(75, 100)]
    assert [(r.document, r.change, r.cause.text) for r in found.rows] == [
        ("cedar.txt", "new", "cedar.txt was added")
    ]
    assert "cedar.txt was added" in str(found) and not found.cells


def test_a_changed_document(ws: sliders.Workspace) -> None:
    ws.add_text(BIRCH.replace("50 metres", "60 metres"), "birch.txt")
    ws.ask(QUESTION)
    found = ws.diff()
    assert [(a.before, a.after) for a in found.answers] == [(75, 80)]
    assert [(c.column, c.before, c.after, c.cause.text) for c in found.cells] == [
        ("length", 50, 60, "birch.txt was changed")
    ]
    assert not found.rows


def test_a_decision_of_a_person(ws: sliders.Workspace) -> None:
    ws.set_value(
        "bridges",
        "length",
        70,
        {"bridge_name": "The Birch Bridge"},
        author="ann",
        reason="measured",
    )
    ws.ask(QUESTION)
    found = ws.diff()
    assert [(c.column, c.before, c.after, c.cause.kind) for c in found.cells] == [
        ("length", 50, 70, "correction")
    ]
    assert "of ann: measured" in found.cells[0].cause.text and found.answers[0].after == 85
    assert {cause.kind for cause in found.answers[0].causes} == {"correction"}
    assert found.to_dict()["cells"][0]["cause"]["kind"] == "correction"


def test_of_many_decisions_a_change_names_the_one_on_its_row(ws: sliders.Workspace) -> None:
    for name, length in (
        ("The Birch Bridge", 70),
        ("The Alder Bridge", 70),
        ("The Birch Bridge", 71),
    ):
        ws.set_value(
            "bridges",
            "length",
            length,
            {"bridge_name": name},
            author="ann",
            reason=f"{name} {length}",
        )
    ws.ask(QUESTION)
    told = {c.document: c.cause.text for c in ws.diff().cells}
    assert told == {
        "birch.txt": "decision 3 of ann: The Birch Bridge 71",
        "alder.txt": "decision 2 of ann: The Alder Bridge 70",
    }
    assert all(told[c.document] in str(ws.why(c.row_id)) for c in ws.diff().cells)


def test_runs_are_named_by_number(
    ws: sliders.Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    ws.add_text("The Cedar Bridge is 150 metres long.", "cedar.txt")
    ws.ask(QUESTION)
    first, second = [run.id for run in ws.runs() if run.kind == "ask"]
    assert str(ws.diff(second, first)) == str(ws.diff())
    with pytest.raises(StoreError, match="no run 99"):
        ws.diff(99)
    path = ws.path
    ws.close()
    assert run(["diff", "-w", str(path)]) == 0
    assert "cedar.txt was added" in capsys.readouterr().out


def test_a_question_in_between_does_not_hide_the_one_that_was_asked_twice(
    ws: sliders.Workspace,
) -> None:
    ws.ask(QUESTION)
    ws.ask("How many bridges opened after 2000?")
    assert ws.diff().same == (QUESTION,)


def test_a_question_that_was_one_of_several_is_found(ws: sliders.Workspace) -> None:
    ws.add_text(BIRCH.replace("50 metres", "60 metres"), "birch.txt")
    ws.ask_many(["Which bridge cost the most?", QUESTION])
    found = ws.diff()
    assert [(a.question, a.before, a.after) for a in found.answers] == [(QUESTION, 75, 80)]


def test_of_a_list_only_the_rows_that_changed_are_told() -> None:
    before = [["Alder", 100, 1990], ["Birch", 50, 1991], ["Cedar", 7, 1992]]
    after = [["Alder", 100, 1990], ["Birch", 60, 1991], ["Doum", 8, 1993]]
    told = str(AnswerChange("Which?", before, after, (Cause("rows", "why"),)))
    assert told == "Which? 'Birch': 50 -> 60; gone 'Cedar', 7, 1992; new 'Doum', 8, 1993 (why)"
    other = str(AnswerChange("Which?", ["a", "b"], ["b", "a"], (Cause("rows", "why"),)))
    assert other == "Which? the same rows in another order (why)"


def test_one_run_is_not_enough(ws: sliders.Workspace) -> None:
    with pytest.raises(StoreError, match="asked twice"):
        ws.diff()
