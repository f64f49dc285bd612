"""Cells that span columns and rows, and what names the columns, in HTML,
Markdown, Word and Excel.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from html import escape

import docx
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.documents import (
    Document,
    TableGrid,
    TextTable,
    html_table,
    read_csv,
    read_docx,
    read_html,
    read_markdown,
    read_xlsx,
)


def _html(*rows: str) -> TextTable:
    return html_table(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>")


def _xlsx(rows: Sequence[Sequence[object]], *merged: str) -> Document:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    for place in merged:
        book.active.merge_cells(place)
    buffer = io.BytesIO()
    book.save(buffer)
    return read_xlsx(buffer.getvalue(), "made.xlsx")


def _docx(
    rows: Sequence[Sequence[str]], merged: tuple[int, int, int, int] | None = None
) -> Document:
    word = docx.Document()
    table = word.add_table(len(rows), len(rows[0]))
    if merged:
        table.cell(*merged[:2]).merge(table.cell(*merged[2:]))
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            if text:
                table.cell(r, c).text = text
    buffer = io.BytesIO()
    word.save(buffer)
    return read_docx(buffer.getvalue(), "made.docx")


def _grids(document: Document) -> list[TableGrid]:
    return [element.grid for element in document.elements if element.grid]


def _plain(grid: TableGrid) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    return grid.header, [tuple(cell.text for cell in row) for row in grid.rows]


# What names the columns


def test_what_the_file_marks_as_header_is_the_header() -> None:
    marked = _html("<th>Film<th>Role<th>Role", "<td>Heat<td>cop<td>thief", "<td>Alien<td>crew<td>7")
    assert marked.header == ("Film", "Role", "Role")
    assert marked.rows == (("Heat", "cop", "thief"), ("Alien", "crew", "7"))
    numbered = _html("<th>place<th>1<th>2", "<td>Kiel<td>Ann<td>Ben")
    assert (numbered.header, numbered.rows) == (("place", "1", "2"), (("Kiel", "Ann", "Ben"),))


def test_every_row_of_a_thead_is_header_and_no_other() -> None:
    table = html_table(
        "<table><thead><tr><td>Film<td>People<td></tr><tr><td>title<td>maker<td>star</tr></thead>"
        "<tbody><tr><td>Heat<td>Mann<td>Pacino</tr><tr><td><td>Cameron<td>Weaver</tr></tbody></table>"
    )
    assert table.header == ("Film title", "People maker", "star")
    assert table.rows == (("Heat", "Mann", "Pacino"), ("", "Cameron", "Weaver"))


def test_a_marked_label_is_no_header_of_columns() -> None:
    table = _html("<th>Born<td>1980", "<th>Trade<td>painter")
    assert table.rows == (("Born", "1980"), ("Trade", "painter"))


def test_a_marked_line_over_a_whole_table_is_a_title_above_and_a_section_below_the_header() -> None:
    table = _html(
        "<th colspan=2>Shops", "<th>town<th>owner", "<th colspan=2>North", "<td>Kiel<td>Ann"
    )
    assert (table.caption, table.header) == ("Shops", ("town", "owner"))
    assert table.rows == (("North", ""), ("Kiel", "Ann"))


@pytest.mark.parametrize(
    "header", [["Film", "Director", ""], ["Film", "Name", "Name"], ["", "Director", "Star"]]
)
def test_the_first_row_below_an_unmarked_header_is_a_row_also_without_numbers(
    header: list[str],
) -> None:
    rows = [["Heat", "Michael Mann", "Al Pacino"], ["Titanic", "James Cameron", "11"]]
    for document in (_docx([header, *rows]), _xlsx([header, *rows])):
        assert _plain(_grids(document)[0]) == (tuple(header), [tuple(row) for row in rows])


def test_a_table_that_begins_in_the_second_column_of_a_sheet_keeps_its_rows() -> None:
    rows = [["City", "State"], ["Kiel", "Holstein"], ["Bonn", "Rhineland"], ["Ulm", "Swabia"]]
    document = _xlsx([[None, *row] for row in rows])
    assert _plain(_grids(document)[0]) == (("City", "State"), [tuple(row) for row in rows[1:]])


def test_a_second_header_row_without_a_label_of_its_own_is_a_header() -> None:
    document = _xlsx([["", "North", "South"], ["", "plan", "done"], ["Lamps", 1, 2]])
    assert _plain(_grids(document)[0]) == (("", "North plan", "South done"), [("Lamps", "1", "2")])
    table = _html(
        "<td rowspan=2>Item<td colspan=2>Year ended", "<td>plan<td>done", "<td>Lamps<td>1<td>2"
    )
    assert (table.header, table.rows) == (
        ("Item", "Year ended / plan", "Year ended / done"),
        (("Lamps", "1", "2"),),
    )


def test_merged_header_cells_of_excel_name_each_of_their_columns() -> None:
    rows = [
        ["Town", "Sales", None, "Costs"],
        [None, "plan", "done", None],
        ["Kiel", 1, 2, 3],
        [None, 4, 5, 6],
    ]
    document = _xlsx(rows, "A1:A2", "B1:C1", "D1:D2", "A3:A4")
    assert _plain(_grids(document)[0]) == (
        ("Town", "Sales / plan", "Sales / done", "Costs"),
        [("Kiel", "1", "2", "3"), ("Kiel", "4", "5", "6")],
    )


def test_words_over_the_only_columns_with_values_are_a_header_in_excel() -> None:
    assert _plain(_grids(_xlsx([[None, 2021], ["Sales", 5]]))[0]) == (
        ("", "2021"),
        [("Sales", "5")],
    )


def test_merged_cells_of_word_name_each_of_their_columns() -> None:
    document = _docx([["", "Sales", ""], ["", "plan", "done"], ["Kiel", "a", "b"]], (0, 1, 0, 2))
    assert _plain(_grids(document)[0]) == (
        ("", "Sales / plan", "Sales / done"),
        [("Kiel", "a", "b")],
    )


def test_a_section_before_the_first_row_is_no_header() -> None:
    table = _html("<td colspan=2>Assets", "<td>Cash<td>5", "<td colspan=2>Debts", "<td>Loans<td>3")
    assert table.header == ("", "")
    assert table.rows == (("Assets", ""), ("Cash", "5"), ("Debts", ""), ("Loans", "3"))


# What stands in the columns


def test_two_cells_that_print_the_same_are_two_and_one_that_spans_is_one() -> None:
    table = _html(
        "<th>city<th>state", "<td>Hamburg<td>Hamburg", "<td colspan=2>South", "<td>Ulm<td>Swabia"
    )
    assert table.rows == (("Hamburg", "Hamburg"), ("South", ""), ("Ulm", "Swabia"))
    headed = _html("<th>part<th>Total<th>Total", "<th><th>plan<th>done", "<td>a<td>1<td>2")
    assert headed.header == ("part", "Total plan", "Total done")


def test_words_that_span_named_columns_stand_in_each_of_them_and_a_value_in_the_first() -> None:
    table = _html(
        "<th>who<th>Mon<th>Tue",
        "<td>Ann<td colspan=2>absent",
        "<td>Ben<td colspan=2>7",
        "<td>Cy<td>1<td>2",
    )
    assert table.rows == (("Ann", "absent", "absent"), ("Ben", "7", ""), ("Cy", "1", "2"))


def test_a_mark_joins_its_value_below_one_header_but_not_below_two() -> None:
    printed = _html(
        "<th><th colspan=3>2021", "<td>Sales<td>$<td>5,363<td>", "<td>Margin<td><td>12.5<td>%"
    )
    assert (printed.header, printed.rows) == (
        ("", "2021"),
        (("Sales", "$5,363"), ("Margin", "12.5%")),
    )
    listed = _html("<th>item<th>currency<th>price<th>unit", "<td>desk<td>USD<td>100<td>%")
    assert listed.rows == (("desk", "USD", "100", "%"),)


def test_a_joined_mark_does_not_take_its_value_from_below_the_header() -> None:
    table = _html("<td><td>2021<td>", "<td>Sales<td>$<td>5", "<td>Costs<td>$<td>4")
    assert (table.header, table.rows) == (("", "2021"), (("Sales", "$5"), ("Costs", "$4")))


def test_values_below_one_wide_header_are_one_column_also_where_some_span_it() -> None:
    sales = "<td>Sales<td>$<td>5<td>$<td>4"
    table = _html(
        "<th><th colspan=2>2021<th colspan=2>2020", sales, "<td>Costs<td colspan=2>3<td><td>2"
    )
    assert (table.header, table.rows) == (
        ("", "2021", "2020"),
        (("Sales", "$5", "$4"), ("Costs", "3", "2")),
    )


def test_a_column_without_values_keeps_its_name() -> None:
    expected = ("Name", "Age", "Died of"), (("Ann", "5", ""),)
    table = _html("<th>Name<th>Age<th>Died of", "<td>Ann<td>5<td>")
    assert (table.header, table.rows) == expected
    grid = _grids(read_csv(b"Name,Age,Died of\nAnn,5,\n", "made.csv"))[0]
    assert _plain(grid) == (expected[0], list(expected[1]))


def test_a_unit_over_one_column_is_that_column_s_name() -> None:
    grid = _grids(read_csv(b"Firm,Shares in millions,Staff\nLumen,5,12\n", "made.csv"))[0]
    assert (grid.header, grid.note) == (("Firm", "Shares in millions", "Staff"), "")


def test_words_of_excel_that_pandas_takes_for_nothing_are_kept() -> None:
    grid = _grids(_xlsx([["land", "code"], ["Namibia", "NA"], ["Mali", "None"]]))[0]
    assert _plain(grid)[1] == [("Namibia", "NA"), ("Mali", "None")]


@pytest.mark.parametrize(
    ("value", "number_format", "printed"),
    [
        (0.25, "0%", "25%"),
        (0.125, "0.00%", "12.50%"),
        (1200, '"$"#,##0.00', "$1,200.00"),
        (5.5, "[$€-407] 0.00", "€ 5.50"),
        (7, "#,##0", "7"),
        (-3, "[$-409]0", "-3"),
        (True, "0%", "True"),
    ],
)
def test_a_number_of_excel_keeps_its_percent_sign_and_currency(
    value: object, number_format: str, printed: str
) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["what", "much"])
    book.active.append(["Lamps", value])
    book.active["B2"].number_format = number_format
    buffer = io.BytesIO()
    book.save(buffer)
    assert _plain(_grids(read_xlsx(buffer.getvalue(), "made.xlsx"))[0])[1] == [("Lamps", printed)]


def test_a_formula_whose_value_was_never_stored_is_told() -> None:
    document = _xlsx([["what", "much"], ["Lamps", 5], ["Wicks", 7], ["All", "=B2+B3"]])
    assert (
        len(document.warnings) == 1
        and "1 formula" in document.warnings[0]
        and "save it" in document.warnings[0]
    )
    assert not _xlsx([["what", "much"], ["Lamps", 5]]).warnings


def test_a_cell_s_text_is_what_its_html_prints() -> None:
    table = _html(
        "<th>a<th>b",
        "<td><b>H</b>eat<td>H<sub>2</sub>O<br>12<sup>1</sup>",
        "<td>7<td>x",
    )
    assert table.rows == (("Heat", "H2O 12 1"), ("7", "x"))


def test_raw_html_in_markdown_keeps_its_spans() -> None:
    text = (
        "# A\n\n<table><tr><th rowspan=2>Item<th "
        "colspan=2>Year</tr><tr><th>a<th>b</tr><tr><td>x<td>1<td>2</tr></table>\n"
    )
    assert _plain(_grids(read_markdown(text.encode(), "a.md"))[0]) == (
        ("Item", "Year / a", "Year / b"),
        [("x", "1", "2")],
    )


def test_a_bar_inside_a_cell_is_no_border() -> None:
    document = read_csv(b"pattern,meaning\na|b,a or b\n", "made.csv")
    assert "| a\\|b | a or b |" in document.text


def test_a_markdown_row_with_more_cells_than_the_header_keeps_them() -> None:
    text = "Lamps.\n\n| a | b |\n|---|---|\n| p | q | r |\n| x | y |\n"
    assert _plain(_grids(read_markdown(text.encode(), "a.md"))[0]) == (
        ("a", "b", ""),
        [("p", "q", "r"), ("x", "y", "")],
    )


def test_a_markdown_table_directly_below_and_above_words_is_a_table() -> None:
    text = (
        "The lamps:\n| a | b |\n|---|---|\n| x | 1 |\nThat is all.\n\n```\nin code\n| c | d |\n"
        "|---|---|\n| e | f |\n```\n"
    )
    document = read_markdown(text.encode(), "a.md")
    assert [_plain(grid) for grid in _grids(document)] == [(("a", "b"), [("x", "1")])]
    assert (
        document.text.startswith("The lamps:\n\n| a |")
        and "| x | 1 |\n\nThat is all." in document.text
    )
    assert "in code\n| c | d |" in document.text


def test_a_table_inside_a_layout_table_keeps_its_rows() -> None:
    inner = "<table><tr><th>town<th>lamps</tr><tr><td>Kiel<td>7</tr><tr><td>Ulm<td>9</tr></table>"
    page = (
        "<table><tr><td>Menu of the page</td><td><p>Lamps of the "
        f"towns:</p>{inner}</td></tr></table>"
    )
    document = read_html(page.encode(), "a.html")
    assert [_plain(grid) for grid in _grids(document)] == [
        (("town", "lamps"), [("Kiel", "7"), ("Ulm", "9")])
    ]
    assert "Menu of the page" in document.text and "Lamps of the towns:" in document.text
    table = _html("<th>town<th>note", "<td>Kiel<td><table><tr><td>small</table>", "<td>Ulm<td>big")
    assert table.rows == (("Kiel", "small"), ("Ulm", "big"))


# Whatever a table holds, it arrives

_words = st.text("abc NÄ1$%()-/|<&", max_size=9).map(lambda text: " ".join(text.split()))


@st.composite
def _tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """A header of different words, and rows of any cells with a label each."""
    width = draw(st.integers(2, 5))
    header = [f"name{c}" for c in range(width)]
    cells = st.lists(_words, min_size=width - 1, max_size=width - 1)
    rows = [[f"row{n}", *draw(cells)] for n in range(draw(st.integers(2, 5)))]
    return header, rows


def _shown(document: Document) -> Iterator[tuple[dict[str, str], str]]:
    """Each row's cells by the names of their columns, and its line in the text."""
    grid = next(element.grid for element in document.elements if element.grid)
    for row in grid.rows:
        line = document.text[row[0].start - 2 :].split("\n")[0]
        yield dict(zip(grid.header, (cell.text for cell in row), strict=True)), line


