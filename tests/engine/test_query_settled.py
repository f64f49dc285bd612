"""A query answers over the settled tables, decisions and repairs included, as a question does;
and it says what it lacks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from sliders.api import Workspace
from sliders.engine import DocumentPart, ExtractionCall, query_frame
from sliders.errors import BudgetExceeded, ModelError, ModelUnavailable
from sliders.extraction import Absence, Extraction, Refusal
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from tests.ships import PROSE, SegmentReader, ship_text, workspace_of_ships


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    with workspace_of_ships(tmp_path, 10) as opened:
        yield opened


def ask(ws: Workspace, sql: str, reader: SegmentReader | None = None) -> pd.DataFrame:
    return asyncio.run(query_frame((reader or SegmentReader()).of(ws), sql))


def test_a_decision_is_shown_by_the_next_query_and_by_one_that_reads(ws: Workspace) -> None:
    sql = "SELECT ship, port FROM ships WHERE port = 'Arden' ORDER BY ship"
    assert list(ask(ws, sql)["ship"]) == ["Nautilus0", "Nautilus5"]
    ask(ws, "SELECT ship FROM ships WHERE length > 0")
    ws.set_value("ships", "port", "Arden", {"ship": "Nautilus1"})
    ws.set_value("ships", "port", "Brill", {"ship": "Nautilus5"})
    assert list(ask(ws, sql)["ship"]) == ["Nautilus0", "Nautilus1"]
    reading = ask(
        ws, "SELECT ship, port, length, launched FROM ships WHERE port = 'Arden' ORDER BY ship"
    )
    assert reading.to_numpy().tolist()[1] == ["Nautilus1", "Arden", 21, 1901]
    assert reading.attrs["tokens"] > 0
    assert len(reading) == 2
    table = ws.tables["ships"]
    assert list(table[table["ship"] == "Nautilus5"]["port"]) == ["Brill"], (
        "the repairs stand in the table"
    )


def test_a_decision_holds_for_a_document_that_a_query_reads_first(ws: Workspace) -> None:
    ask(ws, "SELECT ship FROM ships WHERE length > 0")
    ws.set_value("ships", "port", "Arden", {"ship": "Nautilus1"})
    first, again = (
        ask(ws, "SELECT ship, launched FROM ships WHERE port = 'Arden' ORDER BY ship")
        for _ in range(2)
    )
    assert (
        first["ship"].tolist() == again["ship"].tolist() == ["Nautilus0", "Nautilus1", "Nautilus5"]
    )
    assert first["launched"].tolist()[1:] == again["launched"].tolist()[1:] == [1901, 1905]


def test_a_decision_holds_in_a_join(tmp_path: Path) -> None:
    sql = (
        "SELECT s.ship FROM ships s JOIN towns t ON s.port = t.town WHERE t.population = 5000 AND "
        "s.length < 26 ORDER BY s.ship"
    )
    with workspace_of_ships(tmp_path, 10, towns=True) as ws:
        assert list(ask(ws, sql)["ship"]) == ["Nautilus4"]
        ws.set_value("ships", "port", "Eye", {"ship": "Nautilus1"})
        assert list(ask(ws, sql)["ship"]) == ["Nautilus1", "Nautilus4"]


def test_forms_of_a_name_stay_as_printed_and_are_found_by_their_canonical_one(
    ws: Workspace,
) -> None:
    for number in (20, 25):
        ws.add_text(
            ship_text(number).replace("town of Arden", "town of ARDEN"), f"ship_{number}.txt"
        )
    sql = "SELECT ship FROM ships WHERE port = 'Arden' ORDER BY ship"
    first, again = (ask(ws, sql) for _ in range(2))
    assert first["ship"].tolist() == again["ship"].tolist() == ["Nautilus0", "Nautilus5"]
    ask(ws, "SELECT ship, port FROM ships")
    every = ask(ws, sql.replace("port", "port_canonical"))
    assert every["ship"].tolist() == ["Nautilus0", "Nautilus20", "Nautilus25", "Nautilus5"]


def test_documents_that_are_one_row_are_shown_once(ws: Workspace) -> None:
    ws.add_text(
        ship_text(3).replace("She measures 23 metres in length.", PROSE), "ship_03_again.txt"
    )
    ask(ws, "SELECT ship, port, length, launched FROM ships")
    ws.merge("ships", {"ship": "Nautilus3", "length": 23}, {"ship": "Nautilus3", "length": None})
    sql = "SELECT ship FROM ships WHERE port = 'Diss' ORDER BY ship"
    assert list(ask(ws, sql)["ship"]) == ["Nautilus3", "Nautilus8"]
    ws.add_text(ship_text(13), "ship_13.txt")
    reading = ask(ws, sql)
    assert reading.attrs["tokens"] > 0
    assert list(reading["ship"]) == ["Nautilus13", "Nautilus3", "Nautilus8"]


def test_a_document_that_states_nothing_of_a_table_is_no_row_of_it_later_either(
    tmp_path: Path,
) -> None:
    sql = "SELECT count(*), count(launched) FROM ships WHERE launched IS NULL OR length > 3"
    with workspace_of_ships(tmp_path, 6, towns=True) as ws:
        counts = [ask(ws, sql).to_numpy().tolist() for _ in range(3)]
        names = set(ws.tables["ships"]["document"])
    assert counts == [[[6, 4]]] * 3
    assert names == {f"ship_0{number}.txt" for number in range(6)}


class FailingReader(SegmentReader):
    """Whose calls on some documents fail."""

    async def one(self, part: DocumentPart, reading: ExtractionCall) -> Extraction:
        if part.document.name in ("ship_02.txt", "ship_06.txt"):
            refusal = Refusal(part.chunk.id, "reply", "the reply was no JSON")
            return Extraction(part.chunk.id, refusals=(refusal,))
        return await super().one(part, reading)


@pytest.mark.parametrize(
    ("reader", "told"),
    [
        (SegmentReader(limit=6), "the result is incomplete: the limit of calls is reached"),
        (
            FailingReader(),
            (
                "the result is incomplete: 2 documents could not be read, the next query asks "
                "again: the reply was no JSON"
            ),
        ),
        (
            SegmentReader(absence=Absence.UNGROUNDED),
            "in the columns of the query, 10 values were not found in the text",
        ),
    ],
)
def test_a_result_says_what_it_lacks(ws: Workspace, reader: SegmentReader, told: str) -> None:
    sql = "SELECT count(*) FROM ships WHERE length > 0"
    assert told in ask(ws, sql, reader).attrs["notes"]
    if reader.absence is None:
        assert ask(ws, sql).attrs["notes"] == []


def test_a_result_over_a_table_that_stands_says_so_as_well(ws: Workspace) -> None:
    ask(ws, "SELECT ship FROM ships WHERE length > 0")
    many = "SELECT a.ship FROM ships a, ships b, ships c, ships d, ships e"
    notes = ask(ws, many, SegmentReader(limit=0)).attrs["notes"]
    assert notes == ["the result was cut after 10000 rows; add a LIMIT or aggregate"]


@pytest.mark.parametrize("reply", [BudgetExceeded("the budget is spent"), ModelError("no JSON")])
def test_a_table_of_many_rows_that_could_not_be_filled_says_so(
    tmp_path: Path, reply: Exception
) -> None:
    with Workspace(
        tmp_path / "w.db", model=FunctionModel(lambda _request: reply), embedder=HashEmbedder()
    ) as ws:
        ws.add_text(ship_text(1), "ship.txt")
        ws.session.catalog.schemas.save(
            Schema((Table("repairs", (Column("part"),), grain="many"),)), "test"
        )
        if isinstance(reply, ModelError):  # every call of the run failed
            with pytest.raises(ModelUnavailable, match="no JSON"):
                ws.query("SELECT part FROM repairs")
            return
        (note,) = ws.query("SELECT part FROM repairs").attrs["notes"]
    assert note == "the result is incomplete: the budget is spent"
