"""The doubles that the package ships."""

from __future__ import annotations

import pytest

from sliders.errors import ModelRefusal, TruncatedReply
from sliders.llm import Message, Request, network_switch
from sliders.llm.testing import (
    FunctionModel,
    ScriptedModel,
    requests_allowed,
    requests_heard_by,
    truncated,
)

from .requests import rows_request


def ask(text: str, stage: str = "answer") -> Request:
    return Request(stage, (Message("user", text),))


async def test_a_sequence_is_taken_in_order_and_its_end_is_said() -> None:
    model = ScriptedModel(["one", "two"])
    assert [(await model.generate(ask("a"))).text for _ in range(2)] == ["one", "two"]
    assert model.remaining == 0
    with pytest.raises(ModelRefusal, match="no reply for call 3"):
        await model.generate(ask("b"))
    assert [request.messages[0].content for request in model.history] == ["a", "a", "b"]


async def test_a_mapping_answers_by_stage_before_words() -> None:
    model = ScriptedModel({"gate": ["yes", "no"], "Ann": {"rows": []}, "": "other"})
    assert (await model.generate(ask("Ann", "gate"))).text == "yes"
    assert (await model.generate(rows_request("Ann"))).data == {"rows": []}
    assert (await model.generate(rows_request("Ann"))).data == {"rows": []}
    assert (await model.generate(ask("Bob"))).text == "other"
    assert model.remaining == 1


async def test_the_last_reply_may_repeat() -> None:
    model = ScriptedModel(["one", "two"], repeat_last=True)
    assert [(await model.generate(ask("a"))).text for _ in range(4)] == ["one", "two", "two", "two"]


async def test_an_exception_is_raised() -> None:
    with pytest.raises(TruncatedReply) as error:
        await ScriptedModel([truncated("half")]).generate(ask("a"))
    assert error.value.partial == "half"


@pytest.mark.parametrize("reply", ["no json", {"rows": [{"name": 1, "age": 1}]}])
async def test_a_reply_that_does_not_fit_the_schema_fails_the_test_loudly(reply: object) -> None:
    with pytest.raises(ModelRefusal, match="the double's reply"):
        await FunctionModel(lambda request: reply).generate(rows_request())  # type: ignore[arg-type,return-value]


async def test_a_function_may_be_async() -> None:
    async def reply(request: Request) -> str:
        return request.stage

    assert (await FunctionModel(reply).generate(ask("a", "plan"))).text == "plan"


async def test_a_listener_hears_the_requests_of_every_double_while_it_listens() -> None:
    heard: list[Request] = []
    with requests_heard_by(heard.append):
        await ScriptedModel(["one"]).generate(ask("a"))
        await FunctionModel(lambda _: "two").generate(ask("b"))
    await FunctionModel(lambda _: "three").generate(ask("c"))
    assert heard == [ask("a"), ask("b")]


def test_requests_are_off_in_tests_and_come_back_off() -> None:
    assert network_switch.ALLOW_REQUESTS is False
    with requests_allowed():
        assert network_switch.ALLOW_REQUESTS is True
    assert network_switch.ALLOW_REQUESTS is False
