"""What code reads from a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.answer.question import (
    asks_list,
    asks_number,
    dates,
    decimals,
    items_asked,
    kinds,
    named_values,
    normal,
    periods,
)
from tests.answer.tables import database, profiles


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("How many ships sank?", 1),
        ("Which ship is the oldest, and when was it built?", 2),
        ("Which owner has the most ships and how many?", 2),
        ("Give the name, the port and the length.", 3),
        ("What was the length of the ship and of the boat?", 2),
        ("How many people live in Rock and Roll City?", 1),
    ],
)
def test_items_asked(question: str, items: int) -> None:
    assert items_asked(question) == items


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("Round to one decimal.", 1),
        ("rounded to 2 decimal places", 2),
        ("to the nearest integer", 0),
        ("How many?", None),
    ],
)
def test_decimals(question: str, places: int | None) -> None:
    assert decimals(question) == places


def test_lists_and_numbers() -> None:
    assert (
        asks_list("List the ships.")
        and asks_list("Which companies are listed?")
        and asks_list("Who is (are) the owner(s)?")
    )
    assert not asks_list("Which port has the most ships?")
    assert asks_number("How many ships sank?") and asks_number("In how many years did it sail?")
    assert not asks_number("How many sank, and which was the first?")


def test_dates_and_periods() -> None:
    assert [iso for _, iso in dates("from 3 May 1911 to June 4th, 1912")] == ["1911-05-03", "1912-06-04"]
    tests = {test for _, test in periods("built in May 1911, in the 1930s or 1950-1960, not on 3 June 1912")}
    assert tests == {"d LIKE '1911-05%'", "year(d) BETWEEN 1930 AND 1939", "year(d) BETWEEN 1950 AND 1960"}


def test_kinds() -> None:
    assert kinds("Which owner grew most from 1911 to 1912?") == {"compare", "growth"}
    assert kinds("How many ships have more than one owner?") == {"several"}
    assert kinds("How many ships sank?") == frozenset()


def test_named_values_are_found_whole_or_in_part() -> None:
    known = profiles(database())
    whole = named_values("Is the northern star in Bergen?", known)
    assert {(value.column, value.value) for value in whole} == {
        ("name", "Northern Star"),
        ("ship", "Northern Star"),
        ("port", "Bergen"),
    }
    part = named_values("How many ships does Harbour Lines own?", known)
    assert [(value.column, value.value, value.exact) for value in part] == [("owner", "Harbour Lines", False)]


@given(st.text(max_size=40))
def test_normal_form_is_stable(text: str) -> None:
    assert normal(normal(text)) == normal(text)
