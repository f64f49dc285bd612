"""What a server sends in the place of a reply (`envelopes`), and what a model writes in one
(`replies`).
"""

# ruff: noqa: E501
from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from benchmarks.attack.tries import Try
from benchmarks.servers.loopback import Loopback
from sliders.llm import Message, OpenAIModel, Request
from sliders.llm.testing import requests_allowed
from sliders.settings import Settings

ROWS = {"rows": [{"a": "x"}]}
_TEXT = json.dumps(ROWS)
_ITEM = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_SCHEMA = {"type": "object", "properties": {"rows": {"type": "array", "items": _ITEM}}, "required": ["rows"]}  # fmt: skip
_TOKEN = {"token": "{", "logprob": -0.1, "top_logprobs": [{"token": "{", "logprob": -0.1}]}
JUNK = (None, True, 0, -1, 1e308, 10**30, "", "²", "\ud83d", [], {}, [None], [[]], {"a": 1}, float("nan"), float("-inf"))  # fmt: skip
_ALLOWED_SECONDS = 20.0


@dataclass(frozen=True)
class Sent:
    """A response of the server: bytes, headers, the request that it answers ("json", "told",
    "choices", "text"), and how many seconds lie between its bytes.
    """

    body: bytes
    kind: str = "json"
    encoding: str = ""
    events: bool = False
    drip: float = 0.0
    timeout: float = 30.0


def completion(text: Any = _TEXT, **changes: Any) -> dict[str, Any]:
    """A completion; `message`, `choice` and everything else change its parts."""
    message = {"role": "assistant", "content": text, **changes.pop("message", {})}
    choice = {"message": message, "finish_reason": "stop", **changes.pop("choice", {})}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"choices": [choice], "usage": usage, **changes}


def _body(data: Any) -> bytes:
    return json.dumps(data).encode()


def _deep(levels: int, name: str = "") -> str:
    one = f'{{"{name}":' if name else "["
    return one * levels + "1" + ("}" if name else "]") * levels


_PLACES: dict[str, Callable[[Any], Any]] = {
    "choices": lambda junk: completion(choices=junk),
    "choice": lambda junk: completion(choices=[junk]),
    "message": lambda junk: completion(choice={"message": junk}),
    "content": completion,
    "content part": lambda junk: completion([{"type": "text", "text": junk}]),
    "tool calls": lambda junk: completion(None, message={"tool_calls": junk}),
    "tool call": lambda junk: completion(None, message={"tool_calls": [junk]}),
    "function": lambda junk: completion(None, message={"tool_calls": [{"function": junk}]}),
    "arguments": lambda junk: completion(None, message={"tool_calls": [{"function": {"arguments": junk}}]}),
    "error": lambda junk: completion(error=junk),
    "whole": lambda junk: junk,
}  # fmt: skip
_HARMLESS: dict[str, Callable[[Any], Any]] = {
    "usage": lambda junk: completion(usage=junk),
    "total": lambda junk: completion(usage={"total_tokens": junk}),
    "prompt": lambda junk: completion(usage={"prompt_tokens": junk, "completion_tokens": junk}),
    "log-probabilities": lambda junk: completion(choice={"logprobs": junk}),
    "tokens": lambda junk: completion(choice={"logprobs": {"content": junk}}),
    "token": lambda junk: completion(choice={"logprobs": {"content": [{**_TOKEN, "token": junk}]}}),
    "logprob": lambda junk: completion(choice={"logprobs": {"content": [{**_TOKEN, "logprob": junk}]}}),
    "rivals": lambda junk: completion(choice={"logprobs": {"content": [{**_TOKEN, "top_logprobs": junk}]}}),
    "details": lambda junk: completion(usage={"completion_tokens_details": junk}),
}  # fmt: skip


def envelopes() -> Iterator[Try]:
    """Junk in every place of a completion, and bodies without an end."""
    for number, (place, make) in enumerate(_PLACES.items()):
        for junk in JUNK[number % 4 :: 4]:
            yield _try(f"junk: {place}", Sent(_body(make(junk))))
    for number, (place, make) in enumerate(_HARMLESS.items()):
        for junk in JUNK[number % 5 :: 5]:
            yield _try(f"control: junk in {place}", Sent(_body(make(junk)), "told"), ROWS)
    for size in (300, 900, 90_000):
        yield _try("deep envelope", Sent(b'{"choices": ' + _deep(size).encode() + b"}"), "refused")
    for delta in (5, {"tool_calls": 3}, {"tool_calls": [3]}, {"content": [3]}):
        lines = b"".join(
            b"data: %s\n\n" % _body({"choices": [{"delta": one}]})
            for one in (delta, {"content": _TEXT})
        )
        yield _try("control: odd events", Sent(lines + b"data: [DONE]\n\n", events=True), ROWS)
    for times in (1, 2):
        bomb, plain = b" " * (300 << 20), _body(completion())
        for _ in range(times):
            bomb, plain = gzip.compress(bomb), gzip.compress(plain)
        names = ", ".join(["gzip"] * times)
        yield _try("bomb", Sent(bomb, encoding=names), "refused")
        yield _try("control: packed", Sent(plain, encoding=names), ROWS)
    yield _try("bomb", Sent(zlib.compress(b" " * (300 << 20)), encoding="deflate"), "refused")
    yield _try("not packed", Sent(b"no", encoding="gzip"), "refused")
    for events in (False, True):
        slow = Sent(b" " * 900, events=events, drip=0.3, timeout=1.0)
        yield _try("a byte at a time", slow, "refused")


