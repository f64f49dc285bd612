"""Where a text prints a value that came without its words."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.extraction import Grounding, find_value, without_its_mark
from sliders.schema import Column
from sliders.values import ColumnType, Context, Scalar

WHOLE = Column("count", ColumnType.INTEGER)
NUMBER = Column("amount", ColumnType.NUMBER)
DAY = Column("day", ColumnType.DATE)
TEXT = (
    "On March 4, 2021, six workers of Acme, Inc. stood 17 feet up; it cost $1.6 billion, 2,021 "
    "parts and 12% more. Four left in 2021, at 3 p.m. on May 7."
)


@pytest.mark.parametrize(
    ("value", "column", "printed"),
    [
        (6, WHOLE, "six"),
        (4, WHOLE, "Four"),
        (2021, WHOLE, "2,021"),
        (17, Column("h", ColumnType.NUMBER, unit="feet"), "17"),
        (5.18, Column("h", ColumnType.NUMBER, unit="m"), "17"),
        (1_600_000_000, NUMBER, "$1.6 billion"),
        (1600, Column("c", ColumnType.NUMBER, scale="millions", currency="USD"), "$1.6 billion"),
        (0.12, Column("s", ColumnType.NUMBER, unit="share"), "12%"),
        ("2021-03-04", DAY, "March 4, 2021"),
        ("2021-03", DAY, "March 4, 2021"),
        ("2021-05-07", DAY, "May 7"),
        ("2021-03-04 08:00:00", Column("t", ColumnType.DATETIME), "March 4, 2021"),
        ("ACME INC", Column("name"), "Acme, Inc"),
        ("Workers", Column("kind", ColumnType.CATEGORY, values=("workers", "guests")), "workers"),
    ],
)
def test_the_place_of_a_value(value: Scalar, column: Column, printed: str) -> None:
    place = find_value(value, column, TEXT)
    assert TEXT[place.start : place.end] == printed
    assert place.status is not Grounding.NONE


@pytest.mark.parametrize(
    ("value", "column"),
    [
        (True, Column("b", ColumnType.BOOLEAN)),
        (None, WHOLE),
        (5, WHOLE),
        (0, WHOLE),
        ("2020-03-04", DAY),
        ("Oslo", Column("n")),
        ("guests", Column("kind", ColumnType.CATEGORY, values=("workers", "guests"))),
    ],
)
def test_no_place(value: Scalar, column: Column) -> None:
    assert find_value(value, column, TEXT).status is Grounding.NONE


def test_of_several_places_the_one_nearest_to_the_row() -> None:
    text = "Ada won five prizes. Bob won 7 prizes. Cyd won 5 prizes."
    assert find_value(5, WHOLE, text).start == text.index("five")
    at = text.index("Cyd")
    assert find_value(5, WHOLE, text, near=[(at, at + 3)]).start == text.index("5")


@pytest.mark.parametrize(
    ("value", "text", "printed"),
    [
        (6100, "Rate: 61,00 € per night", 61),
        (1250, "It weighs 12,50 kg.", 12.5),
        (6100, "Rate: 61,00 € or 610,0 $", None),
        (6100, "6100 guests", None),
        (6100, "Rate: 62,00 €", None),
        (61.5, "Rate: 615 €", None),
    ],
)
def test_a_whole_value_that_lost_the_mark_of_what_is_printed(
    value: float, text: str, printed: float | None
) -> None:
    assert without_its_mark(value, NUMBER, text) == printed


NUMBERS = {
    "plain": str,
    "grouped": lambda value: f"{value:,}",
    "dots": lambda value: f"{value:,}".replace(",", "."),
    "money": lambda value: f"${value:,}",
    "percent": lambda value: f"{value}%",
    "brackets": lambda value: f"({value:,})",
}


@given(
    st.integers(10, 10**7),
    st.sampled_from(sorted(NUMBERS)),
    st.lists(st.sampled_from(["was", "Ulm", "and", "of"]), max_size=9),
)
def test_planted_numbers_are_found_at_their_place(value: int, form: str, before: list[str]) -> None:
    head = " ".join([*before, "Total"]) + ": \t" * (form == "brackets") + " " * (form != "brackets")
    printed = NUMBERS[form](value)
    text = f"{head}{printed} people"
    place = find_value(-value if form == "brackets" else value, WHOLE, text, Context())
    assert (
        place.start
        <= len(head) + printed.index(str(value)[0])
        < place.end
        <= len(head) + len(printed)
    )


@given(
    st.dates(dt.date(1000, 1, 1), dt.date(2999, 12, 31)),
    st.sampled_from(["%d %B %Y", "%B %d, %Y", "%Y-%m-%d", "%d.%m.%Y"]),
)
def test_planted_dates_are_found_at_their_place(date: dt.date, form: str) -> None:
    printed = date.strftime(form)
    place = find_value(date.isoformat(), DAY, f"It ended on {printed} in Ulm")
    assert (place.start, place.end) == (12, 12 + len(printed))


@given(
    st.text(max_size=100),
    st.integers() | st.text(max_size=12) | st.floats(allow_nan=False),
    st.sampled_from(list(ColumnType)),
)
def test_never_raises_and_spans_fit(text: str, value: Scalar, kind: ColumnType) -> None:
    place = find_value(value, Column("c", kind, unit="m"), text)
    assert (place.start == -1) == (place.status is Grounding.NONE)
    assert place.start == -1 or 0 <= place.start < place.end <= len(text)
