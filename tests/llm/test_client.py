"""The client against a scripted server: the ladder, corrections, salvage,
retries and plain errors.
"""

from __future__ import annotations

import asyncio
import json
import math
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from sliders.errors import (
    BudgetExceeded,
    ModelError,
    ModelRefusal,
    ModelUnavailable,
    TruncatedReply,
)
from sliders.llm import (
    CachedModel,
    MemoryCallLog,
    Message,
    Meter,
    OpenAIModel,
    PriceTable,
    Request,
    Rung,
    retry,
)
from sliders.settings import Budget, Settings
from tests.fake_server import Scripted

from .requests import ROWS, rows_request

ANN = '{"rows":[{"name":"Ann","age":4}]}'
Serve = Callable[..., Any]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_backoff", lambda state: 0.01)


async def test_a_reply_that_fits_is_returned_with_its_usage(serve: Serve) -> None:
    server, model = serve(
        Scripted(ANN), prices=PriceTable.load({"m": {"prompt": 1e6, "completion": 2e6}})
    )
    response = await model.generate(rows_request())
    assert response.data == {"rows": [{"name": "Ann", "age": 4}]}
    assert response.usage.calls == 1
    assert (
        response.usage.cost == response.usage.prompt_tokens + 2 * response.usage.completion_tokens
    )
    assert server.bodies[0]["response_format"]["json_schema"]["strict"] is True
    assert server.bodies[0]["temperature"] == 0


async def test_a_schema_with_optional_fields_is_not_sent_as_strict(serve: Serve) -> None:
    server, model = serve(Scripted('{"a":"x"}'))
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a"],
    }
    await model.generate(rows_request(json_schema=schema))
    assert server.bodies[0]["response_format"]["json_schema"]["strict"] is False


@pytest.mark.parametrize("works", [Rung.JSON, Rung.TOOLS, Rung.MD_JSON])
async def test_a_weaker_server_is_asked_in_the_way_that_it_knows_and_that_is_remembered(
    serve: Serve, works: Rung
) -> None:
    def rung_of(body: dict[str, Any]) -> Rung:
        if "tools" in body:
            return Rung.TOOLS
        kinds = {"json_schema": Rung.JSON_SCHEMA, "json_object": Rung.JSON}
        return kinds.get(body.get("response_format", {}).get("type"), Rung.MD_JSON)

    def reply(body: dict[str, Any]) -> Scripted:
        if rung_of(body) is not works:
            return Scripted(status=400, error="response_format is not supported")
        return Scripted(ANN, tool_call=works is Rung.TOOLS)

    server, model = serve(reply)
    first = await model.generate(rows_request())
    asked = len(server.bodies)
    second = await model.generate(rows_request("Bob is 5."))
    assert first.data == second.data == json.loads(ANN)
    assert model.rung is works
    assert len(server.bodies) == asked + 1
    if works is not Rung.TOOLS:
        assert '"required"' in server.bodies[-1]["messages"][0]["content"]


async def test_a_server_that_ignores_the_schema_is_corrected_once_with_the_reason(
    serve: Serve,
) -> None:
    server, model = serve([Scripted('{"people":["Ann"]}'), Scripted(ANN)])
    response = await model.generate(rows_request())
    assert response.data == json.loads(ANN)
    assert response.usage.calls == 2
    told = server.bodies[1]["messages"][-1]["content"]
    assert '"rows" is a required property' in told


async def test_a_bad_row_does_not_cost_the_others(serve: Serve) -> None:
    _, model = serve(
        Scripted('{"rows":[{"name":"Ann","age":4},{"name":7,"age":1},{"name":"Bo","age":null}]}')
    )
    response = await model.generate(rows_request())
    assert [row["name"] for row in response.data["rows"]] == ["Ann", "Bo"]
    assert response.salvaged


async def test_a_reply_in_reasoning_and_a_fence_is_unwrapped(serve: Serve) -> None:
    _, model = serve(Scripted(f"<think>maybe {{}}</think>Here it is:\n```json\n{ANN}\n```\nDone."))
    assert (await model.generate(rows_request())).data == json.loads(ANN)


async def test_a_reply_in_parts_is_read_without_its_reasoning(serve: Serve) -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": ANN},
    ]
    _, model = serve(
        Scripted(
            body=json.dumps({"choices": [{"message": {"role": "assistant", "content": parts}}]})
        )
    )
    assert (await model.generate(rows_request())).data == json.loads(ANN)


