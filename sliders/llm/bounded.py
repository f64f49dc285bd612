"""Limits for replies of a server: the bytes, unpacked, and the time. Secrets of this process are
removed from them.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from sliders.hidden import without_known

MOST_BYTES = 32 << 20
"""The most bytes of a reply."""
MOST_BYTES_OF_A_FILE = 512 << 20
"""The most bytes of a file with the replies of a batch."""
_PIECE = 1 << 16
_TIMES_SILENCE = 3
_FILES = "/files/"


class BadBody(httpx.TransportError):
    """A reply with a body that cannot be used, however often it is asked for. Its message completes
    a sentence that begins with the server's name.
    """


@asynccontextmanager
async def in_time(silence: float) -> AsyncIterator[None]:
    """Bounds the time of a whole request, which may take three times as long as the longest
    silence.

    Raises BadBody: the time is over.
    """
    whole = _TIMES_SILENCE * silence
    try:
        async with asyncio.timeout(whole) as limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise BadBody(f"had not sent the whole of a reply after {whole:g} s") from error


async def bounded(reply: httpx.Response) -> None:
    """Limits a reply before it is read (an event hook of `httpx`): its body is unpacked here, where
    the bytes can be counted.
    """
    named = reply.headers.pop("content-encoding", "").lower().split(",")
    encodings = [name.strip() for name in named if name.strip() not in ("", "identity")]
    most = MOST_BYTES_OF_A_FILE if _FILES in reply.request.url.path else MOST_BYTES
    reply.stream = _Bounded(reply.stream, encodings, most)


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, inner: Any, encodings: list[str], most: int) -> None:
        self._inner, self._encodings, self._most = inner, encodings, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        unpackers = [_Unpacker(encoding) for encoding in reversed(self._encodings)]
        taken, line = 0, list[bytes]()
        async for packed in self._inner:
            for piece in _through(unpackers, packed):
                taken += len(piece)
                if taken > self._most:
                    raise BadBody(f"sent more than {self._most >> 20} MB in one reply")
                whole, end, rest = piece.rpartition(b"\n")
                if end:  # a secret stands in one line
                    yield _plain(b"".join([*line, whole, end]))
                    line = []
                line.append(rest)
        if any(unpacker.open for unpacker in unpackers):
            raise httpx.RemoteProtocolError("the reply ended before it was unpacked")
        yield _plain(b"".join(line))

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Unpacker:
    """Undoes one encoding of a body, piece by piece."""

    def __init__(self, encoding: str) -> None:
        if encoding not in ("gzip", "x-gzip", "deflate"):
            raise BadBody(f"sent a reply in the encoding {encoding[:40]!r}, which is not read")
        self._window = zlib.MAX_WBITS | 16 if "gzip" in encoding else zlib.MAX_WBITS
        self._object: Any = None

    @property
    def open(self) -> bool:
        """True when more bytes have to come."""
        return self._object is not None and not self._object.eof

    def unpacked(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._object is None:
                if self._window == zlib.MAX_WBITS and data[0] & 0x0F != 8:
                    self._window = -zlib.MAX_WBITS  # deflate without its head
                self._object = zlib.decompressobj(self._window)
            try:
                piece = self._object.decompress(data, _PIECE)
            except zlib.error as error:
                raise BadBody(f"sent a reply that does not unpack ({error})") from error
            data = self._object.unconsumed_tail
            if self._object.eof:
                data, self._object = self._object.unused_data, None
            if piece:
                yield piece
            elif not data:
                return


def _through(unpackers: list[_Unpacker], data: bytes) -> Iterator[bytes]:
    if not unpackers:
        yield data
        return
    for piece in unpackers[0].unpacked(data):
        yield from _through(unpackers[1:], piece)


def _plain(line: bytes) -> bytes:
    return without_known(line.decode("latin-1")).encode("latin-1")
