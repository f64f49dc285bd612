"""Ten small requests to the configured model. Each gives a line that says whether a feature
works.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sliders.compact.embedded_model import LocalModel
from sliders.engine.connections import connect
from sliders.errors import ModelError, ModelUnavailable
from sliders.llm.client import OpenAIModel
from sliders.llm.model import Message, Request, Response
from sliders.settings import Settings

_PROBED_TOKENS = 4_000
_TOWNS = ("Arles", "Bern", "Cork", "Delft", "Evora", "Fes")


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of one request: the name of the feature, whether it works (None for a measurement,
    which is no fault), and the line for the user.
    """

    name: str
    works: bool | None
    said: str

    def __str__(self) -> str:
        mark = {True: "yes", False: "no", None: "-"}[self.works]
        return f"{self.name:<20}{mark:<5}{self.said}"


async def check_model(settings: Settings) -> list[Probe]:
    """Sends ten small requests to the configured model, and returns a result for each.

    Raises:
        ModelUnavailable: the model does not answer at all.
    """
    models = connect(settings)
    model = models.direct("extract")
    client = await asyncio.to_thread(model.started) if isinstance(model, LocalModel) else model
    probes = []
    try:
        if not isinstance(client, OpenAIModel):
            raise ModelUnavailable("a test double is no model server; name a model to check")
        for name, ask in _REQUESTS.items():
            try:
                works, said = await ask(client)
            except ModelUnavailable:
                raise
            except ModelError as error:
                works, said = False, str(error)
            probes.append(Probe(name, works, " ".join(said.split())[:150]))
    finally:
        await models.aclose()
    return probes


def _request(text: str, **more: Any) -> Request:
    messages = (Message("system", "You follow instructions exactly."), Message("user", text))
    return Request("extract", messages, **{"max_tokens": 300, **more})


def _list_of(item: Mapping[str, Any]) -> dict[str, Any]:
    lists = {"rows": {"type": "array", "items": dict(item)}}
    return _closed(lists)


def _closed(members: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(members),
        "required": list(members),
        "additionalProperties": False,
    }


_ROW = _closed({"name": {"type": "string"}, "number": {"type": "integer"}})


async def _timed(model: OpenAIModel, request: Request) -> tuple[Response, float]:
    started = time.perf_counter()
    return await model.generate(request), time.perf_counter() - started


async def _answers(model: OpenAIModel) -> tuple[bool, str]:
    reply, seconds = await _timed(model, _request("Reply with the one word: ready"))
    return "ready" in reply.text.lower(), f"{reply.text[:40]!r} after {seconds:.1f} s"


async def _structure(model: OpenAIModel) -> tuple[bool, str]:
    ask = _request(
        'Reply with JSON: {"town": the town in "We met in Cork."}',
        json_schema=_closed({"town": {"type": "string"}}),
    )
    reply = await model.generate(ask)
    return reply.data["town"] == "Cork", f"asked for by {model.rung.name.lower()}"


async def _rows(model: OpenAIModel) -> tuple[bool, str]:
    text = " ".join(f"{town} has {n} bridges." for n, town in enumerate(_TOWNS, 2))
    ask = f'Reply with JSON: {{"rows": [{{"name": town, "number": its bridges}}]}}\n{text}'
    reply = await model.generate(_request(ask, json_schema=_list_of(_ROW)))
    right = [(row["name"], row["number"]) for row in reply.data["rows"]]
    return right == [(t, n) for n, t in enumerate(_TOWNS, 2)], f"{len(right)} of 6 rows"


async def _long_reply(model: OpenAIModel) -> tuple[bool, str]:
    ask = 'Reply with JSON: {"rows": the whole numbers from 1 to 60}'
    schema = _list_of({"type": "integer"})
    reply = await model.generate(_request(ask, json_schema=schema, max_tokens=900))
    whole = reply.data["rows"] == list(range(1, 61)) and reply.finish_reason == "stop"
    return whole, f"{len(reply.data['rows'])} of 60 numbers"


async def _odds(model: OpenAIModel) -> tuple[bool | None, str]:
    ask = _request("Is Cork a town? Answer yes or no.", choices=("yes", "no"))
    reply = await model.generate(ask)
    told = ", ".join(f"{choice} {log:.2f}" for choice, log in reply.odds.items())
    return bool(reply.odds) or None, told or "not told; judgements rest on its word"


async def _odds_of_members(model: OpenAIModel) -> tuple[bool | None, str]:
    schema = _closed({"town": {"type": ["string", "null"]}})
    ask = _request('Reply with JSON: {"town": "Cork"}', json_schema=schema, told=True)
    reply = await model.generate(ask)
    return bool(reply.odds) or None, "told for each member" if reply.odds else "not told"


async def _context(model: OpenAIModel) -> tuple[bool, str]:
    size = min(_PROBED_TOKENS, model.context_tokens - 1_000)
    line = "The ferry left the quay in time and came back in the evening. "
    filler = line * max(1, size // model.count_tokens(line))
    ask = f"The word of the day is HERON.\n{filler}\nWhat is the word of the day? One word."
    reply, seconds = await _timed(model, _request(ask))
    shown = f"{reply.usage.prompt_tokens} tokens of a prompt in {seconds:.1f} s, window taken as "
    return "HERON" in reply.text.upper(), f"{shown}{model.context_tokens}"


async def _thinking(model: OpenAIModel) -> tuple[bool | None, str]:
    reply = await model.generate(_request("How much is 17 * 23? Reply with the number alone."))
    room = f"thinks; it gets {model.room} tokens for that" if model.room else "does not think"
    return None, f"{room}; 17 * 23 = {reply.text.strip()[:20]}"


async def _speed(model: OpenAIModel) -> tuple[bool | None, str]:
    ask = _request("Write the whole numbers from 1 to 100 with commas.", max_tokens=400)
    reply, seconds = await _timed(model, ask)
    return None, f"{reply.usage.completion_tokens / seconds:.0f} tokens a second"


async def _at_once(model: OpenAIModel) -> tuple[bool | None, str]:
    started = time.perf_counter()
    asks = (_timed(model, _request(f"Reply with the one word: {town}")) for town in _TOWNS[:4])
    alone = sum(seconds for _, seconds in await asyncio.gather(*asks))
    seconds = time.perf_counter() - started
    return None, f"four requests at once took {seconds:.1f} s, one by one {alone:.1f} s"


_Ask = Callable[[OpenAIModel], Awaitable[tuple[bool | None, str]]]
_REQUESTS: Mapping[str, _Ask] = {
    "answers": _answers,
    "structured output": _structure,
    "rows": _rows,
    "long reply": _long_reply,
    "log-probabilities": _odds,
    "odds of members": _odds_of_members,
    "context": _context,
    "thinking": _thinking,
    "speed": _speed,
    "at once": _at_once,
}
