"""A query that adds up amounts of several currencies says so."""

from __future__ import annotations

from pathlib import Path

from sliders import Workspace
from tests.worlds import LISTS, Reader

COSTS = """item: Room; amount: 145.00; currency: EUR
item: Meal; amount: 30.00; currency: USD
item: Bus; amount: 12.50; currency: EUR
"""
SCHEMA = {
    "tables": [
        {
            "name": "costs",
            "row": "one cost",
            "grain": "many",
            "key": ["item"],
            "columns": {
                "item": {"type": "text", "description": "the thing paid for"},
                "amount": {"type": "number", "description": "the price"},
                "currency": {"type": "text", "description": "the currency of the price"},
            },
        }
    ]
}


def test_a_sum_over_two_currencies_has_a_note(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w.db", model=Reader(LISTS).model) as ws:
        ws.pin_schema(SCHEMA)
        ws.add_text(COSTS, "costs.txt")
        ws.extract()
        both = ws.query("SELECT SUM(amount) AS total FROM costs")
        one = ws.query("SELECT SUM(amount) AS total FROM costs WHERE currency = 'EUR'")
    assert float(both["total"][0]) == 187.5
    assert any("'EUR' (2 rows)" in note and "'USD' (1 row)" in note for note in both.attrs["notes"])
    assert float(one["total"][0]) == 157.5
    assert one.attrs["notes"] == []
