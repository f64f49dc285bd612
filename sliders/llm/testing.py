"""Test doubles of a model, for tests of this package and of programs that use it. None of them
reaches a network.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from sliders.errors import ModelRefusal, TruncatedReply
from sliders.llm import network_switch
from sliders.llm.dialect import FULL, Dialect
from sliders.llm.model import Request, Response, Usage
from sliders.llm.replies import plain_data, shape_of, told

ONE_DOCUMENT = replace(FULL, documents_per_call=1, standing_first=False)
"""The full dialect with one document for each reading call, and with columns planned for each
question; the default of the doubles (`dialect=FULL` changes it).
"""
Reply = str | Mapping[str, Any] | list[Any] | Response | Exception


@contextmanager
def requests_allowed(allowed: bool = True) -> Iterator[None]:
    """Sets `network_switch.ALLOW_REQUESTS` for the `with` block."""
    before = network_switch.ALLOW_REQUESTS
    network_switch.ALLOW_REQUESTS = allowed
    try:
        yield
    finally:
        network_switch.ALLOW_REQUESTS = before


_listeners: list[Callable[[Request], None]] = []


@contextmanager
def requests_heard_by(listener: Callable[[Request], None]) -> Iterator[None]:
    """Calls `listener` with each request to any double in the `with` block, before the double
    replies.
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _compact(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=dict)


class _Double:
    """The common part of the doubles: a name, a window, a history, and replies that are checked
    like a server's.
    """

    def __init__(self, name: str, context_tokens: int, latency: float, dialect: Dialect) -> None:
        self.name, self.context_tokens, self.dialect, self._latency = (
            name,
            context_tokens,
            dialect,
            latency,
        )
        self.history: list[Request] = []
        self.in_flight = 0
        self.most_in_flight = 0

    def count_tokens(self, text: str) -> int:
        """A quarter of the characters, rounded up."""
        return (len(text) + 3) // 4

    async def generate(self, request: Request) -> Response:
        """See `Model.generate`; the request is kept in `history`."""
        self.history.append(request)
        for listener in tuple(_listeners):
            listener(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self._latency:
                await asyncio.sleep(self._latency)
            return self._respond(request, await self._reply(request))
        finally:
            self.in_flight -= 1

    async def _reply(self, request: Request) -> Reply:
        raise NotImplementedError

    def _respond(self, request: Request, reply: Reply) -> Response:
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Response):
            return reply
        if request.choices:
            return self._chosen(request, reply)
        text = reply if isinstance(reply, str) else _compact(reply)
        data: Any = None
        shape = shape_of(request)
        if shape is not None:
            try:
                data = plain_data(shape.model_validate_json(text))
            except ValidationError as error:
                raise ModelRefusal(
                    f"the double's reply does not fit the schema of stage {request.stage}: "
                    f"{'; '.join(told(error))}; it is {text[:80]!r}"
                ) from error
        return Response(text, data, usage=self._usage(request, text))

    def _chosen(self, request: Request, reply: str | Mapping[str, Any] | list[Any]) -> Response:
        """A choice, or the given odds of choices; a choice without odds gets the lowest of them,
        minus 1.
        """
        given = reply if isinstance(reply, Mapping) else {}
        text = max(given, key=lambda choice: given[choice]) if given else str(reply)
        if not {text, *given} <= set(request.choices):
            raise ModelRefusal(
                f"the double's reply {reply!r} is none of the choices {', '.join(request.choices)}"
            )
        odds = {
            choice: float(given.get(choice, min(given.values()) - 1.0))
            for choice in request.choices
            if given
        }
        return Response(text, odds or None, usage=self._usage(request, "x"), odds=odds)

    def _usage(self, request: Request, text: str) -> Usage:
        prompt = sum(self.count_tokens(message.content) for message in request.messages)
        return Usage(1, 0, prompt, self.count_tokens(text), self._latency)


class ScriptedModel(_Double):
    """Replies from a script.

    Args:
        replies: a sequence, taken in order; or a mapping from a stage, or from words that stand in
            the messages, to a reply or to a sequence of replies. A reply is text, JSON data, a
            `Response`, or an exception to raise.
        repeat_last: True repeats the last reply of a sequence that is used up.
    """

    def __init__(
        self,
        replies: Iterable[Reply] | Mapping[str, Any],
        *,
        repeat_last: bool = False,
        name: str = "scripted",
        context_tokens: int = 8192,
        latency: float = 0.0,
        dialect: Dialect = ONE_DOCUMENT,
    ) -> None:
        super().__init__(name, context_tokens, latency, dialect)
        self._repeat_last = repeat_last
        table = replies if isinstance(replies, Mapping) else {"": list(replies)}
        self._replies: dict[str, Any] = {
            k: list(v) if isinstance(v, list | tuple) else v for k, v in table.items()
        }

    @property
    def remaining(self) -> int:
        """The number of replies in sequences that were not used."""
        return sum(len(queue) for queue in self._replies.values() if isinstance(queue, list))

    async def _reply(self, request: Request) -> Reply:
        text = "\n".join(message.content for message in request.messages)
        key = (
            request.stage
            if request.stage in self._replies
            else next((k for k in self._replies if k in text), None)
        )
        known: Any = [] if key is None else self._replies[key]
        if isinstance(known, list):
            if not known:
                raise ModelRefusal(
                    f"the script has no reply for call {len(self.history)}, stage "
                    f"{request.stage!r}: {text[-200:]!r}"
                )
            known = known[0] if self._repeat_last and len(known) == 1 else known.pop(0)
        reply: Reply = known
        return reply


class FunctionModel(_Double):
    """Replies by a function of the request, plain or async; it returns what a
    `ScriptedModel` may reply.
    """

    def __init__(
        self,
        function: Callable[[Request], Reply | Awaitable[Reply]],
        *,
        name: str = "function",
        context_tokens: int = 8192,
        latency: float = 0.0,
        dialect: Dialect = ONE_DOCUMENT,
    ) -> None:
        super().__init__(name, context_tokens, latency, dialect)
        self._function = function

    async def _reply(self, request: Request) -> Reply:
        reply = self._function(request)
        return await reply if inspect.isawaitable(reply) else reply


def truncated(partial: str = "") -> TruncatedReply:
    """Returns the error of a reply that was cut at its limit; `partial` is the text before the cut.
    For scripts.
    """
    return TruncatedReply("the reply stopped at its limit; split the input", partial=partial)
