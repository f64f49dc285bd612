"""A small database that the tests of this room ask."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from sliders.answer import RunSql, TableProfile, TableView, profile_tables
from sliders.errors import QueryError
from sliders.schema import Column, Table
from sliders.values import ColumnType

SHIPS = (
    (
        "r1",
        "Northern Star",
        "Harbour Lines Ltd.",
        "Bergen",
        "1911-05-02",
        "1950-05-01",
        120,
        1,
        "a.txt",
    ),
    ("r2", "Grey Gull", "Harbour Lines Ltd.", "Oslo", "1925-11-30", None, 80, 0, "a.txt"),
    ("r3", "Sea Otter", "Fjord Ferries", "Bergen", "1930-01-15", "1980-01-15", None, None, "b.txt"),
    ("r4", "Old Petrel", "O'Brien & Sons", None, "1911-07-09", None, 120, 0, "b.txt"),
)
CREWS = (
    ("c1", "Northern Star", "captain", 4),
    ("c2", "Northern Star", "cook", 2),
    ("c3", "Grey Gull", "captain", 3),
)

SHIP_TABLE = TableView(
    Table(
        "ships",
        (
            Column("name", ColumnType.TEXT, "name of the ship"),
            Column("owner", ColumnType.TEXT, "company that owns it"),
            Column("port", ColumnType.TEXT, "home port"),
            Column("built", ColumnType.DATE, "day of launch"),
            Column("scrapped", ColumnType.DATE, "day of scrapping"),
            Column("length", ColumnType.INTEGER, "length over all", unit="metres"),
            Column("lost", ColumnType.BOOLEAN, "whether it was lost at sea"),
        ),
        row="one ship",
    )
)
CREW_TABLE = TableView(
    Table("crews", (Column("ship"), Column("role"), Column("people", ColumnType.INTEGER))),
    document="",
)


@dataclass(frozen=True, slots=True)
class Rows:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False


def database() -> RunSql:
    """Runs SQL on a fresh copy of the ships and crews."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE ships (row_id TEXT, name TEXT, owner TEXT, port TEXT, built TEXT, scrapped "
        "TEXT, length INTEGER, lost INTEGER, document TEXT)"
    )
    connection.executemany("INSERT INTO ships VALUES (?,?,?,?,?,?,?,?,?)", SHIPS)
    connection.execute("CREATE TABLE crews (row_id TEXT, ship TEXT, role TEXT, people INTEGER)")
    connection.executemany("INSERT INTO crews VALUES (?,?,?,?)", CREWS)
    return runner(connection)


def runner(connection: sqlite3.Connection) -> RunSql:
    """Runs SQL on a database."""

    def run(sql: str) -> Rows:
        try:
            cursor = connection.execute(sql)
        except sqlite3.Error as error:
            raise QueryError(f"SQLite says: {error}") from error
        return Rows(tuple(column[0] for column in cursor.description), tuple(cursor.fetchall()))

    return run


def profiles(run: RunSql) -> tuple[TableProfile, ...]:
    """Profiles of both tables."""
    return profile_tables((SHIP_TABLE, CREW_TABLE), run)
