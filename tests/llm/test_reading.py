"""What is kept of broken JSON, and what never is."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.llm import (
    LenientReply,
    answer_of,
    complete_items,
    fitting,
    plain_data,
    shape_of,
)

from .requests import rows_request

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
    assert ROWS_SHAPE is not None
    complete_items(text)
    answer_of(text)
    with contextlib.suppress(ValueError):
        fitting(text, ROWS_SHAPE)


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


ROWS_SHAPE = shape_of(rows_request())
ANN = {"name": "Ann", "age": 4}
WHOLE = json.dumps({"rows": [ANN]})


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{WHOLE}\n```",
        f"~~~\n{WHOLE}\n~~~",
        f"````\n{WHOLE}\n````",
        f"```\n{WHOLE}",
        f"> ```JSON\n{WHOLE}\n> ```",
        f"Drafts: {{}} and [x].\n```json\n{WHOLE}\n```\nDone.",
        f"Here: ```{WHOLE}``` as asked.",
        f"The rows are {WHOLE}. A set is written {{a, b}}.",
        f"\ufeff{WHOLE}",
        f"{WHOLE}\n{WHOLE}",
        json.dumps(WHOLE),
        "{'rows': [{'name': 'Ann', 'age': 4,}],}",
        '{rows: [{name: "Ann", age: 4}]}',
        '{"rows": [ // the people\n {"name": "Ann", /* years */ "age": 4}, # one\n]}',
        json.dumps([ANN]),
        json.dumps(ANN),
        json.dumps({"result": {"rows": [ANN]}}),
        json.dumps({"data": [ANN]}),
        json.dumps({"name": "Reply", "arguments": {"rows": [ANN]}}),
        json.dumps({"name": "Reply", "parameters": WHOLE}),
        json.dumps({"ROWS": [{"Name": "Ann", "AGE": 4}]}),
    ],
)
def test_a_reply_is_read_whatever_stands_around_it(text: str) -> None:
    assert ROWS_SHAPE is not None
    assert plain_data(fitting(text, ROWS_SHAPE)) == {"rows": [ANN]}


def test_json_lines_are_the_items_of_the_list() -> None:
    assert ROWS_SHAPE is not None
    lines = "\n".join(json.dumps({"name": name, "age": None}) for name in ("Ann", "Bo"))
    assert [row["name"] for row in plain_data(fitting(lines, ROWS_SHAPE))["rows"]] == ["Ann", "Bo"]


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "None", "undefined"])
def test_words_for_no_number_are_null(value: str) -> None:
    assert ROWS_SHAPE is not None
    text = '{"rows": [{"name": "Ann", "age": ' + value + "}]}"
    assert plain_data(fitting(text, ROWS_SHAPE)) == {"rows": [{"name": "Ann", "age": None}]}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("I would rather not.", "no JSON"),
        ('{"people": []}', "rows"),
        ('{"errors": ["none"]}', "rows"),
        (f'{WHOLE}\n{{"rows": []}}', "several"),
        ('{"rows": [{"name": "Ann", "age": 4}, {"name":', "no JSON"),
        ('{"name": "Ann", "age": 4}\n{"name": "Bo", "ag', "no JSON"),
    ],
)
def test_what_does_not_fit_is_said(text: str, wrong: str) -> None:
    assert ROWS_SHAPE is not None
    with pytest.raises(ValueError, match=wrong):
        fitting(text, ROWS_SHAPE)


class Loose(LenientReply):
    """A reply of which every member may be left out."""

    title: str = ""
    kind: str = ""


@pytest.mark.parametrize(
    ("text", "title"),
    [('{"card": {"title": "Annual report"}}', "Annual report"), ('{"Title": "A"}', "A")],
)
def test_a_wrapped_reply_without_required_members_is_not_an_empty_one(
    text: str, title: str
) -> None:
    shape = shape_of(rows_request(json_schema=None, reply=Loose))
    assert shape is not None
    assert plain_data(fitting(text, shape))["title"] == title
    with pytest.raises(ValueError, match="title"):
        fitting('{"other": "x"}', shape)


@pytest.mark.parametrize(
    "text",
    [
        "<think>{}</think>4",
        "<thinking>a\nb</thinking>\n4",
        "no start </think> 4",
        "[THINK]hm[/THINK]4",
        "◁think▷hm◁/think▷4",
        "<seed:think>hm</seed:think>4",
        "<|channel|>analysis<|message|>9<|end|><|start|>assistant<|channel|>final<|message|>4",
    ],
)
def test_thoughts_are_no_part_of_an_answer(text: str) -> None:
    assert answer_of(text).strip() == "4"
    assert answer_of(text.replace("4", "")).strip() == ""


def test_thoughts_without_an_end_are_no_answer() -> None:
    assert answer_of("<think>perhaps 4") == ""
    assert answer_of('{"a":"<think>x</think>"}') == '{"a":"<think>x</think>"}'
