"""A schema from the user: a dict, YAML, a pydantic model or SQL DDL."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import inspect
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel
from sqlglot import exp

from sliders.errors import SchemaError
from sliders.schema.checks import CheckValue, checks_from
from sliders.schema.names import snake_name
from sliders.schema.types import (
    Column,
    ColumnType,
    Example,
    Grain,
    KeyScope,
    Reading,
    Schema,
    Table,
)
from sliders.sql.statement import parse_statements
from sliders.values.parse import parse_value

_TYPE_WORDS: dict[str, ColumnType] = {
    word: kind
    for kind, words in (
        (ColumnType.TEXT, "str string varchar char"),
        (ColumnType.INTEGER, "int bigint smallint tinyint mediumint"),
        (ColumnType.NUMBER, "float decimal numeric real double money"),
        (ColumnType.BOOLEAN, "bool yes/no"),
        (ColumnType.DATETIME, "timestamp timestamptz"),
        (ColumnType.CATEGORY, "enum"),
        *((kind, kind.value) for kind in ColumnType),
    )
    for word in words.split()
}
_PYTHON_TYPES: dict[type, ColumnType] = {
    bool: ColumnType.BOOLEAN,
    int: ColumnType.INTEGER,
    float: ColumnType.NUMBER,
    str: ColumnType.TEXT,
    dt.datetime: ColumnType.DATETIME,
    dt.date: ColumnType.DATE,
}


def column_type(words: str) -> ColumnType:
    """The closed type that a type word means. Raises SchemaError: the word names no known type."""
    try:
        return _TYPE_WORDS[words.strip().lower()]
    except KeyError:
        known = ", ".join(member.value for member in ColumnType)
        raise SchemaError(f"column type {words!r} is not known; use one of {known}") from None


def schema_from(source: object) -> Schema:
    """Returns a pinned schema from a `Schema`, dict, YAML text or path, pydantic model class(es),
    or CREATE TABLE statements.

    Raises SchemaError: the source has no table, or a part of it cannot be read.
    """
    if isinstance(source, Schema):
        return source
    if isinstance(source, Table):
        return Schema((source,))
    if inspect.isclass(source) and issubclass(source, BaseModel):
        return Schema((_table_from_model(source),))
    if isinstance(source, Mapping):
        return schema_from_dict(source)
    if isinstance(source, Path) or (
        isinstance(source, str) and "\n" not in source and Path(source).suffix in _FILES
    ):
        return _schema_from_file(Path(source))
    if isinstance(source, str):
        return _schema_from_text(source)
    if isinstance(source, Sequence):
        return Schema(tuple(table for part in source for table in schema_from(part).tables))
    raise SchemaError(
        f"a schema cannot be made from {type(source).__name__}; give a dict, YAML, a "
        "pydantic model or DDL"
    )


_FILES = (".yaml", ".yml", ".json", ".sql")


def _schema_from_file(path: Path) -> Schema:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SchemaError(
            f"schema file {str(path)!r} cannot be read ({error.strerror}); check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise SchemaError(
            f"schema file {str(path)!r} is no text in UTF-8; save it as UTF-8"
        ) from error
    return _schema_from_text(text)


_CREATE = "create table"


def _schema_from_text(text: str) -> Schema:
    ddl = _CREATE in text.lower()
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        if ddl:
            return _schema_from_ddl(text)
        raise SchemaError(
            f"the schema is neither YAML nor CREATE TABLE statements: {error}"
        ) from error
    if ddl and not (isinstance(data, Mapping) and _CREATE not in str([*data]).lower()):
        return _schema_from_ddl(text)  # in YAML, a description may hold these words
    if not isinstance(data, Mapping):
        raise SchemaError(
            "the schema text holds no mapping; write `table: {column: type}` or CREATE "
            "TABLE statements"
        )
    return schema_from_dict(data)


def schema_from_dict(data: Mapping[str, Any]) -> Schema:
    """A schema from `{"tables": [...]}` (with rows, grain, key, key_scope, checks) or the short
    `{table: {column: type or options}}`.

    Raises SchemaError: a table or column is not well formed.
    """
    if isinstance(data.get("tables"), Sequence) and not isinstance(data["tables"], str):
        tables = [_mapping(f"table {number}", t) for number, t in enumerate(data["tables"], 1)]
        return Schema(tuple(_table_from_dict(str(t.get("name", "")), t) for t in tables))
    if not data:
        raise SchemaError("the schema has no table; name at least one table with its columns")
    return Schema(tuple(_table_from_dict(name, {"columns": part}) for name, part in data.items()))


def _mapping(name: str, part: object) -> Mapping[str, Any]:
    if not isinstance(part, Mapping):
        raise SchemaError(
            f"{name} is given as {type(part).__name__}; give a mapping with its name and columns"
        )
    return part


def _table_from_dict(name: str, data: Mapping[str, Any]) -> Table:
    if not isinstance(name, str) or not name:
        raise SchemaError("a table has no name; give every table a name")
    raw = data.get("columns") or {}
    if isinstance(raw, str) or not isinstance(raw, (Mapping, Sequence)):
        raise SchemaError(
            f"the columns of table {name!r} are given as {type(raw).__name__}; give a mapping "
            "or a list of them"
        )
    pairs = raw.items() if isinstance(raw, Mapping) else [(_column_name(c), c) for c in raw]
    columns = tuple(_column_from(column, part) for column, part in pairs)
    if not columns:
        raise SchemaError(f"table {name!r} has no columns; name at least one")
    key = _listed(data.get("key"))
    if strange := sorted({*key} - {c.name for c in columns}):
        raise SchemaError(
            f"the key of table {name!r} names {', '.join(strange)}; name columns of the table"
        )
    checks = checks_from(name, data.get("checks"), [c.name for c in columns])
    options = _options(
        data,
        {f.name for f in dataclasses.fields(Table)} - {"name", "columns", "key", "checks", "given"},
    )
    _check_choice(name, "grain", options.get("grain"), typing.get_args(Grain))
    _check_choice(name, "key_scope", options.get("key_scope"), typing.get_args(KeyScope))
    return Table(name=name, columns=columns, key=key, checks=checks, **{"pinned": True, **options})


def _options(part: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """The given options, with YAML's numbers as words; an empty option counts as not given."""
    given = {k: v for k, v in part.items() if k in fields and v is not None}
    return {k: v if isinstance(v, bool) else str(v) for k, v in given.items()}


