"""An HTTP server on this machine, in a thread of its own, for scripted model servers."""

from __future__ import annotations

import asyncio
import ssl
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

from aiohttp import web


class Loopback(ABC):
    """Serves every path by `handle` while its `with` block lasts, at `address`.

    Args:
        certificate: a file with key and certificate, where it speaks TLS.
    """

    def __init__(self, certificate: Path | None = None) -> None:
        self.address = ""
        self._certificate = certificate
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.0)
        await runner.setup()
        tls = None
        if self._certificate is not None:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(self._certificate)
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls, backlog=512).start()
        scheme = "http" if tls is None else "https"
        self.address = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    @abstractmethod
    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The response to a request."""
