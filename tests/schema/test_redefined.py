"""Columns that are defined anew: what was read under an earlier definition answers
no question any more.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.engine import query_frame, run_query, run_sync
from sliders.errors import BudgetExceeded, ModelRefusal, ModelUnavailable
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Grain, Schema, Table
from sliders.values import ColumnType
from tests.ships import SHIPS as VESSELS
from tests.ships import SegmentReader, workspace_of_ships

GROSS, NET = "the gross weight in tons", "the net weight in tons"
ONLY_LARGE = "the gross weight in tons, of large ships alone"
TEXT = (
    "Alma weighs 40 tons gross and 31 net. Bela weighs 12 tons gross. Cora weighs 55 tons "
    "gross and 44 net."
)
SHIPS = {"Alma": (40, 31), "Bela": (12, None), "Cora": (55, 44)}


def schema(
    weight: str, grain: Grain = "many", name: str = "the name", row: str = "a ship"
) -> Schema:
    columns = (
        Column("name", description=name, pinned=True),
        Column("tons", ColumnType.NUMBER, weight, pinned=True),
    )
    return Schema((Table("ships", columns, row=row, grain=grain, pinned=True),))


def reader(request: Request) -> Any:
    """All ships of a document with the weight that the definition names;
    large ones alone where it says so.
    """
    if request.stage != "extract":
        return {}
    asked, _, document = "\n".join(m.content for m in request.messages).rpartition("<document>")
    large = ONLY_LARGE in asked or "a large ship" in asked
    rows = []
    for ship, weights in SHIPS.items():
        if ship not in document or (large and weights[0] < 20):
            continue
        tons = weights[NET in asked]
        cells = {"name": {"value": ship, "words": [ship]}} if "- name (" in asked else {}
        if tons is not None and "- tons (" in asked:
            cells["tons"] = {"value": tons, "words": [str(tons)]}
        rows.append({"table": "ships", "cells": cells})
    return {"rows": rows}


def opened(place: str | Path, model: FunctionModel | None = None, **more: Any) -> Workspace:
    return Workspace(place, model=model or FunctionModel(reader), embedder=HashEmbedder(), **more)


def extracted(ws: Workspace, wanted: Schema) -> list[tuple[Any, Any]]:
    ws.pin_schema(wanted)
    ws.extract()
    return shown(ws)


def shown(ws: Workspace) -> list[tuple[Any, Any]]:
    frame = ws.tables["ships"].astype(object)
    return sorted(
        (frame[["name", "tons"]].where(frame.notna(), None)).itertuples(index=False, name=None),
        key=str,
    )


def fresh(place: str | Path, wanted: Schema, text: str) -> list[tuple[Any, Any]]:
    with opened(place) as ws:
        ws.add_text(text, "ships.txt")
        return extracted(ws, wanted)


@pytest.mark.parametrize("grain", ["many", "document"])
@pytest.mark.parametrize(
    "after",
    [
        schema(NET),
        schema(ONLY_LARGE),
        schema(GROSS, row="a large ship"),
        schema(NET, name="the ship's name", row="a large ship"),
    ],
    ids=["net", "large", "row", "all"],
)
def test_a_new_definition_reads_as_if_there_had_been_no_other(
    places: Any, grain: Grain, after: Schema
) -> None:
    (table,) = after.tables
    after = Schema((Table(table.name, table.columns, table.row, grain=grain, pinned=True),))
    text = TEXT if grain == "many" else TEXT[TEXT.index("Cora") :]
    with opened(places()) as ws:
        ws.add_text(text, "ships.txt")
        assert len(extracted(ws, schema(GROSS, grain))) == text.count("weighs")
        again = extracted(ws, after)
        assert not ws.verify()
    anew = fresh(places(), after, text)
    assert [row for row in again if row[1]] == [row for row in anew if row[1]]
    if after.tables[0].row != "a ship":  # no column is as it was
        assert again == anew


def test_a_document_that_gives_no_row_any_more_keeps_none(place: str | Path) -> None:
    with opened(place) as ws:
        ws.add_text("Bela weighs 12 tons gross.", "bela.txt")
        assert extracted(ws, schema(GROSS, "document")) == [("Bela", 12)]
        assert extracted(ws, schema(GROSS, "document", row="a large ship")) == []
        assert not ws.verify()


def test_a_row_that_a_new_definition_of_the_key_does_not_name_is_gone(places: Any) -> None:
    def keyed(name: str) -> Schema:
        (table,) = schema(GROSS, name=name).tables
        return Schema((replace(table, key=("name",)),))

    with opened(places()) as ws:
        ws.add_text(TEXT, "ships.txt")
        extracted(ws, keyed("the name"))
        again = extracted(ws, keyed("the name of a large ship"))
        assert not ws.verify()
    assert (
        again
        == fresh(places(), keyed("the name of a large ship"), TEXT)
        == [("Alma", 40), ("Cora", 55)]
    )


def test_a_row_whose_key_is_asked_later_and_not_told_stays(place: str | Path) -> None:
    def function(request: Request) -> Any:
        read = reader(request)
        return {"rows": read["rows"][1:]} if "- name (" in str(request.messages) else read

    (table,) = schema(GROSS).tables
    with opened(place, FunctionModel(function)) as ws:
        ws.add_text(TEXT, "ships.txt")
        ws.pin_schema(Schema((replace(table, columns=table.columns[1:]),)))
        ws.extract()
        assert extracted(ws, Schema((replace(table, key=("name",)),))) == [
            ("Bela", 12),
            ("Cora", 55),
            (None, 40),
        ]


def test_a_definition_that_comes_back_is_read_again(place: str | Path) -> None:
    with opened(place) as ws:
        ws.add_text(TEXT, "ships.txt")
        before = extracted(ws, schema(GROSS))
        assert extracted(ws, schema(NET)) != before
        calls = len(ws.session.catalog.journal.decisions(verdict="superseded"))
        assert extracted(ws, schema(GROSS)) == before
        assert len(ws.session.catalog.journal.decisions(verdict="superseded")) > calls


def test_a_definition_that_comes_back_unread_costs_nothing(place: str | Path) -> None:
    model = FunctionModel(reader)
    with opened(place, model) as ws:
        ws.add_text(TEXT, "ships.txt")
        before = extracted(ws, schema(GROSS))
        calls = len(model.history)
        ws.pin_schema(schema(NET))
        assert extracted(ws, schema(GROSS)) == before
        assert len(model.history) == calls


def test_a_budget_that_ends_leaves_no_value_of_the_earlier_definition(place: str | Path) -> None:
    stopping: list[bool] = []

    def function(request: Request) -> Any:
        if stopping:
            raise BudgetExceeded("the budget of this run is spent")
        return reader(request)

    with opened(place, FunctionModel(function)) as ws:
        ws.add_text(TEXT, "ships.txt")
        extracted(ws, schema(GROSS))
        stopping.append(True)
        ws.pin_schema(schema(NET))
        with pytest.raises(BudgetExceeded):
            ws.extract()
        assert shown(ws) == [(name, None) for name in SHIPS]
        assert not ws.verify()
        row = ws.session.catalog.extractions.rows("ships")[0]
        assert "earlier definition" in str(ws.why(row.id))
        stopping.clear()
        ws.extract()
        assert shown(ws) == [("Alma", 31), ("Bela", None), ("Cora", 44)]


def test_a_reading_that_fails_says_nothing_of_what_is_stated(place: str | Path) -> None:
    def function(request: Request) -> Any:
        if NET in str(request.messages):
            raise ModelRefusal("the server refuses")
        return reader(request)

    with opened(place, FunctionModel(function)) as ws:
        ws.add_text(TEXT, "ships.txt")
        extracted(ws, schema(GROSS))
        with pytest.raises(
            ModelUnavailable, match="the server refuses"
        ):  # no part was read for the new definition
            extracted(ws, schema(NET))
        assert shown(ws) == [(name, None) for name in SHIPS]
        cells = [row.cell("tons") for row in ws.session.catalog.extractions.rows("ships")]
        assert all(
            cell is not None and cell.absence is not None and cell.absence.value != "not stated"
            for cell in cells
        )


def test_values_of_an_earlier_definition_stay_in_the_audit(place: str | Path) -> None:
    with opened(place) as ws:
        ws.add_text(TEXT, "ships.txt")
        extracted(ws, schema(GROSS))
        first = ws.session.catalog.tables.current("ships")
        extracted(ws, schema(NET, row="a large ship"))
        assert first is not None
        assert {row.values["tons"] for row in ws.session.catalog.tables.rows_of(first)} == {
            40,
            12,
            55,
        }
        (said,) = {
            d.reason
            for d in ws.session.catalog.journal.decisions(
                table="ships", column="tons", verdict="superseded"
            )
        }
        assert "3 values" in said and f"version {first.version}" in said


def test_a_query_over_documents_leaves_no_value_of_an_earlier_definition(tmp_path: Path) -> None:
    with workspace_of_ships(tmp_path) as ws:
        run_sync(run_query(SegmentReader().of(ws), "SELECT ship, length FROM docs"))
        ws.session.catalog.tables.materialise("ships")
        changed = (
            replace(c, description="her length in feet") if c.name == "length" else c
            for c in VESSELS.columns
        )
        ws.pin_schema(Schema((replace(VESSELS, columns=tuple(changed)),)))
        run_sync(
            query_frame(
                SegmentReader().of(ws),
                "SELECT length FROM docs WHERE ship = 'Nautilus3'",
            )
        )
        frame = ws.tables["ships"]
        assert list(frame[frame["length"].notna()]["ship"]) == ["Nautilus3"]
        assert frame["ship"].notna().all()
