"""What a server sends in the place of choices, usage, content, tool calls and log-probabilities is
read or refused in words, within limits of time and bytes.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import time
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from sliders.errors import BudgetExceeded, CallFailed, ModelError
from sliders.llm import CachedModel, MemoryCallLog, Message, Meter, OpenAIModel, Request
from sliders.llm.testing import requests_allowed
from sliders.settings import Budget, Settings

ROWS = {"rows": [{"a": "x"}]}
_ITEM = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
SCHEMA = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": _ITEM}},
    "required": ["rows"],
}
TOKEN = {"token": "{", "logprob": -0.1, "top_logprobs": [{"token": "{", "logprob": -0.1}]}
REQUEST = Request("extract", (Message("user", "?"),), json_schema=SCHEMA, max_tokens=99)
TOLD = Request("extract", (Message("user", "?"),), json_schema=SCHEMA, max_tokens=99, told=True)
CHOSEN = Request("gate", (Message("user", "?"),), choices=("yes", "no"))
Send = Callable[[asyncio.StreamWriter], Any]


def completion(**changes: Any) -> dict[str, Any]:
    """A completion; what changes of choice, message, usage is named by its place."""
    message = {"role": "assistant", "content": json.dumps(ROWS), **changes.pop("message", {})}
    choice = {"message": message, "finish_reason": "stop", **changes.pop("choice", {})}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"choices": [choice], "usage": usage, **changes}


@asynccontextmanager
async def model_behind(send: Send, **settings: Any) -> AsyncIterator[OpenAIModel]:
    """A model whose server answers each request by `send`."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        size = next(int(one.split(b":")[1]) for one in lines if one.startswith(b"content-length"))
        await reader.readexactly(size)
        with suppress(ConnectionError):
            await send(writer)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    given = {"retries": 0, "timeout": 5.0, "api_key": "k", **settings}
    model = OpenAIModel("m", Settings(model="m", base_url=address, **given))
    with requests_allowed():
        async with server:
            yield model
            await model.aclose()


def whole(body: bytes, *headers: str) -> Send:
    async def send(writer: asyncio.StreamWriter) -> None:
        told = "".join(f"{line}\r\n" for line in ("Connection: close", *headers))
        writer.write(f"HTTP/1.1 200 OK\r\n{told}\r\n".encode() + body)
        await writer.drain()

    return send


@pytest.mark.parametrize(
    ("request_", "body"),
    [
        (REQUEST, completion(usage={"total_tokens": "many", "prompt_tokens": "²"})),
        (REQUEST, completion(usage=[7])),
        (TOLD, completion(choice={"logprobs": {"content": [{**TOKEN, "logprob": None}]}})),
        (TOLD, completion(choice={"logprobs": {"content": [{**TOKEN, "top_logprobs": 3}]}})),
        (TOLD, completion(choice={"logprobs": {"content": [{**TOKEN, "token": 3}]}})),
        (TOLD, completion(choice={"logprobs": "none"})),
        (REQUEST, completion(message={"content": {"type": "text", "text": json.dumps(ROWS)}})),
        (REQUEST, completion(message={"content": [{"text": json.dumps(ROWS)}, None, 3]})),
    ],
)
async def test_what_stands_around_a_right_reply_does_no_harm(request_: Request, body: Any) -> None:
    async with model_behind(whole(json.dumps(body).encode())) as model:
        reply = await model.generate(request_)
    assert reply.data == ROWS
    assert reply.usage.tokens < 100_000


