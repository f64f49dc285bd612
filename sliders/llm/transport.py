"""The HTTP transport of the model client: with aiohttp's a call takes two thirds of the processor time that httpx's own takes."""

from __future__ import annotations

from typing import Any

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport, HttpxAiohttpClient


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

    def _init_transport(self, *_: Any, **options: Any) -> httpx.AsyncBaseTransport:
        return Transport(limits=options["limits"])

    def _init_proxy_transport(self, proxy: httpx.Proxy, *_: Any, **options: Any) -> httpx.AsyncBaseTransport:
        return Transport(limits=options["limits"], proxy=proxy)
