"""Schemas that users give: dict, YAML, files, pydantic models and DDL say the
same; mistakes are named.
"""

from __future__ import annotations

import datetime as dt
import enum
import re
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from sliders.errors import SchemaError
from sliders.schema import schema_from
from sliders.values import ColumnType

YAML = """
sailings:
  ferry: text
  tons: number
  left_on: date
  late: boolean
"""
DDL = "CREATE TABLE sailings (ferry VARCHAR(40), tons NUMERIC, left_on DATE, late BOOL);"


class Wind(str, enum.Enum):
    CALM = "calm"
    GALE = "gale"


class Sailings(BaseModel):
    ferry: str
    tons: float | None = Field(None, description="tons of cargo")
    left_on: dt.date
    late: bool
    wind: Wind


def types(source: object) -> list[tuple[str, str]]:
    return [(c.name, c.type.value) for c in schema_from(source).tables[0].columns]


FOUR = [("ferry", "text"), ("tons", "number"), ("left_on", "date"), ("late", "boolean")]


def test_all_forms_give_the_same_columns(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(YAML)
    mapping = {
        "sailings": {"ferry": "text", "tons": "number", "left_on": "date", "late": "boolean"}
    }
    for source in (YAML, DDL, mapping, path, str(path)):
        assert types(source) == FOUR
    assert types(Sailings)[:4] == FOUR


def test_a_model_keeps_descriptions_and_closed_values() -> None:
    table = schema_from(Sailings).tables[0]
    assert table.column("tons").description == "tons of cargo"
    assert table.column("wind").type is ColumnType.CATEGORY
    assert set(table.column("wind").values) == {"calm", "gale"}


def test_what_the_user_gives_is_pinned() -> None:
    assert all(t.pinned and all(c.pinned for c in t.columns) for t in schema_from(YAML).tables)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"sailings": {"tons": "heavy"}}, "heavy"),
        ("just words", "no mapping"),
        (Path("nowhere.yaml"), "nowhere.yaml"),
        (42, "int"),
        ({}, "table"),
        ({"tables": [{"name": "t", "key": ["b"], "columns": ["a"]}]}, "key of table 't' names b"),
        ("t: {2022: number}", "2022; write it in quotes"),
        ("t: {no: integer}", "False; write it in quotes"),
    ],
)
def test_mistakes_are_named(source: object, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        schema_from(source)


@pytest.mark.parametrize(
    "source",
    [
        {"a": 1},
        {"tables": 5},
        {"tables": ["x"]},
        {"a": "text"},
        {1: {"a": "text"}},
        "CREATE TABLE",
        "CREATE TABLE t (a int, b",
    ],
)
def test_what_is_no_schema_is_refused_in_a_sentence(source: object) -> None:
    with pytest.raises(SchemaError) as refused:
        schema_from(source)
    assert not re.search(r"\x1b|Token|Error", str(refused.value))


def test_yaml_is_read_as_it_is_meant() -> None:
    text = (
        "tables: [{name: t, key: a, row: , columns: {a: {unit: , scale: 1000}, b: {values: [yes, "
        "no, 3]}, c: {values: one}}}]"
    )
    table = schema_from(text).tables[0]
    assert (table.key, table.row, table.columns[0].unit, table.columns[0].scale) == (
        ("a",),
        "",
        "",
        "1000",
    )
    assert [c.values for c in table.columns[1:]] == [("yes", "no", "3"), ("one",)]


def test_whole_numbers_and_times_of_sql_are_these() -> None:
    assert types("CREATE TABLE t (a TINYINT, b TIMESTAMPTZ)") == [
        ("a", "integer"),
        ("b", "datetime"),
    ]


def test_a_schema_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"caf\xe9: {a: text}")
    with pytest.raises(SchemaError, match="UTF-8"):
        schema_from(tmp_path / "latin.yaml")


def test_a_pinned_column_takes_every_field_and_survives_storage() -> None:
    said = {
        "name": "verdict",
        "type": "enum",
        "values": ["won", "lost"],
        "description": "won when ...",
        "reading": "judged",
        "unit": "",
        "required": True,
    }
    money = {
        "name": "fee",
        "type": "number",
        "unit": "USD",
        "scale": "thousands",
        "currency": "USD",
        "additive": True,
    }
    table = {
        "name": "cases",
        "row": "one case",
        "grain": "document",
        "key": ["verdict"],
        "documents": "judgments",
        "columns": [said, money],
    }
    schema = schema_from({"tables": [table]})
    column = schema.tables[0].column("verdict")
    assert (column.type, column.reading, column.required, column.values) == (
        ColumnType.CATEGORY,
        "judged",
        True,
        ("won", "lost"),
    )
    assert (schema.tables[0].documents, schema.tables[0].key) == ("judgments", ("verdict",))


@pytest.mark.parametrize("part", [{"reading": "guessed"}, {"colour": "red"}])
def test_options_of_a_column_that_mean_nothing_are_refused(part: dict[str, str]) -> None:
    with pytest.raises(SchemaError, match=next(iter(part))):
        schema_from({"t": {"a": {"type": "text", **part}}})


def test_a_grain_that_means_nothing_is_refused() -> None:
    with pytest.raises(SchemaError, match="grain"):
        schema_from({"tables": [{"name": "t", "grain": "chunk", "columns": ["a"]}]})
