"""The chat endpoint of a server, by the `openai` client over its `aiohttp` transport."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

import httpx
import openai

from sliders.hidden import guard_logs
from sliders.llm.bounded import bounded, in_time
from sliders.llm.completions import first_choice
from sliders.llm.replies import shallow

_PATH = "/chat/completions"
_MOST_SECONDS_TO_CONNECT = 30.0
_AZURE_VERSION = "2024-10-21"
"""The version of Azure's interface when an address names none."""


class Channel:
    """The connections to one server. The number of calls in flight is not limited here; proxies and
    certificates come from the environment (`HTTPS_PROXY`, `SSL_CERT_FILE`).

    Its methods raise openai.APIConnectionError: the server does not answer; openai.APIStatusError:
    it answers with an error.

    Args:
        address: the address of the interface, of its chat endpoint, or of an Azure deployment (with
            its query). None is OpenAI's own.
        key: the key that is sent.
        timeout: the longest silence in seconds; the whole of a request may take three times as
            long.
    """

    def __init__(self, address: str | None, key: str, timeout: float) -> None:
        limits = httpx.Limits(max_connections=None, keepalive_expiry=30.0)
        waits = httpx.Timeout(timeout, connect=min(timeout, _MOST_SECONDS_TO_CONNECT))
        parts = urlsplit((address or "").strip())
        user, host = parts.username, parts.hostname
        http = openai.DefaultAioHttpClient(
            limits=limits,
            timeout=waits,
            auth=(unquote(user), unquote(parts.password or "")) if user is not None else None,
            event_hooks={"request": [partial(_sent, host)], "response": [bounded]},
        )
        self._silence = timeout
        # Retries are ours: they honour Retry-After for all calls of the server at once.
        options: dict[str, Any] = {
            "api_key": key.strip(),
            "http_client": http,
            "timeout": waits,
            "max_retries": 0,
        }
        guard_logs()
        self._client = _client(parts, options)

    @property
    def client(self) -> openai.AsyncOpenAI:
        """The `openai` client of the server, for endpoints other than chat."""
        return self._client

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._client.close()

    async def post(self, body: Mapping[str, Any]) -> object:
        """Returns the completion as JSON, or the text of a reply that is no JSON."""
        async with in_time(self._silence):
            reply = await self._client.post(_PATH, body=body, cast_to=httpx.Response)
        if _is_event_stream(reply):
            return _Written().take(reply.text.splitlines()).completion()
        return _said(reply.content)

    async def stream(
        self, body: Mapping[str, Any], enough: Callable[[str], bool] | None = None
    ) -> object:
        """Returns the completion of a request whose reply is read while it is written.

        When `enough` returns True for the text up to a closed bracket, the connection is closed,
        which ends the generation. The finish reason is then "length", the generated tokens are
        counted by pieces (the embedded server sends one token in each), and the prompt's length is
        not known.
        """
        async with in_time(self._silence):
            events = await self._client.post(
                _PATH,
                body=body,
                cast_to=object,
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
            try:
                if not _is_event_stream(events.response):
                    return _said(await events.response.aread())
                return await _written(events.response.aiter_lines(), enough)
            finally:
                await events.close()


def _client(parts: SplitResult, options: dict[str, Any]) -> openai.AsyncOpenAI:
    """The client for an address. Its user and password are sent apart, since libraries log
    addresses.
    """
    query = dict(parse_qsl(parts.query))
    path = parts.path.rstrip("/").removesuffix(_PATH)
    plain = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], path, "", ""))
    azure = (parts.hostname or "").endswith(".azure.com") and "/v1" not in path
    version = query.pop("api-version", _AZURE_VERSION if azure else None)
    if version is None:
        return openai.AsyncOpenAI(base_url=plain or None, default_query=query, **options)
    options |= {"base_url": plain} if path else {"azure_endpoint": plain}
    made: openai.AsyncAzureOpenAI = openai.AsyncAzureOpenAI(
        api_version=version, default_query=query, **options
    )
    return made


async def _sent(host: str | None, request: httpx.Request) -> None:
    """Removes headers about this machine's user from a request, and the key when a redirection
    leads to another server.
    """
    others = host is not None and request.url.host != host
    for name in list(request.headers):
        if name.startswith("x-stainless-") or (others and name == "api-key"):
            del request.headers[name]


