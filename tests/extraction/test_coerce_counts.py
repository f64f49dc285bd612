"""Counting persons and things that a phrase names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.extraction.coerce import coerce
from sliders.extraction.quantities import count_phrase
from sliders.schema.types import Column, ColumnType

KILLED = "people_killed: number of people who were killed"


@pytest.mark.parametrize(
    ("phrase", "value"),
    [
        ("the pilot and all nine passengers on board were killed", 10),
        ("the captain, first officer, and four passengers", 6),
        ("the pilot, the copilot and two flight attendants, and one person on the ground", 5),
        ("the two pilots, one flight attendant, and 32 of the 37 passengers", 35),
        ("all 88 people on board (2 pilots, 3 cabin crewmembers and 83 passengers)", 88),
        ("2 pilots, 3 crew and 83 passengers (88 in total)", 88),
        ("2 nurses and 83 patients, a total of 85 people", 85),
        ("all guests (the bride, the groom and eleven friends) fell ill", 13),
        ("88 people, including two children", 88),
        ("two of the three occupants", 2),
        ("all but two of the 37 tenants", 35),
        ("half of the 20 workers", 10),
        ("none of the 155", 0),
        ("no fatalities", 0),
        ("no one was injured", 0),
        ("nobody", 0),
        ("both teachers", 2),
        ("the teacher", 1),
        ("a mechanic", 1),
        ("first officer", 1),
        ("a chef, three waiters and the dishwasher", 5),
        ("the judge as well as 12 jurors", 13),
        ("killing the driver and two cyclists", 3),
        ("the fire killed two guests and a waiter", 3),
        ("a crew of five", 5),
        ("the mayor and his three children", 4),
        ("the mayor and his wife", 2),
        ("the mayor, the sole speaker, was heard", 1),
        ("about 30 workers", 30),
        ("the captain of the ship and three sailors drowned", 4),
        ("The council reported 5 complaints", 5),
        ("22,268 new cases", 22268),
    ],
)
def test_determinate_parts_are_added(phrase: str, value: int) -> None:
    assert count_phrase(phrase).value == value


@pytest.mark.parametrize(
    ("phrase", "reason"),
    [
        ("several passengers", "several passengers"),
        ("the passengers", "the passengers"),
        ("the driver and the passengers", "the passengers"),
        ("most of the workers", "most"),
        ("the crew", "the crew"),
        ("the mayor, John Smith, and two aides", "John Smith"),
        ("no one except the driver", "exception"),
        ("the captain, first officer", "no 'and'"),
        ("", "nothing"),
    ],
)
def test_what_cannot_be_counted_says_why(phrase: str, reason: str) -> None:
    counted = count_phrase(phrase)
    assert counted.value is None
    assert reason in counted.rationale


@pytest.mark.parametrize(
    ("phrase", "about", "value"),
    [
        ("Two cyclists were killed and two others were seriously injured.", KILLED, 2),
        ("The driver was fatally injured, and the two nurses were seriously injured.", KILLED, 1),
        ("Two teachers and the headmaster were hurt; three pupils died", KILLED, 3),
        ("Two teachers and the headmaster were hurt; three pupils died", "number of people injured", 3),
        ("Of the 254 guests, 228 were killed, and 23 waiters and 3 cooks survived.", KILLED, 228),
        ("Six miners were killed, one rescuer was killed, and the shaft was destroyed.", KILLED, 7),
        ("The driver sustained minor injuries", KILLED, None),
        ("Four people received serious injuries and six minor injuries.", "people with minor injuries", 6),
        ("The host and the guests left unharmed.", KILLED, None),
    ],
)
def test_the_statement_that_is_asked_for(phrase: str, about: str, value: int | None) -> None:
    assert count_phrase(phrase, about).value == value


def test_rationale_shows_the_sum() -> None:
    column = Column("people_killed", ColumnType.INTEGER, "number of people killed")
    result = coerce("the pilot and all nine passengers on board were killed", column)
    assert (result.value, result.derived) == (10, True)
    assert result.rationale == "1 (pilot) + 9 (passengers)"


def test_an_uncountable_part_does_not_leave_the_other_number() -> None:
    result = coerce("the passengers and 2 pilots", Column("people", ColumnType.INTEGER))
    assert result.value is None
    assert "the passengers" in result.detail


_ROLES = ["pilot", "teacher", "driver", "waiter", "child", "cook", "nurse", "mechanic", "inspector", "musician"]
_PLURALS = {"child": "children"}
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


@st.composite
def enumerations(draw: st.DrawFn) -> tuple[str, int]:
    """An enumeration of singular and numbered roles, and how many persons it names."""
    parts, total = [], 0
    for role in draw(st.lists(st.sampled_from(_ROLES), min_size=1, max_size=5, unique=True)):
        number = draw(st.integers(1, 120))
        if number == 1:
            parts.append(f"{draw(st.sampled_from(['the', 'a', 'one']))} {role}")
        else:
            printed = _WORDS[number] if number <= 12 and draw(st.booleans()) else str(number)
            parts.append(f"{draw(st.sampled_from(['', 'the ', 'all ']))}{printed} {_PLURALS.get(role, role + 's')}")
        total += number
    joined = (
        parts[0]
        if len(parts) == 1
        else f"{', '.join(parts[:-1])}{draw(st.sampled_from([' and ', ', and ']))}{parts[-1]}"
    )
    return joined + draw(st.sampled_from(["", " on board", " were killed", " in the building were killed."])), total


@given(enumerations())
def test_planted_enumerations(planted: tuple[str, int]) -> None:
    phrase, total = planted
    assert count_phrase(phrase, KILLED).value == total
    assert count_phrase(phrase[0].upper() + phrase[1:], KILLED).value == total


@given(st.text(max_size=120), st.text(max_size=30))
def test_counting_never_raises(text: str, about: str) -> None:
    counted = count_phrase(text, about)
    assert counted.rationale
    assert counted.value is None or counted.value >= 0