@pytest.mark.parametrize("request_", [REQUEST, CHOSEN])
@pytest.mark.parametrize(
    "body",
    [
        {"choices": {"0": {}}},
        {"choices": [None]},
        {"choices": [[]]},
        completion(message={"content": "[" * 900 + "]" * 900}),
        completion(message={"content": '{"a":' * 300 + "1" + "}" * 300}),
        completion(choice={"logprobs": {"content": [{**TOKEN, "token": ["a"]}]}, "message": 3}),
        completion(message={"content": None, "tool_calls": 5}),
        completion(message={"content": None, "tool_calls": [{"function": "no"}]}),
        7,
        None,
        [[[[]]]],
    ],
)
async def test_what_is_no_reply_is_refused_in_words(request_: Request, body: Any) -> None:
    async with model_behind(whole(json.dumps(body).encode())) as model:
        with pytest.raises(ModelError, match=r"\w+ \w+"):
            await model.generate(request_)


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": 5},
        {"choices": [5]},
        {"choices": [{"delta": 5, "finish_reason": 7}]},
        {"choices": [{"delta": {"tool_calls": {"a": 1}}}]},
        {"choices": [{"delta": {"tool_calls": [3, {"index": "x", "function": 3}]}}]},
        {"choices": [{"logprobs": {"content": 3}}], "usage": 3},
    ],
)
async def test_odd_events_of_a_stream_do_no_harm(chunk: Any) -> None:
    right = {"choices": [{"delta": {"content": json.dumps(ROWS)}, "finish_reason": "stop"}]}
    lines = "".join(f"data: {json.dumps(one)}\n\n" for one in (chunk, right, chunk))
    send = whole(f"{lines}data: [DONE]\n\n".encode(), "Content-Type: text/event-stream")
    async with model_behind(send) as model:
        assert (await model.generate(REQUEST)).data == ROWS


async def test_two_calls_of_a_stream_are_kept_apart() -> None:
    calls = [{"index": i, "function": {"name": "reply", "arguments": "{}"}} for i in (0, 1)]
    chunks = [{"choices": [{"delta": {"tool_calls": [one]}}]} for one in calls]
    lines = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks)
    send = whole(f"{lines}data: [DONE]\n\n".encode(), "Content-Type: text/event-stream")
    async with model_behind(send) as model:
        reply = await model.generate(Request("extract", (Message("user", "?"),)))
    assert reply.text == "{}\n{}"


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 100_000,
        "<think>a</think>" * 45_000,
        "</think" * 100_000,
        "<|channel|>a" * 60_000,
        "`" * 700_000,
        '"\\' * 350_000,
        "{" + '"\\"' * 230_000,
        "{/*" * 230_000,
        "{'\\'" * 170_000,
        "{}" * 350_000,
        "```json\n" * 90_000,
    ],
    ids=lambda text: text[:9],
)
async def test_a_long_reply_is_read_in_linear_time(text: str) -> None:
    body = json.dumps(completion(message={"content": text})).encode()
    async with model_behind(whole(body)) as model:
        started = time.process_time()
        with pytest.raises(ModelError):
            await model.generate(REQUEST)
    assert time.process_time() - started < 20


async def test_long_thoughts_stand_before_an_answer() -> None:
    text = f"<think>{'<think> so ' * 60_000}</think>{json.dumps(ROWS)}"
    body = json.dumps(completion(message={"content": text})).encode()
    async with model_behind(whole(body)) as model:
        assert (await model.generate(REQUEST)).data == ROWS


def packed(body: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        body = gzip.compress(body)
    return body


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (packed(json.dumps(completion()).encode()), "gzip"),
        (packed(json.dumps(completion()).encode(), 2), "gzip, gzip"),
        (zlib.compress(json.dumps(completion()).encode()), "deflate"),
        (zlib.compress(json.dumps(completion()).encode())[2:-4], "deflate"),
        (json.dumps(completion()).encode(), "identity"),
    ],
)
async def test_packed_replies_are_read(body: bytes, encoding: str) -> None:
    async with model_behind(whole(body, f"Content-Encoding: {encoding}")) as model:
        assert (await model.generate(REQUEST)).data == ROWS


@pytest.mark.parametrize(
    ("body", "encoding", "said"),
    [
        (packed(b" " * (400 << 20)), "gzip", "more than 32 MB"),
        (packed(b" " * (400 << 20), 2), "gzip, gzip", "more than 32 MB"),
        (b" " * (33 << 20), "identity", "more than 32 MB"),
        (b"not packed", "gzip", "does not unpack"),
        (b"??", "br", "encoding 'br'"),
    ],
)
async def test_too_many_bytes_end_a_request(body: bytes, encoding: str, said: str) -> None:
    async with model_behind(whole(body, f"Content-Encoding: {encoding}")) as model:
        with pytest.raises(CallFailed, match=said):
            await model.generate(REQUEST)


