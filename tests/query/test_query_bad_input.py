"""Queries that go wrong, or that nothing answers: each says so, and costs no more than it must."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sliders.api import Workspace
from sliders.documents import Document
from sliders.engine import ExtractionCall, QueryOutcome, run_query
from sliders.errors import ModelUnavailable, QueryError
from sliders.extraction import Absence, Cell, Extraction, Grounding, Span
from sliders.llm import Model
from sliders.llm.testing import ScriptedModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Table
from tests.ships import PROSE, Places, SegmentReader, ship_text, workspace_of_ships


def run(ws: Workspace, sql: str, reader: SegmentReader | None = None) -> QueryOutcome:
    return asyncio.run(run_query((reader or SegmentReader()).of(ws), sql))


class CaptainReader(SegmentReader):
    """Finds captains, who stand in one document only."""

    def cell(self, document: Document, table: Table, column: Column, places: Places) -> Cell:
        at = document.text.find("Nemo")
        if column.name == "captain" and any(start <= at < end for start, end in places):
            span = Span(document.id, at, at + 4)
            return Cell("captain", "Nemo", "Nemo", Grounding.EXACT, span)
        return Cell(column.name, absence=Absence.NOT_STATED)


def test_an_ambiguous_column_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    reader = SegmentReader()
    with (
        workspace_of_ships(tmp_path, ships=4) as ws,
        pytest.raises(QueryError, match=r"length.* ambiguous|ambiguous.*length"),
    ):
        run(ws, "SELECT length FROM ships a JOIN ships b ON a.port = b.port", reader)
    assert reader.calls == []


def test_an_unknown_attribute_of_a_closed_table_is_refused_before_anything_is_read(
    tmp_path: Path,
) -> None:
    reader = SegmentReader()
    with workspace_of_ships(tmp_path, ships=4) as ws, pytest.raises(QueryError, match="tonnage"):
        run(ws, "SELECT ship FROM ships WHERE tonnage > 5", reader)
    assert reader.calls == []


def test_filters_that_contradict_each_other_in_a_join_cost_nothing(tmp_path: Path) -> None:
    reader = SegmentReader()
    sql = (
        "SELECT a.ship FROM ships a JOIN ships b ON a.port = b.port WHERE b.port = 'Arden' AND "
        "b.port = 'Brill'"
    )
    with workspace_of_ships(tmp_path, ships=4) as ws:
        result = run(ws, sql, reader)
    assert result.rows == () and reader.calls == []
    assert any("no value can satisfy both" in note for note in result.notes)


def test_an_empty_result_is_a_result(tmp_path: Path) -> None:
    with workspace_of_ships(tmp_path, ships=6) as ws:
        assert run(ws, "SELECT ship FROM ships WHERE length > 1000").rows == ()
        counted = run(ws, "SELECT count(*), max(length) FROM ships WHERE length > 1000")
        grouped = run(ws, "SELECT port, count(*) FROM ships WHERE length > 1000 GROUP BY port")
    assert counted.rows == ((0, None),)
    assert grouped.rows == ()
    assert counted.columns[0].startswith("count") or counted.columns


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT ship FROM ships WHERE length = 20", (("Nautilus0",),)),
        ("SELECT ship FROM ships WHERE length = 21", ()),
        ("SELECT ship FROM ships WHERE launched IS NULL AND port = 'Arden'", (("Nautilus0",),)),
        (
            "SELECT a.ship FROM ships a JOIN ships b ON a.port = b.port WHERE b.length = 20",
            (("Nautilus0",),),
        ),
    ],
)
def test_a_collection_of_one_document(
    tmp_path: Path, sql: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    with workspace_of_ships(tmp_path, ships=1) as ws:
        assert run(ws, sql).rows == rows


def test_a_collection_of_one_document_that_states_nothing(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w.db", model=ScriptedModel({}), embedder=HashEmbedder()) as ws:
        ws.add_text(PROSE, "nothing.txt")
        assert run(ws, "SELECT ship FROM docs WHERE port = 'Arden'").rows == ()
        assert run(ws, "SELECT ship FROM docs WHERE port IS NULL").rows == ((None,),), (
            "docs has one row a document"
        )


def test_docs_has_as_many_rows_the_first_time_as_later(tmp_path: Path) -> None:
    with Workspace(
        tmp_path / "w.db", model=ScriptedModel({"port": "Arden"}), embedder=HashEmbedder()
    ) as ws:
        ws.add_text(ship_text(1), "ship.txt")
        ws.add_text(PROSE, "nothing.txt")
        first, later = (
            ws.query("SELECT document, port FROM docs ORDER BY document") for _ in range(2)
        )
    assert list(first["document"]) == list(later["document"]) == ["nothing.txt", "ship.txt"]


def test_a_value_that_no_sample_states_is_found(tmp_path: Path) -> None:
    reader = CaptainReader()
    with Workspace(tmp_path / "w.db", model=ScriptedModel({}), embedder=HashEmbedder()) as ws:
        for number in range(20):
            captain = "\n\nThe captain of the vessel was Nemo.\n" if number == 4 else ""
            ws.add_text(ship_text(number) + captain, f"ship_{number:02}.txt")
        result = run(ws, "SELECT captain FROM docs WHERE captain IS NOT NULL", reader)
        sampled = [t.document for t in result.explanation.traces if t.verdict == "sampled"]
    assert "ship_04.txt" not in sampled
    assert result.rows == (("Nemo",),)


class LostReader(SegmentReader):
    """Whose server is gone after some calls; those under way would take a moment yet."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after, self.ended = after, 0

    async def read(
        self, reading: ExtractionCall, model: Model, second: Model | None = None
    ) -> list[Extraction]:
        found = await super().read(reading, model, second)
        if len(self.calls) == self.after:
            raise ModelUnavailable("no server answers")
        if len(self.calls) < self.after:
            return found
        await asyncio.sleep(0.01)
        self.ended += 1
        return found


def test_when_the_server_is_gone_the_calls_under_way_are_ended(tmp_path: Path) -> None:
    async def asked(ws: Workspace, reader: LostReader) -> int:
        with pytest.raises(ModelUnavailable):
            await run_query(reader.of(ws), "SELECT ship FROM ships WHERE length > 0")
        begun = len(reader.calls)
        await asyncio.sleep(0.05)
        return len(reader.calls) - begun

    with workspace_of_ships(tmp_path, ships=30) as ws:
        reader = LostReader(after=12)
        assert asyncio.run(asked(ws, reader)) == reader.ended == 0
        assert len(run(ws, "SELECT ship FROM ships WHERE length > 0").rows) == 30
