"""What a Ray executor runs on its workers: tasks for documents, a reader of chunks, and the one limiter of them all."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sliders.chunks.chunk import Chunk
from sliders.chunks.chunking import chunk_document
from sliders.chunks.embeddings import default_embedder
from sliders.chunks.index import SegmentVectors
from sliders.chunks.segments import index_document
from sliders.documents import loaders
from sliders.documents.discover import SourceFile
from sliders.documents.document import Document
from sliders.documents.loaders import LoadFailure
from sliders.documents.remote import Fetched
from sliders.errors import DocumentError, SlidersError
from sliders.executor.runner import LocalRunner, Reading
from sliders.extraction.extract import Extraction
from sliders.llm.cache import Call, MemoryCallLog
from sliders.llm.connect import connect
from sliders.llm.limits import WINDOW, RateLimiter
from sliders.llm.tokens import token_counter
from sliders.settings import Settings

KEPT_DOCUMENTS = 64
"""Documents that a reader, and the driver for it, holds at a time."""


def parse_task(
    source: SourceFile, read: Fetched | None, max_bytes: int, max_tokens: int, model: str
) -> tuple[Document, Sequence[Chunk]] | LoadFailure:
    """A file's document with its chunks; `read` is what stands in it where it is on the driver's machine."""
    try:
        document = loaders.parse(source, read or loaders.read_source(source, max_bytes))
    except DocumentError as error:
        return loaders.failure(source, error)
    return document, chunk_document(document, max_tokens=max_tokens, count_tokens=token_counter(model))


def index_task(document: Document, model: str, max_tokens: int) -> SegmentVectors:
    """A document's segments with their vectors."""
    return index_document(document, default_embedder(), token_counter(model), max_tokens=max_tokens)


class Reader:
    """Reads chunks on a worker, many side by side in its event loop, with connections that last."""

    def __init__(self, settings: Settings, limits: Any | None) -> None:
        limiter = None if limits is None else SharedLimiter(lambda: limits)
        self._models = connect(settings, limiter=limiter)
        self._documents: OrderedDict[Any, Document] = OrderedDict()
        self._here = LocalRunner()

    async def read(self, held: list[Any], reading: Reading) -> tuple[Extraction | SlidersError, list[Call]]:
        """What the chunk gave, or the error that ends the run, with the calls that were made."""
        log = MemoryCallLog()
        model = self._models.for_run(log=log).model_for("extract")
        try:
            return await self._here.read(replace(reading, document=await self._document(held[0])), model), log.calls
        except SlidersError as error:
            return error, log.calls

    async def _document(self, reference: Any) -> Document:
        if reference not in self._documents:
            self._documents[reference] = await reference
            while len(self._documents) > KEPT_DOCUMENTS:
                self._documents.popitem(last=False)
        return self._documents[reference]


class Limits:
    """The requests and tokens a minute of all workers together: one for the whole cluster."""

    def __init__(self, rpm: int | None, tpm: int | None) -> None:
        self._limiter = RateLimiter(rpm, tpm)
        self._booked: dict[int, list[float]] = {}
        self._number = 0

    async def acquire(self, tokens: int) -> list[float]:
        """See `RateLimiter.acquire`; the booking's number stands for it."""
        booking = await self._limiter.acquire(tokens)
        for number in [n for n, (began, _) in self._booked.items() if began < booking[0] - WINDOW]:
            del self._booked[number]  # of calls that never settled, because their worker was lost
        self._number += 1
        self._booked[self._number] = booking
        return [float(self._number)]

    async def settle(self, booking: list[float], tokens: int) -> None:
        """See `RateLimiter.settle`."""
        if (booked := self._booked.pop(int(booking[0]), None)) is not None:
            self._limiter.settle(booked, tokens)

    async def pause(self, seconds: float) -> None:
        """See `RateLimiter.pause`."""
        self._limiter.pause(seconds)


class SharedLimiter:
    """Asks the cluster's one limiter."""

    def __init__(self, limits: Callable[[], Any]) -> None:
        self._limits = limits

    async def acquire(self, tokens: int) -> list[float]:
        """See `RateLimiter.acquire`."""
        booking: list[float] = await self._limits().acquire.remote(tokens)
        return booking

    def settle(self, booking: list[float], tokens: int) -> None:
        """See `RateLimiter.settle`."""
        self._limits().settle.remote(booking, tokens)

    def pause(self, seconds: float) -> None:
        """See `RateLimiter.pause`."""
        self._limits().pause.remote(seconds)
