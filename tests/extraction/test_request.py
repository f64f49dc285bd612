"""What an extraction asks."""

from __future__ import annotations

import pytest

from sliders.chunks.chunk import Chunk, ChunkContext
from sliders.extraction.request import chunk_document, gate_prompt, naming_first, record_prompt, rows_prompt
from sliders.schema.types import Column, ColumnType, Grain, Table

POINTS, PLAYER, CLUB = Column("points", ColumnType.INTEGER), Column("player"), Column("club")


def test_the_name_of_a_row_is_asked_first_and_must_be_there() -> None:
    columns = (POINTS, PLAYER, CLUB)
    request = rows_prompt("text", 1, Table("players", columns, row="a player", grain="many"), columns)
    row = request.json_schema["properties"]["rows"]["items"]  # type: ignore[index]
    assert list(row["properties"]) == ["player", "points", "club"]
    assert row["properties"]["player"]["type"] == "string"
    assert {"type": "null"} in row["properties"]["points"]["anyOf"]


def test_what_the_text_counts_is_never_null() -> None:
    columns = (PLAYER, POINTS, CLUB)
    request = rows_prompt("text", 1, Table("players", columns, grain="many"), columns, counted=["points"])
    row = request.json_schema["properties"]["rows"]["items"]  # type: ignore[index]
    assert row["properties"]["points"]["type"] == "string"
    assert {"type": "null"} in row["properties"]["club"]["anyOf"]


def test_numbers_alone_keep_their_order() -> None:
    wins = Column("wins", ColumnType.INTEGER)
    assert naming_first((POINTS, wins)) == [POINTS, wins]


@pytest.mark.parametrize("grain", ["document", "many"])
def test_the_gate_begins_as_the_request_that_reads_the_chunk(grain: Grain) -> None:
    chunk = Chunk("c", "d", 0, 0, 27, "Ada Lund took eleven points", 7, ChunkContext())
    table = Table("players", (PLAYER, POINTS), row="a player", grain=grain)
    text = chunk_document(chunk)
    reader = record_prompt(text, table, table.columns) if grain == "document" else rows_prompt(text, 7, table, table.columns)
    gate = gate_prompt(chunk, table, table.columns)
    assert gate.messages[0] == reader.messages[0]
    shared = reader.messages[1].content.index("</document>")
    assert gate.messages[1].content[:shared] == reader.messages[1].content[:shared]
