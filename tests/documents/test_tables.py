"""The rule by which tables become text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.documents import (
    CellPlace,
    Element,
    TextTable,
    beside_names,
    place_of,
    read_csv,
    render_table,
    row_path,
    table_from_rows,
)


def _text(header: list[str], *rows: list[str]) -> str:
    return render_table(table_from_rows([header, *rows]), 0).text


def _element(table: TextTable, start: int) -> Element:
    rendered = render_table(table, start)
    return Element(
        "table",
        start,
        start + len(rendered.text),
        grid=rendered.grid,
        row_starts=rendered.row_starts,
    )


def test_a_table_is_a_grid_with_its_header_once() -> None:
    assert _text(["", "2021", "2020"], ["Sales", "5", "4"], ["Costs", "(2)", ""]) == (
        "|  | 2021 | 2020 |\n| --- | --- | --- |\n| Sales | 5 | 4 |\n| Costs | (2) |  |"
    )


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            "title,director,oscars\nHeat,Mann,\nTitanic,Cameron,11\n",
            ["Heat | Mann | ", "Titanic | Cameron | 11"],
        ),
        (
            "name,result\nAnna,absent\nBen,withdrawn\nCarl,12\n",
            ["Anna | absent", "Ben | withdrawn", "Carl | 12"],
        ),
        ("city,state\nHamburg,Hamburg\nKiel,Holstein\n", ["Hamburg | Hamburg", "Kiel | Holstein"]),
        (
            "item,currency,price\ndesk,USD,100\nlamp,SEK,90\n",
            ["desk | USD | 100", "lamp | SEK | 90"],
        ),
    ],
)
def test_every_line_below_the_first_of_a_csv_file_is_a_row_as_it_stands(
    text: str, rows: list[str]
) -> None:
    assert read_csv(text.encode(), "made.csv").text.splitlines()[2:] == [
        f"| {row} |" for row in rows
    ]


def test_a_cell_knows_its_row_its_sections_and_its_column() -> None:
    rows = (
        ("Assets:", "", ""),
        ("Cash", "1", "2"),
        ("Other:", "", ""),
        ("Lamps", "3", ""),
        ("All assets", "4", "2"),
    )
    table = TextTable(
        ("Year ended", "2021", "2020"), rows, note="in millions", indents=(0, 1, 1, 2, 0)
    )
    element = _element(table, 7)
    assert element.grid is not None
    cells = element.grid.rows
    assert place_of(element, cells[1][2].start) == CellPlace(
        "Assets: / Cash", "2020", "in millions (Year ended)"
    )
    assert place_of(element, cells[3][1].start) == CellPlace(
        "Assets: / Other: / Lamps", "2021", "in millions (Year ended)"
    )
    assert place_of(element, cells[4][1].start) == CellPlace(
        "All assets", "2021", "in millions (Year ended)"
    )
    assert place_of(element, element.start) is None
    assert place_of(element, element.end) is None


def test_without_indents_the_last_section_counts() -> None:
    rows = (
        ("Assets", "", ""),
        ("Cash", "1", "2"),
        ("Debts", "", ""),
        ("Loans", "3", ""),
        ("Bonds", "4", "2"),
    )
    element = _element(TextTable(("", "2021", "2020"), rows), 0)
    assert [row_path(element, n) for n in range(5)] == [
        ("Assets",),
        ("Assets", "Cash"),
        ("Debts",),
        ("Debts", "Loans"),
        ("Debts", "Bonds"),
    ]


def test_a_note_over_the_labels_is_the_table_s_note() -> None:
    table = table_from_rows([["(in millions)", "2021"], ["Sales", "5"]])
    assert (table.note, table.header) == ("(in millions)", ("", "2021"))


@pytest.mark.parametrize("offset", [0, 17])
def test_offsets_are_those_of_the_document(offset: int) -> None:
    rendered = render_table(TextTable(("", "A", "B"), (("x", "1", ""), ("y", "", "22"))), offset)
    document = " " * offset + rendered.text
    assert [document[s : s + 3] for s in rendered.row_starts] == ["| x", "| y"]
    assert document[rendered.grid.rows[1][2].start :] == "22 |"


_cell = st.text("ab 19,.$%()-|:\n", max_size=12)


@given(
    st.lists(st.lists(_cell, min_size=1, max_size=5), min_size=1, max_size=7), st.integers(0, 50)
)
def test_every_cell_is_where_it_says(rows: list[list[str]], offset: int) -> None:
    rendered = render_table(table_from_rows(rows), offset)
    document = " " * offset + rendered.text
    head = 2 if any(rendered.grid.header) and rendered.text else 0
    lines = len(rendered.text.split("\n")) if rendered.text else 0
    assert len(rendered.row_starts) == len(rendered.grid.rows) == lines - head
    for row in rendered.grid.rows:
        assert any(cell.text for cell in row)
        for cell in row:
            assert document[cell.start : cell.end] == cell.text
            assert document[cell.end : cell.end + 2] == " |"


@given(st.lists(st.lists(_cell, min_size=2, max_size=5), min_size=2, max_size=7))
def test_no_printed_digit_of_a_row_is_lost(rows: list[list[str]]) -> None:
    text = render_table(table_from_rows([["h"] * 5, *rows]), 0).text
    for digit in "19":
        assert text.count(digit) >= sum(
            len(set(row)) == len(row) and cell.count(digit) for row in rows for cell in row
        )


def test_values_stand_beside_the_names_of_their_columns() -> None:
    grid = TextTable(
        ("", "2021", "2022 | plan"), (("Sales", "61", "64"), ("Costs:", "", ""), ("Rent", "", "3"))
    )
    text = f"Before\n{render_table(grid, 0).text}\n\nAfter | all\n| a | b |\n| --- | --- |"
    assert beside_names(text).splitlines() == [
        "Before",
        "Sales | 2021: 61 | 2022 \\| plan: 64",
        "Costs:",
        "Rent | 2022 \\| plan: 3",
        "",
        "After | all",
        "| a | b |",
        "| --- | --- |",
    ], "a head without rows stays, and so does what is no table"
    assert beside_names("| a | b |\nplain") == "| a | b |\nplain"
