"""Conversion of values to JSON and to SQLite's storage classes, and back."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any, get_args

from sliders.documents.document import TableCell, TableGrid
from sliders.extraction.cell import Scalar, Span
from sliders.schema.checks import Check
from sliders.schema.hints import Directive, Hints
from sliders.schema.types import Column, ColumnType, Example, Schema, Table
from sliders.store.records import RelationColumn

BOOLEAN, LARGE_INTEGER, NOT_FINITE = 1, 2, 3

_COLUMN_FIELDS = frozenset(field.name for field in fields(Column))
_TABLE_FIELDS = frozenset(field.name for field in fields(Table))
_DIRECTIVES = {kind.__name__: kind for kind in get_args(Directive)}
_READ = ("name", "type", "description", "unit", "scale", "currency", "values", "reading")
"""The fields of a column that change what is read for it."""


def dump(value: object) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def load(text: str | None) -> Any:
    """Returns the value that `dump` wrote; None for None."""
    return None if text is None else json.loads(text)


def encode_scalar(value: Scalar) -> tuple[str | int | float | None, int | None]:
    """Returns (value, kind): a cell's value in a type of SQLite, and a number for types that SQLite
    lacks (boolean, large integer, not finite), None for others.
    """
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


def encode_parts(parts: tuple[Span, ...], document_id: str) -> str:
    """Further spans of a cell as JSON; the id of a document only when it differs from the row's."""
    own = [[part.start, part.end, part.page] for part in parts]
    return dump(
        [
            o if p.document_id == document_id else [*o, p.document_id]
            for o, p in zip(own, parts, strict=True)
        ]
    )


def decode_parts(text: str, document_id: str) -> tuple[Span, ...]:
    """The inverse of `encode_parts`."""
    return tuple(
        Span(other[0] if other else document_id, start, end, page)
        for start, end, page, *other in load(text)
    )


def encode_grid(grid: TableGrid | None, text: str) -> str | None:
    """A table grid as JSON, without the words of cells that equal their span of `text`; None for
    None.
    """
    if grid is None:
        return None
    rows = [
        [
            [c.start, c.end] if text[c.start : c.end] == c.text else [c.start, c.end, c.text]
            for c in row
        ]
        for row in grid.rows
    ]
    return dump({"header": grid.header, "rows": rows, "caption": grid.caption, "note": grid.note})


def decode_grid(data: str | None, text: str) -> TableGrid | None:
    """The inverse of `encode_grid`; None for None."""
    if data is None:
        return None
    grid = load(data)
    rows = tuple(
        tuple(TableCell(c[2] if len(c) > 2 else text[c[0] : c[1]], c[0], c[1]) for c in row)
        for row in grid["rows"]
    )
    return TableGrid(tuple(grid["header"]), rows, grid["caption"], grid["note"])


def encode_companions(companions: Iterable[RelationColumn]) -> str:
    """The companions of a version as JSON: for each the column of the schema, the role and the SQL
    name.
    """
    return dump([[c.companion_of, c.role, c.sql_name] for c in companions])


def decode_companions(text: str | None) -> tuple[RelationColumn, ...]:
    """The inverse of `encode_companions`."""
    listed = load(text) or ()
    return tuple(
        RelationColumn(f"{column}_{role}", sql_name, "TEXT", column, role)
        for column, role, sql_name in listed
    )


def encode_schema(schema: Schema) -> str:
    """A schema as JSON, without fields at their default."""
    plain = asdict(Column(""))
    tables = [asdict(table) for table in schema.tables]
    for table in tables:
        if table["key_scope"] == "document":
            del table["key_scope"]
        if not table["checks"]:
            del table["checks"]
        if not table["given"]:
            del table["given"]
        table["columns"] = [
            {
                name: value
                for name, value in column.items()
                if name in ("name", "type") or value != plain[name]
            }
            for column in table["columns"]
        ]
    return dump({"tables": tables})


def decode_schema(data: str) -> Schema:
    """The inverse of `encode_schema`. Schemas of earlier versions are read too; fields that no
    longer exist are ignored.
    """
    return Schema(tuple(_table(table) for table in load(data)["tables"]))


def _table(data: Mapping[str, Any]) -> Table:
    known = {k: v for k, v in data.items() if k in _TABLE_FIELDS}
    return Table(
        **{
            **known,
            "columns": tuple(map(_column, data["columns"])),
            "key": tuple(data["key"]),
            "checks": tuple(map(_check, data.get("checks", ()))),
        }
    )


def _check(data: Mapping[str, Any]) -> Check:
    lists = {name: tuple(data[name]) for name in ("columns", "values")}
    return Check(**{**data, **lists})


def _column(data: Mapping[str, Any]) -> Column:
    known = {k: v for k, v in data.items() if k in _COLUMN_FIELDS}
    kind = "category" if data["type"] == "enum" else data["type"]
    values = tuple(data.get("values", data.get("enum_values", ())))
    examples = tuple(Example(**one) for one in data.get("examples", ()) if isinstance(one, dict))
    return Column(**{**known, "type": ColumnType(kind), "values": values, "examples": examples})


def encode_hints(hints: Hints | None) -> str | None:
    """The hints of a question as JSON; None for None."""
    if hints is None:
        return None
    directives = [[type(d).__name__, asdict(d)] for d in hints.directives]
    return dump([hints.question, directives, hints.notes, hints.kind])


def decode_hints(text: str | None) -> Hints | None:
    """The inverse of `encode_hints`; None for None."""
    if text is None:
        return None
    question, listed, notes, kind = load(text)
    directives = (
        _DIRECTIVES[name](**{field: _tuples(value) for field, value in data.items()})
        for name, data in listed
    )
    return Hints(question, tuple(directives), tuple(notes), kind)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def column_hash(table: Table, column: Column) -> str:
    """A hash of all that a column asks for: the table, what one row is, and the fields that change
    what is read.
    """
    asked = [table.name, table.row, table.grain, *(getattr(column, name) for name in _READ)]
    shown = [[one.words, one.value] for one in column.examples]
    return digest(dump([*asked, shown] if shown else asked))[:16]


def digest(text: str) -> str:
    """SHA-256 of the text's UTF-8 form, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def now() -> str:
    """The current time as ISO text in UTC, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
