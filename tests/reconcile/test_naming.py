"""Canonical names: spellings, and what a model may join."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from sliders.llm.testing import ScriptedModel
from sliders.reconcile.reconcile import reconcile_table
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.values import Options, Reconciliation
from sliders.schema.types import Column, Table


def run(
    table: Table, rows: Sequence[Sequence[Any]], documents: str, options: Options | None = None, model: Any = None
) -> Reconciliation:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(table.column_names)}
    return asyncio.run(reconcile_table(table, MemoryRelation(columns, None, list(documents)), options, model))


def test_spellings_of_one_name_are_counted_once_under_the_most_frequent_one() -> None:
    table = Table("shops", (Column("place"), Column("grade")))
    rows = [("City Centre", "A"), ("city centre", "a+"), ("city  centre", "A"), ("city centre", "B"), ("Quay", "A+")]
    result = run(table, rows, "abcde")
    place = result.columns.index("place_canonical")
    assert [row.values[place] for row in result.rows] == ["city centre"] * 4 + ["Quay"]
    assert [row.values[0] for row in result.rows] == [row[0] for row in rows]
    assert "grade_canonical" not in result.columns
    (repair,) = [r for r in result.repairs if r.operation == "canonicalize"]
    assert repair.before == ("City Centre", "city centre", "city  centre") and "case" in repair.reason


def test_a_model_that_says_yes_to_every_pair_chains_no_two_names() -> None:
    table = Table("places", (Column("place"), Column("visits")))
    one = {"operation": "canonicalize", "column": "place", "statements": ["UPDATE rows SET place = 'Bunnerton'"], "reason": "one"}
    yes = ScriptedModel([{"looks": [], "repairs": [{"group": n} | one for n in (1, 2)]}])
    rows = [("Bonnerton", None), ("Bunnerton", None), ("Bunnerdan", None)]
    result = run(table, rows, "abc", model=yes)
    assert result.columns[-1] == "place_canonical"
    assert len({row.values[-1] for row in result.rows}) == 2
    again = run(table, rows, "abc", Options(settled=result.settlements), ScriptedModel([]))
    assert [row.values for row in again.rows] == [row.values for row in result.rows]
