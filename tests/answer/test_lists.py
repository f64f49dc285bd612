"""Questions for several things, and segments that are read before the others."""

import pytest

from sliders.answer.choices import several
from sliders.answer.passages import Context, PassageSource
from sliders.answer.reader import read_request
from sliders.answer.workflows import Asked, lookup
from sliders.chunks.embeddings import HashEmbedder
from sliders.documents.loaders import load_text
from sliders.llm.testing import FunctionModel, ScriptedModel

HARBOUR = "# Harbour\n\nThe piers are Alpha, Beta and Gamma. Alpha was built in 1901, Beta in 1903 and Gamma in 1910."


def asked(question, model, text=HARBOUR, **kwargs):
    source = PassageSource([load_text(text, "harbour.md")], HashEmbedder(), lambda t: len(t.split()))
    return Asked(question, source, model, **kwargs)


@pytest.mark.parametrize(("question", "expected"), [
    ("Which piers does the harbour have?", True),
    ("What are the piers called?", True),
    ("What old stone piers were built?", True),
    ("What are the respective lengths of both?", True),
    ("What was the depth in 1901 and 1903?", True),
    ("What is the difference in depth in 1901 and 1903?", False),
    ("What were the fees in 1901?", False),
    ("Which pier is the oldest?", False),
    ("Which is older, Alpha or Beta?", False),
    ("Were the piers built in 1901?", False),
    ("Who built the piers?", False),
    ("What glass was used?", False),
])  # fmt: skip
def test_what_asks_for_a_list(question, expected):
    assert several(question) is expected


async def test_a_list_keeps_what_is_printed_and_cites_each():
    model = ScriptedModel([{"quote": "The piers are Alpha, Beta and Gamma", "answer": ["1901", "1903", "1903", "1955"]}])
    answer = await lookup(asked("Which years are named?", model))
    assert answer.value == [1901, 1903] and answer.text == "1901, 1903"
    assert [c.quote for c in answer.citations] == ["1901", "1903"]


async def test_a_list_of_one_is_a_value_and_a_list_of_refusals_is_no_answer():
    one = await lookup(asked("Which piers are old?", ScriptedModel([{"quote": "", "answer": ["Alpha"]}])))
    none = await lookup(asked("Which piers are gone?", ScriptedModel([{"quote": "", "answer": ["unanswerable"]}])))
    assert one.value == "Alpha" and none.status == "not_found"


def test_only_questions_for_several_things_get_a_list():
    shape = read_request("Which piers are there?", []).json_schema["properties"]["answer"]
    assert shape["type"] == "array"
    assert read_request("Which pier is old?", []).json_schema["properties"]["answer"]["type"] == "string"
    assert read_request("Which piers are there?", [], "number").json_schema["properties"].keys() == {"quote", "expression"}


async def test_the_first_segments_are_read_alone_and_the_others_only_after_a_refusal():
    text = "# Log\n\n" + "\n\n".join(f"Day {n}: the harbour keeper saw {n} ships near the long pier." for n in range(40))
    seen = []

    def reply(request):
        seen.append(len(request.messages[-1].content))
        return replies.pop(0)

    said = {"quote": "the harbour keeper saw 7 ships", "answer": "7"}
    refused = {"quote": "", "answer": "unanswerable"}
    context = Context(8, 20, threshold=0.0)
    replies = [said]
    few = await lookup(asked("How many ships did the harbour keeper see?", FunctionModel(reply), text, context=context, first=2))
    assert few.value == 7 and few.usage.calls == 1 and few.decisions == ()
    replies = [refused, said]
    more = await lookup(asked("How many ships did the harbour keeper see?", FunctionModel(reply), text, context=context, first=2))
    assert more.value == 7 and more.usage.calls == 2 and "all that were found were read" in more.decisions[0]
    assert seen[0] == seen[1] < seen[2]
    replies = [said]
    await lookup(asked("How many ships did the harbour keeper see?", FunctionModel(reply), text, context=context))
    assert seen[3] == seen[2]
