"""Which chunks of long documents are asked, and in which order the work is done."""

from __future__ import annotations

from pathlib import Path

import pytest

import sliders
from sliders.engine import fill, missing_work
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from tests.worlds import Reader

FILLER = "Nothing of note was seen on that day by anyone who was there. " * 90
THINGS = Table(
    "things", (Column("name"), Column("keeper")), row="a thing", grain="document", pinned=True
)


def long_text(number: int) -> str:
    """Many chunks; the keeper stands in the middle."""
    parts = [FILLER.replace("day", f"day {number}.{part}") for part in range(8)]
    parts[3] += f" The keeper is Keeper{number}. "
    return f"The name is Thing{number}.\n\n" + "\n\n".join(parts)


@pytest.mark.parametrize("most_embedded", [1000, 0])
def test_long_documents_are_asked_where_the_columns_words_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_embedded: int
) -> None:
    monkeypatch.setattr(fill, "MOST_EMBEDDED", most_embedded)
    model = Reader(name="reader", context_tokens=4000).model
    with sliders.Workspace(
        tmp_path / "w.db", model=model, embedder=HashEmbedder(), concurrency=3
    ) as ws:
        for number in range(3):
            ws.add_text(long_text(number), f"{number}.txt")
        ws.pin_schema(Schema((THINGS,)))
        chunks = len(ws.session.catalog.chunks.all())
        ws.extract()
        asked = sum(request.stage == "extract" for request in model.history)
        assert 0 < asked < chunks
        assert sorted(ws.tables["things"]["keeper"].dropna()) == ["Keeper0", "Keeper1", "Keeper2"]
        assert missing_work(ws.session, {"things": ("name", "keeper")}) == []
        states = {task.state for task in ws.session.catalog.extractions.tasks("things")}
        assert states == {"done"}, "the gate lets all through, and each is shown in part"
        calls = len(model.history)
        ws.extract()
        assert len(model.history) == calls


def test_calls_prepared_ahead_wait_for_a_slot(tmp_path: Path) -> None:
    model = Reader(latency=0.01).model
    with sliders.Workspace(
        tmp_path / "w.db", model=model, embedder=HashEmbedder(), concurrency=8
    ) as ws:
        for number in range(40):
            ws.add_text(f"The name is Thing{number}. The keeper is Ash.", f"{number}.txt")
        ws.pin_schema(Schema((THINGS,)))
        ws.extract()
        assert ws.session.catalog.extractions.count("things") == 40
    assert (
        1 < model.most_in_flight <= 8
    )  # how many of the eight are taken at once is the machine's affair


def test_files_are_added_one_by_one_and_a_copy_is_said_once(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("The name is Ash.")
    (docs / "b.txt").write_text("The name is Ash.")
    (docs / "c.txt").write_text(" \n")
    (docs / "d.txt").write_text("The name is Elm.")
    with sliders.Workspace(tmp_path / "w.db", model=Reader().model, embedder=HashEmbedder()) as ws:
        report = ws.add(docs)
        assert (len(report.new), len(report.same), len(report.failures)) == (2, 0, 1)
        assert report.warnings == ("a.txt: b.txt has the same content and is not added again",)
        again = ws.add(docs)
        assert (len(again.new), len(again.same)) == (0, 2)
