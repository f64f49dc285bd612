"""The chat endpoint of a server over `aiohttp`, with address, key, headers and errors as the
`openai` client has them.

The client's own way makes request and response objects for each call, which takes longer
than the connection.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
import openai


@dataclass(slots=True)
class _Written:
    """What a server wrote of a reply so far; `pieces` counts the chunks with words in them."""

    text: str = ""
    pieces: int = 0
    reason: str = "stop"
    usage: Mapping[str, Any] | None = None
    tokens: list[Any] = field(default_factory=list)

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Take in a chunk; the words that it brought."""
        self.usage = chunk.get("usage") or self.usage
        choices = chunk.get("choices") or ()
        piece = "".join((choice.get("delta") or {}).get("content") or "" for choice in choices)
        ended = (choice["finish_reason"] for choice in choices if choice.get("finish_reason"))
        self.reason = next(ended, self.reason)
        self.text += piece
        self.pieces += bool(piece)
        for choice in choices:
            self.tokens += (choice.get("logprobs") or {}).get("content") or ()
        return piece

    def completion(self) -> dict[str, Any]:
        """It as a reply that came in one piece."""
        choice = {
            "message": {"content": self.text},
            "finish_reason": self.reason,
            "logprobs": {"content": self.tokens},
        }
        counted = {"prompt_tokens": None, "completion_tokens": self.pieces}
        return {"choices": [choice], "usage": self.usage or counted}


class Channel:
    """The connections to one server, without a limit of its own for calls in flight;
    proxies are those of the environment.

    Its methods raise openai.APITimeoutError, openai.APIConnectionError: the server does not answer;
    openai.APIStatusError: it answers with an error.
    """

    def __init__(self, client: openai.AsyncOpenAI, timeout: float) -> None:
        """`timeout` is the longest silence in seconds."""
        told = {**client.default_headers, **client.auth_headers}
        platform = "x-stainless-"  # not sent: who runs the client is no business of the server
        headers = {
            k: v
            for k, v in told.items()
            if isinstance(v, str) and not k.lower().startswith(platform)
        }
        self._client = client
        self._url = f"{str(client.base_url).rstrip('/')}/chat/completions"
        parts, proxies = urlsplit(self._url), getproxies()
        bypassed = proxy_bypass(parts.hostname or "")
        self._proxy = None if bypassed else proxies.get(parts.scheme) or proxies.get("all")
        self._session = aiohttp.ClientSession(
            headers=headers,
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30.0),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=timeout, sock_read=timeout),
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()
        await self._client.close()

    async def post(self, body: Mapping[str, Any]) -> object:
        """The reply as JSON, or its text where it is none."""
        async with self._replied(body) as reply:
            return _said(await reply.read())

    async def stream(
        self, body: Mapping[str, Any], enough: Callable[[str], bool]
    ) -> Mapping[str, Any]:
        """The completion of a request that is read while it is written;
        closing the connection ends the generation.

        A reply that was stopped has "length" for its finish reason and a count of generated
        tokens by pieces, which the embedded server sends one by one; how long its prompt
        was is then not known.
        """
        written = _Written()
        asked = {**body, "stream": True, "stream_options": {"include_usage": True}}
        async with self._replied(asked) as reply:
            async for line in reply.content:
                chunk = _said(line.removeprefix(b"data:"))
                if not isinstance(chunk, dict):
                    continue  # an empty line, or the end
                if "error" in chunk:
                    raise self._refused(500, {}, chunk)
                if "}" not in written.add(chunk):
                    continue
                ended = written.text[: written.text.rindex("}") + 1]
                if enough(ended):
                    written.text, written.reason = ended, "length"
                    reply.close()
                    break
        return written.completion()

    @asynccontextmanager
    async def _replied(self, body: Mapping[str, Any]) -> AsyncIterator[aiohttp.ClientResponse]:
        # Half a surrogate pair of a reply.
        data = json.dumps(body, ensure_ascii=False).encode(errors="replace")
        try:
            async with self._session.post(self._url, data=data, proxy=self._proxy) as reply:
                if reply.status >= 400:
                    raise self._refused(reply.status, reply.headers, _said(await reply.read()))
                yield reply
        except TimeoutError as error:
            raise openai.APITimeoutError(request=httpx.Request("POST", self._url)) from error
        except (aiohttp.ClientError, OSError) as error:
            raise openai.APIConnectionError(request=httpx.Request("POST", self._url)) from error

    def _refused(
        self, status: int, headers: Mapping[str, str], said: object
    ) -> openai.APIStatusError:
        response = httpx.Response(
            status, headers=dict(headers), request=httpx.Request("POST", self._url)
        )
        told = said.get("error", said) if isinstance(said, dict) else said
        return openai.APIStatusError(f"status {status}", response=response, body=told)


def _said(content: bytes) -> object:
    try:
        said: object = json.loads(content)
    except ValueError:
        return content.decode(errors="replace").strip()
    return said
