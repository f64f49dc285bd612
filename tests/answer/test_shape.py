"""The shape of a value follows from the shape of the result, never from the
wording of the question.
"""

from __future__ import annotations

import pytest

from sliders.answer import Answer, Completeness, Gap, table_of, text_of, value_of
from sliders.cli import answer_text


@pytest.mark.parametrize(
    ("rows", "value", "text"),
    [
        ([(3,)], 3, "3"),
        ([(0,)], 0, "0"),
        ([(2.0,)], 2, "2"),
        ([(0.1 + 0.2,)], 0.3, "0.3"),
        ([(6.674e-11,)], 6.674e-11, "6.674e-11"),
        ([(0.3 - 0.2 - 0.1,)], 0, "0"),
        ([(100 / 3,)], 33.333333333, "33.33"),
        ([(1 / 300,)], 0.003333333, "0.00333"),
        ([(1234567.5,)], 1234567.5, "1,234,567.5"),
        ([(-0.0,)], 0, "0"),
        ([("a",), ("b",)], ["a", "b"], "2 found: a; b"),
        ([("a",), (None,)], ["a"], "a"),
        ([("a", 12345)], [["a", 12345]], "a: column 2 12,345"),
        ([("a", None)], [["a", None]], "a: column 2 not stated"),
        ([(None,)], None, "Not found in these documents."),
        ([], None, "Not found in these documents."),
    ],
)
def test_values(rows: list[tuple[object, ...]], value: object, text: str) -> None:
    assert value_of(rows) == value  # type: ignore[arg-type]
    columns = [f"column {place + 1}" for place in range(len(rows[0]) if rows else 1)]
    assert text_of(columns, rows) == text  # type: ignore[arg-type]


COLUMNS, UNITS = ("company", "capex", "year_opened", "open"), ("", "million USD", "", "yes/no")
ROWS = (("Acme", 6550.0, 1998, 1), ("Birch", 12.25, None, 0))


def test_a_row_is_a_sentence_of_named_parts_with_units() -> None:
    one = "Acme: capex 6,550 million USD, year opened 1998, open yes"
    assert text_of(COLUMNS, ROWS[:1], UNITS) == one
    assert text_of(("SUM(cost)",), [(4600000.0,)], ("EUR",)) == "4,600,000 EUR"
    assert text_of(("share", "year"), [(12.5, 2022)], ("%", "")) == "share 12.5%, year 2022"


def test_rows_are_counted_and_the_first_ones_said() -> None:
    assert text_of(COLUMNS, ROWS, UNITS) == (
        "2 rows: Acme: capex 6,550.00 million USD, year opened 1998, open yes; "
        "Birch: capex 12.25 million USD, year opened not stated, open no"
    )
    many = text_of(("name", "cost"), [(f"ship {n}", n) for n in range(9)], ("", "EUR"))
    assert many.startswith("9 rows: ship 0: cost 0 EUR; ") and many.endswith("; and 4 more")


def test_a_table_has_units_in_its_head_and_the_same_places_in_a_column() -> None:
    table = table_of(COLUMNS, ROWS, UNITS)
    assert table.headers == ("company", "capex (million USD)", "year_opened", "open")
    assert table.cells == (("Acme", "6,550.00", "1998", "yes"), ("Birch", "12.25", "", "no"))
    assert table.numeric == (False, True, True, False)


def test_an_answer_tells_what_is_judged_unverified_and_not_covered() -> None:
    ledger = Completeness(
        3,
        2,
        judged_cells=5,
        unverified_cells=1,
        missing=(Gap("uncovered", "no column holds the shipyard"),),
    )
    assert str(ledger) == (
        "2 of 3 documents gave rows; no column holds the shipyard; 5 values are judged, not "
        "printed; 1 value is unverified"
    )
    told = Answer("?", "incomplete", completeness=ledger).to_dict()
    assert (told["judged_cells"], told["unverified_cells"], told["complete"]) == (5, 1, False)
    assert [gap["thing"] for gap in told["missing"]] == ["no column holds the shipyard"]


def test_the_terminal_tells_ties_and_nulls_beside_a_number_and_once() -> None:
    null = "cost is NULL (not stated) in 3 rows, which are left out"
    told = answer_text(
        Answer("How much?", "answered", 12, "12.", reason=null, decisions=("a part was left out",))
    )
    notes = [
        line.removeprefix("Note:").strip() for line in told.splitlines() if line.startswith("Note:")
    ]
    assert notes == [null, "a part was left out"]
    again = answer_text(Answer("How much?", "not_found", None, f"Not found: {null}.", reason=null))
    assert again.count(null) == 1


@pytest.mark.parametrize(
    ("unit", "cells"),
    [("EUR", ["2,425.50", "640.00"]), ("JPY", ["2,425.5", "640.0"]), ("kg", ["2,425.5", "640.0"])],
)
def test_money_has_the_places_of_its_currency(unit: str, cells: list[str]) -> None:
    table = table_of(("amount",), ((2425.5,), (640.0,)), (unit,))
    assert [row[0] for row in table.cells] == cells


def test_whole_money_has_no_places() -> None:
    assert table_of(("amount",), ((2425,), (640,)), ("EUR",)).cells == (("2,425",), ("640",))
