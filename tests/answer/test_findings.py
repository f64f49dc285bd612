"""What is odd about a result, found by SQL over the same rows."""

from __future__ import annotations

import sqlite3

import pytest

from sliders.answer import (
    Finding,
    TableView,
    findings_of,
    in_sqlite,
    profile_tables,
)
from sliders.errors import QueryError
from sliders.schema import Column, Table
from sliders.sql import parse_select, statement_in
from sliders.values import ColumnType
from tests.answer.tables import database, profiles, runner


def of(sql: str, *views: TableView) -> tuple[Finding, ...]:
    run = database()
    known = profile_tables(views, run) if views else profiles(run)
    ran, tree = in_sqlite(sql, known)
    return findings_of(tree, known, run(ran), run)


@pytest.mark.parametrize(
    ("sql", "kind", "words"),
    [
        ("SELECT name FROM ships WHERE port = 'Begren'", "literal", "'Bergen'"),
        ("SELECT name FROM ships WHERE owner LIKE '%Lanes%'", "literal", "'Harbour Lines Ltd.'"),
        ("SELECT COUNT(*) FROM ships WHERE length > 500", "nothing", "length runs from 80 to 120"),
        (
            "SELECT MAX(length) FROM ships WHERE port = 'Bergen' AND name = 'Sea Otter'",
            "nothing",
            "alone keeps 2 rows",
        ),
        (
            "SELECT length FROM ships WHERE name = 'Sea Otter'",
            "nothing",
            "NULL in every row found (1)",
        ),
        (
            "SELECT length FROM ships WHERE name = 'Sea Otter'",
            "nothing",
            "length runs from 80 to 120, 1 of 4 NULL",
        ),
        (
            "SELECT SUM(length) FROM ships WHERE name = 'Sea Otter'",
            "nothing",
            "the result is empty",
        ),
        ("SELECT AVG(length) FROM ships", "nulls", "length is NULL (not stated) in 1 row"),
        ("SELECT name FROM ships WHERE length > 100", "nulls", "in 1 row"),
        ("SELECT name FROM ships ORDER BY length LIMIT 1", "nulls", "ordered first"),
        (
            "SELECT name FROM ships ORDER BY length DESC LIMIT 1",
            "ties",
            "2 rows have the same length",
        ),
        (
            "SELECT port, COUNT(*) AS n FROM ships GROUP BY port ORDER BY n LIMIT 1",
            "ties",
            "2 rows have the same n",
        ),
        ("SELECT COUNT(*) FROM ships WHERE port NOT IN ('Oslo')", "nulls", "in 1 row"),
        ("SELECT COUNT(*) FROM ships WHERE NOT (port = 'Oslo')", "nulls", "in 1 row"),
        ("SELECT role FROM crews GROUP BY role ORDER BY COUNT(ship) * 0 LIMIT 1", "ties", "2 rows"),
        (
            "SELECT SUM(s.length) FROM ships s JOIN crews c ON c.ship = s.name",
            "repeated",
            "2 rows are counted 3 times",
        ),
        (
            "SELECT COUNT(*) FROM ships s, crews c WHERE c.ship = s.name",
            "repeated",
            "rows of ships: 2 rows are counted 3 times",
        ),
        (
            (
                "SELECT name FROM ships WHERE length < (SELECT length FROM ships WHERE "
                "port = 'Bergen')"
            ),
            "several",
            "gives 2 rows",
        ),
        (
            "SELECT length / length FROM ships WHERE name = 'Grey Gull'",
            "division",
            "multiply by 1.0",
        ),
        ("SELECT COUNT(*) FROM ships WHERE lost IS NULL", "unstated", "0 (2 rows), 1 (1 row)"),
        (
            "SELECT SUM(length) FROM ships WHERE length = 120",
            "same",
            "adds up 2 rows with the same length",
        ),
        ("SELECT COUNT(*) FROM ships WHERE owner IS NOT NULL", "idle", "never NULL"),
        (
            "SELECT COUNT(*) FROM ships WHERE name = 'Grey Gull'",
            "counted",
            "numbers of that row are in length",
        ),
    ],
)
def test_what_is_odd_is_said(sql: str, kind: str, words: str) -> None:
    found = {finding.kind: finding.text for finding in of(sql)}
    assert words in found[kind]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM ships WHERE port = 'Oslo'",
        "SELECT name FROM ships WHERE owner LIKE 'harbour%'",
        "SELECT lost FROM ships WHERE name = 'Grey Gull'",
        "SELECT SUM(c.people) FROM ships s JOIN crews c ON c.ship = s.name",
        (
            "SELECT name FROM ships WHERE length = (SELECT MAX(length) FROM ships WHERE "
            "length IS NOT NULL)"
        ),
        "SELECT COUNT(DISTINCT s.name) FROM ships s JOIN crews c ON c.ship = s.name",
        "SELECT name FROM ships ORDER BY built LIMIT 2",
        "SELECT AVG(length) FROM ships WHERE length IS NOT NULL",
        "SELECT COUNT(*) FROM ships WHERE port IS NOT NULL",
        "SELECT COUNT(*) FROM ships WHERE length IS NULL",
    ],
)
def test_what_is_plain_is_not_talked_about(sql: str) -> None:
    assert of(sql) == ()


def test_units_that_differ_are_said() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE fees AS SELECT 1.0 AS amount, 'EUR' AS currency UNION SELECT 2.0, 'USD'"
    )
    columns = (Column("amount", ColumnType.NUMBER), Column("currency"))
    run = runner(connection)
    known = profile_tables((TableView(Table("fees", columns), row_id="", document=""),), run)
    kinds = {
        sql: [f.kind for f in findings_of(parse_select(sql), known, run(sql), run)]
        for sql in (
            "SELECT SUM(amount) FROM fees",
            "SELECT SUM(amount) FROM fees WHERE currency = 'EUR'",
        )
    }
    assert list(kinds.values()) == [["units"], []]


