"""Columns and values of tables that a statement does not read."""

from __future__ import annotations

import sqlite3

import pytest

from sliders.answer.profile import profile_tables
from sliders.answer.trial import try_sql
from sliders.answer.values import RunSql, TableView
from sliders.schema.types import Column, ColumnType, Table
from tests.answer.tables import Rows

TREES = TableView(Table("trees", (Column("tree"), Column("garden"), Column("height", ColumnType.INTEGER), Column("planter"))))
GARDENS = TableView(Table("gardens", (Column("garden"), Column("county"))))


def runner(script: str) -> RunSql:
    connection = sqlite3.connect(":memory:")
    connection.executescript(script)

    def run(statement: str) -> Rows:
        cursor = connection.execute(statement)
        return Rows(tuple(column[0] for column in cursor.description), tuple(cursor.fetchall()))

    return run


def ask(question: str, sql: str) -> tuple[tuple[object, ...], ...]:
    run = runner(
        "CREATE TABLE trees (row_id TEXT, tree TEXT, garden TEXT, height INTEGER, planter TEXT, document TEXT);"
        "CREATE TABLE gardens (row_id TEXT, garden TEXT, county TEXT, document TEXT);"
        "INSERT INTO trees VALUES ('1','oak','Lea',20,NULL,'a'),('2','elm','Lea',15,NULL,'a'),('3','ash','Holt',18,NULL,'b');"
        "INSERT INTO gardens VALUES ('4','Lea','Kent','c'),('5','Holt','Devon','d');"
    )

    candidate = try_sql(question, sql, profile_tables((TREES, GARDENS), run), (), run)
    assert candidate.result is not None, candidate.attempt.error
    return tuple(tuple(row) for row in candidate.result.rows)


@pytest.mark.parametrize(
    ("question", "sql", "rows"),
    [
        ("In which county is Lea?", "SELECT county FROM trees WHERE garden = 'Lea'", (("Kent",),)),
        ("In which county is the ash?", "SELECT county FROM trees WHERE tree = 'ash'", (("Devon",),)),
        ("How many trees are in Kent?", "SELECT COUNT(*) FROM trees WHERE garden = 'Kent'", ((2,),)),
        (
            "Which garden has the ash?",
            "SELECT garden FROM trees t JOIN gardens g ON t.garden = g.garden WHERE tree = 'ash'",
            (("Holt",),),
        ),
    ],
)
def test_they_are_found_over_a_shared_column(question: str, sql: str, rows: tuple[tuple[object, ...], ...]) -> None:
    assert ask(question, sql) == rows


def test_a_test_for_a_value_that_no_row_has_does_not_empty_the_others() -> None:
    sql = "SELECT MAX(height) FROM trees WHERE height > 10 AND planter IS NOT NULL"
    assert ask("What is the greatest height above 10?", sql) == ((20,),)
    counted = "SELECT COUNT(*) FROM trees WHERE planter IS NOT NULL"
    assert ask("For how many trees is the planter stated?", counted) == ((0,),)


def test_the_number_that_the_question_speaks_of_is_read() -> None:
    numbers = (Column("new_cranes", ColumnType.INTEGER), Column("boats_in_port", ColumnType.INTEGER))
    view = TableView(Table("logs", (Column("day"), *numbers)))
    run = runner(
        "CREATE TABLE logs (row_id TEXT, day TEXT, new_cranes INTEGER, boats_in_port INTEGER, document TEXT);"
        "INSERT INTO logs VALUES ('1','May',2,30,'a'),('2','June',3,41,'b');"
    )

    sql = "SELECT (SELECT new_cranes FROM logs WHERE day = 'June') - (SELECT new_cranes FROM logs WHERE day = 'May')"
    boats = try_sql("By how many did the boats in port rise from May to June?", sql, profile_tables((view,), run), (), run)
    assert boats.result is not None and boats.result.rows == ((11,),)
    cranes = try_sql("Did more new cranes or boats in port come in June?", sql, profile_tables((view,), run), (), run)
    assert cranes.result is not None and cranes.result.rows == ((1,),)


def test_a_join_on_columns_of_one_table_is_made_on_what_both_have() -> None:
    races = TableView(Table("races", (Column("first"), Column("best_time", ColumnType.INTEGER))))
    boats = TableView(Table("boats", (Column("boat"), Column("rival")), grain="many"))
    run = runner(
        "CREATE TABLE races (row_id TEXT, first TEXT, best_time INTEGER, document TEXT);"
        "CREATE TABLE boats (row_id TEXT, boat TEXT, rival TEXT, document TEXT);"
        "INSERT INTO races VALUES ('1','Otter',30,'a'),('2','Heron',41,'b');"
        "INSERT INTO boats VALUES ('3','Otter','Heron','a'),('4','Heron','Otter','b');"
    )
    void = "r.first = R.first AND r.best_time = r.best_time"
    sql = f"SELECT r.best_time FROM boats AS b JOIN races AS r ON {void} WHERE b.boat = 'Heron'"
    tried = try_sql("What was the best time in the race of the Heron?", sql, profile_tables((races, boats), run), (), run)
    assert tried.result is not None and tried.result.rows == ((41,),)
