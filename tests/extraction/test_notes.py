"""The note of a table holds for the table's values, and for no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from sliders import Workspace
from sliders.llm.testing import ScriptedModel
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType

PAGE = """<html><body><h1>Fenwick</h1><p>Fenwick is 120 metres long.</p>
<table><caption>Account, in thousands of euros</caption><tr><th>Item</th><th>Amount</th></tr>
<tr><td>Cost</td><td>3,120</td></tr></table></body></html>"""
NUMBER = ColumnType.NUMBER
SCHEMA = Schema(
    (
        Table(
            "spans",
            (Column("name"), Column("length", NUMBER), Column("cost", NUMBER)),
            row="a span",
            grain="document",
        ),
    )
)


COLUMNS = 'Name,Length,Cost in thousands of euros\nFenwick,120,"3,120"\n'


@pytest.mark.parametrize(
    ("name", "text", "length"), [("a.html", PAGE, "120 metres"), ("a.csv", COLUMNS, "120")]
)
def test_a_scale_holds_for_its_table_or_its_column_alone(
    tmp_path: Path, name: str, text: str, length: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    cells = {
        "name": {"value": "Fenwick", "words": ["Fenwick"]},
        "length": {"value": 120, "words": [length]},
        "cost": {"value": 3_120_000, "words": ["3,120"]},
    }
    model = ScriptedModel({"extract": {"rows": [{"table": "spans", "cells": cells}]}})
    with Workspace(tmp_path / "ws.db", model=model) as ws:
        ws.add(tmp_path / name)
        ws.session.catalog.schemas.save(SCHEMA)
        ws.extract()
        row = ws.session.catalog.extractions.rows("spans")[0]
    assert {cell.column: (cell.value, cell.doubt) for cell in row.cells} == {
        "name": ("Fenwick", ""),
        "length": (120, ""),
        "cost": (3_120_000, ""),
    }
