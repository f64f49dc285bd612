"""A provider's Batch interface: requests are uploaded in a file, and their replies come back in a
file within hours, for half the price.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

import openai

from sliders.errors import CallFailed, ModelUnavailable
from sliders.llm.bounded import in_time
from sliders.llm.retry import ServerRefusal, status_error, translated, with_retries
from sliders.settings import Settings

T = TypeVar("T")
STAGES = frozenset({"extract", "gate"})
"""The stages whose calls may wait for hours: they make many calls, and no call waits for
another.
"""
DISCOUNT = 0.5
_QUIET = 0.5
"""Seconds without a new request after which the waiting requests are uploaded together."""
_MOST = 5_000
_POLL = (1.0, 60.0)
"""Seconds between two checks of a batch, at first and at most."""
_LOST = ("expired", "cancelling", "cancelled", "failed")
_ENDED = ("completed", "expired", "cancelled", "failed")
_ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"


class BatchLog(Protocol):
    """Keeps the ids of batches until their replies are stored."""

    def batch_of(self, key: str) -> str:
        """Returns the id of the batch with a request; "" when it is in none."""
        ...

    def note_batch(self, keys: list[str], batch: str) -> None:
        """Stores the id of the batch with these requests; it is on disk when this returns."""
        ...


@dataclass(slots=True)
class _Waiting:
    """Requests that wait to be uploaded, by key."""

    bodies: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    replies: dict[str, asyncio.Future[object]] = field(default_factory=dict)


class Batches:
    """The batches of one model of a server, in one event loop.

    A request that an earlier run uploaded (it may have been killed) waits for that batch, so that
    nothing is paid for twice. When the provider gives up a batch, its finished replies are used and
    its other calls fail with the reason.
    """

    def __init__(
        self, client: openai.AsyncOpenAI, log: BatchLog, settings: Settings, model: str
    ) -> None:
        self._client, self._log, self._model = client, log, model
        self._where = settings.base_url or "the OpenAI API"
        self._timeout, self._retries = settings.timeout, settings.retries
        self._waiting = _Waiting()
        self._sender: asyncio.Task[None] | None = None
        self._outputs: dict[str, asyncio.Task[Mapping[str, object]]] = {}

    async def ask(self, body: Mapping[str, Any]) -> object:
        """Returns the completion of a request.

        Raises:
            CallFailed: the provider gave the batch up, or this request.
            ModelUnavailable: there is no Batch interface.
        """
        key = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        batch = self._log.batch_of(key)
        if batch and not isinstance(known := await self._known(batch, key), Exception):
            return known
        waiting = self._waiting
        waiting.bodies[key] = body
        if key not in waiting.replies:
            waiting.replies[key] = asyncio.get_running_loop().create_future()
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send())
        reply = await asyncio.shield(waiting.replies[key])
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def _known(self, batch: str, key: str) -> object:
        """Returns the reply from an earlier batch; a `CallFailed` when the batch has none."""
        try:
            return (await self._output(batch)).get(key, CallFailed("it has no reply"))
        except CallFailed as lost:
            return lost

    async def _send(self) -> None:
        """Waits until no new request comes, and uploads the waiting requests."""
        while True:
            before = len(self._waiting.bodies)
            await asyncio.sleep(_QUIET)
            if len(self._waiting.bodies) == before or before >= _MOST:
                break
        waiting, self._waiting, self._sender = self._waiting, _Waiting(), None
        found: Mapping[str, object] = {}
        missing: Exception = CallFailed("the batch ended without a reply to this request")
        try:
            found = await self._output(await self._sent(waiting))
        except (CallFailed, ModelUnavailable) as error:
            missing = error
        for key, reply in waiting.replies.items():
            if not reply.done():
                reply.set_result(found.get(key, missing))

    async def _sent(self, waiting: _Waiting) -> str:
        """Returns the id of the batch with these requests: a batch that a killed run uploaded
        without storing its id, else a new one.
        """
        lines = (
            {"custom_id": key, "method": "POST", "url": _ENDPOINT, "body": body}
            for key, body in waiting.bodies.items()
        )
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
        name = hashlib.sha256(" ".join(sorted(waiting.bodies)).encode()).hexdigest()
        client = self._client
        listed = await self._asked(lambda: client.batches.list(limit=50))
        same = (one for one in listed.data if (one.metadata or {}).get("requests") == name)
        batch = next((one for one in same if one.status not in _LOST), None)
        if batch is None:
            file = await self._asked(
                lambda: client.files.create(file=("requests.jsonl", text), purpose="batch")
            )
            batch = await self._asked(
                lambda: client.batches.create(
                    input_file_id=file.id,
                    endpoint=_ENDPOINT,
                    completion_window="24h",
                    metadata={"requests": name},
                )
            )
        self._log.note_batch(list(waiting.bodies), batch.id)
        return batch.id

    async def _asked(self, call: Callable[[], Awaitable[T]]) -> T:
        """Returns the reply of the Batch interface.

        Raises:
            ModelUnavailable: there is no Batch interface.
            CallFailed: the interface keeps failing.
        """

        async def once() -> T:
            with translated(self._model, self._where, self._timeout):
                async with in_time(self._timeout):
                    return await call()

        try:
            return await with_retries(once, self._retries, lambda _: None)
        except ServerRefusal as refusal:
            raise ModelUnavailable(
                f"{refusal}: it takes no batch of this model; leave --batch out"
            ) from refusal

    async def _output(self, batch: str) -> Mapping[str, object]:
        """Returns the replies of a batch by the keys of its requests, when the batch is done."""
        if batch not in self._outputs:
            self._outputs[batch] = asyncio.create_task(self._waited(batch))
        return await asyncio.shield(self._outputs[batch])

    async def _waited(self, batch: str) -> Mapping[str, object]:
        pause = _POLL[0]
        while True:
            told = await self._asked(lambda: self._client.batches.retrieve(batch))
            if told.status in _ENDED:
                break
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, _POLL[1])
        replies: dict[str, object] = {}
        for file in filter(None, (told.output_file_id, told.error_file_id)):
            content = await self._asked(partial(self._client.files.content, file))
            for line in content.text.splitlines():
                replies |= self._read(json.loads(line))
        if not replies and told.status != "completed":
            errors = (told.errors.data or []) if told.errors else []
            why = "; ".join(str(error.message) for error in errors) or told.status
            raise CallFailed(f"{self._where} gave batch {batch} up: {why}; run the command again")
        return replies

    def _read(self, line: Mapping[str, Any]) -> dict[str, object]:
        """Returns the completion in a line of an output file, or the error in its place, by the key
        of the request.
        """
        response = line.get("response") or {}
        status = int(response.get("status_code") or 500)
        if status < 400:
            return {line["custom_id"]: response.get("body")}
        body = response.get("body") or line.get("error")
        return {line["custom_id"]: status_error(status, body, {}, self._model, self._where)}
