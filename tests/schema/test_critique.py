"""What a critique refuses and, as important, what it leaves alone."""

from __future__ import annotations

import pytest

from sliders.schema import Column, Schema, Table, criticize, table_issues
from sliders.values import ColumnType

NAME = Column("name", description="its name")


def reasons(
    *columns: Column, name: str = "accidents", row: str = "one accident", key: tuple[str, ...] = ()
) -> list[str]:
    return [issue.reason for issue in table_issues(Table(name, columns, row, key=key))]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ((), "no columns"),
        ((NAME, Column("wind", ColumnType.CATEGORY, "how it blew")), "lists its values"),
        ((NAME, Column("late", ColumnType.BOOLEAN)), "when each value holds"),
        ((NAME, NAME), "have this name"),
        ((Column("revenue_2022", ColumnType.NUMBER), NAME), "periods are rows"),
        ((Column("sales_q3", ColumnType.NUMBER), NAME), "periods are rows"),
        ((Column("fy22_sales", ColumnType.NUMBER), NAME), "periods are rows"),
    ],
)
def test_faults_are_named(columns: tuple[Column, ...], said: str) -> None:
    assert any(said in reason for reason in reasons(*columns))


@pytest.mark.parametrize(
    "column",
    [
        Column("people_killed", ColumnType.INTEGER),
        Column("total", ColumnType.NUMBER),
        Column("accident_number", ColumnType.INTEGER),
        Column("count_of_engines", ColumnType.INTEGER),
        Column("route_66_sign"),
        Column("room_2022b"),
        Column("q"),
        Column("number", ColumnType.TEXT),
        Column("late", ColumnType.BOOLEAN, "true when it came late, false when it came in time"),
    ],
)
def test_what_documents_state_is_left_alone(column: Column) -> None:
    assert reasons(NAME, column) == []


def test_a_key_names_columns() -> None:
    assert any("port" in reason for reason in reasons(NAME, key=("name", "port")))


def test_a_key_may_name_a_column_of_the_table_that_stands() -> None:
    standing = Schema((Table("ships", (NAME,), key=("name",)),))
    more = Table("ships", (Column("port", description="its port"),), "one ship", key=("name",))
    assert criticize([more], {1: ["ships.port"]}, {}, ["a"], standing) == ()
    (issue,) = criticize([more], {1: ["ships.port"]}, {}, ["a"], Schema())
    assert "the key names name" in issue.reason


def test_questions_have_needs_or_are_said_to_be_uncovered() -> None:
    table = Table("t", (NAME,))
    found = criticize(
        [table], {1: ["t.name"], 2: ["t.colour"]}, {4: "no prices"}, ["a", "b", "c", "d"], Schema()
    )
    assert [issue.subject for issue in found] == ["question 2", "question 3"]
    assert criticize([], {1: ["t.name"]}, {}, ["a"], Schema((table,))) == ()
    assert criticize([], {}, {1: "all of it"}, ["a"], Schema())[0].subject == "schema"
