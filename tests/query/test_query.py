"""SQL to plan values: what is supported, three-valued logic, and errors with their place."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.errors import QueryError
from sliders.query import (
    And,
    Filter,
    Or,
    QueryTable,
    contradiction,
    leaves,
    parse_query,
    reduce,
)
from sliders.schema import Column, Table
from sliders.values import ColumnType

PLAYERS = Table("players", (Column("name"), Column("team"), Column("age", ColumnType.INTEGER)))
TEAMS = Table("teams", (Column("team"), Column("city"), Column("titles", ColumnType.INTEGER)))
DOCS = QueryTable(Table("docs", ()), "docs", open=True)


def test_parts_of_a_query() -> None:
    query = parse_query(
        "SELECT name FROM players WHERE age > 35 AND team = 'Lakers'", [PLAYERS, TEAMS]
    )
    (use,) = query.tables
    assert use.select == ("name",)
    assert set(use.attributes) == {"name", "age", "team"}
    assert isinstance(use.where, And)
    assert [(leaf.attributes, leaf.sql, leaf.values) for leaf in leaves(use.where)] == [
        (("age",), "age > 35", (35,)),
        (("team",), "team = 'Lakers'", ("Lakers",)),
    ]


def test_not_is_pushed_into_the_filters() -> None:
    query = parse_query(
        "SELECT name FROM players WHERE NOT (age <= 35 OR team IN ('A', 'B'))", [PLAYERS]
    )
    where = query.tables[0].where
    assert isinstance(where, And)
    assert all(leaf.negated for leaf in leaves(where))


def test_join_conditions_in_on_and_in_where() -> None:
    for sql in (
        (
            "SELECT p.name FROM players p JOIN teams t ON p.team = t.team AND t.titles > 6 "
            "WHERE p.age > 35"
        ),
        (
            "SELECT p.name FROM players p, teams t WHERE p.team = t.team AND t.titles > "
            "6 AND p.age > 35"
        ),
    ):
        query = parse_query(sql, [PLAYERS, TEAMS])
        assert [str(edge) for edge in query.joins] == ["p.team = t.team"]
        assert str(query.use("t").where) == "titles > 6"
        assert str(query.use("p").where) == "age > 35"


def test_a_condition_over_two_tables_stays_in_the_sql() -> None:
    sql = (
        "SELECT p.name FROM players p, teams t WHERE p.team = t.team AND (p.age > 30 "
        "OR t.titles > 1)"
    )
    query = parse_query(sql, [PLAYERS, TEAMS])
    assert "age" in query.use("p").select and "titles" in query.use("t").select
    assert query.use("p").where is None and query.use("t").where is None
    assert "p.age > 30 OR t.titles > 1" in query.sql


def test_limit_stops_early_only_where_any_rows_do() -> None:
    assert parse_query("SELECT name FROM players LIMIT 3 OFFSET 2", [PLAYERS]).stop_after == 5
    assert (
        parse_query("SELECT name FROM players ORDER BY age LIMIT 3", [PLAYERS]).stop_after is None
    )
    assert parse_query("SELECT count(*) FROM players LIMIT 3", [PLAYERS]).stop_after is None
    assert parse_query("SELECT DISTINCT team FROM players LIMIT 3", [PLAYERS]).stop_after is None


def test_docs_takes_attributes_as_they_are_named() -> None:
    query = parse_query(
        "SELECT company FROM docs WHERE fiscal_year = 2022 AND filed >= '2022-01-01'", [DOCS]
    )
    assert set(query.tables[0].attributes) == {"company", "fiscal_year", "filed"}
    assert dict(query.types) == {"fiscal_year": ColumnType.NUMBER, "filed": ColumnType.DATE}


@pytest.mark.parametrize(
    ("sql", "words", "place"),
    [
        ("SELECT nme FROM players", "did you mean 'name'", "line 1, column 8"),
        (
            "SELECT team FROM players p, teams t WHERE p.team = t.team",
            "ambiguous",
            "line 1, column 8",
        ),
        ("SELECT name\nFROM players\nWHERE nam = 'x'", "did you mean 'name'", "line 3, column 7"),
        (
            "SELECT name FROM players LEFT JOIN teams ON players.team = teams.team",
            "LEFT JOIN",
            "line 1, column 36",
        ),
        ("SELECT name FROM coaches", "no table 'coaches'", "line 1, column 18"),
        ("SELECT name FROM players WHERE age > (SELECT 3)", "subquery", "column"),
        ("SELECT name FROM", "parse", "Line 1"),
        ("SELECT x.name FROM players p", "no table 'x'", "line 1, column 8"),
        ("SELECT * FROM docs", "no attributes yet", "line 1"),
    ],
)
def test_errors_name_the_place(sql: str, words: str, place: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(sql, [PLAYERS, TEAMS, DOCS])
    told = str(caught.value).casefold()
    assert words.casefold() in told
    assert place.casefold() in told


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "DELETE FROM players",
        "SELECT 1",
        "SELECT name FROM players; SELECT name FROM players",
        "SELECT name FROM players, teams",
        "WITH x AS (SELECT 1) SELECT name FROM players",
        "SELECT name FROM players WHERE name = 'unclosed",
    ],
)
def test_what_is_no_query_is_refused(sql: str) -> None:
    with pytest.raises(QueryError):
        parse_query(sql, [PLAYERS, TEAMS])


def test_what_sqlite_alone_cannot_decide_is_left_to_the_sql_over_the_tables() -> None:
    query = parse_query(
        "SELECT name FROM players WHERE nobody_knows(team) = 'x' AND age > 3", [PLAYERS]
    )
    assert "NOBODY_KNOWS" in query.unplanned
    assert str(query.tables[0].where) == "age > 3"
    assert "team" in query.tables[0].select


def test_a_condition_with_functions_is_planned_as_sqlite_decides_it() -> None:
    where = (
        parse_query(
            "SELECT name FROM players WHERE lower(team) LIKE 'l%' AND age * 2 > 70", [PLAYERS]
        )
        .tables[0]
        .where
    )
    assert [leaf.attributes for leaf in leaves(where)] == [("team",), ("age",)]
    assert reduce(where, {"team": "LAKERS", "age": 36}) is True
    assert reduce(where, {"team": "LAKERS", "age": 35}) is False
    assert reduce(where, {"team": None}) is False


@pytest.mark.parametrize(
    ("where", "impossible"),
    [
        ("age > 5 AND age < 3", True),
        ("age = 4 AND age > 5", True),
        ("team = 'A' AND team = 'B'", True),
        ("age IS NULL AND age > 5", True),
        ("age BETWEEN 1 AND 2 AND age >= 3", True),
        ("age > 5 AND age < 7", False),
        ("team = 'A' AND team LIKE 'a%'", False),
        ("age > 5 OR age < 3", False),
        ("team IN ('A','B') AND team = 'B'", False),
        ("team IN ('A','B') AND team = 'b'", True),
    ],
)
def test_contradictions_are_seen_without_reading(where: str, impossible: bool) -> None:
    query = parse_query(f"SELECT name FROM players WHERE {where}", [PLAYERS])
    assert bool(contradiction(query.tables[0].where)) is impossible


_VALUES = st.one_of(st.none(), st.integers(-3, 3))


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> str:
    if depth == 0 or draw(st.booleans()):
        name, number = draw(st.sampled_from("abc")), draw(st.integers(-2, 2))
        shapes = [
            f"{name} = {number}",
            f"{name} <> {number}",
            f"{name} > {number}",
            f"{name} <= {number}",
            f"{name} IS NULL",
            f"{name} IS NOT NULL",
            f"{name} BETWEEN {number} AND 2",
            f"{name} IN ({number}, 1)",
            f"{name} NOT IN ({number}, NULL)",
            f"a < {name}",
        ]
        return draw(st.sampled_from(shapes))
    parts = draw(st.lists(conditions(depth - 1), min_size=2, max_size=3))
    joined = f" {draw(st.sampled_from(['AND', 'OR']))} ".join(f"({part})" for part in parts)
    return f"NOT ({joined})" if draw(st.booleans()) else joined


@given(conditions(), st.fixed_dictionaries({name: _VALUES for name in "abc"}))
def test_nulls_behave_as_in_sqlite(where: str, row: dict[str, Any]) -> None:
    table = Table("t", tuple(Column(name, ColumnType.INTEGER) for name in "abc"))
    parsed = parse_query(f"SELECT a FROM t WHERE {where}", [table]).tables[0].where
    assert parsed is not None
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER)")
    connection.execute("INSERT INTO t VALUES (:a, :b, :c)", row)
    (wanted,) = connection.execute(f"SELECT {where} FROM t").fetchone()
    connection.close()
    assert reduce(parsed, row) is (wanted == 1)


@given(
    conditions(), st.fixed_dictionaries({name: _VALUES for name in "abc"}), st.permutations("abc")
)
def test_reducing_one_attribute_at_a_time_gives_the_same_verdict(
    where: str, row: dict[str, Any], order: list[str]
) -> None:
    table = Table("t", tuple(Column(name, ColumnType.INTEGER) for name in "abc"))
    parsed = parse_query(f"SELECT a FROM t WHERE {where}", [table]).tables[0].where
    assert parsed is not None
    known: dict[str, Any] = {}
    rest: Any = parsed
    for name in order:
        known[name] = row[name]
        rest = reduce(rest, known)
        if isinstance(rest, bool):
            break
    assert rest is reduce(parsed, row)


@pytest.mark.parametrize(
    ("where", "name", "truth"),
    [
        ("name = 'Acme, Inc.'", "Acme, Inc.", True),
        ("name = 'Acme'", "ACME", False),
        ("name = 'Acme, Inc.'", None, None),
        ("name LIKE 'ac%'", "ACME", True),
        ("name IN ('acme')", "Acme", False),
        ("name > 'a'", "B", False),
        ("name = 'acme' COLLATE NOCASE", "Acme", True),
    ],
)
def test_texts_are_compared_as_sqlite_compares_those_of_a_table(
    where: str, name: str | None, truth: bool | None
) -> None:
    (leaf,) = leaves(
        parse_query(f"SELECT name FROM players WHERE {where}", [PLAYERS]).tables[0].where
    )
    assert leaf.truth({"name": name}) is truth


def test_or_and_and_print_with_their_brackets() -> None:
    a, b, c = (Filter(f"{name} = 1", (name,)) for name in "abc")
    assert str(And((a, Or((b, c))))) == "a = 1 and (b = 1 or c = 1)"