def _is_event_stream(reply: httpx.Response) -> bool:
    return "event-stream" in reply.headers.get("content-type", "")


@dataclass(slots=True)
class _Written:
    """The parts of a streamed reply so far; `pieces` counts the pieces with words."""

    message: dict[str, list[str]] = field(default_factory=lambda: {"content": []})
    calls: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    pieces: int = 0
    reason: str | None = None
    ended: bool = False
    usage: Mapping[str, Any] | None = None
    tokens: list[Any] = field(default_factory=list)
    whole: object = None

    def take(self, lines: Iterable[str]) -> _Written:
        for line in lines:
            self.add(line)
        return self

    def add(self, line: str) -> str:
        """Adds a line of the stream, and returns the words in it."""
        name, _, value = line.partition(":")
        self.ended |= name == "data" and value.strip() == "[DONE]"
        chunk = _said(value.encode()) if name == "data" else None
        if not isinstance(chunk, dict):
            return ""  # an empty line, a comment, or the end
        choices = chunk.get("choices")
        choice = _mapping(first_choice(choices)) if isinstance(choices, list) else {}
        if choice.get("index") and not chunk.get("error"):
            return ""  # a second choice, which nobody asked for
        if chunk.get("error") or choice.get("message"):  # an error, or the whole of it in one event
            self.whole = chunk
        self.usage = _mapping(chunk.get("usage")) or self.usage
        self.reason = str(choice.get("finish_reason") or "") or self.reason
        tokens = _mapping(choice.get("logprobs")).get("content")
        self.tokens += tokens if isinstance(tokens, list) else ()
        delta = choice.get("delta")
        return self._joined({"content": delta} if isinstance(delta, str) else _mapping(delta))

    def _joined(self, delta: Mapping[str, Any]) -> str:
        for name, piece in delta.items():
            if isinstance(piece, str) and name != "role":
                self.message.setdefault(name, []).append(piece)
        calls = delta.get("tool_calls")
        for call in map(_mapping, calls if isinstance(calls, list) else ()):
            parts = self.calls.setdefault(str(call.get("index") or 0), {})
            named: dict[str, Any] = {"id": call.get("id"), **_mapping(call.get("function"))}
            for name, piece in named.items():
                if piece:
                    said = piece if isinstance(piece, str) else json.dumps(piece)
                    parts.setdefault(name, []).append(said)
        words = delta.get("content")
        self.pieces += bool(words)
        return words if isinstance(words, str) else ""

    @property
    def text(self) -> str:
        """The words so far."""
        return "".join(self.message["content"])

    def completion(self) -> object:
        """Returns the reply in the form of one that was not streamed.

        Raises:
            httpx.RemoteProtocolError: the stream broke off.
        """
        if self.whole is not None:
            return self.whole
        if not self.reason and not self.ended:
            raise httpx.RemoteProtocolError("the stream ended before the reply did")
        message: dict[str, Any] = {name: "".join(told) for name, told in self.message.items()}
        calls = [{name: "".join(told) for name, told in one.items()} for one in self.calls.values()]
        if calls:
            message["tool_calls"] = [{"id": one.get("id"), "function": one} for one in calls]
        choice = {
            "message": message,
            "finish_reason": self.reason or "stop",
            "logprobs": {"content": self.tokens},
        }
        counted = {"prompt_tokens": None, "completion_tokens": self.pieces}
        return {"choices": [choice], "usage": self.usage or counted}


async def _written(lines: AsyncIterator[str], enough: Callable[[str], bool] | None) -> object:
    written = _Written()
    async for line in lines:
        if "}" not in written.add(line) or enough is None:
            continue
        text = written.text
        ended = text[: text.rindex("}") + 1]
        if enough(ended):
            written.message["content"], written.reason = [ended], "length"
            break
    return written.completion()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _said(content: bytes) -> object:
    try:
        said: object = json.loads(content)
    except (ValueError, RecursionError):
        return content.decode(errors="replace").strip()
    return said if shallow(said) else content.decode(errors="replace").strip()
