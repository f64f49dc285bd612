"""The door to every model: an OpenAI-compatible server, asked for JSON in the
strongest way that it has.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import openai
from instructor.v2.core.errors import ResponseParsingError
from pydantic import BaseModel, ValidationError

from sliders.errors import CallFailed, ModelError, ModelRefusal, ModelUnavailable, TruncatedReply
from sliders.llm import ladder
from sliders.llm.dialect import FULL, Dialect
from sliders.llm.ladder import Rung
from sliders.llm.limits import Gate, Limiter, RateLimiter
from sliders.llm.loops import PerLoop, Turns
from sliders.llm.model import FinishReason, Request, Response, Usage
from sliders.llm.network_switch import check_requests_allowed
from sliders.llm.odds import LISTED, chosen, odds_of, sureness, told_odds
from sliders.llm.replies import (
    Shape,
    complete_items,
    is_closed,
    plain_data,
    shape_of,
    told,
    unwrapped,
    without_bad_items,
    without_halves,
)
from sliders.llm.retry import ServerRefusal, translated, with_retries
from sliders.llm.tokens import context_window, token_counter
from sliders.llm.transport import Channel
from sliders.llm.usage import PriceTable
from sliders.settings import Settings

_REASONING = 16_000
"""Tokens that a vendor's reasoning model may think in, which its limit counts;
it takes no temperature and no `max_tokens`.
"""


@dataclass(frozen=True, slots=True)
class _Reply:
    """One answer of the server, not yet parsed; `tokens` are those generated, with their rivals
    where they were asked for.
    """

    message: Mapping[str, Any]
    text: str
    finish_reason: FinishReason
    usage: Usage
    tokens: Sequence[Mapping[str, Any]]
    told: bool

    @property
    def first(self) -> Sequence[Mapping[str, Any]]:
        """The likeliest first tokens."""
        return (self.tokens[0].get("top_logprobs") or self.tokens[:1]) if self.tokens else ()

    def response(self, data: Any = None, *, salvaged: bool = False) -> Response:
        logs = () if self.told else tuple(token["logprob"] for token in self.tokens)
        odds, sure = (told_odds(self.tokens), sureness(self.tokens)) if self.told else ({}, {})
        return Response(
            self.text, data, self.finish_reason, self.usage, "", salvaged, logs, odds, sure
        )


class _Unusable(Exception):
    """A reply that does not fit, with what is wrong about it."""

    def __init__(self, text: str, wrong: Sequence[str], usage: Usage) -> None:
        super().__init__("; ".join(wrong))
        self.text, self.wrong, self.usage = text, wrong, usage


class OpenAIModel:
    """A model behind any server that speaks the OpenAI chat API.

    Structured replies go down a ladder (grammar, then the modes of `instructor`); the rung that
    works is remembered. `instructor` prepares requests, parses and checks replies and words the one
    correction; a list whose tail is broken keeps its complete items.

    Args:
        model: the name that the server knows.
        settings: server, key, limits, time-out and retries.
        prices: price table for `Usage.cost`.
        name: name in the ledger, `model` when left out.
        first_rung: where the ladder starts; GRAMMAR for servers of the llama.cpp family.
        dialect: how the model is asked.
        gate, limiter: shared by several models of one server.
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
        gate: Gate | None = None,
        limiter: Limiter | None = None,
    ) -> None:
        self._model, self._settings, self.name, self.dialect = (
            model,
            settings,
            name or model,
            dialect,
        )
        self.context_tokens = settings.context_tokens or context_window(model)
        self._prices = prices or PriceTable()
        self._first, self._worked, self._skipped = first_rung, set[Rung](), set[Rung]()
        self._tells_odds = True
        self._reasons = settings.base_url is None and model.startswith(("o1", "o3", "o4", "gpt-5"))
        self._gate = gate or Gate(settings.concurrency)
        self._limiter: Limiter = limiter or RateLimiter(settings.rpm, settings.tpm)
        self.count_tokens = token_counter(self.name)
        self._channels, self._turns = PerLoop(self._channel), PerLoop(Turns)

    @property
    def rung(self) -> Rung:
        """The way of asking for JSON that this server is asked in now."""
        return self._rungs()[0]

    async def generate(self, request: Request) -> Response:
        """Answer one request; see `Model.generate`."""
        check_requests_allowed(f"{self._model} at {self._where}")
        if not self._tells_odds:
            request = replace(request, told=False, logprobs=False)
        if request.choices:
            return await self._chosen(request)
        shape = shape_of(request)
        if shape is not None:
            return await self._structured(request, shape)
        try:
            reply = await self._send(request, {"messages": ladder.wire_messages(request.messages)})
        except ServerRefusal as refusal:
            raise CallFailed(f"{refusal}; check that {self._model!r} is a chat model") from refusal
        return replace(
            reply.response(), text=unwrapped(reply.text) if "<think>" in reply.text else reply.text
        )

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        channel = self._channels.drop()
        if channel is not None:
            await channel.aclose()

    @property
    def _where(self) -> str:
        return self._settings.base_url or "the OpenAI API"

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self._model, self._where, self._settings.timeout)

    def _channel(self) -> Channel:
        key = self._settings.api_key or ("unused" if self._settings.base_url else None)
        if key is None:
            raise ModelUnavailable(
                f"model {self._model!r} needs a key: set OPENAI_API_KEY, or SLIDERS_BASE_URL for a "
                "server of your own, or leave the model out for the embedded one"
            )
        # Retries are ours: they honour Retry-After for all calls of the server at once.
        client = openai.AsyncOpenAI(api_key=key, base_url=self._settings.base_url, max_retries=0)
        return Channel(client, self._settings.timeout)

    async def _chosen(self, request: Request) -> Response:
        """One token, and the odds of each choice where the server tells them."""
        asked = {"messages": ladder.wire_messages(request.messages)}
        request, reply = replace(request, max_tokens=1), None
        if self._tells_odds:
            with suppress(ServerRefusal):
                reply = await self._send(
                    request, {**asked, "logprobs": True, "top_logprobs": LISTED}
                )
        if reply is None:
            try:
                reply = await self._send(replace(request, logprobs=False), asked)
            except ServerRefusal as refusal:
                raise CallFailed(
                    f"{refusal}; check that {self._model!r} is a chat model"
                ) from refusal
            self._tells_odds = False  # they alone were refused
        odds = odds_of(request.choices, reply.first)
        text = (
            max(odds, key=lambda choice: odds[choice])
            if odds
            else chosen(reply.text, request.choices)
        )
        if text is None:
            raise self._refused(
                request, f"it said {reply.text[:120]!r}, which is no choice", reply.usage
            )
        return Response(text, odds or None, usage=reply.usage, odds=odds)

    async def _structured(self, request: Request, shape: Shape) -> Response:
        spent, tried = Usage(), set[Rung]()
        told = "the server refuses every way of asking; check that it is a chat model"
        for rung in self._rungs():
            try:
                response = await self._on_rung(request, shape, rung)
            except ServerRefusal as refusal:
                if request.told or request.logprobs:  # it may be the odds that it refuses
                    response = await self._structured(
                        replace(request, told=False, logprobs=False), shape
                    )
                    self._tells_odds = rung in self._skipped  # else it is this way of asking
                    return response
                tried.add(rung)  # the server does not know this way of asking
                told = f"{refusal}; check that it is a chat model"
                continue
            except ModelError as error:
                _add_paid(error, spent)
                raise
            except _Unusable as unusable:
                tried.add(rung)
                spent += unusable.usage
                told = (
                    f"{unusable}; it said {unusable.text[:120]!r}; a larger model or a "
                    "simpler schema may do"
                )
                if rung in self._worked:
                    break  # the way works with this server: this failure is the model's own
                continue
            self._worked.add(rung)
            self._skipped |= tried - self._worked
            return replace(response, usage=spent + response.usage)
        raise self._refused(request, told, spent)

    def _refused(self, request: Request, told: str, spent: Usage) -> ModelRefusal:
        error = ModelRefusal(
            f"model {self._model!r} gave no usable reply in stage {request.stage!r}: {told}"
        )
        error.usage = spent
        return error

    def _rungs(self) -> list[Rung]:
        return [rung for rung in Rung if rung >= self._first and rung not in self._skipped]

    async def _on_rung(self, request: Request, shape: Shape, rung: Rung) -> Response:
        arguments = ladder.ask(rung, request.messages, shape)
        first = await self._send(request, arguments)
        try:
            return self._read(first, rung, shape)
        except _Unusable as unusable:
            wrong = ValueError("\n".join(unusable.wrong))
        try:
            second = await self._send(
                request, ladder.ask_again(rung, arguments, first.message, wrong)
            )
            spent = first.usage + second.usage
            response = self._read(second, rung, shape)
        except ModelError as error:
            _add_paid(error, first.usage)
            raise
        except _Unusable as unusable:
            kept = _good_items(second, shape) or _good_items(first, shape)
            if kept is None:
                raise _Unusable(second.text, unusable.wrong, spent) from unusable
            response = kept
        return replace(response, usage=spent)

    def _read(self, reply: _Reply, rung: Rung, shape: Shape) -> Response:
        """The reply as data.

        Raises _Unusable: it does not fit; TruncatedReply: it stopped at the limit and no complete
        item of a list could be kept.
        """
        try:
            return reply.response(plain_data(_parsed(reply, rung, shape)))
        except ValidationError as error:
            broken, wrong = error.errors()[0]["type"] == "json_invalid", told(error)
        except (ResponseParsingError, ValueError) as error:
            broken, wrong = True, (str(error),)
        cut = reply.finish_reason == "length"
        if (cut or broken) and (kept := _good_items(reply, shape)):
            return kept
        if cut:
            raise self._truncated(reply)
        raise _Unusable(reply.text, wrong, reply.usage)

    def _truncated(self, reply: _Reply) -> TruncatedReply:
        error = TruncatedReply(
            f"the reply of {self._model!r} stopped at its limit after "
            f"{reply.usage.completion_tokens} tokens and holds no complete item; split the input "
            "or raise max_tokens",
            partial=reply.text,
        )
        error.usage = reply.usage
        return error

    async def _send(self, request: Request, arguments: dict[str, Any]) -> _Reply:
        shown = (self.count_tokens(message["content"]) for message in arguments["messages"])
        estimate = sum(shown) + request.max_tokens if self._settings.tpm else 0
        reasons = self._reasons
        body = {"model": self._model, **self._options(request), **arguments}
        try:
            completion, seconds = await with_retries(
                partial(self._once, request, body, estimate),
                self._settings.retries,
                self._limiter.pause,
            )
        except ServerRefusal as refusal:
            if reasons or "max_completion_tokens" not in str(refusal):
                raise
            self._reasons = True  # such a model at an address that is given
            return await self._send(request, arguments)
        await self._turns.get().take()  # who waits for the place in flight sends first
        return self._reply(completion, seconds, arguments, request.told)

    def _options(self, request: Request) -> dict[str, Any]:
        """How the model is to write: its limit, chance, and what it tells of its choices."""
        if self._reasons:
            options: dict[str, Any] = {"max_completion_tokens": request.max_tokens + _REASONING}
        else:
            options = {"temperature": request.temperature, "max_tokens": request.max_tokens}
            # Not every server takes a seed, and without chance none is needed.
            if request.temperature > 0:
                options["seed"] = self._settings.seed
        if request.logprobs or request.told:
            options["logprobs"] = True
        if request.told:
            options["top_logprobs"] = LISTED
        return options

    async def _once(
        self, request: Request, body: Mapping[str, Any], estimate: int
    ) -> tuple[Mapping[str, Any], float]:
        """Send a request once; the completion and the seconds that it took."""
        async with self._gate.slot():
            booking = await self._limiter.acquire(estimate)
            if request.before_sending is not None:
                request.before_sending()
            started = time.perf_counter()
            channel = self._channels.get()
            with self._translated():
                if request.enough is not None and self._first is Rung.GRAMMAR:
                    sent: object = await channel.stream(body, request.enough)
                else:
                    sent = await channel.post(body)
        completion: Mapping[str, Any] = sent if isinstance(sent, dict) else {}
        used = (completion.get("usage") or {}).get("total_tokens")
        self._limiter.settle(booking, used or estimate)
        return completion, time.perf_counter() - started

    def _reply(
        self,
        completion: Mapping[str, Any],
        seconds: float,
        arguments: Mapping[str, Any],
        told: bool,
    ) -> _Reply:
        choice = next(iter(completion.get("choices") or ()), None)
        if not choice:
            told_instead = f" ({completion['error']})" if completion.get("error") else ""
            raise ModelError(
                f"model {self._model!r} at {self._where} sent a reply without "
                f"choices{told_instead}; try again"
            )
        message, text = _message_and_text(choice.get("message") or {})
        counted = completion.get("usage") or {}
        prompt, generated = counted.get("prompt_tokens"), counted.get("completion_tokens")
        if prompt is None:
            prompt = sum(self.count_tokens(message["content"]) for message in arguments["messages"])
            generated = self.count_tokens(text) if generated is None else generated
        generated = generated or 0
        cost = self._prices.cost(self._model, prompt, generated)
        usage = Usage(1, 0, prompt, generated, seconds, cost)
        reason = choice.get("finish_reason")
        if message.get("refusal") or reason == "content_filter":
            declined = ModelRefusal(
                f"model {self._model!r} declined: {message.get('refusal') or reason}; "
                "rephrase the question"
            )
            declined.usage = usage
            raise declined
        tokens = (choice.get("logprobs") or {}).get("content") or ()
        ended: FinishReason = "length" if reason == "length" else "stop"
        return _Reply(message, text, ended, usage, tokens, told)


