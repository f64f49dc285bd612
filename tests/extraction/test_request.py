"""What an extraction asks."""

from __future__ import annotations

from sliders.extraction.request import naming_first, rows_prompt
from sliders.schema.schema import Column, ColumnType, Table

POINTS, PLAYER, CLUB = Column("points", ColumnType.INTEGER), Column("player"), Column("club")


def test_the_name_of_a_row_is_asked_first_and_must_be_there() -> None:
    columns = (POINTS, PLAYER, CLUB)
    request = rows_prompt("text", 1, Table("players", columns, row="a player", grain="many"), columns)
    row = request.json_schema["properties"]["rows"]["items"]  # type: ignore[index]
    assert list(row["properties"]) == ["player", "points", "club"]
    assert row["properties"]["player"]["type"] == "string"
    assert {"type": "null"} in row["properties"]["points"]["anyOf"]


def test_numbers_alone_keep_their_order() -> None:
    wins = Column("wins", ColumnType.INTEGER)
    assert naming_first((POINTS, wins)) == [POINTS, wins]
