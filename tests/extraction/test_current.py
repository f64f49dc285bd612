"""A report that tells how a number changed is read for its present state."""

from __future__ import annotations

import pytest

from sliders.extraction.current import current_amount
from sliders.schema.types import Column, ColumnType

BERTHS = Column("let_berths", ColumnType.INTEGER)
CHANGED = (
    "The number of berths let rose from 655 boats on 15/05/2020 to 3,395 on 15/06/2020. "
    "Since then it slowed, with 3,901 boats on 28/06/2020. In all, 50 boats left."
)
NOW = "With 4,257 boats, the current number of berths let still rises (3,742 boats on 23/06/2020)."


@pytest.mark.parametrize(
    ("text", "said", "found"),
    [
        (CHANGED, "3,395", "3,901"),
        (CHANGED, "655", "3,901"),
        (CHANGED, "3,901", None),
        (CHANGED, "50", None),
        (NOW, "3,742", "4,257"),
        (NOW, "4,257", None),
        (NOW.replace("current ", ""), "3,742", None),
        ("The number of boats rose from 655 in May to 3,517 in June.", "655", "3,517"),
        ("The boats sailed from 655 berths to 3,517 berths.", "655", None),
        ("On 3 May 2020, 12 boats left (9 boats on 2 May 2020).", "9", None),
    ],
)
def test_the_present_state_of_a_number(text: str, said: str, found: str | None) -> None:
    at = text.index(said)
    span = current_amount(BERTHS, text, at, at + len(said))
    assert (text[span[0] : span[1]] if span else None) == found


def test_a_column_of_one_word_may_be_any_number() -> None:
    at = CHANGED.index("3,395")
    assert current_amount(Column("boats", ColumnType.INTEGER), CHANGED, at, at + 5) is None


def test_the_words_of_the_column_are_not_needed_for_the_number_of_the_rows_own_date() -> None:
    moored = Column("boats_moored", ColumnType.INTEGER)
    at = CHANGED.index("3,395")
    assert current_amount(moored, CHANGED, at, at + 5) is None
    assert current_amount(moored, CHANGED, at, at + 5, frozenset({"2020-06-15"})) is None
    span = current_amount(moored, CHANGED, at, at + 5, frozenset({"2020-06-28"}))
    assert span is not None and CHANGED[span[0] : span[1]] == "3,901"
    before = NOW.index("3,742")
    span = current_amount(moored, NOW, before, before + 5, frozenset({"2020-07-01"}))
    assert span is not None and NOW[span[0] : span[1]] == "4,257"
    assert current_amount(moored, NOW, before, before + 5, frozenset({"2020-06-23"})) is None


def test_a_column_of_an_earlier_state_keeps_it() -> None:
    at = CHANGED.index("3,395")
    assert current_amount(Column("previous_let_berths", ColumnType.INTEGER), CHANGED, at, at + 5) is None
