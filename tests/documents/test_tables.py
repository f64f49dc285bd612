"""The rule by which tables become text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.documents.tables import Table, header_note, render_table, table_from_rows


def _text(header: list[str], *rows: list[str]) -> str:
    return render_table(table_from_rows([header, *rows]), 0).text


def test_a_row_label_comes_first_and_each_value_beside_its_header() -> None:
    assert _text(["", "2021", "2020"], ["Sales", "5", "4"], ["Costs", "(2)", ""]) == (
        "Sales | 2021: 5 | 2020: 4\nCosts | 2021: (2)"
    )


def test_a_table_of_words_names_every_column() -> None:
    text = _text(["Name", "City", "Age"], ["Ada", "Bern", "36"], ["Bo", "Rome", "41"])
    assert text == "Name: Ada | City: Bern | Age: 36\nName: Bo | City: Rome | Age: 41"


def test_marks_in_cells_of_their_own_join_their_number() -> None:
    table = table_from_rows([["", "", "2021", ""], ["Sales", "$", "5,363", ""], ["Margin", "", "12.5", "%"]])
    assert table.header == ("", "2021")
    assert table.rows == (("Sales", "$5,363"), ("Margin", "12.5%"))


def test_a_section_row_is_its_own_line() -> None:
    assert _text(["", "2021", "2020"], ["Revenue:", "", ""], ["Lamps", "1", "2"]).splitlines()[0] == "Revenue:"


def test_words_common_to_all_value_headers_are_said_once() -> None:
    header = ["", "Year Ended June 30, 2021", "Year Ended June 30, 2020"]
    table = table_from_rows([header, ["Sales", "5", "4"], ["Costs", "3", "2"]])
    rendered = render_table(table, 0)
    assert rendered.text == "Sales | 2021: 5 | 2020: 4\nCosts | 2021: 3 | 2020: 2"
    assert header_note(table) == "Year Ended June 30,"
    assert rendered.grid.header == tuple(header)


def test_dates_are_not_cut_in_the_month() -> None:
    header = ["", "52 Weeks Ended September 1, 2019", "52 Weeks Ended September 2, 2018"]
    text = render_table(table_from_rows([header, ["Sales", "5", "4"]]), 0).text
    assert text == "Sales | September 1, 2019: 5 | September 2, 2018: 4"


def test_a_note_over_the_labels_is_the_table_s_note() -> None:
    table = table_from_rows([["(in millions)", "2021"], ["Sales", "5"]])
    assert (table.note, table.header) == ("(in millions)", ("", "2021"))


@pytest.mark.parametrize("offset", [0, 17])
def test_offsets_are_those_of_the_document(offset: int) -> None:
    rendered = render_table(Table(("", "A", "B"), (("x", "1", ""), ("y", "", "22"))), offset)
    document = " " * offset + rendered.text
    assert [document[s : s + 1] for s in rendered.row_starts] == ["x", "y"]
    assert document[rendered.grid.rows[1][2].start :] == "22"


_cell = st.text("ab 19,.$%()-|:\n", max_size=12)


@given(st.lists(st.lists(_cell, min_size=1, max_size=5), min_size=1, max_size=7), st.integers(0, 50))
def test_every_cell_is_where_it_says(rows: list[list[str]], offset: int) -> None:
    rendered = render_table(table_from_rows(rows), offset)
    document = " " * offset + rendered.text
    assert (
        len(rendered.row_starts) == len(rendered.grid.rows) == (len(rendered.text.split("\n")) if rendered.text else 0)
    )
    for row in rendered.grid.rows:
        assert any(cell.text for cell in row)
        for cell in row:
            assert document[cell.start : cell.end] == cell.text


@given(st.lists(st.lists(_cell, min_size=2, max_size=5), min_size=2, max_size=7))
def test_no_printed_digit_of_a_row_is_lost(rows: list[list[str]]) -> None:
    text = render_table(table_from_rows([["h"] * 5, *rows]), 0).text
    for digit in "19":
        assert text.count(digit) >= sum(len(set(row)) == len(row) and cell.count(digit) for row in rows for cell in row)
