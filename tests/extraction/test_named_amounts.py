"""A number before the words of its column is read by code, and only where the text tells one."""

from __future__ import annotations

import pytest

from sliders.extraction.coerce import CoerceContext
from sliders.extraction.named_amounts import stated_amount
from sliders.schema.types import Column, ColumnType

NEW = Column("new_berths", ColumnType.INTEGER)
LONG = Column("berths", ColumnType.INTEGER, "berths; berths with a length above 40")
SHORT = Column("berths", ColumnType.INTEGER, "berths; berths below 25")

LOAD = Column("load_7d", ColumnType.INTEGER)
OVER_40 = Column("berths_over_40", ColumnType.INTEGER, pinned=True)


@pytest.mark.parametrize(
    ("column", "text", "value"),
    [
        (NEW, "On 3 May, 1,214 new harbour-side berths were let, 31 more than in April.", 1214),
        (NEW, "Of 900 berths, 40 are new.", None),
        (NEW, "There were 12 new berths in May and 15 new berths in June.", None),
        (NEW, "The 12 new berths are paid; 12 new berths were let.", 12),
        (LOAD, "Hull is above the 7-day load of 136; 25 have a 7-day load of over 50.", 136),
        (LOAD, "The 7-day load of small boats is 113.", None),
        (LOAD, "The 7-day load is 12. The 7-day load was 13.", None),
        (OVER_40, "277 berths have a length of >40 feet and 21 berths of >60 feet.", 277),
        (OVER_40, "8 berths have a length of ≤ 40 feet.", None),
        (LONG, "Only 8 berths have a length of ≤ 25 feet, and 277 berths have a length of >40 feet.", 277),
        (LONG, "277 berths have a length of >40 feet and of these, 21 berths have a length of >60 feet.", 277),
        (LONG, "8 berths have a length of ≤ 40 feet.", None),
        (SHORT, "8 berths have a length of ≤ 25 feet, 277 berths more than 40.", 8),
        (Column("berths", ColumnType.INTEGER), "There are 900 berths.", None),
        (Column("new_berths"), "There are 900 new berths.", None),
    ],
)
def test_the_number_before_the_words_of_a_column(column: Column, text: str, value: int | None) -> None:
    found = stated_amount(column, text, CoerceContext())
    assert (found[2].value if found else None) == value
    assert found is None or text[found[0] : found[1]].replace(",", "") == str(value)


RATE = Column("load", ColumnType.NUMBER, "load; daily 3-hour load per 1,000")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The daily load over the last 3 hours is 14.5 boats per 1,000 berths.", 14.5),
        ("The 3-hour load in Hull is above the daily 3-hour load of 12 boats/1,000.", 12),
        ("The daily 3-hour load is 12 boats per 100.", None),
        ("The 3-hour load of small boats is 9 boats per 1,000.", None),
        ("The daily 3-hour load is 12 per 1,000. The daily 3-hour load was 13 per 1,000.", None),
    ],
)
def test_a_rate_is_read_where_all_words_of_its_column_stand(text: str, value: float | None) -> None:
    found = stated_amount(RATE, text, CoerceContext())
    assert (found[2].value if found else None) == value