def _listed(said: object) -> tuple[str, ...]:
    """Words that are given as a list or as one word; YAML reads a bare yes or no as a boolean."""
    items = said if isinstance(said, list | tuple) else [] if said is None else [said]
    return tuple(
        ("yes" if item else "no") if isinstance(item, bool) else str(item) for item in items
    )


def _column_name(part: object) -> str:
    return str(part.get("name", "")) if isinstance(part, Mapping) else str(part)


def _column_from(name: object, part: object) -> Column:
    if name == "":
        raise SchemaError("a column has no name; give every column a name")
    if not isinstance(name, str):
        raise SchemaError(
            f"a column's name is read as the {type(name).__name__} {name!r}; write it in quotes"
        )
    if part is None or part == name:
        return Column(name=name, pinned=True)
    if isinstance(part, str):
        return Column(name=name, type=column_type(part), pinned=True)
    if not isinstance(part, Mapping):
        raise SchemaError(
            f"column {name!r} is given as {type(part).__name__}; give a type word or a "
            "mapping of options"
        )
    known = {f.name for f in dataclasses.fields(Column)}
    fields = known - {"name", "type", "values", "examples"}
    if unknown := set(part) - known:
        raise SchemaError(
            f"column {name!r} has unknown options {sorted(unknown)}; known are {sorted(known)}"
        )
    values = _listed(part.get("values"))
    kind = part.get("type") or ("category" if values else "text")
    options = _options(part, fields)
    _check_choice(name, "reading", options.get("reading"), typing.get_args(Reading))
    column = Column(
        name=name, type=column_type(str(kind)), values=values, **{"pinned": True, **options}
    )
    return dataclasses.replace(column, examples=_examples(column, part.get("examples")))


