"""`Workspace.tables` is a mapping: what Python does with one works, with no
table, one, and several.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sliders import Workspace
from sliders.errors import StoreError
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.worlds import Reader, document

TEXTS = {
    "anchor.txt": document("Anchor", cost="120 euros"),
    "beacon.txt": document("Beacon", cost="340 euros"),
}
TABLES = tuple(
    Table(
        name,
        (Column("name"), Column("cost", ColumnType.NUMBER)),
        "a thing",
        grain="document",
        pinned=True,
    )
    for name in ("works", "bridges")
)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "w.db", model=Reader().model, embedder=HashEmbedder())


def test_none_at_first(ws: Workspace) -> None:
    with ws:
        assert list(ws.tables) == sorted(ws.tables) == [] and len(ws.tables) == 0 and not ws.tables
        assert dict(ws.tables) == {} and "works" not in ws.tables and ws.tables.get("works") is None


def test_several(ws: Workspace) -> None:
    with ws:
        ws.pin_schema(Schema(TABLES))
        for name, text in TEXTS.items():
            ws.add_text(text, name)
        ws.extract()
        tables = ws.tables
        assert list(tables) == ["works", "bridges"] == [*tables] == list(tables.keys())
        assert sorted(tables) == ["bridges", "works"] and len(tables) == 2 and bool(tables)
        assert "works" in tables and "docs" not in tables and 7 not in tables
        assert {name: len(frame) for name, frame in tables.items()} == {"works": 2, "bridges": 2}
        assert [sorted(frame["cost"]) for frame in tables.values()] == [[120, 340]] * 2
        assert (
            isinstance(tables.get("works"), pd.DataFrame) and tables.get("docs", "none") == "none"
        )
        with pytest.raises(StoreError, match="no table 'docs'; tables are: works, bridges"):
            tables["docs"]
