"""The schema checks, with the jsonschema package as the oracle."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.llm.validate import problems, strict_form, without_bad_items

from .requests import ROWS

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 2.0]) | st.sampled_from(["", "a", "abc"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
leaf = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "maxLength": 1},
        {"type": ["string", "null"]},
        {"type": "integer", "minimum": 0},
        {"type": "number", "maximum": 1},
        {"type": "boolean"},
        {"enum": ["a", None, 2]},
        {"const": "a"},
        {},
    ]
)
schemas = st.recursive(
    leaf,
    lambda inner: (
        st.builds(lambda i, n: {"type": "array", "items": i, "minItems": n, "maxItems": 2}, inner, st.integers(0, 1))
        | st.builds(lambda i: {"anyOf": [i, {"type": "null"}]}, inner)
        | st.builds(
            lambda members, closed: {
                "type": "object",
                "properties": members,
                "required": sorted(members)[:1],
                **({"additionalProperties": False} if closed else {}),
            },
            st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            st.booleans(),
        )
    ),
    max_leaves=4,
)


@given(json_values, schemas)
def test_it_agrees_with_the_standard(value: Any, schema: dict[str, Any]) -> None:
    assert (problems(value, schema) == ()) == jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({}, "$.rows: missing"),
        ({"rows": [{"name": "x", "age": "4"}]}, "$.rows[0].age: expected integer or null, got '4'"),
        ({"rows": [], "x": 1}, "$.x: not a field of the schema"),
    ],
)
def test_problems_name_the_place(data: Any, told: str) -> None:
    assert problems(data, ROWS) == (told,)


def test_references_are_followed() -> None:
    schema = {"$defs": {"p": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/p"}}
    assert problems([1, "a"], schema) == ("$[1]: expected integer, got 'a'",)


def test_bad_items_are_left_out_and_what_is_bad_otherwise_is_refused() -> None:
    good = {"name": "Ann", "age": None}
    assert without_bad_items({"rows": [good, {"name": 1}, "x"]}, ROWS) == {"rows": [good]}
    assert without_bad_items({"lines": [good]}, ROWS) is None
    assert without_bad_items("text", ROWS) is None


def test_the_strict_form_closes_nothing_by_itself() -> None:
    assert strict_form(ROWS) == ROWS
    assert strict_form({"type": "object", "properties": {"a": {"type": "string"}}, "required": []}) is None
    limited = {"type": "array", "items": {"type": "string", "maxLength": 9}}
    assert strict_form(limited) == {"type": "array", "items": {"type": "string"}}
