"""`docs` beside tables of many rows a document: every document is there,
whatever was read of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sliders.api import Workspace
from sliders.engine import query_frame
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.ships import SHIPS, SegmentReader, ship_text

REPAIRS = Table(
    "repairs", (Column("part"), Column("cost", ColumnType.INTEGER)), row="a repair", grain="many"
)
LOG = "\n\nRepair: keel for 10.\n\nRepair: mast for 30."
JOIN = "FROM docs d JOIN repairs r ON r.document_id = d.document_id"


def said(request: Request) -> dict[str, Any]:
    """Two repairs of a document that prints some."""
    told = request.messages[-1].content.rsplit("<document>", 1)[-1]
    found = [(part, cost) for part, cost in (("keel", "10"), ("mast", "30")) if part in told]
    cells = [
        {"part": {"value": p, "words": [p]}, "cost": {"value": int(c), "words": [c]}}
        for p, c in found
    ]
    return {"rows": [{"table": "repairs", "cells": row} for row in cells]}


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(tmp_path / "w.db", model=FunctionModel(said), embedder=HashEmbedder()) as opened:
        for number in range(4):
            opened.add_text(
                ship_text(number) + (LOG if number in (1, 3) else ""), f"ship_{number:02}.txt"
            )
        opened.session.catalog.schemas.save(Schema((REPAIRS,)), "test")
        yield opened


def ask(ws: Workspace, sql: str) -> list[list[Any]]:
    """The same rows twice."""
    first, again = (asyncio.run(query_frame(SegmentReader().of(ws), sql)) for _ in range(2))
    assert first.to_numpy().tolist() == again.to_numpy().tolist()
    return first.to_numpy().tolist()


def test_documents_of_which_nothing_was_read_are_joined_by_their_names(ws: Workspace) -> None:
    rows = ask(ws, f"SELECT d.document, r.part {JOIN} ORDER BY d.document, r.part")
    assert rows == [[f"ship_0{n}.txt", part] for n in (1, 3) for part in ("keel", "mast")]


def test_documents_that_a_query_read_in_part_are_all_joined(ws: Workspace) -> None:
    asyncio.run(query_frame(SegmentReader().of(ws), "SELECT length FROM docs LIMIT 1"))
    assert ask(ws, f"SELECT count(*), count(DISTINCT d.document_id) {JOIN}") == [[4, 2]]


def test_rows_stand_in_the_order_of_the_documents_whichever_was_read_first(ws: Workspace) -> None:
    asyncio.run(
        query_frame(
            SegmentReader().of(ws),
            "SELECT length FROM docs WHERE document = 'ship_02.txt'",
        )
    )
    asyncio.run(query_frame(SegmentReader().of(ws), "SELECT length FROM docs LIMIT 1"))
    frame = asyncio.run(query_frame(SegmentReader().of(ws), "SELECT document, length FROM docs"))
    assert frame["document"].tolist() == [f"ship_0{n}.txt" for n in range(4)]


def test_a_table_with_one_row_a_document_stands_for_the_documents(ws: Workspace) -> None:
    ws.session.catalog.schemas.save(Schema((REPAIRS, SHIPS)), "test")
    asyncio.run(query_frame(SegmentReader().of(ws), "SELECT ship, length FROM ships"))
    rows = ask(ws, f"SELECT d.length, sum(r.cost) {JOIN} WHERE d.length > 21 GROUP BY d.length")
    assert rows == [[23, 40]]


def test_rows_are_counted_where_no_column_was_read_yet(ws: Workspace) -> None:
    assert ask(ws, "SELECT count(*) FROM repairs") == [[4]]
    ws.add_text(ship_text(5) + LOG, "ship_05.txt")
    assert ask(ws, "SELECT count(*) FROM repairs") == [[6]]