def _expected(header: Sequence[str], row: Sequence[str]) -> dict[str, str]:
    return dict(zip(header, (cell.replace("|", "\\|") for cell in row), strict=True))


@given(_tables())
def test_every_cell_of_a_csv_file_stands_below_its_name(
    table: tuple[list[str], list[list[str]]],
) -> None:
    header, rows = table
    text = "\n".join(",".join(row) for row in (header, *rows))
    shown = list(_shown(read_csv(text.encode(), "made.csv")))
    assert [cells for cells, _ in shown] == [_expected(header, row) for row in rows]


@given(_tables())
def test_every_cell_of_html_stands_below_its_name(table: tuple[list[str], list[list[str]]]) -> None:
    header, rows = table
    head = "".join(f"<th>{name}</th>" for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    shown = list(
        _shown(read_html(f"<p>x</p><table><tr>{head}</tr>{body}</table>".encode(), "made.html"))
    )
    bare = [
        ({name: cell.replace(" ", "") for name, cell in cells.items()}, line)
        for cells, line in shown
    ]
    assert [cells for cells, _ in bare] == [
        {n: c.replace(" ", "") for n, c in _expected(header, row).items()} for row in rows
    ]
    assert all(cell in line for cells, line in shown for cell in cells.values())


@given(_tables())
def test_every_cell_of_excel_stands_below_its_name(
    table: tuple[list[str], list[list[str]]],
) -> None:
    header, rows = table
    shown = list(_shown(_xlsx([header, *rows])))
    assert [cells for cells, _ in shown] == [_expected(header, row) for row in rows]
