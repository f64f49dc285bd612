"""The one request that is made a thousand times: its headers, its way through
a proxy, its errors.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import openai
import pytest

from sliders.llm import Channel


@asynccontextmanager
async def raw_server(reply: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that answers every request with these bytes and closes; its address and
    the heads that it got.
    """
    heads: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        heads.append(head)
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        await reader.readexactly(length)
        writer.write(reply)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heads


def http(status: str, body: bytes, *headers: str) -> bytes:
    lines = "".join(
        f"{line}\r\n" for line in (f"Content-Length: {len(body)}", "Connection: close", *headers)
    )
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


async def posted(base_url: str) -> object:
    channel = Channel(base_url, "secret", 5.0)
    try:
        return await channel.post({"model": "m", "said": "ÿ"})
    finally:
        await channel.aclose()


async def failure(base_url: str) -> openai.APIError:
    with pytest.raises(openai.APIError) as caught:
        await posted(base_url)
    return caught.value


async def test_the_key_goes_with_the_request_and_the_machine_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "guild")
    async with raw_server(http("200 OK", b'{"choices": []}')) as (address, heads):
        assert await posted(f"{address}/v1/") == {"choices": []}
    sent = heads[0].decode().lower()
    assert sent.startswith("post /v1/chat/completions http/1.1")
    assert "authorization: bearer secret" in sent and "openai-organization: guild" in sent
    assert "x-stainless" not in sent


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with raw_server(http("200 OK", b"{}")) as (address, heads):
        monkeypatch.setenv("HTTP_PROXY", address)
        assert await posted("http://models.invalid/v1") == {}
    assert heads[0].startswith(b"POST http://models.invalid/v1/chat/completions")


async def test_an_error_keeps_its_status_its_words_and_its_headers() -> None:
    body = b'{"error": {"message": "too many", "code": "busy"}}'
    async with raw_server(http("429 Too Many Requests", body, "Retry-After: 7")) as (address, _):
        error = await failure(address)
    assert isinstance(error, openai.APIStatusError)
    assert (error.status_code, error.code, error.response.headers["retry-after"]) == (
        429,
        "busy",
        "7",
    )
    assert isinstance(error.body, dict) and error.body["message"] == "too many"


async def test_a_reply_that_is_no_json_comes_as_text() -> None:
    async with raw_server(http("200 OK", b"<html>It works</html>")) as (address, _):
        assert await posted(address) == "<html>It works</html>"


@pytest.mark.parametrize("reply", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"])
async def test_a_connection_that_breaks_is_a_connection_error(reply: bytes) -> None:
    async with raw_server(reply) as (address, _):
        error = await failure(address)
    assert isinstance(error, openai.APIConnectionError)


@pytest.mark.parametrize(
    ("address", "path", "header"),
    [
        ("{}/v1/chat/completions", "/v1/chat/completions", "authorization: bearer secret"),
        ("{}/v1?team=7", "/v1/chat/completions?team=7", "authorization: bearer secret"),
        (
            "{}/openai/deployments/d/chat/completions?api-version=2024-06-01",
            "/openai/deployments/d/chat/completions?api-version=2024-06-01",
            "api-key: secret",
        ),
        (
            "{}/openai?api-version=2024-06-01",
            "/openai/deployments/m/chat/completions?api-version=2024-06-01",
            "api-key: secret",
        ),
        (
            "{}?api-version=2024-06-01",
            "/openai/deployments/m/chat/completions?api-version=2024-06-01",
            "api-key: secret",
        ),
        ("{}/openai/v1/", "/openai/v1/chat/completions", "authorization: bearer secret"),
    ],
)
async def test_addresses_of_providers_lead_to_their_chat_endpoint(
    address: str, path: str, header: str
) -> None:
    async with raw_server(http("200 OK", b"{}")) as (server, heads):
        await posted(address.format(server))
    sent = heads[0].decode().lower()
    assert sent.startswith(f"post {path} http/1.1") and header in sent


async def test_an_event_stream_for_a_plain_request_is_a_reply() -> None:
    pieces = [{"delta": {"role": "assistant", "content": "4"}}, {"delta": {"content": "2"}}]
    last = {"delta": {}, "finish_reason": "stop"}
    events = [f"data: {json.dumps({'choices': [one]})}" for one in (*pieces, last)]
    body = "\n\n".join([": waiting", *events, "data: [DONE]", ""]).encode()
    async with raw_server(http("200 OK", body, "Content-Type: text/event-stream")) as (address, _):
        reply = await posted(address)
    assert isinstance(reply, dict)
    assert reply["choices"][0]["message"]["content"] == "42"
