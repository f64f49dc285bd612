"""A model behind the log of calls: it answers known requests from the log, and writes every call
into it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sliders.errors import (
    BudgetExceeded,
    ModelError,
    ModelUnavailable,
    SlidersError,
    TruncatedReply,
)
from sliders.llm.limits import RequestGate
from sliders.llm.loops import PerLoop
from sliders.llm.model import FinishReason, Model, Request, Response, Usage
from sliders.llm.outcomes import Outcomes
from sliders.llm.replies import shape_of
from sliders.llm.usage import Meter, as_cached


@dataclass(frozen=True, slots=True)
class Call:
    """One answered or failed request, as the ledger stores it.

    `id` and `key` follow from the request, so a call that the cache answers has the id of the call
    that paid. `prompt` is the messages as JSON, `created` seconds since 1970, `seconds` and `cost`
    what this call took (zero when cached). `calls` counts the requests that reached the server
    (corrections and weaker rungs included). `error` is empty for an answer.
    """

    id: str
    key: str
    stage: str
    model: str
    prompt_hash: str
    prompt: str
    reply: str = ""
    data: Any = None
    finish_reason: FinishReason = "stop"
    salvaged: bool = False
    token_logprobs: tuple[float, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    calls: int = 0
    cached: bool = False
    error: str = ""
    created: float = 0.0

    @property
    def usage(self) -> Usage:
        """The usage of the call when it was paid."""
        return Usage(
            self.calls,
            0,
            self.prompt_tokens,
            self.completion_tokens,
            self.seconds,
            self.cost,
            cached_tokens=self.cached_tokens,
        )

    def response(self) -> Response:
        """The reply of this call, with the cost at that time."""
        usage = self.usage
        return Response(
            self.reply,
            self.data,
            self.finish_reason,
            usage,
            self.id,
            self.salvaged,
            self.token_logprobs,
        )


class CallLog(Protocol):
    """Stores calls. The store room implements it over the workspace."""

    def lookup(self, key: str) -> Response | None:
        """Returns the reply of an earlier successful call with that key, None when there is
        none.
        """
        ...

    def record(self, call: Call) -> None:
        """Stores one call: paid, cached or failed."""
        ...

    def asked_before(self, stage: str) -> bool:
        """True when the log may hold calls of a stage, from this process or another."""
        ...

    def batch_of(self, key: str) -> str:
        """See `BatchLog.batch_of`."""
        ...

    def note_batch(self, keys: list[str], batch: str) -> None:
        """See `BatchLog.note_batch`."""
        ...

    def turn(self, subject: str) -> AbstractAsyncContextManager[None]:
        """A block that no other process enters at the same time for the same subject."""
        ...


class MemoryCallLog:
    """A log that lives as long as the process."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._answers: dict[str, Response] = {}
        self._batches: dict[str, str] = {}

    def lookup(self, key: str) -> Response | None:
        """See `CallLog.lookup`."""
        return self._answers.get(key)

    def asked_before(self, stage: str) -> bool:
        """See `CallLog.asked_before`."""
        return any(call.stage == stage for call in self.calls)

    def batch_of(self, key: str) -> str:
        """See `BatchLog.batch_of`."""
        return self._batches.get(key, "")

    def note_batch(self, keys: list[str], batch: str) -> None:
        """See `BatchLog.note_batch`."""
        self._batches |= dict.fromkeys(keys, batch)

    def turn(self, subject: str) -> AbstractAsyncContextManager[None]:
        """See `CallLog.turn`."""
        return nullcontext()

    def record(self, call: Call) -> None:
        """See `CallLog.record`."""
        self.calls.append(call)
        if not call.error and not call.cached:
            self._answers[call.key] = call.response()


def request_key(request: Request, model: str, endpoint: str = "") -> str:
    """Returns the cache key: the SHA-256 of everything that decides the reply.

    The order of a schema's members counts, because a model writes them in that order. The stage
    does not count: the same question in two stages is one call.
    """
    parts: list[Any] = [
        model,
        endpoint,
        [[message.role, message.content] for message in request.messages],
        request.json_schema,
        request.max_tokens,
        request.temperature,
        request.logprobs,
    ]
    if request.choices or request.told:
        parts.append(request.choices or "told")
    if request.reply is not None and (shape := shape_of(request)) is not None:
        parts.append(shape.model_json_schema())
    return hashlib.sha256(
        json.dumps(parts, ensure_ascii=False, default=dict).encode("utf-8", "surrogatepass")
    ).hexdigest()


