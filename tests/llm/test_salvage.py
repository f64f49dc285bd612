"""What is kept of broken JSON, and what never is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.llm.salvage import parse_json, salvage, strip_wrapping

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
items = st.dictionaries(st.text(), values, min_size=1, max_size=3)


@given(st.lists(items, max_size=5), st.integers(min_value=0), st.booleans(), st.sampled_from([None, 1]))
def test_a_list_cut_anywhere_keeps_a_prefix_of_its_items(
    rows: list[Any], cut: int, wrapped: bool, indent: int | None
) -> None:
    whole = json.dumps({"rows": rows} if wrapped else rows, indent=indent)
    kept = salvage(whole[: cut % (len(whole) + 1)])
    if kept is not None:
        found = kept.data.get("rows", []) if wrapped else kept.data
        assert found == rows[: len(found)]
        assert kept.salvaged or kept.data == json.loads(whole)


@given(st.lists(items, min_size=1, max_size=4), st.text(alphabet='{}[]",:x \n', max_size=12))
def test_items_before_garbage_are_all_kept(rows: list[Any], garbage: str) -> None:
    broken = json.dumps({"rows": rows})[:-2] + ', {"name": @' + garbage
    kept = salvage(broken)
    assert kept is not None
    assert kept.data == {"rows": rows}
    assert kept.salvaged


@given(st.text())
def test_no_text_breaks_the_scanner(text: str) -> None:
    kept = salvage(text)
    assert kept is None or isinstance(kept.data, dict | list)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('[{"a":1},{"a":2', [{"a": 1}]),
        ('{"rows":[{"a":1},{"a":2},', {"rows": [{"a": 1}, {"a": 2}]}),
        ('{"table":"x","rows":[[1,2],[3', {"table": "x", "rows": [[1, 2]]}),
        ('{"a":{"rows":["x","y","z', {"a": {"rows": ["x", "y"]}}),
        ('{"rows":["x"],"note":"cut he', {"rows": ["x"]}),
        ('{"rows":["a\\"]", "b', {"rows": ['a"]']}),
        ("[12, 1248", [12]),
        ('```json\n{"rows":[{"a":1},{"a', {"rows": [{"a": 1}]}),
    ],
)
def test_complete_items_stay(text: str, data: Any) -> None:
    kept = salvage(text)
    assert kept is not None and kept.data == data and kept.salvaged


@pytest.mark.parametrize("text", ["", "nothing", "{", "[", '{"rows":[', '{"rows":[{"a":1', '{"a":"x","b":"y', "[12"])
def test_nothing_complete_is_nothing_kept(text: str) -> None:
    assert salvage(text) is None


def test_depth_without_end_is_not_followed() -> None:
    assert salvage("[" * 5000) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"a":[1,2]}',
        '```json\n{"a":[1,2]}\n```',
        '<think>{"a":0}</think>{"a":[1,2]}',
        'reasoning without a start</think>\n{"a":[1,2]}',
        'The document says {"a":9}. My reply:\n{"a":[1,2]} I hope it helps.',
        '{"a":[1,2,],}',
    ],
)
def test_a_whole_reply_is_found_in_what_surrounds_it(text: str) -> None:
    assert parse_json(text) == {"a": [1, 2]}


@pytest.mark.parametrize("text", ["", "no json", '{"rows":[{"a":1},{"a":', '{"a":"{\\"b\\":1}'])
def test_a_part_of_a_reply_is_not_taken_for_the_whole(text: str) -> None:
    with pytest.raises(ValueError, match="complete JSON"):
        parse_json(text)


@given(values)
def test_json_that_is_whole_is_read_as_json_does(value: Any) -> None:
    assert parse_json(json.dumps([value])) == [value]


def test_a_fence_inside_a_value_stays() -> None:
    assert strip_wrapping('{"a":"```x```"}') == '{"a":"```x```"}'
