"""Printed tables of periods as lines of amounts, and which line a column means."""

from __future__ import annotations

import pytest

from sliders.documents.loaders import load_text
from sliders.extraction.line_items import match_line
from sliders.extraction.statements import StatementLine, printed_header, statements_of
from sliders.schema.periods import period_roles, scaled_by_name
from sliders.schema.types import Column, ColumnType, Table

TEXT = """
                              HARROW MILLS LIMITED
                       CONSOLIDATED STATEMENTS OF INCOME
                     (in thousands, except per share amounts)

                                                  Years Ended June 30,
                                              2019          2018          2017
Net sales:
   Flour                                   $ 81,400      $ 77,100      $ 70,050
   Bran                                      12,600        11,900        10,450
      Total net sales                        94,000        89,000        80,500
Cost of goods sold                           61,000        58,200        53,900
Operating income                             14,100        13,300        11,000
Net income                                   10,250         9,800         8,150
Net income attributable to noncontrolling
   interests                                   (250)         (300)         (150)
Net income attributable to Harrow Mills    $ 10,000      $  9,500      $  8,000
Earnings per share:
   Basic                                   $   2.00      $   1.90      $   1.60
   Diluted                                 $   1.98      $   1.88      $   1.58
Shares used (in thousands):
   Basic                                      5,000         5,000         5,000
"""
DOCUMENT = load_text(TEXT, "harrow_2019.txt")


def _lines() -> list[StatementLine]:
    return [line for statement in statements_of(DOCUMENT) for line in statement.lines]


def _line(name: str) -> StatementLine | None:
    return match_line(Column(name, ColumnType.NUMBER), _lines()).line


def test_the_columns_are_years() -> None:
    (statement,) = statements_of(DOCUMENT)
    assert [(p.year, p.end) for p in statement.periods] == [
        (2019, "2019-06-30"), (2018, "2018-06-30"), (2017, "2017-06-30"),
    ]  # fmt: skip


def test_every_cell_and_header_stands_where_it_is_said_to() -> None:
    (statement,) = statements_of(DOCUMENT)
    for line in statement.lines:
        for period, cell in line.cells.items():
            assert DOCUMENT.text[cell.start : cell.end] == cell.text
            start, end = printed_header(DOCUMENT, statement, period, cell)
            assert DOCUMENT.text[start:end] == str(period.year)
            assert "\n" not in DOCUMENT.text[start : cell.end]


@pytest.mark.parametrize(
    ("column", "label"),
    [
        ("revenue", "Total net sales"),
        ("total_revenue", "Total net sales"),
        ("turnover_in_thousands", "Total net sales"),
        ("revenue_musd", "Total net sales"),
        ("cost_of_sales", "Cost of goods sold"),
        ("operating_profit", "Operating income"),
        ("net_income", "Net income attributable to Harrow Mills"),
        ("diluted_eps", "Diluted"),
    ],
)
def test_the_line_that_a_column_means(column: str, label: str) -> None:
    line = _line(column)
    assert line is not None
    assert line.label == label


@pytest.mark.parametrize("column", ["company", "employees", "free_cash_flow", "income_tax"])
def test_what_is_not_printed_has_no_line(column: str) -> None:
    assert _line(column) is None


def test_several_wider_lines_are_left_to_the_model() -> None:
    match = match_line(Column("shares", ColumnType.NUMBER), _lines())
    assert match.line is None
    assert match.candidates


def test_an_amount_per_share_has_no_scale() -> None:
    per_share, sales = _line("diluted_eps"), _line("revenue")
    assert per_share is not None and per_share.note == ""
    assert sales is not None and "thousands" in sales.note


def test_prose_tables_are_no_statements() -> None:
    text = "| Town | Bridges |\n|---|---|\n| Ulm | 4 |\n| Bern | 12 |\n"
    assert statements_of(load_text(text, "towns.md")) == ()


def test_the_roles_of_columns() -> None:
    number = ColumnType.INTEGER
    columns = (
        Column("company"), Column("filing_year", number), Column("fiscal_year", number), Column("sales_kusd", number),
        Column("fiscal_year_end", ColumnType.DATE),
    )  # fmt: skip
    roles = period_roles(Table("t", columns))
    assert roles.period is not None and roles.period.name == "fiscal_year"
    assert [c.name for c in roles.filing] == ["filing_year", "fiscal_year_end"]
    assert [c.name for c in roles.amounts] == ["sales_kusd"]
    assert [c.name for c in roles.entities] == ["company"]
    assert period_roles(Table("t", columns, grain="document")).period is None


@pytest.mark.parametrize(
    ("name", "scale", "currency"),
    [("revenue_musd", "millions", "USD"), ("sales_in_thousands", "thousands", ""), ("revenue", "", "")],
)
def test_a_name_that_states_its_scale(name: str, scale: str, currency: str) -> None:
    column = scaled_by_name(Column(name, ColumnType.NUMBER))
    assert (column.scale, column.currency) == (scale, currency)
