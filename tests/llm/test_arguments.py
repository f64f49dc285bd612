"""Arguments that a server refuses are changed once and remembered; a model that thinks gets room
for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sliders.errors import CallFailed, ModelError, ModelUnavailable, TruncatedReply
from sliders.llm import Message, Request
from tests.fake_server import FakeServer, Scripted

from .requests import rows_request

ANN = '{"rows":[{"name":"Ann","age":4}]}'
Serve = Callable[..., Any]
Body = dict[str, Any]
SCHEMA = "json_schema"


def refusal(message: str, status: int = 400, **more: Any) -> Scripted:
    body = {"error": {"message": message, "type": "invalid_request_error", **more}}
    return Scripted(status=status, body=json.dumps(body))


def refuses(wrong: Callable[[Body], bool], error: Scripted) -> Callable[[Body], Scripted]:
    return lambda body: error if wrong(body) else Scripted(ANN)


def completion(text: str | None, reason: str = "stop", used: int = 50, **message: Any) -> Scripted:
    choice = {"message": {"content": text, **message}, "finish_reason": reason}
    usage = {"prompt_tokens": 10, "completion_tokens": used}
    return Scripted(body=json.dumps({"choices": [choice], "usage": usage}))


async def asked_twice(serve: Serve, reply: Any, **settings: Any) -> FakeServer:
    """The server, after two requests that were answered rightly."""
    server, model = serve(reply, **settings)
    for text in "ab":
        assert (await model.generate(rows_request(text))).data == json.loads(ANN)
    assert isinstance(server, FakeServer)
    return server


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("temperature", refusal("No.", param="temperature")),
        ("temperature", refusal("'temperature' does not support 0. Only the default (1).")),
        ("temperature", Scripted(status=400, body='[{"error": {"message": "temperature?"}}]')),
        (
            "temperature",
            Scripted(status=422, body='{"detail": [{"loc": ["body", "temperature"]}]}'),
        ),
        ("max_tokens", refusal("max_tokens is not allowed")),
        ("reasoning_effort", refusal("Unrecognized request argument: reasoning_effort")),
    ],
)
async def test_an_argument_that_is_refused_is_left_out_from_then_on(
    serve: Serve, name: str, error: Scripted
) -> None:
    server = await asked_twice(
        serve, refuses(lambda body: name in body, error), reasoning_effort="low"
    )
    assert len(server.bodies) == 3 and name not in server.bodies[-1]
    assert server.bodies[-1]["response_format"]["type"] == SCHEMA


@pytest.mark.parametrize(
    ("name", "error", "sent"),
    [
        ("max_tokens", "max_tokens is too large: 512. At most 100, you provided 512.", 100),
        ("max_tokens", "max_tokens: 512 > 100, the maximum for claude-3-haiku-20240307", 100),
        ("max_tokens", "Invalid max_tokens value, the valid range is [1, 100]", 100),
        ("max_tokens", "max_tokens must be at least 1,024", 1024),
        ("temperature", "`temperature` must be strictly positive", 0.01),
    ],
)
async def test_an_argument_out_of_bounds_is_brought_to_them(
    serve: Serve, name: str, error: str, sent: float
) -> None:
    server = await asked_twice(serve, refuses(lambda body: body[name] != sent, refusal(error)))
    assert len(server.bodies) == 3 and server.bodies[-1][name] == sent


async def test_a_reply_gets_what_the_prompt_leaves_of_the_window(serve: Serve) -> None:
    error = refusal(
        "maximum context length is 600 tokens. However, you requested 712 tokens (200 in the "
        "messages, 512 in the completion)"
    )
    server, model = serve(refuses(lambda body: body["max_tokens"] > 400, error))
    assert (await model.generate(rows_request())).data == json.loads(ANN)
    assert [body["max_tokens"] for body in server.bodies] == [512, 400]
    _, model = serve(Scripted(status=400, error="context length exceeded: 700 of 600 tokens"))
    with pytest.raises(TruncatedReply, match="split the input"):
        await model.generate(rows_request())


async def test_a_refusal_of_what_a_request_says_goes_down_no_ladder(serve: Serve) -> None:
    def reply(body: Body) -> Scripted:
        return refusal("violates the policy") if "BAD" in str(body) else Scripted(ANN)

    server, model = serve(reply)
    await model.generate(rows_request())
    with pytest.raises(CallFailed, match="policy"):
        await model.generate(rows_request("BAD"))
    assert len(server.bodies) == 2


async def test_a_server_that_refuses_all_is_asked_in_every_way_only_once(serve: Serve) -> None:
    server, model = serve(refusal("this deployment is gone"))
    for text in "abc":
        with pytest.raises(CallFailed, match="deployment is gone"):
            await model.generate(rows_request(text))
    assert len(server.bodies) == 4 + 1 + 1


@pytest.mark.parametrize(
    "cut",
    [
        completion("", "length", 512),
        completion(None, "length", 512, reasoning_content="Perhaps {"),
        completion("<think>Perhaps {", "length", 512),
        completion('{"rows', "length", 512, reasoning_content="Perhaps"),
    ],
)
async def test_a_model_that_was_cut_while_it_thought_is_asked_once_more_with_more_room(
    serve: Serve, cut: Scripted
) -> None:
    server = await asked_twice(
        serve, lambda body: cut if body["max_tokens"] < 8000 else completion(ANN)
    )
    assert len(server.bodies) == 3


async def test_what_a_reply_cost_that_was_all_thought_is_counted(serve: Serve) -> None:
    _, model = serve(
        lambda body: completion("", "length", 512) if body["max_tokens"] < 8000 else completion(ANN)
    )
    usage = (await model.generate(rows_request())).usage
    assert (usage.calls, usage.completion_tokens) == (2, 562)


async def test_a_model_that_never_ends_thinking_says_so_and_not_that_the_budget_is_small(
    serve: Serve,
) -> None:
    server, model = serve(completion(None, "length", 900, reasoning_content="Hm"))
    with pytest.raises(TruncatedReply, match="REASONING_EFFORT") as error:
        await model.generate(rows_request())
    assert "max_tokens" not in str(error.value) and len(server.bodies) == 2


async def test_thoughts_are_no_answer_in_free_text_and_no_choice(serve: Serve) -> None:
    _, model = serve([completion("<think>9</think>4"), completion("<think>4", "stop")])
    request = Request("answer", (Message("user", "2 + 2?"),))
    assert (await model.generate(request)).text == "4"
    with pytest.raises(ModelError, match="thought"):
        await model.generate(request)
    _, model = serve(
        lambda body: (
            completion("", "length", 1)
            if body["max_tokens"] < 8000
            else completion("<think>no?</think>Yes")
        )
    )
    chosen = await model.generate(
        Request("extract", (Message("user", "Is it?"),), choices=("yes", "no"))
    )
    assert (chosen.text, chosen.odds) == ("yes", {})


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Scripted(body="<!doctype html><title>Log in</title>"), "HTML"),
        (Scripted(status=404, body="<html>Not found</html>"), "HTML"),
        (Scripted(body="Ollama is running"), "/v1"),
        (Scripted(body='{"error": {"message": "bad key", "code": 401}}'), "OPENAI_API_KEY"),
        (Scripted(status=429, headers={"Retry-After": "7200"}), "2 h 0 min"),
        (refusal("m cannot be used", param="model"), "SLIDERS_MODEL"),
        (refusal("Invalid model name passed in model=m"), "SLIDERS_MODEL"),
    ],
)
async def test_what_no_other_call_will_change_ends_the_run(
    serve: Serve, reply: Scripted, says: str
) -> None:
    server, model = serve(reply)
    with pytest.raises(ModelUnavailable, match=says):
        await model.generate(rows_request())
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "body",
    [
        "",
        '{"choices": [{"mess',
        '{"choices": [{"finish_reason": "error", "message": {"content": "{"}}]}',
        '{"choices": [{"error": {"code": 502, "message": "upstream"}}]}',
    ],
)
async def test_a_reply_that_broke_is_asked_for_again(serve: Serve, body: str) -> None:
    replies = iter([Scripted(body=body or " "), Scripted(ANN)])
    server, model = serve(lambda _: next(replies))
    assert (await model.generate(rows_request())).data == json.loads(ANN)
    assert len(server.bodies) == 2


async def test_a_server_that_only_streams_is_asked_to_stream(serve: Serve) -> None:
    server = await asked_twice(
        serve, refuses(lambda body: not body.get("stream"), refusal("stream must be true"))
    )
    assert [body.get("stream") for body in server.bodies] == [None, True, True]