@pytest.mark.parametrize("half", ["\ud83d", "\\ud83d"])
async def test_half_a_character_of_a_reply_becomes_a_mark(serve: Serve, half: str) -> None:
    server, model = serve(
        [Scripted(ANN.replace("4", f'"{half}"')), Scripted(ANN.replace("Ann", half))]
    )
    response = await model.generate(rows_request())
    assert response.data["rows"] == [{"name": "\ufffd", "age": 4}]
    assert response.text.encode() and len(server.bodies) == 2


@pytest.mark.parametrize(
    "body",
    ['{"choices": [null]}', '{"error": {"message": "upstream overloaded", "code": 502}}', "[1]"],
)
async def test_a_reply_without_a_choice_costs_this_call_only_and_says_what_came(
    serve: Serve, body: str
) -> None:
    _, model = serve(Scripted(body=body))
    with pytest.raises(
        ModelError, match="overloaded" if "overloaded" in body else "without choices"
    ):
        await model.generate(rows_request())


@pytest.mark.parametrize("text", ["", '{"rows":[]}'])
async def test_a_filtered_reply_is_no_answer_and_is_not_asked_for_in_other_ways(
    serve: Serve, text: str
) -> None:
    server, model = serve(Scripted(text, finish_reason="content_filter"))
    with pytest.raises(ModelRefusal, match="content_filter") as error:
        await model.generate(rows_request())
    assert len(server.bodies) == 1
    assert error.value.usage.calls == 1


async def test_line_breaks_inside_strings_do_no_harm(serve: Serve) -> None:
    _, model = serve(Scripted('{"rows":[{"name":"Ann\nLee","age":4}]}'))
    response = await model.generate(rows_request())
    assert response.data == {"rows": [{"name": "Ann\nLee", "age": 4}]} and not response.salvaged


async def test_a_cut_list_keeps_its_complete_items_and_says_so(serve: Serve) -> None:
    cut = '{"rows":[{"name":"Ann","age":4},{"name":"Bo","ag'
    _, model = serve(Scripted(cut, finish_reason="length"))
    response = await model.generate(rows_request())
    assert response.data == {"rows": [{"name": "Ann", "age": 4}]}
    assert response.salvaged and response.finish_reason == "length"


async def test_a_cut_reply_without_a_complete_item_is_an_error_that_keeps_the_text(
    serve: Serve,
) -> None:
    cut = '{"rows":[{"name":"An'
    server, model = serve(Scripted(cut, finish_reason="length"))
    with pytest.raises(TruncatedReply, match="split the input") as error:
        await model.generate(rows_request())
    assert error.value.partial == cut
    assert len(server.bodies) == 1


async def test_an_input_that_does_not_fit_is_reported_as_truncation(serve: Serve) -> None:
    _, model = serve(Scripted(status=400, error="the request exceeds the available context size"))
    with pytest.raises(TruncatedReply, match="split the input"):
        await model.generate(rows_request())


async def test_a_model_that_never_gives_json_is_refused_and_its_cost_is_known(serve: Serve) -> None:
    _, model = serve(Scripted("I would rather not."))
    with pytest.raises(ModelRefusal, match="I would rather not") as error:
        await model.generate(rows_request())
    assert getattr(error.value.usage, "calls", 0) == 8  # four ways of asking, one correction each


async def test_once_a_way_has_worked_a_hopeless_reply_costs_one_correction_only(
    serve: Serve,
) -> None:
    server, model = serve([Scripted(ANN), Scripted("no")])
    await model.generate(rows_request())
    with pytest.raises(ModelRefusal):
        await model.generate(rows_request("Bob"))
    assert len(server.bodies) == 3


async def test_free_text_comes_back_as_it_is(serve: Serve) -> None:
    server, model = serve(Scripted("  Hello { there"))
    response = await model.generate(Request("answer", (Message("user", "hi"),)))
    assert response.text == "  Hello { there" and response.data is None
    assert "response_format" not in server.bodies[0]


async def test_log_probabilities_are_returned_when_asked_for(serve: Serve) -> None:
    _, model = serve(Scripted(ANN))
    assert (await model.generate(rows_request())).token_logprobs == ()
    assert set((await model.generate(rows_request(logprobs=True))).token_logprobs) == {-0.5}


