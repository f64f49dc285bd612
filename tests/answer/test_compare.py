"""Values of two years, set side by side."""

from __future__ import annotations

import sqlite3

import pytest

from sliders.answer.compare import comparison_sql
from sliders.answer.profile import profile_tables
from sliders.answer.scope import Names, parse_select
from sliders.answer.trial import try_sql
from sliders.answer.values import TableView
from sliders.schema.types import Column, ColumnType, Table
from tests.answer.tables import Rows

VIEW = TableView(
    Table("yields", (Column("farm"), Column("year", ColumnType.INTEGER), Column("tons", ColumnType.INTEGER)))
)
YIELDS = [
    ("1", "North", 1990, 10, "a"),
    ("2", "North", 1991, 8, "a"),
    ("3", "South", 1990, 4, "a"),
    ("4", "South", 1991, 6, "a"),
    ("5", "West", 1990, 20, "a"),
    ("6", "West", 1991, 21, "a"),
]
RESTATED = [("7", "North", 1990, 5, "b"), ("8", "North", 1992, 9, "b")]


def answer(question: str, sql: str, rows: list[tuple[object, ...]]) -> tuple[tuple[object, ...], ...]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE yields (row_id TEXT, farm TEXT, year INTEGER, tons INTEGER, document TEXT)")
    connection.executemany("INSERT INTO yields VALUES (?,?,?,?,?)", rows)

    def run(statement: str) -> Rows:
        cursor = connection.execute(statement)
        return Rows(tuple(column[0] for column in cursor.description), tuple(cursor.fetchall()))

    candidate = try_sql(question, sql, profile_tables((VIEW,), run), (), run)
    assert candidate.result is not None
    return tuple(tuple(row) for row in candidate.result.rows)


LOOSE = "SELECT farm FROM yields WHERE year = 1991 AND tons < (SELECT tons FROM yields WHERE year = 1990)"


@pytest.mark.parametrize(
    ("question", "farms"),
    [
        ("Which farms had a lower yield in 1991 than in 1990?", {"North"}),
        ("Which farms had a higher yield in 1991 than in 1990?", {"South", "West"}),
        ("Which farms had a lower yield in 1990 than in 1991?", {"South", "West"}),
        ("Which farms' yields fell from 1990 to 1991?", {"North"}),
        ("Which farm had the highest growth of yield from 1990 to 1991?", {"South"}),
        ("Which farm had the lowest growth of yield from 1990 to 1991?", {"North"}),
    ],
)
def test_the_words_set_the_comparison(question: str, farms: set[str]) -> None:
    assert {row[0] for row in answer(question, LOOSE, YIELDS)} == farms


def test_a_thing_stated_twice_is_compared_within_one_document() -> None:
    question = "Which farms had a higher yield in 1991 than in 1990?"
    assert {row[0] for row in answer(question, LOOSE, YIELDS + RESTATED)} == {"South", "West"}


def test_other_filters_hold_for_both_years() -> None:
    sql = f"{LOOSE} AND document = 'b'"
    question = "Which farms had a higher yield in 1991 than in 1990?"
    assert {
        row[0] for row in answer(question, sql, [*YIELDS, ("7", "East", 1990, 1, "b"), ("8", "East", 1991, 2, "b")])
    } == {"East"}


def test_a_statement_with_nothing_odd_stays() -> None:
    joined = "SELECT a.farm FROM yields AS a JOIN yields AS b ON a.farm = b.farm"
    sql = f"{joined} WHERE a.year = 1991 AND b.year = 1990 AND a.tons = 21"
    assert answer("Which farms had a higher yield in 1991 than in 1990?", sql, YIELDS) == (("West",),)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which farm had the most in 1990?", "SELECT farm FROM yields WHERE year = 1990"),
        ("Which farms had more in 1990 than in 1991?", "SELECT COUNT(*) FROM yields"),
        ("Which farms had more in 1880 than in 1881?", "SELECT farm FROM yields WHERE tons > 3"),
    ],
)
def test_no_comparison_where_a_part_is_missing(question: str, sql: str) -> None:
    tree = parse_select(sql)
    assert comparison_sql(question, tree, Names(tree, ()), lambda sql: Rows((), ())) is None
