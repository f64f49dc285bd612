"""An undo holds until somebody says otherwise; a plain query repairs nothing, needs no lock, and
shows no earlier document.
"""

from __future__ import annotations

import io
import sys
from functools import partial
from pathlib import Path

import pytest

from sliders import Workspace
from sliders.cli import run
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.worlds import Reader

THINGS = Table(
    "things",
    (
        Column("name", pinned=True),
        Column("cost", ColumnType.NUMBER, pinned=True),
        Column("keeper", pinned=True),
    ),
    row="a thing",
    grain="document",
    key=("name",),
    pinned=True,
)
TOTAL = "SELECT SUM(cost) AS total FROM things"
QUESTION = "What is the total cost?"


def text(name: str, cost: int, keeper: str = "") -> str:
    return f"# Report\n\nThe name is {name}.\nThe cost is {cost} euros.\n" + (
        f"The keeper is {keeper}.\n" if keeper else ""
    )


def never(request: Request) -> str:
    raise AssertionError("no model is needed")


def workspace(place: str | Path) -> Workspace:
    """Two documents that tell of one thing, which becomes one row."""
    ws = Workspace(place, model=Reader().model, embedder=HashEmbedder())
    ws.pin_schema(Schema((THINGS,)))
    ws.add_text(text("Anchor", 10), "a.txt")
    ws.add_text(text("Anchor", 10, "Ines"), "b.txt")
    ws.add_text(text("Beacon", 20), "c.txt")
    return ws


def corrected(place: str | Path) -> Workspace:
    ws = workspace(place)
    ws.ask(QUESTION)
    ws.set_value("things", "cost", 99, {"name": "Beacon"})
    ws.reconcile()
    assert 99 in set(ws.tables["things"]["cost"])
    return ws


def costs(ws: Workspace) -> list[float]:
    return sorted(ws.tables["things"]["cost"])


def test_an_undone_repair_stays_undone(place: str | Path) -> None:
    with corrected(place) as ws:
        ws.undo("things")
        shown = costs(ws)
        assert 99 not in shown
        answer = ws.ask(QUESTION)
        assert costs(ws) == shown and ws.query(TOTAL)["total"][0] == sum(shown)
        assert any("undone by a person" in note for note in answer.decisions)
        assert ws.ask("How many things have a cost?").value == len(shown) and costs(ws) == shown


def test_new_documents_bring_new_repairs_alone(place: str | Path) -> None:
    with corrected(place) as ws:
        ws.undo("things")
        ws.add_text(text("Crane", 30), "d.txt")
        ws.ask(QUESTION)
        assert 99 not in costs(ws) and 30 in costs(ws)
        ws.set_value("things", "cost", 77, {"name": "Crane"})
        ws.ask(QUESTION)
        assert 77 in costs(ws) and 99 not in costs(ws)


def test_a_merge_that_was_undone_is_not_made_again_by_itself(place: str | Path) -> None:
    with workspace(place) as ws:
        ws.ask(QUESTION)
        ws.merge("things", {"document": "a.txt"}, {"document": "b.txt"})
        ws.reconcile()
        assert len(ws.tables["things"]) == 2
        ws.undo("things")
        assert len(ws.tables["things"]) == 3
        ws.query("SELECT COUNT(*) FROM things")
        ws.ask(QUESTION)
        assert len(ws.tables["things"]) == 3


def test_reconcile_makes_undone_repairs_again_and_says_so(place: str | Path) -> None:
    with corrected(place) as ws:
        ws.undo("things")
        ws.ask(QUESTION)
        ws.reconcile()
        assert 99 in costs(ws)
        said = [
            d.verdict for d in ws.session.catalog.journal.decisions(kind="table", table="things")
        ]
        assert "undone repairs released" in said


def test_the_command_line_says_what_is_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "w.db"
    with corrected(place):
        pass
    assert run(["undo", "things", "-w", str(place)]) == 0
    assert "sliders reconcile things" in capsys.readouterr().err
    assert run(
        ["reconcile", "-w", str(place), "--model", "none", "--base-url", "http://127.0.0.1:9"]
    ) in (0, 1)
    assert "were undone are made again" in capsys.readouterr().err


