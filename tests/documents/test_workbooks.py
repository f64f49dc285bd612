"""Excel workbooks: what a sheet shows, several tables of a sheet, and what is hidden."""

from __future__ import annotations

import datetime
import io
import time
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest
from document_samples import read_file
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font

from sliders.documents import Document


def workbook(change: Callable[[Any], None], name: str = "a.xlsx") -> Document:
    """The document of a workbook that `change` fills, given its first sheet."""
    book = openpyxl.Workbook()
    change(book.active)
    buffer = io.BytesIO()
    book.save(buffer)
    return read_file(buffer.getvalue(), name)


def filled(*rows: list[object], at: tuple[int, int] = (1, 1)) -> Callable[[Any], None]:
    def fill(sheet: Any) -> None:
        for r, row in enumerate(rows, at[0]):
            for c, value in enumerate(row, at[1]):
                if value is not None:
                    sheet.cell(r, c, value)

    return fill


PRICES = (["item", "amount", "margin"], ["lamp", 40, 0.5], ["desk", 120, 0.4], ["chair", 999, 0.1])


def headers(document: Document) -> list[tuple[str, ...]]:
    return [element.grid.header for element in document.elements if element.grid]


@pytest.mark.parametrize("place", ["XFD1048576", "A1048576", "XFD3"])
def test_one_far_cell_is_simply_read(place: str) -> None:
    def change(sheet: Any) -> None:
        filled(*PRICES)(sheet)
        sheet[place] = "far"

    started = time.process_time()
    text = workbook(change).text
    assert time.process_time() - started < 5
    assert "far" in text
    assert "| lamp | 40 | 0.5 |" in text


def test_a_merge_over_a_whole_sheet_is_read() -> None:
    def change(sheet: Any) -> None:
        filled(["Prices of 2024"])(sheet)
        filled(*PRICES, at=(3, 1))(sheet)
        sheet.merge_cells("A1:XFD2")

    assert "Prices of 2024" in workbook(change).text


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (1234, "00000", "01234"),
        (12.5, '0.0" kg"', "12.5 kg"),
        (datetime.timedelta(hours=30, minutes=15), "[h]:mm", "30:15"),
        (1234.5, '"$"#,##0.00', "$1,234.50"),
        (1234.5, "#,##0.00 [$€-407]", "1,234.50 €"),
        (-1234.5, "#,##0.00;(#,##0.00)", "-1,234.50"),
        (4_500_000, '0.0,,"M"', "4.5M"),
        (0.125, "0.0%", "12.5%"),
        (7.5, r"0.0\%", "7.5%"),
        (7.5, '0.0"%"', "7.5%"),
        (7.5, '0.0" E+/#"', "7.5 E+/#"),
        (250, '_-* #,##0.00\\ "kr"_-', "250.00 kr"),
        (-5, '0" up";0" down"', "5 down"),
        (123456789, "000-00-0000", "123-45-6789"),
        (1234567.891, "#,##0", "1,234,567.891"),
        (2024, "General", "2024"),
    ],
)
def test_a_cell_is_written_as_the_sheet_shows_it(
    value: object, number_format: str, shown: str
) -> None:
    def change(sheet: Any) -> None:
        filled(["what", "value"], ["x", value])(sheet)
        sheet["B2"].number_format = number_format

    assert f"| x | {shown} |" in workbook(change).text


@pytest.mark.parametrize("name", ["a.xlsx", "a.xlsm"])
def test_hidden_rows_columns_and_sheets_are_read_and_marked(name: str) -> None:
    def change(sheet: Any) -> None:
        filled(*PRICES)(sheet)
        sheet.row_dimensions[4].hidden = True
        sheet.column_dimensions["C"].hidden = True
        for title, state in (("Scratch", "hidden"), ("Very", "veryHidden")):
            other = sheet.parent.create_sheet(title)
            other.sheet_state = state
            filled(["item", "amount"], ["lamp", 77])(other)

    document = workbook(change, name)
    assert "| item | amount | margin (hidden column) |" in document.text
    assert "| chair (hidden row) | 999 | 0.1 |" in document.text
    assert "Scratch (hidden sheet)" in document.text
    assert "Very (hidden sheet)" in document.text
    assert [warning.split(" were ")[0] for warning in document.warnings] == [
        "hidden rows",
        "hidden columns",
        "hidden sheets",
    ]


