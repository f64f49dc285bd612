"""What the tests of reading share: a passage as a source, tables, and cells
as a model gives them.
"""

from __future__ import annotations

from typing import Any

from sliders.extraction import Asked, Source
from sliders.retrieval import Chunk, ChunkContext
from sliders.schema import Column, Table
from sliders.values import ColumnType

NUMBER, INTEGER, BOOLEAN = ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.BOOLEAN
FERRIES = Table("ferries", (Column("name"), Column("cars", INTEGER)), row="a ferry", key=("name",))
QUAYS = Table("quays", (Column("quay"), Column("depth", NUMBER, unit="m")), row="a quay")


def chunk_of(text: str, start: int = 0, number: int = 0) -> Chunk:
    """A passage as a chunk of a document."""
    return Chunk(
        f"chunk{number}",
        "document",
        number,
        start,
        start + len(text),
        text,
        len(text) // 4,
        ChunkContext(),
    )


def source_of(text: str, start: int = 0) -> Source:
    """A passage as what a call reads."""
    return Source.of(chunk_of(text, start))


def asked_for(*tables: Table) -> list[Asked]:
    """All columns of the tables."""
    return [Asked(table, table.columns) for table in tables]


def said(value: object, *words: str, how: str = "", why: str = "") -> dict[str, Any]:
    """A cell as a model gives it."""
    optional = {name: text for name, text in (("how", how), ("why", why)) if text}
    return {"value": value, "words": list(words), **optional}


def row(table: str, **cells: Any) -> dict[str, Any]:
    """A row as a model gives it."""
    return {"table": table, "cells": cells}