async def test_passing_errors_are_tried_again(serve: Serve) -> None:
    server, model = serve([Scripted(status=503), Scripted(status=429), Scripted(ANN)])
    assert (await model.generate(rows_request())).data == json.loads(ANN)
    assert len(server.bodies) == 3


async def test_connections_that_break_off_are_tried_again_and_cost_one_call_at_most(
    serve: Serve,
) -> None:
    server, model = serve([Scripted(dropped=True), Scripted(dropped=True), Scripted(ANN)])
    assert (await model.generate(rows_request())).data == json.loads(ANN)
    server, model = serve(Scripted(dropped=True))
    with pytest.raises(ModelError, match="broke the connection off") as error:
        await model.generate(rows_request())
    assert not isinstance(error.value, ModelUnavailable)
    assert len(server.bodies) == 3


async def test_a_quota_of_a_minute_passes(serve: Serve) -> None:
    _, model = serve(
        [Scripted(status=429, error="You exceeded your current quota, retry in 3 s"), Scripted(ANN)]
    )
    assert (await model.generate(rows_request())).data == json.loads(ANN)


@pytest.mark.parametrize(
    ("error", "headers"),
    [
        ("Resource exhausted.\nPlease retry in 0.5s", {}),
        ("Rate limit reached. Please try again in 500ms. Visit the page.", {}),
        ("Try again in 500 msec.", {}),
        ('{"details": [{"retryDelay": "0.5s"}]}', {}),
        ("Slow down", {"x-ratelimit-reset-requests": "0.5s"}),
        ("Slow down", {"retry-after-ms": "500"}),
    ],
)
async def test_a_wait_that_a_server_names_anywhere_is_kept(
    serve: Serve, error: str, headers: dict[str, str]
) -> None:
    server, model = serve([Scripted(status=429, error=error, headers=headers), Scripted(ANN)])
    await model.generate(rows_request())
    assert 0.5 <= server.times[1] - server.times[0] < 5


@pytest.mark.parametrize("header", ["final", "final <|constrain|>json", "final<|constrain|>json"])
async def test_a_final_channel_is_found_behind_its_thoughts(serve: Serve, header: str) -> None:
    thoughts = '<|channel|>analysis<|message|>Such as {"rows": []}.<|end|><|start|>assistant'
    _, model = serve([Scripted(f"{thoughts}<|channel|>{header}<|message|>{ANN}<|return|>")])
    assert (await model.generate(rows_request())).data == json.loads(ANN)


async def test_retry_after_is_honoured(serve: Serve) -> None:
    server, model = serve([Scripted(status=429, headers={"Retry-After": "0.4"}), Scripted(ANN)])
    await model.generate(rows_request())
    assert server.times[1] - server.times[0] >= 0.4


async def test_a_server_that_keeps_failing_costs_this_call_only(serve: Serve) -> None:
    server, model = serve(Scripted(status=500, error="boom"))
    with pytest.raises(ModelError, match="boom") as error:
        await model.generate(rows_request())
    assert not isinstance(error.value, ModelUnavailable)
    assert len(server.bodies) == 3


async def test_a_timeout_is_tried_again_and_then_named(serve: Serve) -> None:
    server, model = serve(Scripted(ANN), latency=2.0, timeout=0.1, retries=1)
    with pytest.raises(ModelError, match="SLIDERS_TIMEOUT"):
        await model.generate(rows_request())
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (401, "bad key", "OPENAI_API_KEY"),
        (403, "forbidden", "OPENAI_API_KEY"),
        (404, "The model `m` does not exist", "SLIDERS_MODEL"),
        (400, "model 'm' not found", "SLIDERS_MODEL"),
        (404, "no route", "/v1"),
        (429, "You exceeded your current quota (insufficient_quota)", "quota"),
        (402, "Insufficient balance", "credit"),
    ],
)
async def test_what_will_not_pass_is_said_at_once_with_what_to_do(
    serve: Serve, status: int, error: str, told: str
) -> None:
    server, model = serve(Scripted(status=status, error=error))
    with pytest.raises(ModelUnavailable, match=told):
        await model.generate(rows_request())
    assert len(server.bodies) == 1


async def test_no_server_is_said_with_the_address(serve: Serve) -> None:
    serve(Scripted())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    model = OpenAIModel("m", Settings(model="m", base_url=url))
    with pytest.raises(ModelUnavailable, match=url):
        await model.generate(rows_request())


