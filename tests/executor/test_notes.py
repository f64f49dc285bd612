"""The note of a table holds for the table's values, and for no others."""

from __future__ import annotations

from pathlib import Path

from sliders import Workspace
from sliders.llm.testing import ScriptedModel
from sliders.reconcile.profile import row_phrase_columns
from sliders.schema.names import kind_of
from sliders.schema.types import Column, ColumnType, Schema, Table

PAGE = """<html><body><h1>Fenwick</h1><p>Fenwick is 120 metres long.</p>
<table><caption>Account, in thousands of euros</caption><tr><th>Item</th><th>Amount</th></tr>
<tr><td>Cost</td><td>3,120</td></tr></table></body></html>"""
NUMBER = ColumnType.NUMBER
SCHEMA = Schema((
    Table("spans", (Column("name"), Column("length", NUMBER), Column("cost", NUMBER)), row="a span", grain="document"),
))  # fmt: skip


def test_a_scale_is_not_applied_outside_its_table(tmp_path: Path) -> None:
    (tmp_path / "fenwick.html").write_text(PAGE, encoding="utf-8")
    model = ScriptedModel({"extract": {"name": "Fenwick", "length": "120", "cost": "3,120"}})
    with Workspace(tmp_path / "ws.db", model=model) as ws:
        ws.add(tmp_path / "fenwick.html")
        ws.session.catalog.schemas.save(SCHEMA)
        ws.extract()
        row = ws.tables["spans"].iloc[0]
    assert row["length"] == 120
    assert row["cost"] == 3_120_000



def test_a_row_is_a_kind_of_thing_and_never_one_thing() -> None:
    assert kind_of("Cinder Lock Bridge") == "a bridge"
    assert kind_of("the Harbour of Anchor") == "a harbour"
    assert kind_of("a tram accident") == "a tram accident"
    assert kind_of("") == ""


def test_the_column_that_holds_the_name_of_a_row() -> None:
    def named(row: str, *names: str) -> tuple[str, ...]:
        return row_phrase_columns(row, [Column(name) for name in names])

    assert named("a footbridge", "cost", "bridge_name") == ("bridge_name",)
    assert named("a footbridge", "cost", "name") == ("name",)
    assert named("one player in one game", "player", "game", "name") == ("player", "game")
    assert named("a village", "age", "cost") == ()
    assert named("", "name") == ()
