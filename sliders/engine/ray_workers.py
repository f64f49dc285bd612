"""The actors of a Ray executor: a reader of chunks on each worker, and one limiter for
all of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sliders.documents.document import Document
from sliders.engine.connections import connect
from sliders.engine.runner import ExtractionCall, LocalRunner
from sliders.errors import SlidersError
from sliders.extraction.extract import Extraction
from sliders.llm.cache import Call, MemoryCallLog
from sliders.llm.limits import WINDOW, RateLimiter
from sliders.settings import Settings

KEPT_DOCUMENTS = 64
"""The most documents that a reader keeps, and that this process keeps references to for the
reader.
"""


class Reader:
    """Reads chunks on a worker, many side by side in its event loop, over lasting connections."""

    def __init__(self, settings: Settings, limits: Any | None) -> None:
        limiter = None if limits is None else SharedLimiter(lambda: limits)
        self._models = connect(settings, limiter=limiter)
        self._documents: OrderedDict[Any, Document] = OrderedDict()
        self._here = LocalRunner()

    async def read(
        self, held: Sequence[Any], reading: ExtractionCall
    ) -> tuple[list[Extraction] | SlidersError, list[Call]]:
        """Returns the result of a call, or the error that ends the run; and the calls that were
        made.

        Args:
            held: a reference to the document of each part.
            reading: the input of the call.
        """
        log = MemoryCallLog()
        model = self._models.for_run(log=log).model_for("extract")
        try:
            parts = tuple(
                [
                    replace(part, document=await self._document(reference))
                    for part, reference in zip(reading.parts, held, strict=True)
                ]
            )
            return await self._here.read(replace(reading, parts=parts), model), log.calls
        except SlidersError as error:
            return error, log.calls

    async def _document(self, reference: Any) -> Document:
        if reference not in self._documents:
            self._documents[reference] = await reference
            while len(self._documents) > KEPT_DOCUMENTS:
                self._documents.popitem(last=False)
        return self._documents[reference]


class ClusterLimits:
    """The limits on requests and tokens a minute of all workers together: one for the whole
    cluster.
    """

    def __init__(self, rpm: int | None, tpm: int | None) -> None:
        self._limiter = RateLimiter(rpm, tpm)
        self._booked: dict[int, list[float]] = {}
        self._number = 0

    async def acquire(self, tokens: int) -> list[float]:
        """See `RateLimiter.acquire`; the first number of the result stands for the booking."""
        booking = await self._limiter.acquire(tokens)
        for number in [n for n, (began, _) in self._booked.items() if began < booking[0] - WINDOW]:
            del self._booked[number]  # the worker of such a call was lost before it settled
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
    """Forwards to the one limiter of the cluster."""

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