@pytest.mark.parametrize(
    "sql", ["SELECT 1; SELECT 2", "DELETE FROM ships", "SELECT FROM WHERE", "no words"]
)
def test_one_select_or_none(sql: str) -> None:
    with pytest.raises(QueryError):
        in_sqlite(sql, ())


@pytest.mark.parametrize(
    "reply",
    [
        "SELECT 1",
        "SELECT 1;",
        "```sql\nSELECT 1;\n```",
        "```\nSELECT 1\n```",
        "Here:\n```sqlite\nSELECT 1\n```\nDone.",
    ],
)
def test_the_statement_of_a_reply(reply: str) -> None:
    assert statement_in(reply) == "SELECT 1"


def test_a_semicolon_in_a_string_is_a_part_of_it() -> None:
    assert statement_in("SELECT ';' AS a;") == "SELECT ';' AS a"


@pytest.mark.parametrize(
    ("where", "run"),
    [
        ("port = 'BERGEN'", "port = 'Bergen'"),
        ("port <> 'bergen'", "port <> 'Bergen'"),
        ("owner IN ('Harbour lines Ltd')", "owner IN ('Harbour Lines Ltd.')"),
        ("owner = 'Harbour Lines'", "owner = 'Harbour Lines'"),
        ("owner = 'Harbour-Lines Ltd.'", "owner = 'Harbour-Lines Ltd.'"),
        ("built = '1911-05-02'", "built = '1911-05-02'"),
        ("name = 'Piper's Row' OR name = 'Tern'", "name = 'Piper''s Row' OR name = 'Tern'"),
    ],
)
def test_a_text_that_the_column_holds_in_other_case_or_marks_is_compared_as_it_is_held(
    where: str, run: str
) -> None:
    assert (
        in_sqlite(f"SELECT name FROM ships WHERE {where}", profiles(database()))[0]
        == f"SELECT name FROM ships WHERE {run}"
    )


@pytest.mark.parametrize(
    ("sql", "kind", "words"),
    [
        ("SELECT COUNT(*) FROM ships WHERE lost = 0 AND length > 100", "nulls", None),
        ("SELECT COUNT(*) FROM ships WHERE port = 'Bergen' AND length > 100", "nulls", "in 1 row"),
        ("SELECT COUNT(*) FROM ships WHERE length > 100 OR port = 'Bergen'", "nulls", None),
        ("SELECT COUNT(*) FROM ships WHERE length > 100 OR port = 'Oslo'", "nulls", "in 1 row"),
        (
            (
                "SELECT COUNT(*) FROM ships WHERE length > (SELECT AVG(length) FROM ships "
                "WHERE port = 'Oslo')"
            ),
            "nulls",
            "in 1 row",
        ),
        ("SELECT name FROM ships WHERE port IN ('Oslo', 'Begren')", "literal", None),
        ("SELECT name FROM ships WHERE port = 'Oslo' OR port = 'Begren'", "literal", None),
        (
            "SELECT name FROM ships WHERE (port = 'Oslo' OR name LIKE '%Gul%') AND owner = 'Fjord'",
            "literal",
            "'Fjord'",
        ),
        ("SELECT name FROM ships WHERE port IN ('Olso', 'Begren')", "literal", "'Begren'"),
        ("SELECT SUM(length) / COUNT(*) FROM ships", "division", "multiply by 1.0"),
        ("SELECT SUM(lost = 1) / COUNT(*) FROM ships", "division", "multiply by 1.0"),
        (
            "SELECT SUM(CASE WHEN lost = 1 THEN 1 ELSE 0 END) / COUNT(*) FROM ships",
            "division",
            "multiply by 1.0",
        ),
        (
            "SELECT COUNT(*) FILTER (WHERE lost = 1) / COUNT(*) FROM ships",
            "division",
            "multiply by 1.0",
        ),
        (
            "SELECT 100 * (SELECT COUNT(*) FROM ships WHERE lost) / (SELECT COUNT(*) FROM ships)",
            "division",
            "multiply by 1.0",
        ),
        (
            "SELECT a / b FROM (SELECT SUM(length) AS a, COUNT(*) AS b FROM ships)",
            "division",
            "multiply by 1.0",
        ),
        ("SELECT SUM(length) * 1.0 / COUNT(*) FROM ships", "division", None),
        ("SELECT CAST(SUM(length) AS REAL) / COUNT(*) FROM ships", "division", None),
        ("SELECT AVG(length) / COUNT(*) FROM ships", "division", None),
        (
            "SELECT SUM(CASE WHEN lost = 1 THEN 1.0 ELSE 0 END) / COUNT(*) FROM ships",
            "division",
            None,
        ),
    ],
)
def test_findings_look_at_what_the_rest_of_the_statement_does(
    sql: str, kind: str, words: str | None
) -> None:
    texts = [finding.text for finding in of(sql) if finding.kind == kind]
    assert any(words in text for text in texts) if words is not None else not texts, texts


def test_rows_are_counted_by_rowid_as_sqlite_does() -> None:
    run = database()
    ran, _ = in_sqlite(
        "SELECT COUNT(DISTINCT s.rowid) FROM ships s WHERE port = 'Bergen'", profiles(run)
    )
    assert [tuple(row) for row in run(ran).rows] == [(2,)]
    assert not of("SELECT COUNT(DISTINCT s.rowid) FROM ships s WHERE port = 'Bergen'")