def test_tables_side_by_side_and_below_are_tables() -> None:
    def change(sheet: Any) -> None:
        filled(["Annual report"])(sheet)
        filled(*PRICES, at=(3, 1))(sheet)
        filled(["Code", "Name"], ["x1", "red"], ["x2", "blue"], at=(3, 6))(sheet)
        filled(["Staff", "Role"], ["Ana", "chief"], ["Bo", "clerk"], at=(10, 1))(sheet)

    assert headers(workbook(change)) == [
        ("item", "amount", "margin"),
        ("Code", "Name"),
        ("Staff", "Role"),
    ]


def test_tables_below_each_other_have_their_titles() -> None:
    def change(sheet: Any) -> None:
        for number, year in enumerate(("2023", "2024")):
            filled([f"Sales of {year}"], [], *PRICES, at=(1 + 8 * number, 1))(sheet)

    document = workbook(change)
    grids = [element.grid for element in document.elements if element.grid]
    assert [grid.caption for grid in grids] == ["Sales of 2023", "Sales of 2024"]


@pytest.mark.parametrize(
    "rows",
    [
        ([None, "2023", "2024"], ["Sales", 5, 6], [], ["Costs", 3, 4]),
        ([None, "2023", "2024"], ["Sales", 5, 6], [], ["Other"], ["Costs", 3, 4]),
        (
            [None, None, "2023", None, "2024"],
            ["Sales", None, 5, None, 6],
            ["Costs", None, 3, None, 4],
        ),
    ],
)
def test_blank_rows_and_columns_of_one_table_cut_it_not(rows: tuple[list[object], ...]) -> None:
    document = workbook(filled(*rows))
    assert headers(document) == [("", "2023", "2024")]
    assert "| Costs | 3 | 4 |" in document.text


def test_comments_of_cells_are_read() -> None:
    def change(sheet: Any) -> None:
        filled(*PRICES)(sheet)
        sheet["B2"].comment = Comment("without tax", "a")

    assert "Comment at B2: without tax" in workbook(change).text


def test_raised_and_struck_out_text_of_a_cell() -> None:
    def change(sheet: Any) -> None:
        filled(*PRICES)(sheet)
        sheet["B2"] = CellRichText("45", TextBlock(InlineFont(vertAlign="superscript"), "1"))
        sheet["B3"] = CellRichText(TextBlock(InlineFont(strike=True), "900"), "80")
        sheet["B4"].font = Font(strike=True)

    document = workbook(change)
    assert "| lamp | 45^1 | 0.5 |" in document.text
    assert "| desk | 80 | 0.4 |" in document.text
    assert "| chair |  | 0.1 |" in document.text
    assert document.warnings == ('struck-out text was left out in 2 places: "900"; "999"',)


@pytest.mark.parametrize("blanks", [1, 3])
def test_a_title_between_blank_rows_and_names_begins_a_table(blanks: int) -> None:
    rows: list[list[object]] = [["Part", "Stock"], ["Bolt", 10], ["Nut", 20], *[[]] * blanks]
    rows += [["Sent back in spring"], ["Town", "Price"], ["Rome", 1.5], ["Oslo", 2]]
    text = workbook(filled(*rows)).text
    assert "| Part | Stock |\n| --- | --- |" in text
    assert "Sent back in spring\n\n| Town | Price |\n| --- | --- |\n| Rome | 1.5 |" in text


def test_a_form_above_a_table_names_none_of_its_columns() -> None:
    rows: list[list[object]] = [["Bill"], ["Buyer:", "Acme", None, "Day:", "2 May"], []]
    rows += [["No.", "Thing", None, None, "Net"], [1, "Pump", None, None, 100], []]
    rows += [[None, None, None, "Sum", 100]]

    def change(sheet: Any) -> None:
        filled(*rows)(sheet)
        sheet.merge_cells("B4:D4")
        sheet.merge_cells("B5:D5")

    text = workbook(change).text
    assert "| Buyer: | Acme | Day: | 2 May |" in text
    assert "| No. | Thing | Thing | Net |\n| --- | --- | --- | --- |\n| 1 | Pump |  | 100 |" in text
    assert text.endswith("|  |  | Sum | 100 |")
