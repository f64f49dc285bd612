"""The client of every model: it speaks to an OpenAI-compatible server, and asks for JSON in the
strictest way that the server supports.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import instructor
from instructor.core.exceptions import InstructorRetryException
from pydantic import BaseModel, ValidationError

from sliders.errors import CallFailed, ModelError, ModelRefusal, ModelUnavailable, TruncatedReply
from sliders.llm import ladder
from sliders.llm.arguments import PREFIX, ROOMS, STRUCTURE, Arguments, mentioned
from sliders.llm.batches import DISCOUNT, STAGES, Batches
from sliders.llm.completions import error_of, said, total_of
from sliders.llm.dialect import FULL, Dialect
from sliders.llm.ladder import Rung
from sliders.llm.limits import Limiter, RateLimiter, RequestGate
from sliders.llm.loops import PerLoop, Turns
from sliders.llm.model import Request, Response, Usage
from sliders.llm.network_switch import check_requests_allowed
from sliders.llm.odds import LISTED, chosen, odds_of
from sliders.llm.reading import Several, fitting
from sliders.llm.replied import ServerReply, Unusable, add_paid, good_items
from sliders.llm.replies import Shape, plain_data, shape_of, told
from sliders.llm.retry import (
    ServerRefusal,
    is_page,
    not_the_interface,
    status_error,
    translated,
    with_retries,
)
from sliders.llm.tokens import known_model, token_counter
from sliders.llm.transport import Channel
from sliders.llm.usage import PriceTable
from sliders.settings import LOCAL, Settings

# Failed attempts are reported by the errors below.
logging.getLogger("instructor").addHandler(logging.NullHandler())

_MOST_CHANGES = 12
"""The number of forms of one request that a server may refuse before the request fails."""


class OpenAIModel:
    """A model behind any server that speaks the OpenAI chat API.

    Structured replies go down a ladder (grammar, then the modes of `instructor`); the rung that
    works is remembered. `instructor` asks and parses first; a tolerant reader takes replies that
    `instructor` cannot parse; a reply that neither can read is asked for again once. A list whose
    tail is broken keeps its complete items. Arguments that the server refuses are left out or
    bounded from then on, and a model that thinks gets tokens for it.

    Args:
        model: the name that the server knows.
        settings: the server, key, limits, time-out (seconds) and retries.
        prices: price table for `Usage.cost`.
        name: the name in the log of calls; `model` when left out.
        first_rung: the first step of the ladder; GRAMMAR for servers of the llama.cpp family.
        dialect: how the model is asked. gate, limiter: shared by several models of one server.
    """

    def __init__(
        self,
        model: str,
        settings: Settings,
        *,
        prices: PriceTable | None = None,
        name: str | None = None,
        first_rung: Rung = Rung.JSON_SCHEMA,
        dialect: Dialect = FULL,
        gate: RequestGate | None = None,
        limiter: Limiter | None = None,
    ) -> None:
        self._model, self._settings = model, settings
        self.name, self.dialect = name or model, dialect
        self._prices = prices or PriceTable()
        self.context_tokens = settings.context_tokens or self._prices.context(model)
        self._first, self._worked, self._skipped = first_rung, set[Rung](), set[Rung]()
        self._arguments, self._answered = Arguments(), False
        self._vain = False
        if settings.base_url is None and known_model(model).get("thinks"):
            self._arguments.reasons()
        self._gate = gate or RequestGate(settings.concurrency)
        self._limiter: Limiter = limiter or RateLimiter(settings.rpm, settings.tpm)
        self.count_tokens = token_counter(self.name)
        self._channels, self._turns = PerLoop(self._channel), PerLoop(Turns)
        self._alone, self._batches = PerLoop(asyncio.Lock), PerLoop(dict[int, Batches])

    @property
    def rung(self) -> Rung:
        """The step of the ladder by which this server is asked for JSON now."""
        return self._rungs()[0]

    @property
    def room(self) -> int:
        """The tokens that the model gets for thinking; 0 as long as it was not seen to think."""
        return self._arguments.room

    async def generate(self, request: Request) -> Response:
        """Answers one request; see `Model.generate` for the errors.

        Until a server has answered once, one request is made at a time, so that its refusals are
        learned once.
        """
        check_requests_allowed(f"{self._model} at {self._where}")
        if not self._answered and not self._batched(request):
            async with self._alone.get():
                if not self._answered:
                    return await self._generate(request)
        return await self._generate(request)

    async def _generate(self, request: Request) -> Response:
        try:
            if request.choices:
                return await self._chosen(request)
            shape = shape_of(request)
            if shape is not None:
                return await self._structured(request, shape)
            reply = await self._send(request, {"messages": ladder.wire_messages(request.messages)})
        except ServerRefusal as refusal:
            raise CallFailed(f"{refusal}; check that {self._model!r} is a chat model") from refusal
        if not reply.text and reply.said.thought:
            raise (
                self._truncated(reply)
                if reply.said.cut
                else self._refused(request, "it thought and gave no answer", reply.usage)
            )
        return reply.response()

    async def aclose(self) -> None:
        """Closes the connections of the running event loop."""
        channel = self._channels.drop()
        if channel is not None:
            await channel.aclose()

    def _batched(self, request: Request) -> bool:
        """True when a request is uploaded with others in a batch."""
        return self._settings.batch and request.stage in STAGES and request.batch_log is not None

    def _batches_of(self, request: Request) -> Batches:
        """The batches of the running event loop; the request's log keeps their ids."""
        known = self._batches.get()
        log = id(request.batch_log)
        if log not in known:
            client = self._channels.get().client
            known[log] = Batches(client, request.batch_log, self._settings, self._model)
        return known[log]

    @property
    def _where(self) -> str:
        return self._settings.base_url or "the OpenAI API"

    def _channel(self) -> Channel:
        key = self._settings.api_key or ("unused" if self._settings.base_url else None)
        if key is None:
            raise ModelUnavailable(
                f"model {self._model!r} needs a key: set OPENAI_API_KEY, or SLIDERS_BASE_URL for a "
                "server of your own, or leave the model out for the embedded one"
            )
        return Channel(self._settings.base_url, key, self._settings.timeout)

    async def _chosen(self, request: Request) -> Response:
        """Asks for one token, and returns the odds of each choice when the server gives them."""
        arguments = {"messages": ladder.wire_messages(request.messages)}
        odds_too = {**arguments, "logprobs": True, "top_logprobs": LISTED}
        reply = await self._send(replace(request, max_tokens=1, logprobs=False), odds_too)
        odds = {} if reply.said.thought else odds_of(request.choices, reply.first)
        text = max(odds, key=odds.__getitem__) if odds else chosen(reply.text, request.choices)
        if text is None:
            raise self._refused(
                request, f"it said {reply.text[:120]!r}, which is no choice", reply.usage
            )
        return Response(text, odds or None, usage=reply.usage, odds=odds)

    async def _structured(self, request: Request, shape: Shape) -> Response:
        spent, tried = Usage(), set[Rung]()
        why = "the server refuses every way of asking; check that it is a chat model"
        for rung in self._rungs():
            try:
                response = await self._on_rung(request, shape, rung)
            except ServerRefusal as refusal:
                tried.add(rung)  # the server does not know this way of asking
                why = f"{refusal}; check that it is a chat model"
                named = refusal.parameter in STRUCTURE or mentioned(STRUCTURE, refusal.text)
                if (self._worked or self._vain) and not named:
                    break  # it is not the way of asking
                continue
            except ModelError as error:
                add_paid(error, spent)
                raise
            except Unusable as unusable:
                tried.add(rung)
                spent += unusable.reply.usage
                why = (
                    f"{unusable}; it said {unusable.reply.text[:120]!r}; a larger model or a "
                    "simpler schema may do"
                )
                if rung in self._worked:
                    break  # the way works with this server: this failure is the model's own
                continue
            self._worked.add(rung)
            self._skipped |= tried - self._worked
            return replace(response, usage=spent + response.usage)
        self._vain = not spent.calls
        raise self._refused(request, why, spent)

    def _refused(self, request: Request, why: str, spent: Usage) -> ModelRefusal:
        error = ModelRefusal(
            f"model {self._model!r} gave no usable reply in stage {request.stage!r}: {why}"
        )
        error.usage = spent
        return error

    def _rungs(self) -> list[Rung]:
        return [rung for rung in Rung if rung >= self._first and rung not in self._skipped]

    async def _on_rung(self, request: Request, shape: Shape, rung: Rung) -> Response:
        """Asks by one step of the ladder: `instructor` asks and parses, then the tolerant reader
        tries, then the reply is asked for again once.
        """
        replies: list[ServerReply] = []

        async def create(**prepared: Any) -> Any:
            replies.append(await self._send(request, ladder.asked(rung, prepared, shape)))
            return ladder.completion(replies[0].said)

        try:
            ask: Any = instructor.patch(create=create, mode=rung.mode)
            parsed: BaseModel = await ask(
                response_model=shape,
                max_retries=0,
                strict=False,
                messages=ladder.wire_messages(request.messages),
            )
            return replies[0].response(plain_data(parsed))
        except InstructorRetryException as failed:
            if not replies:  # nothing came: the error is the server's
                raise failed.__cause__ or failed from failed.__cause__
            attempt = failed
        try:
            return self._read(replies[0], shape)
        except Unusable as unusable:
            return await self._corrected(request, shape, rung, attempt, unusable)

    async def _corrected(
        self,
        request: Request,
        shape: Shape,
        rung: Rung,
        attempt: InstructorRetryException,
        unusable: Unusable,
    ) -> Response:
        """Asks for a second reply, in the conversation that `instructor` prepares."""
        first, again = unusable.reply, dict(attempt.create_kwargs or {})
        *earlier, last = again["messages"]
        reasons = str(attempt.__cause__), "\n".join(unusable.wrong)
        again["messages"] = [*earlier, {**last, "content": last["content"].replace(*reasons)}]
        try:
            second = await self._send(request, ladder.asked(rung, again, shape))
            spent = first.usage + second.usage
            response = self._read(second, shape)
        except ModelError as error:
            add_paid(error, first.usage)
            raise
        except Unusable as still:
            kept = good_items(second, shape) or good_items(first, shape)
            if kept is None:
                raise Unusable(replace(second, usage=spent), still.wrong) from still
            response = kept
        return replace(response, usage=spent)

    def _read(self, reply: ServerReply, shape: Shape) -> Response:
        """Returns the reply as data, by the tolerant reader.

        Raises:
            Unusable: the reply does not fit.
            TruncatedReply: it stopped at the limit, and no complete item of a list could be kept.
        """
        try:
            return reply.response(plain_data(fitting(reply.text, shape)))
        except ValidationError as error:
            broken, wrong = False, told(error)
        except ValueError as error:
            broken, wrong = not isinstance(error, Several), (str(error),)
        if (reply.said.cut or broken) and (kept := good_items(reply, shape)):
            return kept
        if reply.said.cut:
            raise self._truncated(reply)
        raise Unusable(reply, wrong)

    def _truncated(self, reply: ServerReply) -> TruncatedReply:
        what = "holds no complete item; split the input"
        if reply.said.thought:
            what = "was all thought; set SLIDERS_REASONING_EFFORT=low, or use another model"
        error = TruncatedReply(
            f"the reply of {self._model!r} stopped at its limit after "
            f"{reply.usage.completion_tokens} tokens and {what}",
            partial=reply.text,
        )
        error.usage = reply.usage
        return error

    async def _send(self, request: Request, arguments: dict[str, Any]) -> ServerReply:
        """Sends a request, and sends it again with more tokens when thinking left none for the
        answer.
        """
        reply = await self._fitted(request, arguments)
        if reply.said.thought and not self._arguments.room:
            self._arguments.thinks()
        if not self._thought_too_long(reply, request):
            return reply
        self._arguments.thinks(reply.usage.completion_tokens)
        try:
            second = await self._fitted(request, arguments)
        except ModelError as error:
            add_paid(error, reply.usage)
            raise
        return replace(second, usage=reply.usage + second.usage)

    def _thought_too_long(self, reply: ServerReply, request: Request) -> bool:
        """True when a reply was cut because thinking used the tokens of the answer."""
        if not reply.said.cut or (reply.text and not reply.said.thought):
            return False
        return 2 * self.count_tokens(reply.text) < request.max_tokens

    async def _fitted(self, request: Request, arguments: dict[str, Any]) -> ServerReply:
        """Sends a request in the form that the server accepts; refusals are learned, and the
        request is sent again.

        Raises:
            ServerRefusal: the server refuses the content, or the structure that is asked for.
        """
        contents = [str(message["content"]) for message in arguments["messages"]]
        counted = cache(lambda: sum(map(self.count_tokens, contents)))
        without: set[str] = set()
        most: dict[str, int] = {}
        for _ in range(_MOST_CHANGES):
            body = {"model": self._model, **self._options(request), **arguments}
            fitted = self._arguments.fitted(body, counted) | most
            fitted = {name: value for name, value in fitted.items() if name not in without}
            try:
                completion, seconds = await with_retries(
                    partial(self._once, request, fitted, counted),
                    self._settings.retries,
                    self._limiter.pause,
                )
            except ServerRefusal as refusal:
                if not without and self._may_fit(refusal, fitted, most):
                    continue
                if without or "logprobs" not in fitted:
                    raise
                without = {"logprobs", "top_logprobs"}  # it may be the odds that it refuses
                continue
            self._arguments.left_out |= without
            await self._turns.get().take()  # callers that wait for the place in flight send first
            return self._reply(completion, seconds, counted, request)
        raise CallFailed(
            f"{self._where} refuses every form of a request to {self._model!r}; use another "
            "model or server"
        )

    def _may_fit(
        self, refusal: ServerRefusal, body: Mapping[str, Any], most: dict[str, int]
    ) -> bool:
        """True when a refused request is worth another try; the limit of its reply is then put into
        `most`.
        """
        name = next((name for name in ROOMS if name in body), "")
        left = self._arguments.left(body.get(name, 0), refusal.text)
        if left and not most:
            most[name] = left
            return True
        if refusal.too_long:
            raise TruncatedReply(f"{refusal}; split the input") from refusal
        return self._arguments.refused(body, refusal.parameter, refusal.text)

    def _options(self, request: Request) -> dict[str, Any]:
        """The options of a request: its limit, temperature, and log-probabilities."""
        options: dict[str, Any] = {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens + self._arguments.room,
        }
        # Not every server takes a seed, and without chance none is needed.
        if request.temperature > 0:
            options["seed"] = self._settings.seed
        if request.prompt_hash and self._first is not Rung.GRAMMAR:  # our own server has one slot
            options[PREFIX] = request.prompt_hash[:32]
        if self._settings.reasoning_effort is not None:
            options["reasoning_effort"] = self._settings.reasoning_effort
        if request.logprobs or request.told:
            options["logprobs"] = True
        if request.told:
            options["top_logprobs"] = LISTED
        if self._arguments.streams or self._stops(request):
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        return options

    def _stops(self, request: Request) -> bool:
        """True when the reply is read while it is written, and stopped when nothing more can
        come.
        """
        return request.enough is not None and self._first is Rung.GRAMMAR

    async def _once(
        self, request: Request, body: Mapping[str, Any], counted: Callable[[], int]
    ) -> tuple[object, float]:
        """Sends a request once. Returns the completion and the seconds that it took."""
        if self._batched(request):
            started = time.perf_counter()
            reply = await self._batches_of(request).ask(body)
            return reply, time.perf_counter() - started
        async with self._gate.slot():
            estimate = counted() + request.max_tokens if self._settings.tpm else 0
            booking = await self._limiter.acquire(estimate)
            if request.before_sending is not None:
                request.before_sending()
            started = time.perf_counter()
            channel = self._channels.get()
            with translated(self._model, self._where, self._settings.timeout):
                if "stream" in body:
                    enough = request.enough if self._stops(request) else None
                    completion = await channel.stream(body, enough)
                else:
                    completion = await channel.post(body)
        self._limiter.settle(booking, total_of(completion) or estimate)
        if (error := error_of(completion)) is not None:
            raise status_error(*error, {}, self._model, self._where)
        return completion, time.perf_counter() - started

    def _reply(
        self, completion: object, seconds: float, counted: Callable[[], int], request: Request
    ) -> ServerReply:
        if is_page(completion) or (isinstance(completion, str) and not self._answered):
            raise not_the_interface(self._where, 200, completion)
        one = said(completion)
        if one is None:
            raise ModelError(
                f"model {self._model!r} at {self._where} sent a reply without choices "
                f"({str(completion)[:120]}); try again"
            )
        self._answered = True
        generated = one.generated
        if one.prompt is None and generated is None:
            generated = self.count_tokens(one.text)
        shown, generated = counted() if one.prompt is None else one.prompt, generated or 0
        kept = min(one.cached, shown)
        cost = self._prices.cost(self._model, shown, generated, kept)
        cost *= DISCOUNT if self._batched(request) else 1.0
        unpriced = self._model != LOCAL and self._prices.price(self._model) is None
        usage = Usage(1, 0, shown, generated, seconds, cost, int(unpriced), kept)
        if one.declined:
            declined = ModelRefusal(
                f"model {self._model!r} declined: {one.declined}; rephrase the question"
            )
            declined.usage = usage
            raise declined
        return ServerReply(one, usage, request.told)
