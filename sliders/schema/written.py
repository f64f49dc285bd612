"""A schema as YAML that can be read, changed and pinned again."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import yaml

from sliders.schema.checks import Check
from sliders.schema.types import Column, ColumnType, Schema, Table

_LEFT_OUT = {"name", "pinned", "columns", "checks", "given", "examples"}


def schema_yaml(schema: Schema) -> str:
    """Returns a schema as YAML; `schema_from` reads it back. Tables that the user gave with their
    rows are left out.
    """
    tables = [_table(table) for table in schema.tables if not table.given]
    return yaml.safe_dump(
        {"tables": tables}, sort_keys=False, allow_unicode=True, default_flow_style=False, width=100
    )


def _set(item: Table | Column, plain: Table | Column) -> dict[str, Any]:
    """The fields whose values differ from the defaults."""
    named = [f.name for f in fields(item) if f.name not in _LEFT_OUT]
    held = {name: getattr(item, name) for name in named}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in held.items()
        if value != getattr(plain, name)
    }


def _table(table: Table) -> dict[str, Any]:
    told = {"name": table.name, **_set(table, Table("", ()))}
    told["columns"] = {column.name: _column(column) for column in table.columns}
    if table.checks:
        told["checks"] = [_check(check) for check in table.checks]
    return told


def _column(column: Column) -> str | dict[str, Any]:
    told = _set(column, Column(""))
    kind = ColumnType(told.pop("type", ColumnType.TEXT)).value
    if column.examples:
        told["examples"] = [
            {name: value for name, value in asdict(one).items() if value != ""}
            for one in column.examples
        ]
    return {"type": kind, **told} if told else kind


def _check(check: Check) -> dict[str, Any]:
    names = list(check.columns)
    match check.kind:
        case "sql":
            return {"sql": check.sql}
        case "not_null" | "unique":
            return {check.kind: names if len(names) > 1 else names[0]}
        case "range":
            return {"range": {names[0]: [check.least, check.most]}}
        case "values":
            return {"values": {names[0]: list(check.values)}}
        case _:
            return {"relation": {names[0]: f"{check.table}.{check.column}"}}
