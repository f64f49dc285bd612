"""Booleans, members of an enumeration, and text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.extraction.cell import Absence
from sliders.extraction.coerce import coerce
from sliders.schema.types import Column, ColumnType

FRIENDLY = Column("family_friendly", ColumnType.BOOLEAN, "whether the restaurant is family friendly")
RATING = Column(
    "rating", ColumnType.CATEGORY, values=("low", "average", "high", "1 out of 5", "3 out of 5", "5 out of 5")
)


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("yes", True),
        ("Ja", True),
        ("TRUE", True),
        ("✓", True),
        ("No.", False),
        ("nein", False),
        ("is family friendly", True),
        ("family-friendly", True),
        ("kid friendly", True),
        ("very family friendly", True),
        ("not family-friendly", False),
        ("not a family-friendly place", False),
        ("no longer family friendly", False),
        ("isn't family friendly", False),
        ("isn’t family friendly", False),
        ("non family-friendly", False),
        ("family unfriendly", False),
        ("not only family friendly", True),
    ],
)
def test_booleans(printed: str, value: bool) -> None:
    assert coerce(printed, FRIENDLY).value is value


@pytest.mark.parametrize(
    "printed", ["adults only", "adults only restaurant", "not adults only", "may be family friendly", "7"]
)
def test_booleans_that_are_not_stated_do_not_parse(printed: str) -> None:
    result = coerce(printed, FRIENDLY)
    assert result.value is None
    assert "family_friendly" in result.detail


def test_a_negative_column_turns_the_answer_round() -> None:
    column = Column("not_refundable", ColumnType.BOOLEAN)
    assert coerce("the fee is not refundable", column).value is True
    assert coerce("the fee is refundable", column).value is False


@pytest.mark.parametrize(
    ("printed", "value", "derived"),
    [
        ("High", "high", False),
        ("a high customer rating", "high", False),
        ("5 out of 5", "5 out of 5", False),
        ("rated 5-out-of-5", "5 out of 5", False),
        ("averge", "average", True),
        ("highly", "high", True),
    ],
)
def test_enum_members(printed: str, value: str, derived: bool) -> None:
    result = coerce(printed, RATING)
    assert (result.value, result.derived) == (value, derived)


@pytest.mark.parametrize(
    ("printed", "reason"),
    [("4 out of 5", "none of"), ("not high", "what it is not"), ("high or low", "several"), ("excellent", "none of")],
)
def test_enum_without_a_clear_winner(printed: str, reason: str) -> None:
    result = coerce(printed, RATING)
    assert result.absence is Absence.NOT_PARSED
    assert reason in result.detail


def test_the_longer_member_wins_when_it_holds_the_shorter() -> None:
    column = Column("risk", ColumnType.CATEGORY, values=("high", "very high"))
    assert coerce("a very high risk", column).value == "very high"


def test_text_is_trimmed_and_collapsed() -> None:
    assert coerce("  Jalan\n  Cochrane\u00a0 2A ", Column("address")).value == "Jalan Cochrane 2A"


@given(
    st.sampled_from(RATING.values),
    st.sampled_from([str.upper, str.title, str.lower]),
    st.sampled_from(["", ".", "  "]),
)
def test_members_match_in_any_case(member: str, change: object, tail: str) -> None:
    assert callable(change)
    assert coerce(change(member) + tail, RATING).value == member


@given(st.text(max_size=60))
def test_text_is_idempotent(text: str) -> None:
    once = coerce(text, Column("t"))
    if once.value is not None:
        assert coerce(str(once.value), Column("t")).value == once.value
