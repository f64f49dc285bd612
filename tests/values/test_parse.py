"""Booleans, categories, text, replies of a model, and whether words bear a value out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.schema import Column
from sliders.values import (
    ColumnType,
    Context,
    ExpressionError,
    Scalar,
    agrees,
    evaluate,
    parse_value,
    typed,
)

TRUTH = Column("family_friendly", ColumnType.BOOLEAN)
RATING = Column(
    "rating",
    ColumnType.CATEGORY,
    values=("low", "average", "high", "1 out of 5", "<£20", ">£20", "None"),
)
WHOLE = Column("count", ColumnType.INTEGER)
NUMBER = Column("amount", ColumnType.NUMBER)
TEXT = Column("name")


@pytest.mark.parametrize(
    ("printed", "value"),
    [("yes", True), ("Ja", True), ("TRUE", True), ("✓", True), ("No.", False), ("nein", False)],
)
def test_only_words_for_yes_and_no_are_booleans(printed: str, value: bool) -> None:
    assert parse_value(printed, TRUTH).value is value


@pytest.mark.parametrize("printed", ["is family friendly", "not family-friendly", "no longer", "7"])
def test_what_needs_a_reader_is_not_parsed(printed: str) -> None:
    assert "neither yes nor no" in parse_value(printed, TRUTH).reason


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("High", "high"),
        ("1-out-of-5", "1 out of 5"),
        ("<£20", "<£20"),
        ("> £20", None),
        ("a high one", None),
        ("none", "None"),
    ],
)
def test_categories_are_equal_after_folding_or_nothing(printed: str, value: str | None) -> None:
    result = parse_value(printed, RATING)
    assert result.value == value
    assert value is not None or "none of" in result.reason


def test_text_is_trimmed_and_collapsed() -> None:
    assert parse_value("  Jalan\n  Cochrane\u00a0 2A ", TEXT).value == "Jalan Cochrane 2A"


@pytest.mark.parametrize(
    ("said", "column", "value"),
    [
        ("17", WHOLE, 17),
        (17, WHOLE, 17),
        (17.0, WHOLE, 17),
        (0, WHOLE, 0),
        ("seventeen", WHOLE, 17),
        ("17 feet", Column("h", ColumnType.NUMBER, unit="ft"), 17),
        ("$1.2 million", Column("r", ColumnType.NUMBER, currency="USD"), 1_200_000),
        ("$1.2 million", Column("r", ColumnType.NUMBER, scale="millions"), 1.2),
        (1577, Column("r", ColumnType.NUMBER, scale="millions"), 1577),
        ("85 cents", Column("r", ColumnType.NUMBER, currency="EUR"), 0.85),
        ("1.577", NUMBER, 1.577),
        ("12%", Column("s", ColumnType.NUMBER, unit="%"), 12),
        (True, TRUTH, True),
        ("Yes", TRUTH, True),
        (0, TRUTH, False),
        ("2021-03-04", Column("d", ColumnType.DATE), "2021-03-04"),
        ("March 4, 2021", Column("d", ColumnType.DATE), "2021-03-04"),
        (1999, Column("d", ColumnType.DATE), "1999"),
        ("2021-03-04T18:22", Column("d", ColumnType.DATETIME), "2021-03-04 18:22:00"),
        ("  Once upon a time in Hollywood ", TEXT, "Once upon a time in Hollywood"),
        ("Unknown", TEXT, "Unknown"),
        ("None", TEXT, "None"),
        (1984, TEXT, "1984"),
        ("HIGH", RATING, "high"),
    ],
)
def test_replies_of_a_model(said: object, column: Column, value: Scalar) -> None:
    result = typed(said, column)
    assert result.value == value and type(result.value) is type(value)


@pytest.mark.parametrize(
    ("said", "column", "reason"),
    [
        (17.5, WHOLE, "whole number"),
        (True, WHOLE, "no integer"),
        (float("nan"), NUMBER, "not a number"),
        ("several", WHOLE, "no number"),
        ("3 or 4", WHOLE, "2 numbers (3, 4)"),
        ("excellent", RATING, "none of"),
        ([1], WHOLE, "a list"),
        (10**30, WHOLE, "64-bit"),
        (10**400, NUMBER, "64-bit"),
    ],
)
def test_replies_that_do_not_fit_say_why(said: object, column: Column, reason: str) -> None:
    result = typed(said, column)
    assert result.value is None and not result.absent
    assert reason in result.reason


@pytest.mark.parametrize("said", [None, "", "null", "N/A", "-"])
@pytest.mark.parametrize("kind", list(ColumnType))
def test_replies_without_a_value(said: object, kind: ColumnType) -> None:
    assert typed(said, Column("c", kind)).absent


def test_text_that_looks_empty_is_kept_for_who_finds_its_words() -> None:
    assert typed("Null", TEXT).value == "Null"
    assert not typed("None", TEXT).absent


@pytest.mark.parametrize(
    ("value", "words", "column", "finding"),
    [
        (6, "the six workers", WHOLE, ""),
        (5, "the six workers", WHOLE, "the words say six, the value is 5"),
        (0, "no injuries were reported", WHOLE, ""),
        (1, "a mechanic was killed", WHOLE, ""),
        (1, "5 workers in a plant", WHOLE, "the words say 5, the value is 1"),
        (2, "both pilots", WHOLE, ""),
        (3, "the pilots", WHOLE, "print no number"),
        (2020, "December 31, 2020", WHOLE, ""),
        (20, "the 20-year-old", WHOLE, ""),
        (5, "5-7", WHOLE, ""),
        (22268, "22.268 cases", WHOLE, ""),
        (118573, "118 573", WHOLE, ""),
        (1600000000, "$1.6 billion", NUMBER, ""),
        (0.12, "12%", NUMBER, ""),
        (12, "12%", NUMBER, ""),
        (0.12, "12%", Column("s", ColumnType.NUMBER, unit="%"), "the value is 0.12"),
        (5.2, "17 feet", Column("h", ColumnType.NUMBER, unit="m"), ""),
        (17, "17 feet", Column("h", ColumnType.NUMBER, unit="m"), "17 feet is 5.1816 m"),
        (5, "$5", Column("p", ColumnType.NUMBER, currency="EUR"), "is in $"),
        ("A+", "A-", TEXT, "the words say 'A-'"),
        ("A+", "graded A+", TEXT, ""),
        ("Harbour", "HARBOUR:", TEXT, ""),
        (True, "The worker died", TRUTH, ""),
        (True, "No", TRUTH, "the value is True"),
        ("high", "a very good place", RATING, ""),
        ("high", "Low", RATING, "the value is 'high'"),
        ("Jane Doe", "Doe, Jane", TEXT, ""),
        ("University of Oslo", "the University of Oslo, Norway", TEXT, ""),
        ("Bergen", "the University of Oslo", TEXT, "the value is 'Bergen'"),
        (
            "France",
            "a French painter",
            TEXT,
            "the words say 'a French painter', the value is 'France'",
        ),
        ("Acme", "ACME, Inc.", TEXT, ""),
        ("2021-03-04", "March 4, 2021", TEXT, ""),
        ("kidfriendly", "a kid-friendly bar", TEXT, ""),
        ("café", "CAFE", TEXT, ""),
    ],
)
def test_words_bear_a_value_out_or_the_finding_says_why(
    value: Scalar, words: str, column: Column, finding: str
) -> None:
    found = agrees(value, words, column)
    assert (found == "") if not finding else finding in found


def test_the_scale_of_a_table_counts() -> None:
    money, thousands = Column("r", ColumnType.NUMBER, currency="USD"), Context(note="in thousands")
    assert agrees(1_577_000, "1,577", money, thousands) == ""
    assert (
        agrees(1577, "1,577", money, thousands)
        == "the words say 1,577 (table in thousands), the value is 1577"
    )
    assert agrees(1.23, "1.23", money, Context(note="in millions, except per share data")) == ""
    assert (
        agrees(1577, "1,577", NUMBER, thousands)
        == agrees(1_577_000, "1,577", NUMBER, thousands)
        == ""
    )


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 15", 17),
        ("2+15 = 17", 17),
        ("(1,200 - 3) / 3", 399),
        ("-4 * 2.5", -10),
        ("1 / 3", 1 / 3),
        ("10 − 4 × 2", 2),
        ("2 pilots + 15 passengers = 17", 17),
        ("two + 15", 17),
        ("$1.6 million - 400 thousand", 1_200_000),
        ("50 * 12%", 6),
        ("3 x 4", 12),
        ("(2 crew members + 3 guests (adults)) * 2 dollars", 10),
        ("(2 + 3 guests) * 2", 10),
        ("3 million / 2 million", 1.5),
        ("sum(1,200, 3, 7) / 2", 605),
        ("(average(10, 20) - min(4, 2)) * 100%", 13),
        ("abs(2 - 5)", 3),
    ],
)
def test_arithmetic(expression: str, value: float) -> None:
    assert evaluate(expression) == pytest.approx(value)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "the pilots",
        "some + 2",
        "2 3",
        "1 / 0",
        "2 ** 9",
        "f(1)",
        "__import__('os')",
        "1 +",
        "True + 1",
        "9" * 30,
        "1e999",
        "(" * 300,
    ],
)
def test_what_is_no_arithmetic_is_refused(expression: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(expression)


@given(
    st.recursive(
        st.integers(0, 9999).map(str),
        lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        ),
        max_leaves=8,
    )
)
def test_arithmetic_is_pythons(expression: str) -> None:
    expected = eval(expression)
    if abs(expected) < 2**53:
        assert evaluate(expression) == expected


@given(st.text(max_size=60), st.sampled_from(list(ColumnType)))
def test_a_reply_and_its_check_never_raise(text: str, kind: ColumnType) -> None:
    column = Column("c", kind, values=("a", "b"))
    said = typed(text, column)
    assert (said.value is None) == bool(said.reason)
    if said.value is not None:
        assert isinstance(agrees(said.value, text, column), str)


@given(st.text(max_size=60))
def test_text_is_idempotent(text: str) -> None:
    once = parse_value(text, TEXT)
    if once.value is not None:
        assert parse_value(str(once.value), TEXT).value == once.value
        assert agrees(once.value, text, TEXT) == ""


@pytest.mark.parametrize("said", ["4,500", "4500", 4500])
def test_a_bare_number_of_a_reply_stands_in_the_column_s_scale(said: object) -> None:
    assert typed(said, Column("revenue", ColumnType.NUMBER, scale="thousands")).value == 4500
