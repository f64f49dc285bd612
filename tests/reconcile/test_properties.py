"""Invariants on generated tables: no row lost, no value invented, nothing lost without a record, stable results."""

from __future__ import annotations

import asyncio
import os
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.reconcile.profile import comparison_form
from sliders.reconcile.reconcile import reconcile_table
from sliders.reconcile.relation import MemoryRelation
from sliders.reconcile.values import Options, Reconciliation
from sliders.schema.types import Column, ColumnType, Table

COLUMNS = (
    Column("name"),
    Column("year", ColumnType.INTEGER),
    Column("amount", ColumnType.NUMBER),
    Column("city"),
    Column("day", ColumnType.DATE),
)
NAMES = ("Orla Mills", "Orla Mills, Inc.", "ORLA MILLS", "Orla Mils", "Tarn", "TARN Ltd", "Ash & Birch", "O'Hara 🦉")
KEYS = ((), ("name",), ("name", "year"), ("day",))


def table_of(rng: random.Random) -> Table:
    key = rng.choice(KEYS)
    return Table("t", COLUMNS, grain=rng.choice(("document", "many")), key=key, pinned=bool(key) and rng.random() < 0.5)


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


def check(table: Table, relation: MemoryRelation, result: Reconciliation) -> None:
    place = {row: i for i, row in enumerate(relation.row_ids)}
    assert sorted(s for row in result.rows for s in row.sources) == sorted(relation.row_ids)
    explained = {r for repair in result.repairs if repair.column for r in repair.rows}
    explained |= {r for c in result.conflicts for candidate in c.candidates for r in candidate.rows}
    for number, name in enumerate(table.column_names):
        values = relation.column(name)
        for row in result.rows:
            value = row.values[number]
            if row.supplied[number]:
                assert values[place[row.supplied[number]]] == value
            else:
                assert value is None
                assert all(values[place[s]] is None for s in row.sources)
            for source in row.sources:
                stated = values[place[source]]
                if stated is None or comparison_form(stated) == comparison_form(value):
                    continue
                assert source in explained, f"{stated!r} of {source} vanished without a record"


async def _check_all(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        table, relation = table_of(rng), relation_of(rng)
        check(table, relation, await reconcile_table(table, relation))


def test_generated_tables_lose_nothing() -> None:
    """1,000 tables, or 10,000 when SLIDERS_TEST_FULL is set."""
    asyncio.run(_check_all(range(10_000 if os.environ.get("SLIDERS_TEST_FULL") else 1000)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_a_second_run_with_the_first_as_memory_gives_the_same_table(seed: int) -> None:
    rng = random.Random(seed)
    table, relation = table_of(rng), relation_of(rng)
    first = asyncio.run(reconcile_table(table, relation))
    second = asyncio.run(reconcile_table(table, relation, Options(settled=first.settlements)))
    assert second.rows == first.rows and second.conflicts == first.conflicts


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_the_order_of_rows_does_not_change_which_rows_are_one(seed: int) -> None:
    rng = random.Random(seed)
    relation = relation_of(rng)
    table = Table("t", COLUMNS, key=("name", "year"), pinned=True)
    order = list(range(len(relation.row_ids)))
    rng.shuffle(order)
    shuffled = MemoryRelation(
        {c: [relation.column(c)[i] for i in order] for c in table.column_names},
        [relation.row_ids[i] for i in order],
        [relation.document_ids[i] for i in order],
        [relation.chunk_ids[i] for i in order],
    )
    groups = [
        {frozenset(row.sources) for row in asyncio.run(reconcile_table(table, r)).rows if not row.flags}
        for r in (relation, shuffled)
    ]
    assert groups[0] == groups[1]


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tiny_tables(rows: int) -> None:
    columns: dict[str, list[Any]] = {c.name: [None] * rows for c in COLUMNS}
    result = asyncio.run(reconcile_table(Table("t", COLUMNS), MemoryRelation(columns)))
    assert len(result.rows) == rows
