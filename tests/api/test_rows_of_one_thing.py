"""A row is a thing: what is read of it from several parts, for several questions, comes together, and nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from line_reader import FILLER, LineReader

from sliders import Workspace
from sliders.chunks.embeddings import HashEmbedder
from sliders.llm.dialect import COMPACT, FULL, Dialect

DIALECTS = pytest.mark.parametrize("dialect", [FULL, COMPACT], ids=["full", "compact"])


def opened(place: str | Path, reader: LineReader, texts: dict[str, str]) -> Workspace:
    ws = Workspace(place, model=reader.model, embedder=HashEmbedder())
    for name, text in texts.items():
        ws.add_text(f"Report of the year\n\n{text}", name)  # a title of its own, so that no line is one
    return ws


def pinned(name: str, key: list[str], columns: dict[str, str], **more: Any) -> dict[str, Any]:
    """A schema of one table with a key."""
    listed = [{"name": column, "type": kind} for column, kind in columns.items()]
    return {"tables": [{"name": name, "row": "an entry", "grain": "many", "key": key, "columns": listed, **more}]}


def cells(ws: Workspace, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """Rows of a table as it stands, sorted."""
    frame = ws.tables[table][list(columns)]
    return sorted((tuple(None if pd.isna(v) else v for v in row) for row in frame.itertuples(index=False)), key=str)


def parts(*texts: str) -> str:
    """One document of parts that are read apart."""
    return f"\n\n{FILLER}\n\n".join(texts)


REVENUE = "year: 2020; revenue: 100\nyear: 2021; revenue: 110\nyear: 2022; revenue: 120"
SPENT = "year: 2020; spent: 7\nyear: 2021; spent: 8\nyear: 2022; spent: 9"


@DIALECTS
def test_a_later_column_is_read_with_its_key(tmp_path: Path, dialect: Dialect) -> None:
    reader = LineReader(naming=["year"], dialect=dialect)
    with opened(tmp_path / "w.db", reader, {"report.txt": parts(REVENUE, SPENT)}) as ws:
        ws.pin_schema(pinned("amounts", ["year"], {"year": "integer", "revenue": "number"}))
        ws.extract()
        ws.pin_schema(pinned("amounts", ["year"], {"year": "integer", "revenue": "number", "spent": "number"}))
        ws.extract()
        assert cells(ws, "amounts", "year", "revenue", "spent") == [(2020, 100, 7), (2021, 110, 8), (2022, 120, 9)]


def test_a_later_column_of_a_table_without_a_key_is_read_with_its_first_columns(tmp_path: Path) -> None:
    reader = LineReader(naming=["year"])
    with opened(tmp_path / "w.db", reader, {"report.txt": parts(REVENUE, SPENT)}) as ws:
        ws.pin_schema(pinned("amounts", [], {"year": "integer", "revenue": "number"}))
        ws.extract()
        ws.pin_schema(pinned("amounts", [], {"year": "integer", "revenue": "number", "spent": "number"}))
        ws.extract()
        assert all(year is not None for (year,) in cells(ws, "amounts", "year"))


def test_two_later_columns_leave_every_cell(tmp_path: Path) -> None:
    columns = {"year": "integer", "revenue": "number", "spent": "number", "staff": "integer"}
    text = parts(REVENUE, SPENT + "\n" + SPENT.replace("spent", "staff"))
    with opened(tmp_path / "w.db", LineReader(naming=["year"]), {"report.txt": text}) as ws:
        for number in (2, 3, 4):
            ws.pin_schema(pinned("amounts", ["year"], dict(list(columns.items())[:number])))
            ws.extract()
        assert cells(ws, "amounts", *columns) == [(2020, 100, 7, 7), (2021, 110, 8, 8), (2022, 120, 9, 9)]


@DIALECTS
def test_an_empty_cell_is_never_filled_from_another_row(tmp_path: Path, dialect: Dialect) -> None:
    text = "country: Canada; city: Banff; people: 8\ncountry: Canada; city: Tofino; people: 2\ncity: Bergen; people: 290"
    columns = {"city": "text", "country": "text", "people": "integer"}
    with opened(tmp_path / "w.db", LineReader(dialect=dialect), {"cities.txt": text}) as ws:
        ws.pin_schema(pinned("cities", ["country", "city"], columns))
        ws.extract()
        assert cells(ws, "cities", *columns) == [("Banff", "Canada", 8), ("Bergen", None, 290), ("Tofino", "Canada", 2)]


def test_rows_that_contradict_each_other_lend_each_other_nothing(tmp_path: Path) -> None:
    texts = {"a.txt": "firm: Orla; staff: 5; city: Cork", "b.txt": "firm: Orla; staff: 7"}
    columns = {"firm": "text", "staff": "integer", "city": "text"}
    schema = pinned("firms", ["firm"], columns, key_scope="collection")
    with opened(tmp_path / "w.db", LineReader(), texts) as ws:
        ws.pin_schema(schema)
        ws.extract()
        assert cells(ws, "firms", *columns) == [("Orla", 5, "Cork"), ("Orla", 7, None)] and len(ws.conflicts()) == 1
