"""Down a hierarchy of classes, always ending somewhere."""

from enum import Enum

import pytest

from sliders.errors import ModelRefusal, PlanError
from sliders.llm.dialect import FULL
from sliders.llm.testing import ScriptedModel
from sliders.plan.task import BUILT_IN, decompose, hierarchy, level_request, shape_of, time_range, understand


class Edit(Enum):
    CREATE = "make something new"
    DELETE = "remove something"


class Input(Enum):
    COMMAND = Edit
    QUERY = "asks for information"


def test_nested_enums_yaml_and_mappings_are_the_same_tree():
    from_enum = hierarchy(Input)
    from_yaml = hierarchy(
        "command:\n  create: make something new\n  delete: remove something\nquery: asks for information\n"
    )
    assert from_enum == from_yaml
    assert [child.name for child in from_enum.children] == ["command", "query", "other"]
    assert [child.name for child in from_enum.children[0].children] == ["create", "delete", "other"]


@pytest.mark.parametrize("source", ["", "{", 7, {}])
def test_what_is_no_hierarchy_is_refused(source):
    with pytest.raises(PlanError):
        hierarchy(source)


async def test_level_by_level_with_the_text_said_again():
    model = ScriptedModel([{"class": "command", "summary": "make a file"}, {"class": "create", "summary": "new file"}])
    found = await decompose("Please could you make me a file", model, hierarchy(Input), resummarise=True)
    assert found.path == ("command", "create") and found.text == "new file" and not found.fell_back
    assert "make a file" in model.history[1].messages[-1].content
    assert found.usage.calls == 2


async def test_an_unknown_class_and_a_refusal_fall_back():
    found = await decompose("x", ScriptedModel([{"class": "poem"}]), hierarchy(Input))
    assert found.path == ("other",) and found.fell_back
    found = await decompose("x", ScriptedModel([ModelRefusal("no")]), hierarchy(Input))
    assert found.path == ("other",) and found.fell_back


def test_the_schema_allows_the_classes_only():
    request = level_request("x", BUILT_IN, FULL)
    assert request.json_schema["properties"]["class"]["enum"] == [child.name for child in BUILT_IN.children]
    assert "nonsense" in request.messages[-1].content


async def test_a_task_keeps_the_question_when_the_model_gives_nothing():
    task = await understand("How many died between 2001 and 2004?", ScriptedModel([ModelRefusal("no")]), "aggregation")
    assert task.sub_questions == ("How many died between 2001 and 2004?",)
    assert task.time_range == "between 2001 and 2004" and task.shape == "number"


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("Is the lease still valid?", "yes_no"), ("When was it signed?", "date"), ("How many were there?", "number"),
        ("List all the parties", "list"), ("Who signed it?", "text"), ("Sales for each region", "table"),
    ],
)  # fmt: skip
def test_shapes(question, shape):
    assert shape_of(question) == shape


def test_time_range_is_empty_without_a_year():
    assert time_range("in the beginning") == ""