class CachedModel:
    """A model behind the log of calls: known requests are answered from the log, and equal requests
    at the same time are asked once.

    `meter` counts every call and refuses new ones when the budget is spent; `outcomes` stops a run
    in which every call fails; `endpoint` names the server and is part of the key; `gate` limits the
    calls in flight of a model that does not limit them itself.
    """

    def __init__(
        self,
        model: Model,
        log: CallLog,
        meter: Meter | None = None,
        endpoint: str = "",
        gate: RequestGate | None = None,
        outcomes: Outcomes | None = None,
    ) -> None:
        self._model, self._log, self._endpoint, self._gate = model, log, endpoint, gate
        self.name, self.context_tokens, self.dialect = (
            model.name,
            model.context_tokens,
            model.dialect,
        )
        self.count_tokens = model.count_tokens
        self.meter, self._outcomes = meter or Meter(), outcomes or Outcomes()
        self._pending: PerLoop[dict[str, asyncio.Future[Response]]] = PerLoop(dict)

    def key_of(self, request: Request) -> str:
        """The request's key in the log."""
        return request_key(request, self.name, self._endpoint)

    def adopt(self, calls: Iterable[Call]) -> None:
        """Counts and stores calls that another process made for this run."""
        for call in calls:
            usage = replace(call.usage, cached_calls=int(call.cached))
            self.meter.add(call.stage, call.model, usage)
            self._log.record(call)
            self._outcomes.worked += not call.error

    def asked_before(self, stage: str) -> bool:
        """See `CallLog.asked_before`."""
        return self._log.asked_before(stage)

    def known(self, request: Request) -> Response | None:
        """Returns the reply that the log holds, None for none; nothing is asked and nothing is
        recorded.
        """
        return self._found(request, self.key_of(request))

    async def generate(self, request: Request) -> Response:
        """Answers a request from the log, from an equal call under way, or from the model; see
        `Model.generate` for the errors.
        """
        key = self.key_of(request)
        pending = self._pending.get()
        while True:
            known = self._found(request, key)
            if known is not None:
                return self._repeat(request, key, known)
            if key not in pending:
                return await self._lead(request, key, pending)
            leader = pending[key]
            await asyncio.wait([leader])
            if leader.cancelled():
                continue  # the first caller gave up: this one asks itself
            return self._repeat(request, key, leader.result())

    async def _lead(
        self, request: Request, key: str, pending: dict[str, asyncio.Future[Response]]
    ) -> Response:
        self.meter.check()
        future = pending[key] = asyncio.get_running_loop().create_future()
        try:
            async with self._log.turn(f"call {key}"):
                known = self._found(request, key)  # another process may have asked meanwhile
                response = (
                    self._repeat(request, key, known)
                    if known is not None
                    else await self._paid(request, key)
                )
        except SlidersError as error:
            future.set_exception(error)
            future.exception()  # marks it as seen: often nobody else waits for it
            raise
        else:
            future.set_result(response)
            return response
        finally:
            del pending[key]
            future.cancel()  # no effect once it is set; otherwise waiting callers ask themselves

    def reserved(self, request: Request) -> AbstractAsyncContextManager[None]:
        """Reserves room in the budget for the request; see `Meter.reserved`."""
        if self.meter.budget.max_tokens is None and self.meter.budget.max_cost is None:
            return nullcontext()
        prompt = sum(self.count_tokens(message.content) for message in request.messages)
        room = getattr(self._model, "room", 0)  # of a model that thinks
        return self.meter.reserved(self.name, prompt, request.max_tokens + room)

    async def _paid(self, request: Request, key: str) -> Response:
        async with self.reserved(request):
            return await self._ask(request, key)

    async def _ask(self, request: Request, key: str) -> Response:
        started, begun = time.perf_counter(), False

        def check() -> None:
            # the budget may have been spent while it waited; a correction of what is
            # paid for is still sent
            nonlocal begun
            if not begun:
                self.meter.check()
            begun = True

        try:
            async with self._gate.slot() if self._gate else nullcontext():
                if self._gate:
                    check()
                sent = replace(request, before_sending=check, batch_log=self._log)
                async with self.meter.in_time():
                    response = await self._model.generate(sent)
        except BudgetExceeded:  # nothing was sent, or it was cut short
            raise
        except SlidersError as error:
            paid = error.usage if isinstance(error, ModelError) else None
            usage = replace(
                paid if isinstance(paid, Usage) else Usage(), seconds=time.perf_counter() - started
            )
            told = {"finish_reason": "error", "error": f"{type(error).__name__}: {error}"}
            partial = error.partial if isinstance(error, TruncatedReply) else ""
            self._record(request, key, Response(partial, usage=usage), **told)
            if isinstance(error, ModelError) and not isinstance(error, ModelUnavailable):
                self._outcomes.fails(error)
            raise
        self._outcomes.worked += 1
        return replace(response, call_id=self._record(request, key, response))

    def _repeat(self, request: Request, key: str, known: Response) -> Response:
        repeated = replace(known, usage=as_cached(known.usage))
        self._outcomes.worked += 1
        return replace(repeated, call_id=self._record(request, key, repeated, cached=True))

    def _found(self, request: Request, key: str) -> Response | None:
        known = self._log.lookup(key)
        if known is None or not (request.choices or request.told):
            return known
        kept = known.data or {}
        if not request.told:
            return replace(known, odds=kept)
        return replace(
            known,
            data=kept.get("reply"),
            odds=kept.get("odds") or {},
            sureness=kept.get("sureness") or {},
        )

    def _record(self, request: Request, key: str, response: Response, **told: Any) -> str:
        """Counts one call and stores it; returns its id."""
        usage = response.usage
        self.meter.add(request.stage, self.name, usage)
        messages = [
            {"role": message.role, "content": message.content} for message in request.messages
        ]
        call = Call(
            id=key[:16],
            key=key,
            stage=request.stage,
            model=self.name,
            prompt_hash=request.prompt_hash,
            prompt=json.dumps(messages, ensure_ascii=False),
            reply=response.text,
            data=_kept(response) if request.told else response.data,
            finish_reason=response.finish_reason,
            salvaged=response.salvaged,
            token_logprobs=response.token_logprobs,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            seconds=usage.seconds,
            cost=usage.cost,
            calls=usage.calls,
            created=time.time(),
        )
        self._log.record(replace(call, **told) if told else call)
        return call.id


def _kept(response: Response) -> dict[str, Any]:
    """The stored data of a reply, with its odds when these were asked for."""
    return {
        "reply": response.data,
        "odds": dict(response.odds),
        "sureness": dict(response.sureness),
    }
