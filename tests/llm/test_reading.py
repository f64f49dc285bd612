"""What is kept of broken JSON, and what never is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.llm import complete_items, is_closed, unwrapped

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
items = st.dictionaries(st.text(), values, min_size=1, max_size=3)


@given(
    st.lists(items, max_size=5), st.integers(min_value=0), st.booleans(), st.sampled_from([None, 1])
)
def test_a_list_cut_anywhere_keeps_a_prefix_of_its_items(
    rows: list[Any], cut: int, wrapped: bool, indent: int | None
) -> None:
    whole = json.dumps({"rows": rows} if wrapped else rows, indent=indent)
    kept = complete_items(whole[: cut % (len(whole) + 1)])
    if kept is not None:
        found = kept.get("rows", []) if wrapped else kept
        assert found == rows[: len(found)]


@given(st.lists(items, min_size=1, max_size=4), st.text(alphabet='{}[]",:x \n', max_size=12))
def test_items_before_garbage_are_all_kept(rows: list[Any], garbage: str) -> None:
    assert complete_items(json.dumps({"rows": rows})[:-2] + ', {"name": @' + garbage) == {
        "rows": rows
    }


@given(st.text())
def test_no_text_breaks_the_scanner(text: str) -> None:
    complete_items(text)
    unwrapped(text)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('[{"a":1},{"a":2', [{"a": 1}]),
        ('{"rows":[{"a":1},{"a":2},', {"rows": [{"a": 1}, {"a": 2}]}),
        ('{"rows":[{"a":1},{"a":2}', {"rows": [{"a": 1}, {"a": 2}]}),
        ('{"table":"x","rows":[[1,2],[3', {"table": "x", "rows": [[1, 2]]}),
        ('{"a":{"rows":["x","y","z', {"a": {"rows": ["x", "y"]}}),
        ('{"rows":["x"],"note":"cut he', {"rows": ["x"]}),
        ('{"rows":["x"],"pages":12', {"rows": ["x"]}),
        ('{"rows":["a\\"]", "b', {"rows": ['a"]']}),
        ("[12, 1248", [12]),
        ('{"rows":[{"a":"é"},\n{"a":"ü"},{"a":@', {"rows": [{"a": "é"}, {"a": "ü"}]}),
        ('{"sql":"SELECT 1\nFROM t"}', {"sql": "SELECT 1\nFROM t"}),
    ],
)
def test_complete_items_stay(text: str, data: Any) -> None:
    assert complete_items(text) == data


@pytest.mark.parametrize(
    "text",
    ["", "nothing", "{", "[", '{"rows":[', '{"rows":[{"a":1', '{"a":"x","b":"y', "[12", "[" * 5000],
)
def test_nothing_complete_is_nothing_kept(text: str) -> None:
    assert complete_items(text) is None


@pytest.mark.parametrize(
    ("text", "json_text"),
    [
        ('{"a":[1,2]}', '{"a":[1,2]}'),
        ('```json\n{"a":[1,2]}\n```', '{"a":[1,2]}'),
        ('<think>{"a":0}</think>{"a":[1,2]}', '{"a":[1,2]}'),
        ('reasoning without a start</think>\n{"a":[1,2]}', '{"a":[1,2]}'),
        ('{"a":"```x```"}', '{"a":"```x```"}'),
    ],
)
def test_what_surrounds_a_reply_is_taken_off(text: str, json_text: str) -> None:
    assert unwrapped(text) == json_text


@pytest.mark.parametrize(
    ("text", "closed"),
    [('{"a":"]"} and more', True), ('{"rows":[{"a":1},{"a":', False), ('{"a":"', False)],
)
def test_an_open_bracket_is_seen(text: str, closed: bool) -> None:
    assert is_closed(text) is closed