async def test_a_hosted_model_without_a_key_is_said_before_any_call(serve: Serve) -> None:
    serve(Scripted())
    with pytest.raises(ModelUnavailable, match="OPENAI_API_KEY"):
        await OpenAIModel("gpt-4.1", Settings(model="gpt-4.1")).generate(rows_request())


async def test_the_guard_stops_a_request_before_it_leaves() -> None:
    with pytest.raises(ModelUnavailable, match="ALLOW_REQUESTS"):
        await OpenAIModel("m", Settings(model="m", base_url="http://127.0.0.1:9/v1")).generate(
            rows_request()
        )


async def test_no_more_requests_than_the_concurrency_are_in_flight(serve: Serve) -> None:
    server, model = serve(Scripted(ANN), latency=0.02, concurrency=3)
    await asyncio.gather(*(model.generate(rows_request(str(n))) for n in range(12)))
    assert 1 < server.most_in_flight <= 3


async def test_sixty_four_slots_are_kept_busy(serve: Serve) -> None:
    server, model = serve(Scripted(ANN), latency=0.2, concurrency=64)
    await model.generate(rows_request("warm"))
    started = time.monotonic()
    await asyncio.gather(*(model.generate(rows_request(str(n))) for n in range(192)))
    assert 8 < server.most_in_flight <= 64
    assert time.monotonic() - started < 19.0  # one after the other it would be 38 s


def test_one_client_serves_several_event_loops(serve: Serve) -> None:
    _, model = serve(Scripted(ANN))

    async def once(text: str) -> Any:
        response = await model.generate(rows_request(text))
        await model.aclose()
        return response.data

    assert [asyncio.run(once(text)) for text in "ab"] == [json.loads(ANN)] * 2


async def test_a_server_of_our_own_gets_a_grammar_and_falls_back_when_it_knows_none(
    serve: Serve,
) -> None:
    def reply(body: dict[str, Any]) -> Scripted:
        return (
            Scripted(status=400, error="failed to parse grammar")
            if "grammar" in body
            else Scripted(ANN)
        )

    server, model = serve(reply, first_rung=Rung.GRAMMAR)
    assert (await model.generate(rows_request())).data == json.loads(ANN)
    assert "compact JSON" in server.bodies[0]["messages"][0]["content"]
    grammar = server.bodies[0]["grammar"]
    assert (
        json.loads(grammar[grammar.index("{", grammar.index("%json")) :])["required"]
        == ROWS["required"]
    )
    assert model.rung is Rung.JSON_SCHEMA


class Person(BaseModel):
    """A person."""

    name: str
    age: int | None = None


class People(BaseModel):
    """The people."""

    rows: list[Person]


async def test_a_reply_model_is_asked_for_checked_and_given_as_plain_data(serve: Serve) -> None:
    server, model = serve([Scripted('{"rows":[{"age":4}]}'), Scripted('{"rows":[{"name":"Ann"}]}')])
    response = await model.generate(rows_request(json_schema=None, reply=People))
    assert response.data == {"rows": [{"name": "Ann", "age": None}]}
    asked = server.bodies[0]["response_format"]["json_schema"]
    assert (asked["name"], asked["strict"]) == ("People", False)
    assert "rows.0.name: Field required" in server.bodies[1]["messages"][-1]["content"]


async def test_a_bad_row_of_a_reply_model_does_not_cost_the_others(serve: Serve) -> None:
    _, model = serve(Scripted('{"rows":[{"name":"Ann"},{"age":"x"},{"name":"Bo","age":5}]}'))
    response = await model.generate(rows_request(json_schema=None, reply=People))
    assert [row["name"] for row in response.data["rows"]] == ["Ann", "Bo"] and response.salvaged


async def test_a_tool_call_that_does_not_fit_is_corrected_in_the_conversation_of_tools(
    serve: Serve,
) -> None:
    def reply(body: dict[str, Any]) -> Scripted:
        if "tools" not in body:
            return Scripted(status=400, error="response_format is not supported")
        return Scripted(ANN if body["messages"][-1]["role"] == "tool" else "{}", tool_call=True)

    _, model = serve(reply)
    assert (await model.generate(rows_request())).data == json.loads(ANN)


def yes_or_no(text: str = "Did she die?") -> Request:
    return Request("extract", (Message("user", text),), choices=("yes", "no"))


