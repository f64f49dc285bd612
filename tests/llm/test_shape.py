"""Shapes of replies: a JSON schema or a pydantic model, checked item by item."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from sliders.llm import (
    Message,
    Request,
    Shape,
    is_strict,
    plain_data,
    shape_of,
    told,
    without_bad_items,
)

from .requests import ROWS, rows_request

GOOD = {"name": "Ann", "age": None}


class Cell(BaseModel):
    """A cell."""

    value: int | str


class Rows(BaseModel):
    """Rows."""

    rows: list[dict[str, Cell]]


def shape(**changes: Any) -> Shape:
    found = shape_of(rows_request(**changes))
    assert found is not None
    return found


def test_free_text_has_no_shape() -> None:
    assert shape_of(Request("answer", (Message("user", "hi"),))) is None


def test_equal_schemas_are_one_shape_that_shows_the_schema() -> None:
    assert shape() is shape(json_schema=dict(ROWS))
    assert shape().model_json_schema() == {"title": "Reply", **ROWS}
    assert plain_data(shape().model_validate_json('{"rows":[]}')) == {"rows": []}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", 'the reply: "rows" is a required property'),
        ('{"rows":[{"name":"x","age":"4"}]}', 'rows.0.age: "4" is not of types "null", "integer"'),
        (
            '{"rows":[],"x":1}',
            "the reply: Additional properties are not allowed ('x' was unexpected)",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(ValidationError) as error:
        shape().model_validate_json(text)
    assert told(error.value) == (said,)


def test_bad_items_are_left_out_and_what_is_bad_otherwise_is_refused() -> None:
    assert without_bad_items({"rows": [GOOD, {"name": 1}, "x"]}, shape()) == {"rows": [GOOD]}
    assert without_bad_items({"lines": [GOOD]}, shape()) is None
    assert without_bad_items({"rows": [{"name": 1}], "more": 1}, shape()) is None
    assert without_bad_items("text", shape()) is None
    cells = {"rows": [{"a": {"value": 1}}, {"a": {"value": []}}, {"a": {"value": "x"}}]}
    kept = without_bad_items(cells, shape(json_schema=None, reply=Rows))
    assert kept == {"rows": [cells["rows"][0], cells["rows"][2]]}


def test_a_schema_is_strict_when_every_object_is_closed_and_complete() -> None:
    assert is_strict(ROWS)
    assert not is_strict(
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": []}
    )
    assert not is_strict({"type": "array", "items": {"type": "string", "maxLength": 9}})
