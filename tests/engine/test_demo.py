"""The demo's documents with their traps: what each stage must make of them, whoever reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.__main__ import expected, shown
from sliders import Workspace
from tests.worlds import BRIDGES, Reader

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with Workspace(tmp_path_factory.mktemp("demo") / "demo.db", model=Reader(BRIDGES).model) as ws:
        ws.add(ROOT / "demo" / "documents")
        yield ws


@pytest.mark.parametrize(("question", "values"), expected())
def test_the_answers(ws: Workspace, question: str, values: list[str]) -> None:
    answer = ws.ask(question)
    lacking = (
        ("eastgate.txt",) if "cost" in question else ()
    )  # it does not tell what the bridge cost
    assert tuple(name for gap in answer.completeness.missing for name in gap.documents) == lacking
    assert answer.status == ("incomplete" if lacking else "answered")
    for value in values:
        assert value in shown(answer.value)
    assert answer.citations


def test_what_the_traps_become(ws: Workspace) -> None:
    ws.ask("What is the average length of the bridges in metres?")
    frame = ws.tables["bridges"].set_index("bridge_name")
    assert len(frame) == 7, "three bridges are told of twice"
    assert frame.loc["Fenwick Crossing", "cost"] == 3_120_000, (
        "in thousands, as the caption of its table says"
    )
    assert frame.loc["Fenwick Crossing", "length"] == 120, (
        "the caption says nothing of the text beside the table"
    )
    assert frame.loc["Cinder Lock Bridge", "cost"] == 640_000
    assert frame.loc["Dunmarrow Bridge", "cost"] == 4_600_000, "audited over preliminary"
    assert str(frame.loc["Eastgate Bridge", "cost"]) == "nan"
    assert ws.conflicts() == []


def test_repairs_walk_back_to_both_documents(ws: Workspace) -> None:
    ws.ask("What is the average length of the bridges in metres?")
    frame = ws.tables["bridges"].set_index("bridge_name")
    told = ws.why(str(frame.loc["Dunmarrow Bridge", "row_id"]))
    assert {item.document for item in told.evidence} == {
        "dunmarrow.txt",
        "dunmarrow_press_note.txt",
    }
    assert [item.printed for item in told.evidence if item.column == "cost" and item.agrees] == [
        "4.6 million euros"
    ]
    assert ws.verify() == []


def test_a_repair_can_be_undone_and_done_again(ws: Workspace) -> None:
    ws.ask("What is the average length of the bridges in metres?")
    repaired = ws.session.catalog.tables.current("bridges")
    assert repaired is not None
    ws.undo("bridges")
    assert len(ws.tables["bridges"]) == 10
    ws.undo("bridges", repaired.version)
    assert len(ws.tables["bridges"]) == 7
