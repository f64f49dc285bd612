"""Reconciliation of a table: what is merged, what is kept apart, and what is left open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from reconciled import Reconciled, reconciled, yes_or_no

from sliders.errors import ModelRefusal, RepairError
from sliders.extraction import Absence, Cell, How, Row
from sliders.llm import COMPACT, Request
from sliders.llm.testing import FunctionModel, ScriptedModel
from sliders.reconcile import (
    CellSource,
    DecidedCorrection,
    DocumentSource,
    MemoryRelation,
    Normalization,
    Options,
    Precedence,
    relation_of,
)
from sliders.schema import Column, Table
from sliders.values import ColumnType

EVERYWHERE: Any = {
    "pinned": True,
    "key_scope": "collection",
}  # a key that the user gave over all documents
TEXT, NUMBER, INTEGER, DATE = (
    ColumnType.TEXT,
    ColumnType.NUMBER,
    ColumnType.INTEGER,
    ColumnType.DATE,
)
SPEND = Table(
    "spend",
    (Column("company"), Column("year", INTEGER), Column("amount", NUMBER), Column("city")),
    row="one company in one year",
    key=("company", "year"),
    pinned=True,
    key_scope="collection",
)


def run(
    table: Table,
    rows: Sequence[Sequence[Any]],
    documents: str = "",
    options: Options | None = None,
    model: Any = None,
    sources: Mapping[tuple[str, str], CellSource] | None = None,
    known: Mapping[str, DocumentSource] | None = None,
    chunks: Sequence[str] | None = None,
) -> Reconciled:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(table.column_names)}
    relation = MemoryRelation(
        columns,
        [f"r{i}" for i in range(len(rows))],
        list(documents) or ["d"] * len(rows),
        chunks,
        known,
        sources,
    )
    return reconciled(table, relation, options, model)


def values(result: Reconciled) -> list[tuple[Any, ...]]:
    return [row.values for row in result.rows]


def test_a_fact_stated_twice_is_one_row_with_both_sources() -> None:
    result = run(SPEND, [("Orla", 2021, 5.0, None), ("Orla", 2021, 5.0, "Cork")], "ab")
    assert values(result) == [("Orla", 2021, 5.0, "Cork")]
    assert result.rows[0].sources == ("r0", "r1")


def test_variants_share_a_canonical_form_and_the_printed_one_is_told() -> None:
    rows = [
        ("Orla Mills, Inc.", 2021, 5.0, None),
        ("ORLA MILLS  Inc.", 2022, 6.0, None),
        ("orla mills, inc.", 2023, 6.0, None),
    ]
    result = run(SPEND, rows, "abc")
    assert [row.values[0] for row in result.rows] == [
        "Orla Mills, Inc.",
        "ORLA MILLS  Inc.",
        "orla mills, inc.",
    ]
    assert [row.names["company"] for row in result.rows] == [
        "Orla Mills, Inc.",
        "ORLA MILLS  Inc.",
        "Orla Mills, Inc.",
    ]
    (repair,) = result.repairs
    assert (
        repair.before == ("Orla Mills, Inc.", "orla mills, inc.")
        and repair.after == "Orla Mills, Inc."
    )
    (pair,) = result.open_names
    assert (
        set(pair.sides) == {("Orla Mills, Inc.", "orla mills, inc."), ("ORLA MILLS  Inc.",)}
        and not pair.joined
    )


def test_nothing_is_repaired_without_variants() -> None:
    assert not run(SPEND, [("Orla", 2021, 5.0, None), ("Tarn", 2021, 5.0, None)], "ab").repairs


def test_a_certain_row_holds_what_most_sources_state_while_a_contradiction_is_open() -> None:
    rows = [("Orla", 2021, 5.0, "Cork"), ("Orla", 2021, 7.0, None)]
    certain = run(SPEND, rows, "ab")
    assert values(certain) == rows[:1] and len(certain.conflicts) == 1
    assert values(run(replace(SPEND, pinned=False), rows, "ab")) == rows, (
        "nobody said that the key holds over documents"
    )
    table = Table("report", (Column("place"), Column("injured", INTEGER)), grain="document")
    told = run(table, [("Arlen", 4), ("Arlen", 5), ("Brook", 1)], "aab", chunks=["a1", "a2", "b1"])
    assert values(told) == [("Arlen", 4), ("Brook", 1)] and len(told.conflicts) == 1


def test_a_contradiction_without_criterion_stays_visible_with_both_quotes() -> None:
    sources = {
        ("r0", "amount"): CellSource(quote="spent 5"),
        ("r1", "amount"): CellSource(quote="spent 7"),
    }
    result = run(
        SPEND, [("Orla", 2021, 5.0, "Cork"), ("Orla", 2021, 7.0, "Cork")], "ab", sources=sources
    )
    assert [row.values[2] for row in result.rows] == [5.0]
    (conflict,) = result.conflicts
    assert [c.source.quote for c in conflict.candidates] == ["spent 5", "spent 7"]
    assert "spent 5" in str(conflict) and "spent 7" in str(conflict)


def test_two_sources_outvote_one_and_the_repair_says_so() -> None:
    result = run(
        SPEND,
        [("Orla", 2021, 5.0, None), ("Orla", 2021, 7.0, None), ("Orla", 2021, 5.0, None)],
        "abc",
    )
    assert values(result) == [("Orla", 2021, 5.0, None)]
    repair = next(r for r in result.repairs if r.operation == "resolve_conflict")
    assert (
        repair.before == (5.0, 7.0)
        and repair.after == 5.0
        and "2 sources against 1" in repair.reason
    )


def test_without_a_model_a_table_holds_over_prose() -> None:
    sources = {
        ("r0", "amount"): CellSource(kind="prose"),
        ("r1", "amount"): CellSource(kind="table"),
    }
    result = run(
        SPEND, [("Orla", 2021, 5.0, None), ("Orla", 2021, 7.0, None)], "ab", sources=sources
    )
    assert [row.values[2] for row in result.rows] == [7.0]


def test_the_newer_document_supersedes_only_when_the_user_says_so() -> None:
    rows = [("Orla", 2021, 5.0, None), ("Orla", 2021, 7.0, None)]
    known = {
        "a": DocumentSource("a", "x", "2021-01-01"),
        "b": DocumentSource("b", "y", "2022-01-01"),
    }
    assert len(run(SPEND, rows, "ab", known=known).conflicts) == 1
    newer = run(SPEND, rows, "ab", Options(criteria=("newer_document",)), known=known)
    assert [row.values[2] for row in newer.rows] == [7.0] and not newer.conflicts


def test_a_precede_rule_beats_votes() -> None:
    rows = [("Orla", 2021, 5.0, None), ("Orla", 2021, 7.0, None), ("Orla", 2021, 5.0, None)]
    known = {
        d: DocumentSource(d, name)
        for d, name in (("a", "press"), ("b", "register"), ("c", "press"))
    }
    result = run(
        SPEND, rows, "abc", Options(precede=(Precedence("register", "press"),)), known=known
    )
    assert [row.values[2] for row in result.rows] == [7.0]


def test_a_rounded_figure_is_no_contradiction() -> None:
    sources = {
        ("r0", "amount"): CellSource(printed="1.6 million", scale="million"),
        ("r1", "amount"): CellSource(printed="1,577,000"),
    }
    result = run(
        SPEND, [("Orla", 2021, 1.6e6, None), ("Orla", 2021, 1577000.0, None)], "ab", sources=sources
    )
    assert [row.values[2] for row in result.rows] == [1577000.0] and not result.conflicts


def test_the_same_quantity_in_two_units_keeps_the_columns_unit() -> None:
    table = Table(
        "run", (Column("name"), Column("length", NUMBER, unit="km")), key=("name",), **EVERYWHERE
    )
    sources = {("r0", "length"): CellSource(unit="miles"), ("r1", "length"): CellSource(unit="km")}
    result = run(table, [("Orla", 10.0), ("Orla", 16.09)], "ab", sources=sources)
    assert values(result) == [("Orla", 16.09)] and result.repairs[0].operation == "convert"


ROWS = [("Orla", 2021, 5.0, None), ("Orla", 2021, 7.0, None)]


def settle(
    *statements: str, operation: str = "resolve_conflict", group: int = 1, **more: Any
) -> dict[str, Any]:
    """A reply of the agent: one program for the amount of one group."""
    repair = {
        "group": group,
        "operation": operation,
        "column": "amount",
        "statements": list(statements),
        "reason": "said",
    }
    return {"looks": [], "repairs": [repair]} | more


TWO = [*ROWS, ("Tarn", 2021, 5.0, None), ("Tarn", 2021, 7.0, None)]
TAKE_7 = "UPDATE rows SET amount = (SELECT amount FROM rows WHERE row_id = 'r1')"


def test_the_agents_sql_runs_as_it_stands_and_is_kept() -> None:
    model = ScriptedModel([settle(TAKE_7)])
    result = run(SPEND, ROWS, "ab", model=model)
    assert [row.values[2] for row in result.rows] == [7.0]
    assert result.calls == 1 and result.conflict_groups == 1 and not result.conflicts
    (repair,) = (r for r in result.repairs if r.author == "model")
    assert (repair.statements, repair.before, repair.after) == ((TAKE_7,), (5.0, 7.0), 7.0)
    again = run(SPEND, ROWS, "ab", Options(settled=result.settlements), ScriptedModel([]))
    assert again.calls == 0 and values(again) == values(result) and again.repairs == result.repairs


def test_the_agent_sees_where_each_value_comes_from_and_the_users_rules() -> None:
    sources = {
        ("r0", "amount"): CellSource(
            "5", "spent 5 in all", "Summary", 2, how=How.COMPUTED, rationale="2 + 3"
        ),
        ("r1", "amount"): CellSource("7", "restated: 7", "Notes", 9, kind="table"),
    }
    known = {
        "a": DocumentSource("a", "a.txt", "2021-01-01", 0, "First"),
        "b": DocumentSource("b", "b.txt", "", 1, "Second"),
    }
    model = ScriptedModel([settle(TAKE_7)])
    run(SPEND, ROWS, "ab", Options(criteria=("audited_over_unaudited",)), model, sources, known)
    text = model.history[0].messages[-1].content
    for words in (
        "spent 5 in all",
        "computed",
        "2 + 3",
        "restated: 7",
        '"Notes"',
        "page 9",
        "in a table",
        '"Second"',
        "2021-01-01",
        "an audited figure holds over",
    ):
        assert words in text


@pytest.mark.parametrize("operation", ["leave", "apart"])
def test_what_is_left_stays_open_and_what_is_apart_is_no_conflict(operation: str) -> None:
    result = run(SPEND, ROWS, "ab", model=ScriptedModel([settle(operation=operation)]))
    assert len(result.rows) == (1 if operation == "leave" else 2)
    assert len(result.conflicts) == (operation == "leave")


def test_the_agent_may_look_before_it_decides() -> None:
    asked = []

    def look(sql: str) -> str:
        asked.append(sql)
        return "company | amount"

    model = ScriptedModel([{"looks": ["SELECT * FROM spend"], "repairs": []}, settle(TAKE_7)])
    result = run(SPEND, TWO, "abcd", Options(look=look), model)
    assert (
        asked == ["SELECT * FROM spend"]
        and len(result.conflicts) == 1
        and result.calls == result.conflict_groups == 2
    )
    assert "company | amount" in model.history[1].messages[-1].content


def test_small_groups_share_a_call() -> None:
    rows = [(f"C{n}", 2021, amount, None) for n in range(5) for amount in (5.0, 7.0)]
    reply = {
        "looks": [],
        "repairs": [
            settle("UPDATE rows SET amount = 7.0", group=n)["repairs"][0] for n in range(1, 6)
        ],
    }
    result = run(SPEND, rows, "ab" * 5, model=ScriptedModel([reply]))
    assert result.calls == 1 and [row.values[2] for row in result.rows] == [7.0] * 5


def test_a_model_that_chooses_is_asked_for_one_token_and_code_writes_the_sql() -> None:
    def choose(request: Request) -> Any:
        text = request.messages[-1].content
        letter = next(line[0] for line in text.splitlines() if '"amount": 7.0' in line)
        return {choice: -0.1 if choice == letter else -3.0 for choice in request.choices}

    model = FunctionModel(choose, dialect=COMPACT)
    result = run(SPEND, ROWS, "ab", model=model)
    assert [row.values[2] for row in result.rows] == [7.0] and result.calls == 2
    assert len({request.messages for request in model.history}) == 2, "in both orders"
    first = FunctionModel(
        lambda request: {choice: -0.1 if choice == "A" else -3.0 for choice in request.choices},
        dialect=COMPACT,
    )
    assert run(SPEND, ROWS, "ab", model=first).conflicts, "whatever stands first decides nothing"
    (repair,) = (r for r in result.repairs if r.author == "model")
    assert repair.scoped and repair.sql.startswith("UPDATE rows SET")
    unsure = FunctionModel(lambda request: dict.fromkeys(request.choices, -1.0), dialect=COMPACT)
    assert len(run(SPEND, ROWS, "ab", model=unsure).conflicts) == 1


def test_an_unusable_reply_leaves_the_conflict_open() -> None:
    model = ScriptedModel([ModelRefusal("no JSON")])
    result = run(SPEND, [("Orla", 2021, 5.0, None), ("Orla", 2021, 7.0, None)], "ab", model=model)
    assert len(result.conflicts) == 1
    assert any("could not be used" in decision.reason for decision in result.decisions)


def test_receipts_of_one_company_are_never_merged() -> None:
    table = Table(
        "receipt",
        (Column("company"), Column("date", DATE), Column("total", NUMBER)),
        grain="document",
    )
    rows = [("Tarn Ltd", f"2021-01-{d:02}", float(d)) for d in range(1, 9)]
    result = run(table, rows, "abcdefgh")
    assert [row.sources for row in result.rows] == [(f"r{i}",) for i in range(8)]


def test_receipts_stay_apart_even_if_the_schema_names_the_company_as_key() -> None:
    columns = (Column("company"), Column("address"), Column("date", DATE), Column("total", NUMBER))
    table = Table("receipt", columns, grain="document", key=("company",))
    rows = [("Tarn Ltd", "1 High St", f"2021-01-{d:02}", float(d)) for d in range(1, 9)]
    assert len(run(table, rows, "abcdefgh").rows) == 8


def test_partial_rows_of_one_document_merge_when_a_document_is_a_row() -> None:
    table = Table(
        "report",
        (Column("place"), Column("date", DATE), Column("injured", INTEGER)),
        grain="document",
    )
    rows = [("Arlen", None, None), (None, "2020-02-03", 4), ("Brook", None, 1)]
    result = run(table, rows, "aab", chunks=["a1", "a2", "b1"])
    assert values(result) == [("Arlen", "2020-02-03", 4), ("Brook", None, 1)]


def test_a_document_grain_that_the_chunks_refute_is_not_believed() -> None:
    table = Table(
        "listing", (Column("name"), Column("price", NUMBER), Column("city")), grain="document"
    )
    rows = [("Ash", 10.0, "Arlen"), ("Birch", 20.0, "Brook"), ("Cedar", 30.0, "Corby")]
    assert len(run(table, rows, "aaa").rows) == 3


def test_listings_of_one_name_with_other_attributes_stay_apart() -> None:
    table = Table(
        "listing",
        (Column("name"), Column("price", NUMBER), Column("city"), Column("phone")),
        key=("name",),
    )
    rows = [("Ash", 10.0, "Arlen", "1"), ("Ash", 20.0, "Brook", "2"), ("Birch", 5.0, "Corby", "3")]
    assert len(run(table, rows, "abc").rows) == 3


def test_a_player_in_many_games_is_an_event_each_time() -> None:
    table = Table(
        "line", (Column("player"), Column("points", INTEGER), Column("rebounds", INTEGER))
    )
    players = ["Ann Ash", "Bea Birch", "Cal Cedar"]
    rows = [(p, 3 * g + i, 7 * i + 2 * g) for g in range(6) for i, p in enumerate(players)]
    result = run(table, rows, "".join(c * 3 for c in "abcdef"))
    assert len(result.rows) == 18


def one_thing_over_documents(*key: str) -> ScriptedModel:
    """An agent that says that a key identifies one thing in whatever document it stands."""
    return ScriptedModel([{"key": list(key), "scope": "collection", "reason": "a name is a name"}])


def test_an_entity_told_in_many_documents_becomes_one_row_where_the_agent_says_so() -> None:
    table = Table(
        "person", (Column("name"), Column("born", INTEGER), Column("city"), Column("office"))
    )
    people = [
        (f"Person{i} Name{i}", 1900 + i, f"City{i % 7}", f"Office {i % 5}") for i in range(12)
    ]
    rows = people + people
    chunks = [f"c{i // 4}" for i in range(24)]
    model = one_thing_over_documents("name")
    result = run(table, rows, "a" * 12 + "b" * 12, chunks=chunks, model=model)
    assert result.across_documents and len(result.rows) == 12 and result.calls == 1
    assert not result.unsure_merges and '"document": "b"' in model.history[0].messages[-1].content
    alone = run(table, rows, "a" * 12 + "b" * 12, chunks=chunks)
    assert len(alone.rows) == 24 and not alone.across_documents, (
        "what the data suggest decides nothing"
    )


def test_ungrounded_cells_do_not_enter() -> None:
    row = Row("r0", "t", "d", "c", 0, (Cell("name", "Ash", "Ash", absence=Absence.UNGROUNDED),))
    assert relation_of([row], ("name",)).column("name") == [None]
    assert relation_of([row], ("name",), unverified=True).column("name") == ["Ash"]


def test_a_missing_key_stays_empty_whatever_other_rows_of_its_document_say() -> None:
    columns = (Column("company"), Column("year", INTEGER), Column("amount", NUMBER))
    table = Table("spend", columns, key=("company", "year"), pinned=True)
    rows = [("Orla", 2020, 1.0), ("Orla", 2021, 2.0), (None, 2022, 3.0), (None, 2020, 4.0)]
    result = run(table, rows, "aaab")
    assert [row.values[0] for row in result.rows] == ["Orla", "Orla", None, None]
    assert not result.repairs


def test_normalize_terms_join_forms_and_name_them() -> None:
    options = Options(normalize=(Normalization("United Kingdom", ("UK", "Britain"), "city"),))
    result = run(SPEND, [("Orla", 2021, 5.0, "UK"), ("Tarn", 2021, 5.0, "Britain")], "ab", options)
    assert [(row.values[-1], row.names["city"]) for row in result.rows] == [
        (c, "United Kingdom") for c in ("UK", "Britain")
    ]
    assert not result.conflicts and not result.open_names


def test_misspellings_are_shown_as_one_only_where_their_rows_agree() -> None:
    table = Table(
        "p", (Column("name"), Column("born", DATE), Column("city")), key=("name",), **EVERYWHERE
    )
    agree = [("Marta Kovalenko", "1950-02-01", "Arlen"), ("Marta Kovalenco", "1950-02-01", "Arlen")]
    other = [(f"Person{i} N{i}", f"19{i:02}-03-04", f"City{i}") for i in range(10, 20)]
    picks = yes_or_no("no")
    one = run(table, [*agree, *other], "abcdefghijkl", model=picks)
    assert (
        len(one.rows) == 12
        and len({row.names["name"] for row in one.rows[:2]}) == 1
        and one.open_names[0].joined
    )
    apart = [agree[0], ("Marta Kovalenco", "1971-07-07", "Brook")]
    two = run(table, [*apart, *other], "abcdefghijkl", model=picks)
    assert len(two.rows) == 12 and not two.rows[0].names and not two.open_names


def test_set_value_survives_and_applies_to_rows_that_come_later() -> None:
    correction = DecidedCorrection(
        "set_value", (("company", "orla"),), "ana", "city", "Cork", reason="called them"
    )
    options = Options(corrections=(correction,))
    first = run(SPEND, [("Orla", 2021, 5.0, None)], "a", options)
    later = run(SPEND, [("Orla", 2021, 5.0, None), ("ORLA", 2022, 6.0, "Bray")], "ab", options)
    assert [row.values[3] for row in first.rows] == ["Cork"]
    assert [row.values[3] for row in later.rows] == ["Cork", "Cork"]
    assert next(r for r in later.repairs if r.operation == "correct").before in ((None,), ("Bray",))


@pytest.mark.parametrize("form", ["Orla Mills", "Orla Mls."])
def test_a_value_set_for_either_form_of_one_name_reaches_its_rows(form: str) -> None:
    same = Normalization("Orla Mills", ("Orla Mls.",), "company")
    decision = DecidedCorrection("set_value", (("company", form),), "ana", "city", "Cork")
    rows = [("Orla Mills", 2021, 5.0, None), ("Orla Mls.", 2021, 5.0, None)]
    result = run(SPEND, rows, "ab", Options(normalize=(same,), corrections=(decision,)))
    assert values(result) == [("Orla Mills", 2021, 5.0, "Cork")]


def test_a_word_more_may_be_the_opposite_and_is_no_fuller_form() -> None:
    table = Table(
        "trials",
        (
            Column("accused"),
            Column("verdict", ColumnType.CATEGORY, values=("guilty", "not guilty")),
        ),
        key=("accused",),
        **EVERYWHERE,
    )
    result = run(table, [("Ann Hale", "guilty"), ("Ann Hale", "not guilty")], "ab")
    assert [{c.value for c in conflict.candidates} for conflict in result.conflicts] == [
        {"guilty", "not guilty"}
    ]


def test_a_value_that_a_person_gave_all_rows_of_a_contradiction_settles_it() -> None:
    rows = [("Orla", 2021, 5.0, "Cork"), ("Orla", 2021, 7.0, "Cork")]
    assert len(run(SPEND, rows, "ab").conflicts) == 1
    for value in (7.0, 9.0):  # one of the sides, and neither
        decision = DecidedCorrection(
            "set_value", (("company", "Orla"),), "ana", "amount", value, reason="called them"
        )
        result = run(SPEND, rows, "ab", Options(corrections=(decision,)))
        assert values(result) == [("Orla", 2021, value, "Cork")] and not result.conflicts
    one = DecidedCorrection("set_value", (("amount", 5.0),), "ana", "amount", 6.0)
    assert len(run(SPEND, rows, "ab", Options(corrections=(one,))).conflicts) == 1


def test_values_that_people_gave_to_the_sides_settle_a_contradiction_where_one_is_left() -> None:
    rows = [("Orla", 2021, 5.0, "Cork"), ("Orla", 2021, 7.0, "Cork")]
    for given in (
        ((5.0, 7.0),),
        ((5.0, 9.0), (7.0, 9.0)),
    ):  # one side becomes the other; both become a third
        decided = tuple(_set({"amount": old}, new) for old, new in given)
        result = run(SPEND, rows, "ab", Options(corrections=decided))
        assert values(result) == [("Orla", 2021, given[-1][1], "Cork")] and not result.conflicts


def test_a_merge_reaches_rows_by_the_name_that_a_person_gave_them() -> None:
    rows = [("Orla", 2021, 5.0, None), ("Tarn", 2021, None, "Bray"), ("Ash", 2021, 1.0, "Sligo")]
    named = (
        _set({"company": "Orla"}, "Orla Great", "company"),
        _set({"company": "Orla Great"}, "Orla Grand", "company"),
    )
    merge = DecidedCorrection(
        "merge", (("company", "orla grand"),), "ana", other=(("company", "Tarn"),)
    )
    waiting = run(SPEND, rows, "abc", Options(corrections=(*named, merge)))
    assert len(waiting.rows) == 3 and [c.column for c in waiting.conflicts] == ["company"]
    one = _set({"company": "Tarn"}, "Orla Great", "company")
    merge = replace(merge, where=(("company", "orla great"),))
    result = run(SPEND, rows, "abc", Options(corrections=(named[0], merge, one)))
    assert (
        values(result) == [("Orla Great", 2021, 5.0, "Bray"), ("Ash", 2021, 1.0, "Sligo")]
        and not result.conflicts
    )


def test_a_split_by_the_printed_forms_of_one_name_parts_its_rows() -> None:
    options = Options(normalize=(Normalization("Orla Mills", ("Orla Mls.",), "company"),))
    rows = [("Orla Mills", 2021, 5.0, None), ("Orla Mls.", 2021, None, "Cork")]
    assert len(run(SPEND, rows, "ab", options).rows) == 1
    split = DecidedCorrection(
        "split", (("company", "Orla Mills"),), "ana", other=(("company", "Orla Mls."),)
    )
    assert len(run(SPEND, rows, "ab", replace(options, corrections=(split,))).rows) == 2


def test_merge_and_split_are_human_decisions() -> None:
    rows = [("Orla", 2021, 5.0, None), ("Orla Mills Holdings", 2021, None, "Cork")]
    merge = DecidedCorrection(
        "merge", (("company", "Orla"),), "ana", other=(("company", "Orla Mills Holdings"),)
    )
    assert len(run(SPEND, rows, "ab").rows) == 2
    assert len(run(SPEND, rows, "ab", Options(corrections=(merge,))).rows) == 1
    same = [("Orla", 2021, 5.0, "Cork"), ("Orla", 2021, None, "Bray")]
    split = DecidedCorrection("split", (("city", "Cork"),), "ana", other=(("city", "Bray"),))
    result = run(SPEND, same, "ab", Options(corrections=(split,)))
    assert len(result.rows) == 2 and not result.conflicts


@pytest.mark.parametrize(
    "correction",
    [
        DecidedCorrection("set_value", (("nowhere", 1),), "ana", "city", "Cork"),
        DecidedCorrection("set_value", (("company", "Orla"),), "ana", "nowhere", "Cork"),
        DecidedCorrection("set_value", (), "ana", "city", "Cork"),
        DecidedCorrection("merge", (("company", "Orla"),), "ana"),
    ],
)
def test_a_correction_that_selects_nothing_sensible_is_refused(
    correction: DecidedCorrection,
) -> None:
    with pytest.raises(RepairError):
        run(SPEND, [("Orla", 2021, 5.0, None)], "a", Options(corrections=(correction,)))


def test_a_key_of_unknown_columns_is_refused() -> None:
    with pytest.raises(RepairError, match="nowhere"):
        run(Table("t", (Column("a"),), key=("nowhere",)), [("x",)], "a")


def test_incremental_counts_only_the_groups_that_a_new_document_touches() -> None:
    rows = [(f"C{i} Mills", 2021, float(i), None) for i in range(20)] + [
        ("C3 Mills", 2021, 3.0, "Cork")
    ]
    documents = "abcdefghijklmnopqrst" + "u"
    result = run(SPEND, rows, documents, Options(changed=frozenset("u")))
    assert result.touched_groups == 1 and len(result.rows) == 20


def test_the_result_does_not_depend_on_the_run() -> None:
    rows = [("Orla, Inc.", 2021, 5.0, None), ("ORLA", 2021, 5.0, "Cork"), ("Tarn", 2021, 1.0, None)]
    assert run(SPEND, rows, "abc") == run(SPEND, rows, "abc")


def _spend_additive() -> Table:
    columns = (Column("company"), Column("amount", NUMBER, additive=True))
    return Table("spend", columns, key=("company",), **EVERYWHERE)


def test_a_refused_repair_goes_back_once_with_its_reason_and_then_counts() -> None:
    model = ScriptedModel(
        [settle("UPDATE rows SET amount = 6"), settle("UPDATE rows SET amount = 7.0")]
    )
    result = run(SPEND, TWO, "abcd", model=model)
    assert result.rows[0].values[2] == 7.0 and result.calls == result.conflict_groups == 2
    once = run(SPEND, ROWS, "ab", model=ScriptedModel([settle("UPDATE rows SET amount = 6")]))
    assert once.calls == once.conflict_groups == len(once.conflicts) == 1
    assert "stand in no source" in model.history[-1].messages[-1].content


def test_a_repair_that_is_refused_twice_leaves_a_visible_conflict() -> None:
    bad = settle("DELETE FROM rows", operation="deduplicate")
    result = run(SPEND, ROWS, "ab", model=ScriptedModel([bad, bad]))
    assert len(result.rows) == len(result.conflicts) == 1
    assert any("refused" in decision.reason for decision in result.decisions)


def test_an_additive_column_is_summed_over_its_sources_and_says_so() -> None:
    merge = [
        "UPDATE rows SET amount = (SELECT sum(amount) FROM rows)",
        "UPDATE rows SET merged_into = 'r0' WHERE row_id = 'r1'",
    ]
    result = run(
        _spend_additive(),
        [("Orla", 5.0), ("Orla", 7.0)],
        "ab",
        model=ScriptedModel([settle(*merge, operation="aggregate")]),
    )
    assert values(result) == [("Orla", 12.0)]
    assert any(r.operation == "aggregate" and r.after == 12.0 for r in result.repairs)


def test_dates_do_not_name_things_across_documents() -> None:
    columns = (Column("company"), Column("closed", DATE), Column("form"), Column("state"))
    rows = [
        (f"Company{i} Mills", f"2021-0{1 + i // 2}-28", "x" if i % 4 < 2 else "y", f"s{i // 2}")
        for i in range(12)
    ]
    result = run(Table("filing", columns), rows, "abcdefghijkl")
    assert len(result.rows) == 12 and not result.conflicts


def test_the_schemas_key_holds_in_a_small_table() -> None:
    columns = (Column("company"), Column("year", INTEGER), Column("amount", NUMBER), Column("city"))
    table = Table(
        "spend",
        columns,
        row="one company in one year",
        key=("company", "year"),
        key_scope="collection",
    )
    rows = [
        ("Orla", 2021, 5.0, "Cork"),
        ("Tarn", 2021, 7.0, "Bray"),
        ("ORLA", 2021, 5.0, None),
        ("Tarn", 2022, 9.0, None),
    ]
    result = run(table, rows, "abcc")
    assert result.key == ("company", "year") and result.unsure_merges == ((("r0",), ("r2",)),)
    assert sorted(row.sources for row in result.rows) == [("r0", "r2"), ("r1",), ("r3",)]
    within = run(replace(table, key_scope="document"), rows, "abcc")
    assert len(within.rows) == 4 and not within.unsure_merges


def test_the_reason_why_no_column_is_a_key_is_what_the_rows_show() -> None:
    def told(rows: Sequence[Sequence[Any]]) -> str:
        result = run(
            Table("bridges", (Column("bridge"), Column("length", NUMBER))),
            rows,
            "abcdefghijkl"[: len(rows)],
        )
        return next(d.reason for d in result.decisions if "a record of its own" in d.reason)

    assert "too few values to compare across documents (1; 5 are needed)" in told(
        [("Tarn", 7.0), ("Tarn", 7.0), ("Alder", 5.0)]
    )
    assert "contradict each other" in told(
        [(name, 10 * i + n) for n, name in enumerate("ABCDEF") for i in (1.0, 2.0)]
    )


def test_two_documents_are_one_thing_where_a_column_asks_its_name_and_the_others_agree() -> None:
    columns = (
        Column("bridge_name", description="What is the name of the bridge?"),
        Column("cost", NUMBER),
        Column("town"),
    )
    table = Table("bridges", columns, row="a bridge", grain="document")
    rows = [
        ("Alder Ford", 5.0, "Cork"),
        ("Tarn Viaduct", 7.0, "Bray"),
        ("Alder Ford", 5.0, "Cork"),
        ("Eastgate", 9.0, "Sligo"),
    ]
    found = run(table, rows, "abcd", model=one_thing_over_documents("bridge_name"))
    assert [row.sources for row in found.rows] == [("r0", "r2"), ("r1",), ("r3",)]
    assert len(run(table, rows, "abcd").rows) == 4, "nobody said so"
    unlike = [*rows[:2], ("Alder Ford", 8.0, "Kerry"), rows[3]]
    assert len(run(table, unlike, "abcd", model=ScriptedModel([])).rows) == 4, (
        "two bridges may have one name"
    )
    other = replace(table, columns=(Column("owner", description="Who owns it?"), *columns[1:]))
    assert len(run(other, rows, "abcd", model=ScriptedModel([])).rows) == 4, "an owner is no bridge"


def test_two_documents_of_one_thing_become_one_row_where_all_agrees() -> None:
    columns = (Column("company"), Column("amount", NUMBER), Column("city"))
    table = Table(
        "spend",
        columns,
        row="one company",
        grain="document",
        key=("company",),
        key_scope="collection",
    )
    rows = [("Orla", 5.0, "Cork"), ("Tarn", 7.0, "Bray"), ("ORLA", 5.0, "Cork")]
    assert [row.sources for row in run(table, rows, "abc").rows] == [("r0", "r2"), ("r1",)]
    other = [*rows[:2], ("ORLA", 6.0, "Kerry")]
    assert len(run(table, other, "abc").rows) == 3


def test_where_each_document_is_one_row_a_stray_second_one_is_merged() -> None:
    table = Table(
        "listing", (Column("name"), Column("price", NUMBER), Column("city")), grain="document"
    )
    rows = [(f"Shop {n}", float(n), f"Town {n}") for n in range(9)]
    stray = ("Others also looked at", 99.0, "Cork")
    found = run(table, [*rows, stray], "abcdefghi" + "a", chunks=[*"123456789", "10"])
    assert values(found)[0] == ("Shop 0", 0.0, "Town 0") and len(found.rows) == len(rows)

    several = run(table, [rows[0], stray, rows[1]], "aab", chunks=["1", "2", "3"])
    assert len(several.rows) == 3  # too few documents to tell a stray row from a second thing


@pytest.mark.parametrize(
    ("kinds", "kind"),
    [
        ({"table"}, "table"),
        ({"heading", "caption", "table"}, "table"),
        ({"heading", "paragraph"}, "prose"),
        ({"table", "paragraph"}, ""),
        ({"heading", "table", "list_item"}, ""),
        (None, ""),
    ],
)
def test_a_cell_of_a_chunk_with_table_and_prose_counts_as_neither(
    kinds: set[str] | None, kind: str
) -> None:
    row = Row("r0", "t", "d", "c", 0, (Cell("name", "Ash", "Ash"),))
    relation = relation_of([row], ("name",), kinds={} if kinds is None else {"c": frozenset(kinds)})
    assert relation.source(0, "name").kind == kind


def _set(where: Mapping[str, Any], value: Any = 9.0, column: str = "amount") -> DecidedCorrection:
    return DecidedCorrection("set_value", tuple(where.items()), "ana", column, value)


def test_a_value_is_set_where_the_row_is_named_as_it_is_printed_or_shown() -> None:
    terms = (
        Normalization("Orla Mills", ("Orla Mls.",), "company"),
        Normalization("Cork", ("Corcaigh",), "city"),
    )
    options = Options(normalize=terms)

    def amounts(
        rows: Sequence[Sequence[Any]], *decisions: DecidedCorrection, documents: str = "abcd"
    ) -> list[Any]:
        result = run(SPEND, rows, documents[: len(rows)], replace(options, corrections=decisions))
        return [row.values[2] for row in result.rows]

    mixed = [("Orla Mls.", 2021, 5.0, "Corcaigh"), ("Orla Mills", 2022, 5.0, "Cork")]
    assert amounts(mixed, _set({"company": "Orla Mls.", "city": "Cork"})) == [9.0, 5.0]
    parts = [("Orla", 2021, 5.0, None), ("Orla", 2021, None, "Cork")]  # no row prints both
    assert amounts(parts, _set({"amount": 5.0, "city": "Cork"})) == [9.0]
    shared = [("Orla", 2021, 5.0, "Cork"), ("Orla", 2021, 7.0, None), ("Tarn", 2021, 1.0, "Bray")]
    assert amounts(shared, _set({"city": "Cork"})) == [9.0, 1.0], (
        "both are rows of the thing in Cork"
    )
    assert amounts(shared, _set({"amount": 7.0, "city": "Cork"})) == [9.0, 1.0], (
        "the sources of one row say both"
    )
    again = _set({"company": "Tarn"}, "Sligo", "city"), _set({"city": "Sligo"})
    assert amounts([("Orla", 2021, 5.0, "Cork"), ("Tarn", 2021, 1.0, "Bray")], *again) == [5.0, 9.0]


def test_a_value_is_set_for_the_rows_of_one_document_by_its_exact_name() -> None:
    rows = [("Orla", 2021, 5.0, "Cork"), ("Tarn", 2021, 7.0, "Bray"), ("Orla", 2021, 5.0, None)]
    known = {
        "a": DocumentSource("a", "log 1.txt"),
        "b": DocumentSource("b", "log-1.txt"),
        "c": DocumentSource("c", "log_2.txt"),
    }

    def amounts(**where: str) -> list[Any]:
        return [
            row.values[2]
            for row in run(
                SPEND, rows, "abc", Options(corrections=(_set(where),)), known=known
            ).rows
        ]

    assert amounts(document="log-1.txt") == amounts(document_id="b") == [5.0, 9.0]
    assert (
        amounts(document="log_2.txt") == amounts(document="log 1.txt", company="orla") == [9.0, 7.0]
    )
    assert (
        amounts(document="LOG 1.txt") == amounts(document="log 1.txt", company="Tarn") == [5.0, 7.0]
    )
    split = DecidedCorrection(
        "split", (("document", "log 1.txt"),), "ana", other=(("document", "log_2.txt"),)
    )
    assert len(run(SPEND, rows, "abc", Options(corrections=(split,)), known=known).rows) == 3
    with pytest.raises(RepairError, match="document"):
        run(
            SPEND,
            rows,
            "abc",
            Options(corrections=(_set({"company": "Orla"}, "x.txt", "document"),)),
        )