def _try(kind: str, sent: Sent, wanted: Any = "bounded") -> Try:
    return Try(kind, sent, wanted, _ALLOWED_SECONDS)


_THOUGHT = "We need rows, perhaps [1] or {2}. "
_AROUND: dict[str, Callable[[str], str]] = {
    "plain": lambda t: t,
    "fence": lambda t: f"```json\n{t}\n```",
    "think": lambda t: f"<think>{_THOUGHT}</think>{t}",
    "thinking": lambda t: f"<thinking>{_THOUGHT}</thinking>\n\n{t}",
    "spaced tag": lambda t: f"<seed:think>{_THOUGHT}</seed:think>{t}",
    "end alone": lambda t: f"{_THOUGHT}</think>{t}",
    "brackets": lambda t: f"[THINK]{_THOUGHT}[/THINK]{t}",
    "channels": lambda t: f"<|channel|>analysis<|message|>{_THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{t}",
    "stripped channels": lambda t: f"analysis{_THOUGHT}assistantfinal{t}",
    "words": lambda t: f"Here it is: {t} I hope it helps.",
    "string": json.dumps,
    "wrapper": lambda t: f'{{"result": {t}}}',
    "bare list": lambda t: json.dumps(json.loads(t)["rows"]),
    "single quotes": lambda t: str(json.loads(t)),
    "comment": lambda t: f"{t[:-1]} // that is all\n}}",
    "long thoughts": lambda t: f"<think>{_THOUGHT * 20_000}</think>{t}",
    "many thoughts": lambda t: "<think>a</think>" * 40_000 + t,
    "nested thoughts": lambda t: f"<think>{'<think>' * 90_000}</think>{t}",
}  # fmt: skip
_ENDLESS = ("<think>", "<think>a</think>", "</think", "<|channel|>a", "<|channel|>a<|message|>", "`", "``` ", "```json\n", "~~~\n", '"\\', '{"\\""', "{/*", "{'\\'", "{}", "[]", "{", "[", "[1,", '{"a":', '{"rows":[{"a":"x"},', "'", "\\", "[THINK]", "◁think▷", "1 ", "-1", ", ]", "//", "#", "assistantfinal", "analysisA", "\x00", "\ud83d", "é", "```\n~~~\n", "<seed:think>", "<a:", "data: ", '","', "null,")  # fmt: skip
_SIZES = (9, 3_000, 60_000, 700_000)
_ITEMS = ("x", "ü", "", " ", "</think>", "assistantfinal", "```", "a\nb", '"', "\\", "'", "{}", "=1", "NaN", "\u2028")  # fmt: skip


def replies() -> Iterator[Try]:
    """Right replies in every dress, endless ones, deep ones, and ones that were cut."""
    for dress, around in _AROUND.items():
        for item in _ITEMS if dress in ("plain", "fence") else _ITEMS[:4] + _ITEMS[9:11]:
            rows = {"rows": [{"a": item}]}
            text = around(json.dumps(rows, ensure_ascii=False))
            yield _try(f"control: {dress}", Sent(_body(completion(text))), rows)
    for piece in _ENDLESS:
        for size in _SIZES:
            yield _try(
                f"endless: {piece!a}", Sent(_body(completion(piece * (size // len(piece) + 1))))
            )
    for size in (59, 200, 900, 100_000):
        for name in ("", "a", "rows"):
            yield _try("deep", Sent(_body(completion(_deep(size, name)))))
    for size in (1, 5, 9, 13, 17, 21):
        text = json.dumps({"rows": [{"a": str(i)} for i in range(3)]})[: 10 * size]
        yield _try("cut", Sent(_body(completion(text, choice={"finish_reason": "length"}))))
    for kind in ("choices", "text"):
        for piece in _ENDLESS[:12]:
            yield _try(f"endless {kind}", Sent(_body(completion(piece * 90_000)), kind))
    for word in ("yes", "no", " Yes", "NO.", '"yes"', "yes\n"):
        told = word.strip(' ".\n').lower()
        yield _try("control: choice", Sent(_body(completion(word)), "choices"), told)


class _Server(Loopback):
    """Answers each request by what is set."""

    sent: Sent

    async def handle(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        one = self.sent
        headers = {"Content-Type": "text/event-stream" if one.events else "application/json"}
        if one.encoding:
            headers["Content-Encoding"] = one.encoding
        if not one.drip:
            return web.Response(body=one.body, headers=headers)
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        for byte in one.body:
            await response.write(bytes([byte]))
            await asyncio.sleep(one.drip)
        return response


def answered() -> Callable[[Try], Any]:
    """The data, or the text, that a model behind the server of a try gives."""
    server = _Server()
    server.__enter__()

    async def asked(sent: Sent) -> Any:
        given = {"retries": 0, "timeout": sent.timeout, "api_key": "k"}
        model = OpenAIModel("m", Settings(model="m", base_url=f"{server.address}/v1", **given))
        structured = sent.kind in ("json", "told")
        request = Request(
            "extract",
            (Message("user", "?"),),
            json_schema=_SCHEMA if structured else None,
            max_tokens=99,
            told=sent.kind == "told",
            choices=("yes", "no") if sent.kind == "choices" else (),
        )
        try:
            reply = await model.generate(request)
        finally:
            await model.aclose()
        assert reply.usage.tokens < 10**10
        return reply.data if structured else reply.text

    def act(one: Try) -> Any:
        server.sent = one.given
        with requests_allowed():
            return asyncio.run(asked(one.given))

    return act
