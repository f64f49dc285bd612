"""Figures that two filings state for one period: which filing a statement reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from sliders.answer.filings import filings_named, periods_named, two_filings_sql
from sliders.answer.profile import profile_table
from sliders.answer.question import named_values
from sliders.answer.trial import try_sql
from sliders.answer.values import RunSql, TableView
from sliders.schema.types import Column, ColumnType, Table

NUMBER = ColumnType.INTEGER
TABLE = Table(
    "sales",
    (Column("mill"), Column("fiscal_year", NUMBER), Column("revenue", NUMBER), Column("filing_fiscal_year", NUMBER)),
    key=("mill", "filing_fiscal_year", "fiscal_year"),
)
ROWS = [
    ("Harrow", 2019, 90, 2019), ("Harrow", 2018, 80, 2019), ("Harrow", 2020, 99, 2020), ("Harrow", 2019, 88, 2020),
    ("Tolland", 2019, 40, 2019), ("Tolland", 2018, 41, 2019), ("Tolland", 2020, 30, 2020), ("Tolland", 2019, 40, 2020),
]  # fmt: skip


class _Result:
    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self.rows = cursor.fetchall()
        self.columns = [part[0] for part in cursor.description]
        self.truncated = False


@pytest.fixture
def run_sql() -> Iterator[RunSql]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE sales (mill, fiscal_year, revenue, filing_fiscal_year, row_id, document)")
    lines = [(*row, str(n), f"{row[0]}{row[3]}") for n, row in enumerate(ROWS)]
    connection.executemany("INSERT INTO sales VALUES (?,?,?,?,?,?)", lines)
    connection.execute("CREATE TABLE filings (mill, fiscal_year, fiscal_year_end, row_id, document)")
    ends = [("Harrow", year, f"{year}-06-30", f"f{year}", f"Harrow{year}") for year in (2019, 2020)]
    connection.executemany("INSERT INTO filings VALUES (?,?,?,?,?)", ends)
    yield lambda sql: _Result(connection.execute(sql))
    connection.close()


def _rows(question: str, sql: str, run_sql: RunSql) -> list[tuple[object, ...]]:
    profiles = (profile_table(TableView(TABLE), run_sql),)
    candidate = try_sql(question, sql, profiles, named_values(question, profiles), run_sql)
    assert candidate.result is not None
    return [tuple(row) for row in candidate.result.rows]


@pytest.mark.parametrize(
    ("question", "filings", "periods"),
    [
        ("Revenue of Harrow in fiscal 2019, as stated in the FY2020 10-K?", (2020,), (2019,)),
        ("Which mills sold less in 2019 than in 2018, according to the 2019 annual reports?", (2019,), (2019, 2018)),
        ("Do the FY2019 and the FY2020 10-K state different fiscal 2019 revenue?", (2019, 2020), (2019,)),
        ("What did the filing for 2018 say?", (2018,), ()),
        ("Revenue in 2019?", (), (2019,)),
    ],
)
def test_the_years_of_filings_and_of_figures(question: str, filings: tuple[int, ...], periods: tuple[int, ...]) -> None:
    assert filings_named(question) == filings
    assert periods_named(question) == periods


def test_the_newest_filing_holds_where_none_is_named(run_sql: RunSql) -> None:
    sql = "SELECT revenue FROM sales WHERE mill = 'Harrow' AND fiscal_year = 2019"
    assert _rows("What was the revenue of Harrow in 2019?", sql, run_sql) == [(88,)]


def test_the_figures_year_is_not_the_filings(run_sql: RunSql) -> None:
    sql = "SELECT revenue FROM sales WHERE mill = 'Harrow' AND fiscal_year = 2019 AND filing_fiscal_year = 2019"
    assert _rows("What was the revenue of Harrow in 2019?", sql, run_sql) == [(88,)]


def test_the_filing_that_is_named_is_read(run_sql: RunSql) -> None:
    sql = "SELECT SUM(revenue) FROM sales WHERE fiscal_year = 2019"
    assert _rows("What was the total revenue in 2019, as stated in the 2019 filings?", sql, run_sql) == [(130,)]


def test_a_figure_stated_twice_is_added_once(run_sql: RunSql) -> None:
    sql = "SELECT SUM(revenue) FROM sales WHERE fiscal_year = 2019"
    assert _rows("What was the combined revenue of all mills in 2019?", sql, run_sql) == [(128,)]


def test_a_year_in_the_name_of_a_column(run_sql: RunSql) -> None:
    question = "What was the revenue of Harrow in 2018?"
    assert _rows(question, "SELECT revenue_2018 FROM sales WHERE mill = 'Harrow'", run_sql) == [(80,)]


def test_years_as_columns_are_set_side_by_side(run_sql: RunSql) -> None:
    question = "Which mill had the highest growth of revenue from 2018 to 2019 (both as stated in the 2019 filing)?"
    sql = "SELECT mill FROM sales WHERE fiscal_year = 2019 ORDER BY (revenue - revenue_2018) * 1.0 / revenue_2018 DESC LIMIT 1"
    assert _rows(question, sql, run_sql) == [("Harrow",)]


def test_the_named_filing_of_a_table_with_one_row_a_filing(run_sql: RunSql) -> None:
    columns = (Column("mill"), Column("fiscal_year", NUMBER), Column("fiscal_year_end", ColumnType.DATE))
    profiles = (
        profile_table(TableView(Table("filings", columns, grain="document")), run_sql),
        profile_table(TableView(TABLE), run_sql),
    )
    question = "On which date did the fiscal year covered by the 2020 10-K of Harrow end?"
    sql = (
        "SELECT T1.fiscal_year_end FROM filings AS T1 JOIN sales AS T2 ON T1.mill = T2.mill "
        "WHERE T1.mill = 'Harrow' AND T2.fiscal_year = 2020"
    )
    candidate = try_sql(question, sql, profiles, named_values(question, profiles), run_sql)
    assert candidate.result is not None
    assert {tuple(row) for row in candidate.result.rows} == {("2020-06-30",)}


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Harrow stated its 2019 revenue differently in its 2019 and 2020 filings. What is the difference?", [(2,)]),
        ("For which mills do the 2019 and the 2020 filings state different revenue for 2019?", [("Harrow",)]),
    ],
)
def test_two_filings_side_by_side(question: str, rows: list[tuple[object, ...]], run_sql: RunSql) -> None:
    profiles = (profile_table(TableView(TABLE), run_sql),)
    sql = two_filings_sql(question, profiles, named_values(question, profiles))
    assert sql is not None
    assert _rows(question, sql, run_sql) == rows


def test_no_statement_for_other_questions(run_sql: RunSql) -> None:
    profiles = (profile_table(TableView(TABLE), run_sql),)
    question = "What was the revenue of Harrow in 2019, according to the 2020 filing?"
    assert two_filings_sql(question, profiles, named_values(question, profiles)) is None
