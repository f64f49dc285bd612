"""Values of the rooms as JSON and as SQLite's storage classes, and back."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sliders.documents.document import TableCell, TableGrid
from sliders.extraction.cell import Scalar
from sliders.schema.types import Column, ColumnType, Schema, Table

BOOLEAN, LARGE_INTEGER, NOT_FINITE = 1, 2, 3


def dump(value: object) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def load(text: str | None) -> Any:
    """The value of `dump`; None of None."""
    return None if text is None else json.loads(text)


def encode_scalar(value: Scalar) -> tuple[str | int | float | None, int | None]:
    """A cell's value as SQLite stores it, and the mark of what SQLite has no class for."""
    if isinstance(value, bool):
        return int(value), BOOLEAN
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value), LARGE_INTEGER
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value), NOT_FINITE
    return value, None


def decode_scalar(value: str | int | float | None, kind: int | None) -> Scalar:
    """The inverse of `encode_scalar`."""
    if kind is None or value is None:
        return value
    if kind == BOOLEAN:
        return bool(value)
    return int(value) if kind == LARGE_INTEGER else float(value)


def encode_grid(grid: TableGrid | None, text: str) -> str | None:
    """A table grid as JSON; the words of a cell are left out where they are its span of `text`."""
    if grid is None:
        return None
    rows = [
        [[c.start, c.end] if text[c.start : c.end] == c.text else [c.start, c.end, c.text] for c in row]
        for row in grid.rows
    ]
    return dump({"header": grid.header, "rows": rows, "caption": grid.caption, "note": grid.note})


def decode_grid(data: str | None, text: str) -> TableGrid | None:
    """The inverse of `encode_grid`."""
    if data is None:
        return None
    grid = load(data)
    rows = tuple(
        tuple(TableCell(c[2] if len(c) > 2 else text[c[0] : c[1]], c[0], c[1]) for c in row) for row in grid["rows"]
    )
    return TableGrid(tuple(grid["header"]), rows, grid["caption"], grid["note"])


def encode_schema(schema: Schema) -> str:
    """A schema as JSON; fields at their default are left out, so that a stored schema reads well."""
    plain = Column("")
    tables = []
    for table in schema.tables:
        data = asdict(table)
        data["columns"] = [
            {"name": c.name, "type": c.type.value}
            | {k: v for k, v in asdict(c).items() if k not in ("name", "type") and v != getattr(plain, k)}
            for c in table.columns
        ]
        tables.append(data)
    return dump({"tables": tables})


def decode_schema(data: str) -> Schema:
    """The inverse of `encode_schema`."""
    return Schema(tuple(_table(table) for table in load(data)["tables"]))


def _table(data: Mapping[str, Any]) -> Table:
    columns = tuple(
        Column(**{**c, "type": ColumnType(c["type"]), **{k: tuple(c.get(k, ())) for k in ("values", "examples")}})
        for c in data["columns"]
    )
    return Table(**{**data, "columns": columns, "key": tuple(data["key"])})


def column_hash(table: Table, column: Column) -> str:
    """Identifies what was asked for: the table, what one row is, and all of the column that changes a reading."""
    asked = {k: v for k, v in asdict(column).items() if k not in ("required", "additive", "pinned", "examples")}
    asked["type"] = column.type.value
    return digest(dump([table.name, table.row, table.grain, asked]))[:16]


def digest(text: str) -> str:
    """SHA-256 of the text's UTF-8 form, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
