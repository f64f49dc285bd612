"""What the agent is asked beside contradictions: the key, names, whole records;
and what rows that differ in a class are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reconciled import Reconciled, reconciled, yes_or_no

from sliders.errors import ModelRefusal
from sliders.llm import COMPACT
from sliders.llm.testing import FunctionModel, ScriptedModel
from sliders.reconcile import CellSource, MemoryRelation, Options
from sliders.schema import Column, Table
from sliders.values import ColumnType

EVERYWHERE: Any = {
    "pinned": True,
    "key_scope": "collection",
}  # a key that the user gave over all documents
INTEGER, NUMBER = ColumnType.INTEGER, ColumnType.NUMBER
SALES = Table(
    "sales",
    (
        Column("company"),
        Column("year", INTEGER),
        Column("quarter"),
        Column("revenue", NUMBER),
        Column("chair"),
        Column("city"),
        Column("form"),
    ),
    key=("company", "year"),
    key_scope="collection",
)
QUARTERS = [
    (f"Company {c}", 2022, q, amount, f"Chair {c}", f"City {c}", f"Form {c}")
    for c in "BC"
    for q, amount in (("Q1", 5.0), ("Q2", 7.0))
]


def run(
    table: Table, rows: Sequence[Sequence[Any]], model: Any = None, options: Options | None = None
) -> Reconciled:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(table.column_names)}
    documents = [f"d{n}" for n in range(len(rows))]
    return reconciled(table, MemoryRelation(columns, None, documents), options, model)


def test_the_model_names_the_key_where_groups_contradict_themselves() -> None:
    model = ScriptedModel(
        [
            {
                "key": ["company", "year", "quarter"],
                "scope": "collection",
                "reason": "a row is a quarter",
            }
        ]
    )
    result = run(SALES, QUARTERS, model)
    assert (
        result.key == ("company", "year", "quarter")
        and len(result.rows) == 4
        and not result.conflicts
    )
    assert result.calls == 1 and '"quarter": "Q1"' in model.history[0].messages[-1].content
    again = run(SALES, QUARTERS, ScriptedModel([]), Options(settled=result.settlements))
    assert again.key == result.key and again.calls == 0


def test_a_key_that_the_data_do_not_bear_out_is_refused() -> None:
    result = run(
        SALES,
        QUARTERS,
        ScriptedModel([{"key": ["revenue"], "scope": "collection", "reason": "no"}]),
    )
    assert result.key == ("company", "year") and len(result.rows) == 4
    assert {c.column for c in result.conflicts} == {"quarter", "revenue"}, (
        "what the schema calls one thing stays open"
    )
    assert any(d.verdict == "refused: revenue" and "amount" in d.reason for d in result.decisions)


def test_a_key_that_the_model_stands_by_holds_across_documents() -> None:
    """Many restated figures look to code like things of their own; whoever says otherwise
    is shown each group.
    """
    said = [
        {
            "group": n,
            "operation": op,
            "column": c,
            "statements": [f"UPDATE rows SET {c} = (SELECT max({c}) FROM rows)"] * k,
            "reason": "restated",
        }
        for n, op, k in ((1, "resolve_conflict", 1), (2, "apart", 0))
        for c in ("quarter", "revenue")
    ]
    key = {"key": ["company", "year"], "scope": "collection", "reason": "a row is a year"}
    model = ScriptedModel([key, {"looks": [], "repairs": said}])
    result = run(SALES, QUARTERS, model)
    assert [row.values[2:4] for row in result.rows] == [("Q2", 7.0), ("Q1", 5.0), ("Q2", 7.0)]
    assert result.calls == 2 and not result.conflicts


def counting(odds: float) -> FunctionModel:
    """A small model that counts the things of two documents: log-odds of one over two."""
    return FunctionModel(lambda _: {"one": odds - 1.0, "two": -1.0}, dialect=COMPACT)


BRIDGES = Table(
    "bridges",
    (Column("bridge_name"), Column("cost", NUMBER), Column("town")),
    row="a bridge",
    grain="document",
)
TOLD_TWICE = [
    ("Alder Ford", 5.0, "Cork"),
    ("Tarn Viaduct", 7.0, "Bray"),
    ("Alder Ford", 5.0, "Cork"),
    ("Eastgate", 9.0, "Sligo"),
    ("Tarn Viaduct", 8.0, "Bray"),
]


def test_a_small_model_that_counts_one_thing_lets_a_name_hold_across_documents() -> None:
    model = counting(0.9)
    sure = run(BRIDGES, TOLD_TWICE, model)
    assert [row.sources for row in sure.rows] == [("r0", "r2"), ("r1", "r4"), ("r3",)]
    assert not sure.unsure_merges
    asked = [request.messages[-1].content for request in model.history]
    assert sure.calls == 6 and len(asked) == 6, "four about the key, two about the two costs"
    assert "d0 tells of a bridge: Alder Ford\nd2 tells of a bridge: Alder Ford" in asked[0]
    assert "one or two" in asked[0] and "two or one" in asked[1] and "Tarn Viaduct" in asked[2]
    again = run(BRIDGES, TOLD_TWICE, counting(-9.0), Options(settled=sure.settlements))
    assert len(again.rows) == 3 and again.calls == 2, "the key is settled"


def test_what_a_small_model_is_hardly_sure_of_is_one_row_in_doubt() -> None:
    likely = run(BRIDGES, TOLD_TWICE, counting(0.2))
    assert [row.sources for row in likely.rows] == [("r0", "r2"), ("r1", "r4"), ("r3",)]
    assert set(likely.unsure_merges) == {(("r0",), ("r2",)), (("r1",), ("r4",))}
    assert {conflict.column for conflict in likely.conflicts} == {"cost"}
    assert all(one.signature.partition(":")[0] != "key" for one in likely.settlements)


def test_rows_of_a_name_whose_reach_nobody_decided_stay_apart_in_doubt() -> None:
    for model in (counting(-0.5), ScriptedModel([ModelRefusal("no")] * 3), None):
        left = run(BRIDGES, TOLD_TWICE, model)
        assert len(left.rows) == 5 and left.left_open == (("r0", "r2"), ("r1", "r4"))
    unlike = [*TOLD_TWICE[:2], ("Alder Ford", 6.0, "Kerry")]
    assert not run(BRIDGES, unlike).left_open, "two bridges may have one name"
    said = {"key": ["bridge_name"], "scope": "document", "reason": "each report has its own"}
    assert not run(BRIDGES, TOLD_TWICE, ScriptedModel([said])).left_open


def test_rows_that_differ_in_a_class_and_an_amount_are_no_conflict() -> None:
    """Twelve companies, each worldwide and in one region: nothing contradicts, with no
    model and without a word.
    """
    rows = [
        (f"Company {n}", 2022, region, float(n + r), f"Chair {n}", f"City {n}", f"Form {n}")
        for n in range(10, 22)
        for r, region in enumerate(("worldwide", "Europe"))
    ]
    result = run(SALES, rows)
    assert len(result.rows) == 24 and not result.conflicts


def test_a_model_that_chooses_says_whether_two_names_are_one() -> None:
    table = Table(
        "firms",
        (Column("name"), Column("staff", INTEGER, unit="people")),
        key=("name",),
        **EVERYWHERE,
    )
    rows = [("Harrow and Pell Engineering", 5), ("Harrow and Pell", None)]
    one, two = (run(table, rows, yes_or_no(verdict)) for verdict in ("yes", "no"))
    assert [row.values for row in one.rows] == rows, "what it picks merges no rows"
    assert [row.names for row in one.rows] == [{"name": "Harrow and Pell Engineering"}] * 2
    assert any(r.author == "model" and r.operation == "canonicalize" for r in one.repairs)
    (doubt,) = one.open_names
    assert (
        doubt.joined
        and doubt.rows == (("r0", "r1"),)
        and set(doubt.sides) == {(row[0],) for row in rows}
    )
    assert [row.names for row in two.rows] == [{}, {}] and not two.open_names


def test_a_passage_that_names_both_forms_is_shown() -> None:
    table = Table(
        "firms",
        (Column("name"), Column("staff", INTEGER, unit="people")),
        key=("name",),
        **EVERYWHERE,
    )
    words = "the Southern Tidal Power Authority (STPA) said that STPA"
    sources = {
        ("r1", "name"): CellSource("STPA", words),
        ("r3", "name"): CellSource("Moss", "Moss Foundry sold it"),
    }
    rows = [
        ("Southern Tidal Power Authority", 5),
        ("STPA", None),
        ("Moss Foundry", 7),
        ("Moss", None),
    ] + [(f"Firm number {n}", n) for n in range(10)]
    model = yes_or_no("yes")
    listed = {"name": [r[0] for r in rows], "staff": [r[1] for r in rows]}
    reconciled(table, MemoryRelation(listed, sources=sources), None, model)
    first, second = (request.messages[-1].content for request in model.history)
    assert words in first and 'stand for "Southern' in first
    assert "sold it" not in second and 'the name "Moss" mean' in second


def test_a_table_without_a_key_is_resolved_by_whole_records() -> None:
    columns = (Column("title"), Column("maker"), Column("weight", NUMBER))
    rows = [
        ("Quartz Lantern Mark 4 storm lamp", "Tarnside", 2.5),
        ("Storm lamp Quartz Lantern Mark 4", "Tarnside", 2.5),
        ("Copper kettle, two litres", "Orla", 1.0),
        ("Oak ladder", "Vela", 9.0),
        ("Hemp rope 20 m", "Brisk", 4.0),
        ("Iron anvil", "Cobalt", 80.0),
        ("Glass float", "Dunmore", 0.5),
        ("Brass compass", "Elgin", 0.2),
    ]
    assert [
        len(row.sources) for row in run(Table("goods", columns), rows, yes_or_no("yes")).rows
    ] == [2, *[1] * 6]
    assert len(run(Table("goods", columns), rows, yes_or_no("no")).rows) == 8
    heavier = [rows[0], (*rows[1][:2], 7.5), *rows[2:]]
    model = yes_or_no("yes")
    assert len(run(Table("goods", columns), heavier, model).rows) == 8 and not model.history


def test_the_agent_merges_records_into_the_row_that_it_lets_stay() -> None:
    columns = (Column("title"), Column("maker"), Column("weight", NUMBER), Column("note"))
    rows = [
        ("Quartz Lantern Mark 4 storm lamp", "Tarnside", 2.5, "brass"),
        ("Storm lamp Quartz Lantern Mark 4", "Tarnside", 2.5, "rust"),
        ("Copper kettle, two litres", "Orla", 1.0, None),
        ("Oak ladder", "Vela", 9.0, None),
        ("Hemp rope 20 m", "Brisk", 4.0, None),
        ("Iron anvil", "Cobalt", 80.0, None),
        ("Glass float", "Dunmore", 0.5, None),
        ("Brass compass", "Elgin", 0.2, None),
    ]
    merge = ["UPDATE rows SET merged_into = 'r1' WHERE row_id = 'r0'"]
    said = {
        "group": 1,
        "operation": "deduplicate",
        "column": "",
        "statements": merge,
        "reason": "one lamp",
    }
    result = run(Table("goods", columns), rows, ScriptedModel([{"looks": [], "repairs": [said]}]))
    (lamp,) = [row for row in result.rows if len(row.sources) > 1]
    assert lamp.values == rows[1] and set(lamp.sources) == {"r0", "r1"} and len(result.rows) == 7
    assert result.conflict_groups == result.calls == 1 and not result.conflicts


def test_entries_of_two_lists_match_one_to_one() -> None:
    columns = (Column("title"), Column("weight", NUMBER))
    rows = [
        ("Quartz Lantern Mark 4 storm lamp", 2.5),
        ("Copper kettle, two litres", 1.0),
        ("Oak ladder", 9.0),
        ("Storm lamp Quartz Lantern Mark 4", 2.5),
        ("Copper kettle two litres", 7.0),
        ("Iron anvil", 80.0),
    ]
    relation = MemoryRelation(
        {c.name: [row[n] for row in rows] for n, c in enumerate(columns)},
        None,
        [*"aaabbb"],
        [*"123456"],
    )
    result = reconciled(Table("goods", columns), relation, None, yes_or_no("yes"))
    assert [row.sources for row in result.rows if len(row.sources) > 1] == [("r0", "r3")]
    assert result.calls == result.conflict_groups == 1