async def test_a_choice_costs_one_token_and_tells_the_odds(serve: Serve) -> None:
    server, model = serve(Scripted("No", odds={"No": -0.2, " yes": -2.0, "Yes": -3.0, "The": -5.0}))
    response = await model.generate(yes_or_no())
    assert response.text == "no" and response.odds["no"] == -0.2
    assert response.odds["yes"] == pytest.approx(math.log(math.exp(-2) + math.exp(-3)))
    assert (server.bodies[0]["max_tokens"], server.bodies[0]["top_logprobs"]) == (1, 20)


async def test_a_server_without_log_probabilities_is_asked_for_the_word_alone(serve: Serve) -> None:
    def reply(body: dict[str, Any]) -> Scripted:
        return (
            Scripted(status=400, error="logprobs is not supported")
            if "logprobs" in body
            else Scripted(" Yes.")
        )

    server, model = serve(reply)
    for text in "ab":
        response = await model.generate(replace(yes_or_no(text), logprobs=True))
        assert (response.text, response.odds) == ("yes", {})
    assert len(server.bodies) == 3


async def test_a_reply_is_read_where_the_server_gives_no_log_probabilities(serve: Serve) -> None:
    def reply(body: dict[str, Any]) -> Scripted:
        return (
            Scripted(status=400, error="logprobs is not supported")
            if "logprobs" in body
            else Scripted(ANN)
        )

    for asked in ({"logprobs": True}, {"told": True}):
        server, model = serve(reply)
        for _ in "ab":
            assert (await model.generate(rows_request(**asked))).data == json.loads(ANN)
        assert len(server.bodies) == 3


async def test_what_is_refused_for_another_reason_does_not_end_the_asking_for_odds(
    serve: Serve,
) -> None:
    def reply(body: dict[str, Any]) -> Scripted:
        refused = "BAD" in str(body) or body.get("response_format", {}).get("type") == "json_schema"
        return (
            Scripted(status=400, error="not this one")
            if refused
            else Scripted(ANN, odds={"yes": -0.1, "no": -3.0})
        )

    server, model = serve(reply)
    with pytest.raises(ModelError):
        await model.generate(yes_or_no("BAD"))
    await model.generate(rows_request(told=True))
    assert (await model.generate(yes_or_no())).odds == {"yes": -0.1, "no": -3.0}
    await model.generate(rows_request(told=True))
    assert "logprobs" in server.bodies[-1]


async def test_a_word_that_is_no_choice_is_refused(serve: Serve) -> None:
    _, model = serve(Scripted("Maybe", odds={"Maybe": -0.1}))
    with pytest.raises(ModelRefusal, match="no choice"):
        await model.generate(yes_or_no())


async def test_a_reasoning_model_at_any_address_has_room_to_think(serve: Serve) -> None:
    def reply(body: dict[str, Any]) -> Scripted:
        old = "max_tokens" in body or "temperature" in body
        return (
            Scripted(status=400, error="'max_tokens': use 'max_completion_tokens'")
            if old
            else Scripted(ANN)
        )

    server, model = serve(reply)
    for text in "ab":
        assert (await model.generate(rows_request(text, max_tokens=100))).data == json.loads(ANN)
    assert len(server.bodies) == 3
    assert server.bodies[-1]["max_completion_tokens"] > 1000


async def test_what_was_paid_before_a_failure_is_counted(serve: Serve) -> None:
    _, model = serve([Scripted("{}"), Scripted('{"rows":[{"na', finish_reason="length")])
    with pytest.raises(TruncatedReply) as error:
        await model.generate(rows_request())
    assert error.value.usage.calls == 2
    _, model = serve([Scripted("{}"), Scripted("{}"), Scripted(status=401)])
    with pytest.raises(ModelUnavailable) as broken:
        await model.generate(rows_request())
    assert broken.value.usage.calls == 2


async def test_a_budget_that_is_spent_while_calls_wait_in_flight_sends_no_more(
    serve: Serve,
) -> None:
    _, model = serve(Scripted(ANN), latency=0.05, concurrency=2)
    log = MemoryCallLog()
    cached = CachedModel(model, log, Meter(Budget(max_tokens=1)))
    replies = await asyncio.gather(
        *(cached.generate(rows_request(str(n))) for n in range(8)), return_exceptions=True
    )
    stopped = [reply for reply in replies if isinstance(reply, BudgetExceeded)]
    assert len(stopped) >= 4
    assert len(log.calls) == 8 - len(stopped)
