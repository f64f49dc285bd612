"""Canonical names: spellings, and what a model may join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from reconciled import Reconciled, reconciled, yes_or_no

from sliders.llm import COMPACT
from sliders.llm.testing import FunctionModel, ScriptedModel
from sliders.reconcile import MemoryRelation, Options, shortened
from sliders.schema import Column, Table
from sliders.values import ColumnType

EVERYWHERE: Any = {
    "pinned": True,
    "key_scope": "collection",
}  # a key that the user gave over all documents


def run(
    table: Table,
    rows: Sequence[Sequence[Any]],
    documents: str,
    options: Options | None = None,
    model: Any = None,
) -> Reconciled:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(table.column_names)}
    return reconciled(table, MemoryRelation(columns, None, list(documents)), options, model)


def test_spellings_of_one_name_are_counted_once_under_the_most_frequent_one() -> None:
    table = Table("shops", (Column("place"), Column("grade")))
    rows = [
        ("City Centre", "A"),
        ("city centre", "a+"),
        ("city  centre", "A"),
        ("city centre", "B"),
        ("Quay", "A+"),
    ]
    result = run(table, rows, "abcde")
    assert [row.values for row in result.rows] == rows
    assert [row.names["place"] for row in result.rows] == ["city centre"] * 4 + ["Quay"]
    assert [row.names["grade"] for row in result.rows] == ["A", "a+", "A", "B", "a+"]
    (repair,) = [r for r in result.repairs if r.column == "place"]
    assert (
        repair.before == ("City Centre", "city centre", "city  centre") and "case" in repair.reason
    )


def test_a_model_that_says_yes_to_every_pair_chains_no_two_names() -> None:
    table = Table("places", (Column("place"), Column("visits")))
    one = {
        "operation": "canonicalize",
        "column": "place",
        "statements": ["UPDATE rows SET place = 'Bunnerton'"],
        "reason": "one",
    }
    yes = ScriptedModel([{"looks": [], "repairs": [{"group": n} | one for n in (1, 2)]}])
    rows = [("Bonnerton", None), ("Bunnerton", None), ("Bunnerdan", None)]
    result = run(table, rows, "abc", model=yes)
    assert [row.values for row in result.rows] == rows and len(
        {row.names["place"] for row in result.rows}
    ) == 2
    (chained,) = result.open_names
    assert "chain" in chained.reason and not chained.joined
    again = run(table, rows, "abc", Options(settled=result.settlements), ScriptedModel([]))
    assert again.rows == result.rows and again.open_names == result.open_names


BRIDGES = Table(
    "bridges",
    (Column("name"), Column("opened", ColumnType.INTEGER), Column("cost", ColumnType.NUMBER)),
    row="one bridge",
    key=("name",),
    **EVERYWHERE,
)
OTHERS = [
    ("Alder Ford", 2009, 2.5),
    ("Brackwater", 1998, 3.0),
    ("Cinder Lock", 2015, 1.2),
    ("Eastgate", 1987, 1.0),
]


def joined(result: Reconciled) -> bool:
    """Whether two forms are shown as one name; each row keeps what it prints."""
    assert len({row.values[0] for row in result.rows}) == len(result.rows)
    return any(repair.operation == "canonicalize" for repair in result.repairs)


PICKS = yes_or_no("no")


def test_an_abbreviated_form_is_one_name_where_as_much_agrees_as_contradicts() -> None:
    rows = [("Dunmarrow Bridge", 2018, 4.6), ("Dunmarrow Br.", 2018, 4.1), *OTHERS]
    assert joined(run(BRIDGES, rows, "abcdef", model=PICKS))
    rows[1] = ("Dunmarrow Br.", 1950, 4.1)  # nothing agrees
    assert not joined(run(BRIDGES, rows, "abcdef", model=PICKS))
    rows[1] = ("D. Bridge", 2018, 4.1)  # many names have an initial
    assert not joined(run(BRIDGES, rows, "abcdef", model=PICKS))
    rows[1] = ("Dunmarow Bridge", 2018, 4.1)  # a misspelling may be another name
    assert not joined(run(BRIDGES, rows, "abcdef", model=PICKS))


@pytest.mark.parametrize("odds", [0.2, 0.9])
def test_names_that_the_rows_bear_out_are_one_row_in_doubt_where_the_key_reaches_so_far(
    odds: float,
) -> None:
    """Documents of one name are one bridge, as a model says that counts them."""
    table = replace(BRIDGES, key=(), pinned=False, key_scope="document", grain="document")
    rows = [("Dunmarrow Bridge", 2018, 4.6), ("Dunmarrow Br.", 2018, 4.1), *OTHERS, OTHERS[0]]
    counts = FunctionModel(lambda _: {"one": odds - 1.0, "two": -1.0}, dialect=COMPACT)
    found = run(table, rows, "abcdefg", model=counts)
    assert [row.sources for row in found.rows if len(row.sources) > 1] == [
        ("r0", "r1"),
        ("r2", "r6"),
    ]
    assert (("r0",), ("r1",)) in found.unsure_merges
    assert [conflict.column for conflict in found.conflicts] == ["cost"]
    apart = run(
        table,
        rows,
        "abcdefg",
        model=FunctionModel(lambda _: {"one": -2.0, "two": -1.0}, dialect=COMPACT),
    )
    assert len(apart.rows) == 7, "nobody said that documents of one name are one bridge"


def test_a_short_form_is_left_to_a_reader_where_there_is_one() -> None:
    rows = [("Dunmarrow", 2018, 4.6), ("Dunmarrow East", 2018, 4.6), *OTHERS]
    assert joined(run(BRIDGES, rows, "abcdef", model=PICKS))
    apart = {
        "group": 1,
        "operation": "apart",
        "column": "",
        "statements": [],
        "reason": "East is a part of it",
    }
    reader = ScriptedModel([{"looks": [], "repairs": [apart]}])
    result = run(BRIDGES, rows, "abcdef", model=reader)
    assert not joined(result) and len(reader.history) == 1
    assert "Dunmarrow East" in reader.history[0].messages[-1].content


def test_an_abbreviated_form_of_two_names_stays_apart() -> None:
    rows = [
        ("Dunmarrow Bridge", 2018, 4.6),
        ("Dunmarrow Br.", 2018, 4.1),
        ("Dunmarrow Brewery", 1901, 0.3),
        *OTHERS,
    ]
    result = run(BRIDGES, rows, "abcdefg", model=PICKS)
    assert not joined(result)
    assert (
        sum("several names" in decision.reason for decision in result.decisions) == 1
    )  # rows refute the brewery


@pytest.mark.parametrize(
    ("short", "full", "is_form"),
    [
        ("Univ. Marrenfeld", "Universität Marrenfeld", True),
        ("Av. Constitución", "Avenida Constitución", True),
        ("Karin Ek", "Karin Eklund", False),
        ("D. B.", "Dunmarrow Bridge", False),
        ("Bridge Co.", "Bridge", False),
        ("Hallvard Mtn. Lodge", "Hallvard Mountain Lodge", True),
        ("St. Hildburg", "Sankt Hildburg", True),
        ("Bx. Hildburg", "Burg Hildburg", False),
    ],
)
def test_a_full_stop_ends_an_abbreviated_word(short: str, full: str, is_form: bool) -> None:
    assert bool(shortened(short, full)) is is_form