class Interrupted(io.StringIO):
    """A terminal on which a command is stopped before it says what it did."""

    def write(self, text: str) -> int:
        raise KeyboardInterrupt


def test_commands_that_were_stopped_are_not_done_twice(
    place: str | Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with corrected(place) as ws:
        ws.set_value("things", "cost", 98, {"name": "Beacon"})
        ws.reconcile()
    undo = ["undo", "things", "-w", str(place)]
    for _ in range(3):
        with monkeypatch.context() as stopped:
            stopped.setattr(sys, "stdout", Interrupted())
            assert run(undo) == 130
    assert run(undo) == 0
    with workspace(place) as ws:
        assert 99 in costs(ws)
    assert run(undo) == 0
    with workspace(place) as ws:
        assert 20 in costs(ws), "an undo that was told goes one further the next time"


def test_a_decision_that_is_repeated_is_one(place: str | Path) -> None:
    with workspace(place) as ws:
        ws.ask(QUESTION)
        decide = partial(ws.set_value, "things", "cost", author="Ines", reason="seen")
        first = decide(99, {"name": "Beacon"})
        assert decide("99", {"name": "Beacon"}) == first
        second = decide(98, {"name": "Beacon"})
        third = decide(99, {"name": "Beacon"})
        sides = ({"name": "Anchor"}, {"name": "Beacon"})
        assert ws.split("things", *sides) == ws.split("things", *sides) == third + 1
        assert [one.id for one in ws.decisions()] == [first, second, third, third + 1]


def test_undoing_an_undo_brings_the_repairs_back(place: str | Path) -> None:
    with corrected(place) as ws:
        before = ws.session.catalog.tables.current("things")
        assert before is not None
        ws.undo("things")
        ws.undo("things", before.version)
        ws.ask(QUESTION)
        assert 99 in costs(ws)


def test_a_plain_query_repairs_nothing(place: str | Path) -> None:
    with workspace(place) as ws:
        ws.ask(QUESTION)
        first = ws.session.catalog.tables.versions("things")[0]
        ws.session.catalog.tables.undo("things", first.version)
        rows = ws.query("SELECT COUNT(*) AS n FROM things")["n"][0]
        assert rows == first.rows
        now = ws.session.catalog.tables.current("things")
        assert now is not None and now.version == first.version


def test_a_plain_query_needs_no_lock_and_no_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "w.db"
    with workspace(place) as ws:
        ws.ask(QUESTION)
        total = ws.query(TOTAL)["total"][0]
        assert run(["query", TOTAL, "-w", str(place)]) == 0  # while the lock is held
        assert str(int(total)) in capsys.readouterr().out
    with Workspace(place, model=FunctionModel(never), write=False) as reader:
        assert reader.query(TOTAL)["total"][0] == total


def test_a_query_that_has_to_read_says_that_another_process_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "w.db"
    with workspace(place) as ws:
        ws.ask(QUESTION)
        assert run(["query", "SELECT weight FROM docs", "-w", str(place)]) == 1
        assert "open for writing" in capsys.readouterr().err


def test_cells_of_an_earlier_document_do_not_come_back(tmp_path: Path) -> None:
    place = tmp_path / "w.db"
    file = tmp_path / "c.txt"
    with Workspace(place, model=Reader().model, embedder=HashEmbedder()) as ws:
        ws.pin_schema(Schema((THINGS,)))
        ws.add_text(text("Anchor", 10), "a.txt")
        file.write_text(text("Beacon", 20), encoding="utf-8")
        ws.add(file)
        ws.ask(QUESTION)
        file.write_text(text("Beacon", 50), encoding="utf-8")
        ws.add(file)
    with Workspace(
        place, model=FunctionModel(never), write=False
    ) as reader:  # nobody has read the new version yet
        frame = reader.query("SELECT cost FROM things ORDER BY cost")
        assert list(frame["cost"]) == [10] and "earlier versions" in " ".join(frame.attrs["notes"])
    with Workspace(place, model=Reader().model, embedder=HashEmbedder()) as ws:
        assert sorted(ws.query("SELECT cost FROM things")["cost"]) == [10, 50]
        ws.ask(QUESTION)
        assert sorted(ws.query("SELECT cost FROM things")["cost"]) == [10, 50]