def dripping(kind: str) -> Send:
    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode())
        while True:
            writer.write(b": \n" if "event" in kind else b" ")
            await writer.drain()
            await asyncio.sleep(0.1)

    return send


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_a_byte_at_a_time_ends(kind: str) -> None:
    started = time.monotonic()
    async with model_behind(dripping(kind), timeout=0.5, retries=3) as model:
        with pytest.raises(CallFailed, match="whole of a reply"):
            await model.generate(REQUEST)
    assert time.monotonic() - started < 8


async def test_the_minutes_of_a_run_end_a_request() -> None:
    meter = Meter(Budget(max_minutes=0.02))
    started = time.monotonic()
    async with model_behind(dripping("application/json"), timeout=60.0) as model:
        with pytest.raises(BudgetExceeded, match="max_minutes"):
            await CachedModel(model, MemoryCallLog(), meter).generate(REQUEST)
    assert time.monotonic() - started < 8


async def test_a_key_that_a_server_echoes_is_in_no_reply_and_no_error() -> None:
    key = "lk-4711-abcdef-secret"
    body = completion(message={"content": json.dumps({"rows": [{"a": f"key {key}!"}]})})
    async with model_behind(whole(json.dumps(body).encode()), api_key=key) as model:
        reply = await model.generate(REQUEST)
    assert reply.data == {"rows": [{"a": "key ***!"}]} and key not in reply.text


async def test_tokens_that_only_the_total_counts_are_thoughts() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 915}
    async with model_behind(whole(json.dumps(completion(usage=usage)).encode())) as model:
        reply = await model.generate(REQUEST)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (10, 905)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("analysisWe need rows.assistantfinal{rows}", "{rows}"),
        ("analysisThe user.assistantcommentary to=x.assistantfinal {rows}", "{rows}"),
        ("analysis of the rows", "analysis of the rows"),
        ("the assistantfinal word", "the assistantfinal word"),
    ],
)
async def test_channels_whose_marks_were_taken_away(text: str, said: str) -> None:
    body = completion(message={"content": text.replace("{rows}", json.dumps(ROWS))})
    async with model_behind(whole(json.dumps(body).encode())) as model:
        reply = await model.generate(Request("extract", (Message("user", "?"),)))
    assert reply.text == said.replace("{rows}", json.dumps(ROWS))


async def test_an_internal_error_that_says_the_same_is_not_asked_for_again_and_again() -> None:
    times = 0

    async def broken(writer: asyncio.StreamWriter) -> None:
        nonlocal times
        times += 1
        body = json.dumps({"error": {"message": f"{'x' * 700} the end"}}).encode()
        writer.write(b"HTTP/1.1 500 Broken\r\nConnection: close\r\n\r\n" + body)
        await writer.drain()

    async with model_behind(broken, retries=6) as model:
        with pytest.raises(CallFailed, match=r"xx \.\.\. x.* the end"):
            await model.generate(REQUEST)
    assert times == 3


async def test_an_end_of_thoughts_inside_the_reply_is_no_end() -> None:
    rows = {"rows": [{"a": "</think> so"}]}
    text = f"```json\n{json.dumps(rows)}\n```"
    body = json.dumps(completion(message={"content": text})).encode()
    async with model_behind(whole(body)) as model:
        assert (await model.generate(REQUEST)).data == rows


def _second(choice: dict[str, Any]) -> dict[str, Any]:
    other = {"content": json.dumps({"rows": [{"a": "of the second choice"}]})}
    return choice | {"index": 1, **({"delta": other} if "delta" in choice else {"message": other})}


async def test_of_several_choices_the_first_by_its_number_counts() -> None:
    (first,) = completion()["choices"]
    body = completion() | {"choices": [_second(first), first | {"index": 0}]}
    async with model_behind(whole(json.dumps(body).encode())) as model:
        assert (await model.generate(REQUEST)).data == ROWS


async def test_the_words_of_a_second_choice_are_no_part_of_a_streamed_reply() -> None:
    text = json.dumps(ROWS)
    pieces = [{"index": 0, "delta": {"content": piece}} for piece in (text[:5], text[5:])]
    events = [{"choices": [one]} for piece in pieces for one in (_second(piece), piece)]
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    lines = "".join(f"data: {json.dumps(one)}\n\n" for one in (*events, ended))
    body = f"{lines}data: [DONE]\n\n".encode()
    async with model_behind(whole(body, "Content-Type: text/event-stream")) as model:
        assert (await model.generate(REQUEST)).data == ROWS
