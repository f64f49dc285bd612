"""Invariants on generated tables: no row lost, no value invented, nothing lost without a
record, stable results.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reconciled import Reconciled, reconciled

from sliders.reconcile import MemoryRelation, Options, comparison_form
from sliders.schema import Column, Table
from sliders.values import ColumnType

EVERYWHERE: Any = {
    "pinned": True,
    "key_scope": "collection",
}  # a key that the user gave over all documents
COLUMNS = (
    Column("name"),
    Column("year", ColumnType.INTEGER),
    Column("amount", ColumnType.NUMBER),
    Column("city"),
    Column("day", ColumnType.DATE),
)
NAMES = (
    "Orla Mills",
    "Orla Mills, Inc.",
    "ORLA MILLS",
    "Orla Mils",
    "Tarn",
    "TARN Ltd",
    "Ash & Birch",
    "O'Hara 🦉",
)
KEYS = ((), ("name",), ("name", "year"), ("day",))


def table_of(rng: random.Random) -> Table:
    key = rng.choice(KEYS)
    return Table(
        "t",
        COLUMNS,
        grain=rng.choice(("document", "many")),
        key=key,
        pinned=bool(key) and rng.random() < 0.5,
    )


def relation_of(rng: random.Random) -> MemoryRelation:
    size = rng.randint(0, 14)

    def pick(options: Any) -> list[Any]:
        return [None if rng.random() < 0.25 else rng.choice(options) for _ in range(size)]

    columns = {
        "name": pick(NAMES),
        "year": pick((2020, 2021)),
        "amount": pick((5.0, 7.0, 7, 1577000.0)),
        "city": pick(("Cork", "cork", "Bray")),
        "day": pick(("2020-01-01", "2020-01-02")),
    }
    documents = [rng.choice("abc") for _ in range(size)]
    chunks = [d + rng.choice("12") for d in documents]
    return MemoryRelation(columns, None, documents, chunks)


def check(table: Table, relation: MemoryRelation, result: Reconciled) -> None:
    place = {row: i for i, row in enumerate(relation.row_ids)}
    assert sorted(s for row in result.rows for s in row.sources) == sorted(relation.row_ids)
    explained = {r for repair in result.repairs if repair.column for r in repair.rows}
    explained |= {r for c in result.conflicts for candidate in c.candidates for r in candidate.rows}
    for number, name in enumerate(table.column_names):
        values = relation.column(name)
        for row in result.rows:
            value = row.values[number]
            stated_here = [values[place[s]] for s in row.sources]
            if value is None:
                assert all(comparison_form(stated) is None for stated in stated_here)
            elif value not in stated_here:
                assert value in values and explained & set(row.sources), (
                    f"{value!r} was made up for {row.sources}"
                )
            for source, stated in zip(row.sources, stated_here, strict=True):
                if stated is None or comparison_form(stated) == comparison_form(value):
                    continue
                assert source in explained, f"{stated!r} of {source} vanished without a record"


def test_generated_tables_lose_nothing() -> None:
    """1,000 tables, or 10,000 when SLIDERS_TEST_FULL is set."""
    for seed in range(10_000 if os.environ.get("SLIDERS_TEST_FULL") else 1000):
        rng = random.Random(seed)
        table, relation = table_of(rng), relation_of(rng)
        check(table, relation, reconciled(table, relation))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_a_second_run_with_the_first_as_memory_gives_the_same_table(seed: int) -> None:
    rng = random.Random(seed)
    table, relation = table_of(rng), relation_of(rng)
    first = reconciled(table, relation)
    second = reconciled(table, relation, Options(settled=first.settlements))
    assert second.rows == first.rows and second.conflicts == first.conflicts


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_the_order_of_rows_does_not_change_which_rows_are_one(seed: int) -> None:
    rng = random.Random(seed)
    relation = relation_of(rng)
    table = Table("t", COLUMNS, key=("name", "year"), **EVERYWHERE)
    order = list(range(len(relation.row_ids)))
    rng.shuffle(order)
    shuffled = MemoryRelation(
        {c: [relation.column(c)[i] for i in order] for c in table.column_names},
        [relation.row_ids[i] for i in order],
        [relation.document_ids[i] for i in order],
        [relation.chunk_ids[i] for i in order],
    )
    groups = []
    for found in (reconciled(table, relation), reconciled(table, shuffled)):
        open_rows = {
            r for conflict in found.conflicts for side in conflict.candidates for r in side.rows
        }
        groups.append(
            {frozenset(row.sources) for row in found.rows if not open_rows & set(row.sources)}
        )
    assert groups[0] == groups[1]


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tiny_tables(rows: int) -> None:
    columns: dict[str, list[Any]] = {c.name: [None] * rows for c in COLUMNS}
    result = reconciled(Table("t", COLUMNS), MemoryRelation(columns))
    assert len(result.rows) == rows
