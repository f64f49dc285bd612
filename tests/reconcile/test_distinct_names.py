"""What tells two names apart: a sign, the order of words, a legal form."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from reconciled import Reconciled, reconciled, yes_or_no

from sliders.engine import canonical_forms
from sliders.llm.testing import ScriptedModel
from sliders.reconcile import (
    DecidedCorrection,
    MemoryRelation,
    Normalization,
    Options,
    comparison_form,
    related,
    variant_pairs,
)
from sliders.schema import Column, Table
from sliders.values import ColumnType, parse_value, signed

EVERYWHERE: Any = {
    "pinned": True,
    "key_scope": "collection",
}  # a key that the user gave over all documents
NUMBER = ColumnType.NUMBER
SIGNED = (
    ("A", "A+", "A-", "A "),
    ("C", "C++", "C#"),
    ("AB", "AB+", "AB−"),
    ("BB", "BB+", "BB–"),
    ("Rh", "Rh +", "Rh -"),
    ("Apple TV", "Apple TV+"),
    ("age 65", "age 65+"),
    ("grade A", "grade A+", "grade A-"),
    ("O", "O⁺", "O⁻"),
    ("5", "-5", "<5", "> 5"),
)


def run(
    table: Table, rows: Sequence[Sequence[object]], documents: str, options: Options | None = None
) -> Reconciled:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(table.column_names)}
    return reconciled(table, MemoryRelation(columns, None, list(documents)), options)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", SIGNED)
def test_values_that_differ_by_a_sign_only_are_different_values(values: Sequence[str]) -> None:
    values = [value for value in values if value == value.strip()]
    for left, right in combinations(values, 2):
        assert comparison_form(left) != comparison_form(right)
        assert not related(left, right)
    assert len(set(canonical_forms(values).values())) == len(values)
    assert not variant_pairs(values)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Acme, Inc.", "Acme Inc"),
        ("A+", "a+,"),
        ("A−", "A-"),
        ("Rh+", "Rh +"),
        ("St-Denis", "St Denis"),
        ("Acme - Arlen", "Acme Arlen"),
        ("Acme —", "Acme"),
        ("R&D", "R and D"),
        ("#5", "5"),
        ("Who?", "who"),
        ("(C++)", "C++"),
        ("a_b", "A b"),
        ("C++/CLI", "C++ CLI"),
        ("<5", "< 5"),
        ("+49 30", "49 30"),
    ],
)
def test_punctuation_folds(left: str, right: str) -> None:
    assert comparison_form(left) == comparison_form(right)


@pytest.mark.parametrize(
    "text", ["A+", "x C# y", "-5", "age > 5", "Rh −", "a--b", "C++-like", "?", "", "Ünï + "]
)
def test_a_form_that_keeps_signs_is_its_own_form(text: str) -> None:
    assert signed(signed(text)) == signed(text)


def test_keys_that_differ_by_a_sign_are_two_rows_and_a_decision_on_one_leaves_the_other() -> None:
    table = Table(
        "languages",
        (Column("name"), Column("year", ColumnType.INTEGER), Column("home")),
        key=("name",),
        **EVERYWHERE,
    )
    rows = [
        ("C", 1972, "Murray"),
        ("C++", 1985, "Murray"),
        ("C#", 2000, "Redmond"),
        ("c++", 1985, None),
    ]
    decision = DecidedCorrection("set_value", (("name", "C++"),), "ana", "home", "Hill")
    result = run(table, rows, "abcd", Options(corrections=(decision,)))
    assert [row.values for row in result.rows] == [
        ("C", 1972, "Murray"),
        ("C++", 1985, "Hill"),
        ("C#", 2000, "Redmond"),
    ]


def test_a_term_of_the_user_for_one_grade_is_none_for_another() -> None:
    table = Table("loans", (Column("grade"), Column("sum", NUMBER)))
    same = Normalization("A+", ("A plus",), "grade")
    result = run(
        table,
        [("A", 1.0), ("A+", 2.0), ("A plus", 3.0), ("A-", 4.0)],
        "abcd",
        Options(normalize=(same,)),
    )
    assert [row.values[0] for row in result.rows] == ["A", "A+", "A plus", "A-"]
    assert [row.names["grade"] for row in result.rows] == ["A", "A+", "A+", "A-"]


def test_a_category_with_another_sign_is_none_of_the_list() -> None:
    grades = Column("grade", ColumnType.CATEGORY, values=("A", "B+"))
    assert parse_value("b+.", grades).value == "B+"
    assert parse_value("A+", grades).value is None


def names(*forms: str) -> list[set[str]]:
    """The forms that are one name by their words alone."""
    found = canonical_forms(forms)
    return sorted(
        ({form for form in forms if found[form] == one} for one in set(found.values())), key=sorted
    )


@pytest.mark.parametrize(
    "forms",
    [
        ("Bank of China", "China Bank"),
        ("Bank of China", "China Bank of"),
        ("Paris Saint", "Saint Paris"),
        ("Lee Ann", "Ann Lee"),
        ("Smith, John", "John, Smith"),
        ("B, A", "B"),
        ("Red, Green, Blue", "Blue Red Green"),
        ("12,5", "5 12"),
        ("May 5, 2020", "2020 May 5"),
        (", Orla", "Orla Mills"),
    ],
)
def test_the_same_words_in_another_order_are_another_name(forms: Sequence[str]) -> None:
    assert len(names(*forms)) == len(forms)


@pytest.mark.parametrize(
    "forms",
    [
        ("John Smith", "Smith, John"),
        ("Smith, John", "John Smith"),
        ("Bank of China", "China, Bank of"),
        ("SMITH, JOHN", "John Smith"),
        ("Arlen, University of", "University of Arlen"),
        ("Orla Mills, Inc.", "Orla Mills Inc"),
    ],
)
def test_a_comma_may_turn_a_name_around(forms: Sequence[str]) -> None:
    assert len(names(*forms)) == 1


def test_a_name_with_a_comma_chains_no_two_orders() -> None:
    assert names("Saint Paris", "Paris, Saint", "Paris Saint") == [
        {"Paris Saint", "Paris, Saint"},
        {"Saint Paris"},
    ]


def test_names_of_other_order_stay_two_rows_and_one_that_a_comma_turned_is_in_doubt() -> None:
    table = Table(
        "banks", (Column("name"), Column("staff", ColumnType.INTEGER)), key=("name",), **EVERYWHERE
    )
    rows = [("Bank of China", 5), ("China Bank", 5), ("Smith, John", 7), ("John Smith", 7)]
    result = run(table, rows, "abcd")
    assert sorted(row.sources for row in result.rows) == [("r0",), ("r1",), ("r2",), ("r3",)]
    (pair,) = result.open_names
    assert set(pair.sides) == {("Smith, John",), ("John Smith",)} and set(*pair.rows) == {
        "r2",
        "r3",
    }


FIRMS = Table("firms", (Column("name"), Column("town"), Column("owner"), Column("staff", NUMBER)))
ELSE = [
    (f"Firm {word}", f"{word}ton", f"Ms {word}", float(len(word) + 10))
    for word in ("Ash", "Birch", "Cedars", "Eldertree")
]


def shown(rows: Sequence[Sequence[object]], model: Any = None, table: Table = FIRMS) -> Reconciled:
    columns = {
        name: [row[i] for row in (*rows, *ELSE)] for i, name in enumerate(table.column_names)
    }
    return reconciled(
        table, MemoryRelation(columns, None, list("abcdefghij"[: len(rows) + 4])), None, model
    )  # type: ignore[arg-type]


def called(result: Reconciled) -> list[str]:
    """The names under which rows are shown."""
    return [
        row.names.get("name", row.values[0])
        for row in result.rows
        if not str(row.values[0]).startswith("Firm ")
    ]


def test_two_legal_forms_are_two_things_whatever_the_rows_say() -> None:
    picks = yes_or_no("no")
    rows = [("Acme Inc", "Arlen", "Jo", 5.0), ("Acme Ltd", "Arlen", "Jo", 5.0)]
    assert called(shown(rows, picks)) == ["Acme Inc", "Acme Ltd"]
    assert called(shown([*rows, ("Acme", "Arlen", "Jo", 5.0)], picks)) == [
        "Acme Inc",
        "Acme Ltd",
        "Acme",
    ]
    forms = [
        ("Acme Mills Inc", "Arlen", "Jo", 5.0),
        ("Acme Milks Ltd", "Arlen", "Jo", 5.0),
        ("Acme Mill", "Arlen", "Jo", 5.0),
    ]
    assert called(shown(forms[:2], picks)) == ["Acme Mills Inc", "Acme Milks Ltd"], (
        "misspelled or not"
    )
    assert {"Acme Mills Inc", "Acme Milks Ltd"} <= set(called(shown(forms, picks))), (
        "and no third name chains them"
    )


def test_a_name_without_legal_form_is_that_of_one_with_it_only_where_their_rows_agree() -> None:
    picks = yes_or_no("no")
    agree = shown([("Acme, Inc.", "Arlen", "Jo", 5.0), ("ACME", "Arlen", "Jo", None)], picks)
    assert len(set(called(agree))) == 1 and agree.open_names[0].joined
    silent = shown([("Acme, Inc.", None, None, 5.0), ("ACME", "Arlen", "Jo", None)])
    assert called(silent) == ["Acme, Inc.", "ACME"] and any(
        "no model was asked" in d.reason for d in silent.decisions
    )
    assert called(
        shown([("Acme, Inc.", "Bray", "Al", 5.0), ("ACME", "Arlen", "Jo", 6.0)], picks)
    ) == ["Acme, Inc.", "ACME"]


def test_a_model_may_say_that_a_legal_form_was_left_out() -> None:
    one = {
        "group": 1,
        "operation": "canonicalize",
        "column": "name",
        "reason": "one",
        "statements": ["UPDATE rows SET name = 'Acme, Inc.'"],
    }
    rows = [("Acme, Inc.", None, None, 5.0), ("ACME", "Arlen", "Jo", None)]
    model = ScriptedModel([{"looks": [], "repairs": [one]}])
    assert called(shown(rows, model)) == ["Acme, Inc."] * 2
    assert names("Acme, Inc.", "ACME", "Acme Incorporated") == [
        {"ACME"},
        {"Acme, Inc.", "Acme Incorporated"},
    ]


VERDICTS = Column("verdict", ColumnType.CATEGORY, values=("guilty", "not guilty"))


@pytest.mark.parametrize(("verdict", "left"), [(VERDICTS, 2), (Column("verdict"), 1)])
def test_a_fuller_form_stands_for_a_name_in_a_text_column_of_the_key_only(
    verdict: Column, left: int
) -> None:
    table = Table(
        "trials",
        (Column("accused"), verdict, Column("judge")),
        key=("accused", "verdict"),
        **EVERYWHERE,
    )
    one = DecidedCorrection(
        "merge", (("verdict", "guilty"),), "ana", other=(("verdict", "not guilty"),)
    )
    rows = [("Ann Hale", "guilty", "Moor"), ("Ann Hale", "not guilty", "Moor")]
    result = run(table, rows, "ab", Options(corrections=(one,)))
    assert len({row.values[1] for row in result.rows}) == left == 1 + len(result.conflicts)


def test_a_word_more_makes_another_value_where_the_column_names_no_row() -> None:
    def joined(key: str) -> bool:
        columns = (Column("accused"), Column("verdict"), Column("judge"), Column("fee", NUMBER))
        rows = [("Hale", "Guilty", "Moor", 5.0), ("Hale", "Not Guilty", "Moor", 5.0)]
        result = shown(rows, yes_or_no("no"), Table("trials", columns, key=(key,), **EVERYWHERE))
        return any(repair.operation == "canonicalize" for repair in result.repairs)

    assert joined("verdict") and not joined("accused")