def _message_and_text(message: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """A message of the server with its text in one piece, and that text or what its tool was
    called with.
    """
    called = message.get("tool_calls")
    text = (called[0]["function"]["arguments"] if called else message.get("content")) or ""
    if isinstance(text, list):  # parts, with those of a model's reasoning among them
        text = "".join(part.get("text") or "" for part in text)
        message = {**message, "content": text}
    return message, without_halves(text)


def _add_paid(error: ModelError, before: Usage) -> None:
    """Count what was paid before an error, too."""
    error.usage = before + error.usage if isinstance(error.usage, Usage) else before


def _parsed(reply: _Reply, rung: Rung, shape: Shape) -> BaseModel:
    """The reply by the mode that asked for it, else by the mode that looks for JSON inside text."""
    if reply.message.get("tool_calls"):
        return ladder.parse(Rung.TOOLS, reply.message, shape)
    text = unwrapped(reply.text)
    message = {"content": text}
    try:
        return ladder.parse(rung, message, shape)
    except (ResponseParsingError, ValidationError):
        if not is_closed(text):  # a part of a value that is cut is not the reply
            raise
    try:
        return ladder.parse(Rung.MD_JSON, message, shape)
    except ValidationError:  # line breaks inside strings are common and harmless
        return shape.model_validate(json.loads(text, strict=False))


def _good_items(reply: _Reply, shape: Shape) -> Response | None:
    """What is complete of the reply, without list items that do not fit: one bad row does
    not cost the others.
    """
    text = unwrapped(reply.text)
    items = complete_items(text)
    data = None if items is None else without_bad_items(items, shape)
    return None if data is None else reply.response(data, salvaged=True)
