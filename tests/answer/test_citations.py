"""Which rows an answer came from, for each shape of statement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.answer import columns_used, contributing_rows_sql
from tests.answer.tables import CREW_TABLE, SHIP_TABLE, SHIPS, database

TABLES = (SHIP_TABLE, CREW_TABLE)


def cited(sql: str) -> set[str]:
    rewritten = contributing_rows_sql(sql, TABLES)
    assert rewritten is not None
    return {row[1] for row in database()(rewritten).rows}


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT name FROM ships WHERE port = 'Bergen'", {"r1", "r3"}),
        ("SELECT COUNT(*) FROM ships WHERE built < '1912'", {"r1", "r4"}),
        ("SELECT AVG(length) FROM ships", {"r1", "r2", "r4"}),
        ("SELECT COUNT(DISTINCT length) FROM ships", {"r1", "r2", "r4"}),
        ("SELECT MIN(length) FROM ships", {"r2"}),
        ("SELECT name FROM ships ORDER BY built DESC LIMIT 1", {"r3"}),
        ("SELECT name, length FROM ships ORDER BY 2 DESC LIMIT 1", {"r1"}),
        ("SELECT name, length * 2 AS twice FROM ships ORDER BY twice DESC LIMIT 1", {"r1"}),
        ("SELECT name FROM ships WHERE length = (SELECT MAX(length) FROM ships)", {"r1", "r4"}),
        (
            "SELECT owner, COUNT(*) AS n FROM ships GROUP BY owner ORDER BY n DESC LIMIT 1",
            {"r1", "r2"},
        ),
        ("SELECT substr(built, 1, 4) AS y FROM ships GROUP BY y HAVING COUNT(*) > 1", {"r1", "r4"}),
        ("SELECT port FROM ships GROUP BY 1 HAVING COUNT(*) = 1", {"r2", "r4"}),
        (
            (
                "SELECT SUM(c.people) FROM ships AS s JOIN crews AS c ON c.ship = s.name "
                "WHERE s.port = 'Oslo'"
            ),
            {"r2", "c3"},
        ),
        (
            (
                "SELECT (SELECT length FROM ships WHERE name = 'Grey Gull') - (SELECT length FROM "
                "ships WHERE name = 'Old Petrel')"
            ),
            {"r2", "r4"},
        ),
        (
            "SELECT COUNT(*) FROM (SELECT ship FROM crews GROUP BY ship HAVING COUNT(*) > 1)",
            {"c1", "c2"},
        ),
        (
            "WITH long AS (SELECT * FROM ships WHERE length > 100) SELECT COUNT(*) FROM long",
            {"r1", "r4"},
        ),
        (
            (
                "SELECT name FROM ships WHERE lost = 1 UNION SELECT ship FROM crews "
                "WHERE role = 'cook'"
            ),
            {"r1", "c2"},
        ),
    ],
)
def test_rows_that_contribute(sql: str, rows: set[str]) -> None:
    assert cited(sql) == rows


@given(st.integers(min_value=0, max_value=200))
def test_a_filter_cites_exactly_the_rows_that_it_keeps(length: int) -> None:
    wanted = {row[0] for row in SHIPS if row[6] is not None and row[6] > length}
    assert cited(f"SELECT name FROM ships WHERE length > {length}") == wanted


def test_at_most_the_limit_is_cited() -> None:
    sql = contributing_rows_sql("SELECT COUNT(*) FROM ships", TABLES, limit=3)
    assert sql is not None and len(database()(sql).rows) == 3


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "DROP TABLE ships", "SELECT * FROM nowhere", "SELECT FROM WHERE"]
)
def test_nothing_to_cite(sql: str) -> None:
    assert contributing_rows_sql(sql, TABLES) is None


def test_the_columns_whose_words_are_quoted() -> None:
    used = columns_used("SELECT name FROM ships WHERE port = 'Bergen' AND length > 1", TABLES)
    assert used == {"ships": ("name", "port", "length")}
