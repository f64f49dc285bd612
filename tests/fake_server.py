"""An OpenAI-compatible server on loopback that replies as it is told."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from benchmarks.servers.loopback import Loopback


@dataclass(frozen=True, slots=True)
class Scripted:
    """One scripted HTTP reply of `FakeServer`: an answer, or an error when `status` is not 200.

    `odds` are the likeliest first tokens and their natural log-probabilities. `body` is sent as it
    is in place of a completion; `dropped` sends nothing and closes the connection.
    """

    text: str = "{}"
    status: int = 200
    finish_reason: str = "stop"
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str = "scripted error"
    tool_call: bool = False
    odds: Mapping[str, float] = field(default_factory=dict)
    body: str = ""
    dropped: bool = False


class FakeServer(Loopback):
    """A small OpenAI-compatible chat server on loopback, in a thread of its own;
    use it as a context manager.

    Args:
        reply: a `Scripted`, a sequence of them (the last one repeats), or a function
            of the request's body.
        latency: seconds before each reply.
        slots: requests worked on at the same time; more wait.

    `bodies` holds every request's body, `most_in_flight` the most that were open at once, `pieces`
    how many pieces of each streamed reply were sent before its end or before the client left.
    """

    def __init__(
        self,
        reply: Scripted | Iterable[Scripted] | Callable[[dict[str, Any]], Scripted],
        *,
        latency: float = 0.0,
        slots: int = 64,
    ) -> None:
        super().__init__()
        self._function = reply if callable(reply) else None
        self._queue = (
            [reply] if isinstance(reply, Scripted) else [] if callable(reply) else list(reply)
        )
        self._latency = latency
        self._places = asyncio.Semaphore(slots)
        self.bodies: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.pieces: list[int] = []
        self.in_flight = 0
        self.most_in_flight = 0

    @property
    def base_url(self) -> str:
        """The address of its chat interface."""
        return f"{self.address}/v1"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else {}
        scripted = await self._scripted(body)
        if scripted.dropped and request.transport is not None:
            request.transport.close()
        if scripted.body:
            return web.Response(
                text=scripted.body, status=scripted.status, content_type="application/json"
            )
        if scripted.status != 200:
            told = {
                "error": {"message": scripted.error, "type": "scripted", "code": scripted.status}
            }
            return web.json_response(told, status=scripted.status, headers=scripted.headers)
        if body.get("stream"):
            return await self._stream(request, scripted, body)
        return web.json_response(_completion(scripted, body), headers=scripted.headers)

    async def _scripted(self, body: dict[str, Any]) -> Scripted:
        self.bodies.append(body)
        self.times.append(time.monotonic())
        if self._function is not None:
            scripted = self._function(body)
        else:
            scripted = self._queue.pop(0) if len(self._queue) > 1 else self._queue[0]
        async with self._places:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            await asyncio.sleep(self._latency)
            self.in_flight -= 1
        return scripted

    async def _stream(
        self, request: web.Request, scripted: Scripted, body: Mapping[str, Any]
    ) -> web.StreamResponse:
        """The reply as server-sent events of four characters each, until the client leaves."""
        whole = _completion(scripted, body)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self.pieces.append(0)
        with suppress(ConnectionError):
            for start in range(0, len(scripted.text), _PIECE):
                delta = {
                    "index": 0,
                    "delta": {"content": scripted.text[start : start + _PIECE]},
                    "finish_reason": None,
                }
                await response.write(_event(whole, [delta], None))
                await asyncio.sleep(0.001)
                self.pieces[-1] += 1
            last = {"index": 0, "delta": {}, "finish_reason": scripted.finish_reason}
            end = (
                _event(whole, [last], None)
                + _event(whole, [], whole["usage"])
                + b"data: [DONE]\n\n"
            )
            await response.write(end)
        return response


_PIECE = 4


def _event(whole: Mapping[str, Any], choices: list[dict[str, Any]], usage: object) -> bytes:
    chunk = {**whole, "object": "chat.completion.chunk", "choices": choices, "usage": usage}
    return b"data: " + json.dumps(chunk).encode("utf-8") + b"\n\n"


def _completion(scripted: Scripted, body: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": scripted.text}
    if scripted.tool_call:
        call = {
            "id": "call_1",
            "type": "function",
            "function": {"name": "reply", "arguments": scripted.text},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    prompt = sum(len(str(m.get("content"))) for m in body.get("messages", ())) // 4
    generated = len(scripted.text) // 4
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "finish_reason": scripted.finish_reason,
    }
    if body.get("logprobs"):
        listed = [{"token": token, "logprob": log} for token, log in scripted.odds.items()]
        choice["logprobs"] = {
            "content": [{"token": "x", "logprob": -0.5, "top_logprobs": listed}] * max(1, generated)
        }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", ""),
        "choices": [choice],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": generated,
            "total_tokens": prompt + generated,
        },
    }
