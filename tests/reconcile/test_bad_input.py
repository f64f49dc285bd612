"""Tables that are odd: empty, keyless, huge groups, mixed types, many columns, strange names."""

from __future__ import annotations

from typing import Any

import pytest
from reconciled import Reconciled, reconciled

from sliders.errors import RepairError
from sliders.reconcile import GIANT_GROUP, MemoryRelation
from sliders.schema import Column, Table
from sliders.values import ColumnType

EVERYWHERE: Any = {
    "pinned": True,
    "key_scope": "collection",
}  # a key that the user gave over all documents
PAIR = Table("t", (Column("name"), Column("n", ColumnType.NUMBER)), key=("name",), **EVERYWHERE)


def run(
    table: Table, columns: dict[str, list[Any]], documents: list[str] | None = None
) -> Reconciled:
    return reconciled(table, MemoryRelation(columns, None, documents))


@pytest.mark.parametrize("grain", ["document", "many"])
def test_no_rows(grain: Any) -> None:
    assert run(Table("t", PAIR.columns, grain=grain), {"name": [], "n": []}).rows == ()
    assert run(PAIR, {"name": [], "n": []}).rows == ()


def test_all_keys_null_keeps_every_row() -> None:
    result = run(PAIR, {"name": [None] * 5, "n": [1.0] * 5})
    assert len(result.rows) == 5


def test_one_giant_contradictory_group_stays_as_it_is() -> None:
    size = GIANT_GROUP + 10
    result = run(PAIR, {"name": ["x"] * size, "n": [float(i) for i in range(size)]})
    assert len(result.rows) == size


def test_one_giant_agreeing_group_is_one_row() -> None:
    result = run(PAIR, {"name": ["x"] * 5000, "n": [1.0] * 5000})
    assert len(result.rows) == 1 and len(result.rows[0].sources) == 5000


def test_a_key_that_is_unique_per_row_changes_nothing() -> None:
    result = run(PAIR, {"name": [f"n{i} x" for i in range(50)], "n": [1.0] * 50})
    assert [row.sources for row in result.rows] == [(f"r{i}",) for i in range(50)]


def test_text_in_a_number_column_is_a_value_like_others() -> None:
    result = run(PAIR, {"name": ["a b", "a b", "c d"], "n": [1.0, "n/a", float("nan")]})
    assert [str(row.values[1]) for row in result.rows] == ["1.0", "None"]
    assert [[side.value for side in conflict.candidates] for conflict in result.conflicts] == [
        [1.0, "n/a"]
    ]


def test_numbers_and_their_text_are_not_one_value() -> None:
    result = run(PAIR, {"name": ["a b", "a b"], "n": [1.0, "1.0"]})
    assert len(result.conflicts) == 1


def test_300_columns() -> None:
    columns = tuple(
        Column(f"c{i}", ColumnType.NUMBER if i % 2 else ColumnType.TEXT) for i in range(300)
    )
    data = {
        c.name: [None if (i + r) % 3 else (float(i) if i % 2 else f"v{i}") for r in range(4)]
        for i, c in enumerate(columns)
    }
    result = run(Table("wide", columns), data, ["a", "a", "b", "b"])
    assert sorted(s for row in result.rows for s in row.sources) == ["r0", "r1", "r2", "r3"]


def test_names_with_quotes_and_emoji_stay_as_printed() -> None:
    names = ['O\'Hara "The" 🦉; DROP TABLE x', "🦉", "🦊", "日本 株式会社", "Łódź"]
    result = run(PAIR, {"name": names, "n": [1.0] * 5})
    assert [row.values[0] for row in result.rows] == names


def test_unknown_column_of_the_relation_counts_as_empty() -> None:
    assert [row.values for row in run(PAIR, {"name": ["a"]}).rows] == [("a", None)]


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(RepairError, match="lengths"):
        MemoryRelation({"a": [1], "b": [1, 2]})
