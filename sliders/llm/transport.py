"""The HTTP transport of the model client: aiohttp under httpx, a short way for the one request that is made most, and
replies that are read while they are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
import httpx
import openai
from httpx_aiohttp import AiohttpTransport, HttpxAiohttpClient
from openai.types.chat import ChatCompletionChunk


class Transport(AiohttpTransport):
    """aiohttp under httpx; a connection that is refused or breaks is told as such, not as a time-out."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One request and its reply."""
        try:
            return await super().handle_async_request(request)
        except httpx.TimeoutException as error:
            cause = error.__cause__
            if isinstance(cause, TimeoutError) or not isinstance(cause, aiohttp.ClientConnectionError):
                raise
            kind = httpx.ConnectError if isinstance(cause, aiohttp.ClientConnectorError) else httpx.ReadError
            raise kind(str(cause)) from cause


class HttpClient(HttpxAiohttpClient):
    """An HTTP client without a limit of its own for calls in flight; proxies are those of the environment."""

    def __init__(self, timeout: float) -> None:
        limits = httpx.Limits(max_connections=0, keepalive_expiry=30.0)
        super().__init__(timeout=timeout, limits=limits, follow_redirects=True)

    def session_for(self, url: str) -> tuple[aiohttp.ClientSession, dict[str, Any]]:
        """The connections that a URL's calls take, and the proxy options of aiohttp that go with them."""
        transport = self._transport_for_url(httpx.URL(url))
        assert isinstance(transport, Transport)
        if not isinstance(transport.client, aiohttp.ClientSession):
            transport.client = transport.get_client()
        proxy = transport.proxy
        if proxy is None:
            return transport.client, {}
        auth = aiohttp.BasicAuth(*proxy.auth) if proxy.auth else None
        return transport.client, {"proxy": str(proxy.url), "proxy_auth": auth, "proxy_headers": proxy.headers}

    def _init_transport(self, *_: Any, **options: Any) -> httpx.AsyncBaseTransport:
        return Transport(limits=options["limits"])

    def _init_proxy_transport(self, proxy: httpx.Proxy, *_: Any, **options: Any) -> httpx.AsyncBaseTransport:
        return Transport(limits=options["limits"], proxy=proxy)


class Channel:
    """One server's `openai` client with its connections.

    `post` is for the one request that is made a thousand times: it takes address, key and headers of the client and
    raises its errors, but makes no request and response objects on the way, which takes longer than the transport.
    """

    def __init__(self, client: openai.AsyncOpenAI, http: HttpClient, timeout: float) -> None:
        self.client, self._http = client, http
        self._doors: dict[str, tuple[str, aiohttp.ClientSession, dict[str, Any]]] = {}
        told = {**client.default_headers, **client.auth_headers}
        platform = "x-stainless-"  # not sent: who runs the client is no business of the server
        self._headers = {k: v for k, v in told.items() if isinstance(v, str) and not k.lower().startswith(platform)}
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=timeout, sock_read=timeout)

    async def post(self, path: str, body: Mapping[str, Any]) -> object:
        """The reply as JSON, or its text where it is none.

        Raises openai.APITimeoutError, openai.APIConnectionError: the server does not answer; openai.APIStatusError: it answers
        with an error.
        """
        if path not in self._doors:
            url = f"{str(self.client.base_url).rstrip('/')}{path}"
            self._doors[path] = (url, *self._http.session_for(url))
        url, session, proxy = self._doors[path]
        data = json.dumps(body, ensure_ascii=False).encode()
        try:
            async with session.post(url, data=data, headers=self._headers, timeout=self._timeout, **proxy) as reply:
                status, headers, content = reply.status, reply.headers, await reply.read()
        except TimeoutError as error:
            raise openai.APITimeoutError(request=httpx.Request("POST", url)) from error
        except (aiohttp.ClientError, OSError) as error:
            raise openai.APIConnectionError(request=httpx.Request("POST", url)) from error
        try:
            said: object = json.loads(content)
        except ValueError:
            said = content.decode(errors="replace").strip()
        if status >= 400:
            response = httpx.Response(status, headers=dict(headers), request=httpx.Request("POST", url))
            told = said.get("error", said) if isinstance(said, dict) else said
            raise openai.APIStatusError(f"status {status}", response=response, body=told)
        return said


async def streamed(client: openai.AsyncOpenAI, body: Mapping[str, Any], enough: Callable[[str], bool]) -> Mapping[str, Any]:
    """The completion of one chat request, in the server's own form; closing the connection ends the generation.

    A reply that was stopped has "length" for its finish reason and a count of generated tokens by pieces, which the
    embedded server sends one by one; how long its prompt was is then not known.
    """
    text, pieces, reason, usage = "", 0, "stop", None
    told = {**body, "stream": True, "stream_options": {"include_usage": True}}
    stream = await client.post(
        "/chat/completions", cast_to=ChatCompletionChunk, body=told, stream=True,
        stream_cls=openai.AsyncStream[ChatCompletionChunk],
    )  # fmt: skip
    async with stream:
        async for chunk in stream:
            usage = chunk.usage.model_dump() if chunk.usage else usage
            piece = "".join(choice.delta.content or "" for choice in chunk.choices)
            reason = next((choice.finish_reason for choice in chunk.choices if choice.finish_reason), reason)
            text, pieces = text + piece, pieces + bool(piece)
            if "}" in piece and enough(ended := text[: text.rindex("}") + 1]):
                text, reason = ended, "length"
                break
    choices = [{"message": {"content": text}, "finish_reason": reason}]
    return {"choices": choices, "usage": usage or {"prompt_tokens": None, "completion_tokens": pieces}}