def _examples(column: Column, listed: object) -> tuple[Example, ...]:
    if listed is not None and not isinstance(listed, list | tuple):
        raise SchemaError(f"the examples of column {column.name!r} are no list; give a list")
    return tuple(_example(column, part) for part in listed or ())


def _example(column: Column, part: object) -> Example:
    if not isinstance(part, Mapping) or not {"words", "value"} <= {*part}:
        raise SchemaError(
            f"an example of column {column.name!r} reads {part!r}; write words: and value:"
        )
    value = part["value"] if isinstance(part["value"], CheckValue) else str(part["value"])
    if isinstance(value, str) and (parsed := parse_value(value, column)).value is None:
        raise SchemaError(f"an example of column {column.name!r} does not fit it: {parsed.reason}")
    words = " ".join(str(part["words"]).split())
    if not words:
        raise SchemaError(f"an example of column {column.name!r} has no words; quote a document")
    return Example(words, value, str(part.get("document") or ""))


def _check_choice(name: str, option: str, value: object, choices: Sequence[str]) -> None:
    if value is not None and value not in choices:
        raise SchemaError(f"{option} of {name!r} is {value!r}; use one of {', '.join(choices)}")


def _table_from_model(model: type[BaseModel]) -> Table:
    columns = []
    for name, field in model.model_fields.items():
        kind, values = _from_annotation(field.annotation, f"{model.__name__}.{name}")
        columns.append(
            Column(
                name,
                kind,
                field.description or "",
                values=values,
                required=field.is_required(),
                pinned=True,
            )
        )
    return Table(
        snake_name(model.__name__),
        tuple(columns),
        description=inspect.cleandoc(model.__doc__ or ""),
        pinned=True,
    )


def _from_annotation(annotation: Any, place: str) -> tuple[ColumnType, tuple[str, ...]]:
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in typing.get_args(annotation) if a is not type(None)]
        if len(inner) == 1:
            return _from_annotation(inner[0], place)
    if origin is Literal:
        return ColumnType.CATEGORY, tuple(str(a) for a in typing.get_args(annotation))
    if inspect.isclass(annotation) and issubclass(annotation, enum.Enum):
        return ColumnType.CATEGORY, tuple(str(member.value) for member in annotation)
    if annotation in _PYTHON_TYPES:
        return _PYTHON_TYPES[annotation], ()
    raise SchemaError(
        f"field {place!r} has type {annotation!r}, which is no column type; use str, int, float, "
        "bool, date, datetime, Literal or Enum"
    )


def _schema_from_ddl(text: str) -> Schema:
    statements = parse_statements(
        text, error=SchemaError, text="the DDL", wanted="CREATE TABLE statements", plain=True
    )
    tables = tuple(
        _table_from_create(s) for s in statements if isinstance(s, exp.Create) and s.kind == "TABLE"
    )
    if not tables:
        raise SchemaError("the DDL has no CREATE TABLE statement; add one for each table")
    return Schema(tables)


def _table_from_create(statement: exp.Create) -> Table:
    name = statement.this.find(exp.Table).name
    columns = []
    for definition in statement.this.find_all(exp.ColumnDef):
        kind = definition.args.get("kind")
        word = kind.this.value.lower() if kind is not None else "text"
        comment = "; ".join(c.strip() for c in definition.comments or ())
        required = any(
            isinstance(c.kind, exp.NotNullColumnConstraint) for c in definition.constraints
        )
        columns.append(
            Column(
                definition.name,
                _TYPE_WORDS.get(word, ColumnType.TEXT),
                comment,
                required=required,
                pinned=True,
            )
        )
    if not columns:
        raise SchemaError(f"table {name!r} in the DDL has no columns; name at least one")
    return Table(name, tuple(columns), pinned=True)
