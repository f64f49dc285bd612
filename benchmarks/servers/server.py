"""A server on loopback that replies as a behaviour says, byte for byte where it has to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.servers.loopback import Loopback
from benchmarks.servers.reader import reply as right_reply


@dataclass(frozen=True)
class Asked:
    """A request as it came: its body, its number from 1, its target and its headers."""

    body: Mapping[str, Any]
    number: int
    target: str
    headers: Mapping[str, str]

    @property
    def data(self) -> Any:
        """The data of the right reply."""
        return right_reply(self.body)

    @property
    def text(self) -> str:
        """The right reply as text."""
        return json.dumps(self.data)


@dataclass(frozen=True)
class Reply:
    """What is sent: `text` becomes the content of a completion, with `message` and `choice` put
    over its own; `body` is sent as it is. `events` sends the completion as an event
    stream; `dropped` closes the connection, `late` waits so many seconds first.
    """

    text: str | None = None
    status: int = 200
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    message: Mapping[str, Any] = field(default_factory=dict)
    choice: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    events: bool = False
    dropped: bool = False
    late: float = 0.0

    def completion(self) -> dict[str, Any]:
        """The body of a completion."""
        message = {"role": "assistant", "content": self.text, **self.message}
        choice = {"index": 0, "finish_reason": "stop", "message": message, **self.choice}
        usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150, **self.usage}
        return {"id": "c-1", "object": "chat.completion", "choices": [choice], "usage": usage}

    def stream(self) -> str:
        """The completion as events of a few characters each."""
        whole = self.completion()
        choice = whole["choices"][0]
        message = choice["message"]
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        for name in ("reasoning_content", "content"):
            text = message.get(name) or ""
            deltas += [{name: text[at : at + 9]} for at in range(0, len(text), 9)]
        for call in message.get("tool_calls") or ():
            told = call["function"]["arguments"]
            deltas += [
                {"tool_calls": [{**call, "function": {**call["function"], "arguments": ""}}]}
            ]
            deltas += [
                {"tool_calls": [{"index": 0, "function": {"arguments": told[at : at + 9]}}]}
                for at in range(0, len(told), 9)
            ]
        chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": d}]} for d in deltas]
        last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        chunks += [{"choices": [last]}, {"choices": [], "usage": whole["usage"]}]
        lines = [f"data: {json.dumps({'object': 'chat.completion.chunk', **c})}" for c in chunks]
        return "\n\n".join([": keep-alive", *lines, "data: [DONE]", ""])


Script = Callable[[Asked], Reply]


def refusal(message: str, status: int = 400, **more: Any) -> Reply:
    """An error as the OpenAI API sends it."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return Reply(status=status, body=json.dumps({"error": {**error, **more}}))


class Server(Loopback):
    """The server of one behaviour at a time; `asked` are the requests that came."""

    def __init__(self, certificate: Path | None = None) -> None:
        super().__init__(certificate)
        self.script: Script = lambda asked: Reply(asked.text)
        self.asked: list[Asked] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else {}
        asked = Asked(body, len(self.asked) + 1, str(request.rel_url), dict(request.headers))
        self.asked.append(asked)
        if not body:  # a browser's request, or one that was redirected
            page = "<!doctype html><title>Log in</title>"
            return web.Response(text=page, content_type="text/html")
        reply = self.script(asked)
        await asyncio.sleep(reply.late)
        if reply.dropped and request.transport is not None:
            request.transport.close()
        headers = {"Content-Type": "application/json", **reply.headers}
        if reply.body is not None:
            return web.Response(body=reply.body.encode(), status=reply.status, headers=headers)
        if reply.events:
            headers = {**headers, "Content-Type": "text/event-stream"}
            return web.Response(body=reply.stream().encode(), headers=headers)
        text = json.dumps(reply.completion())
        return web.Response(body=text.encode(), status=reply.status, headers=headers)
