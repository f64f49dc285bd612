"""The completion of a server in one form, whatever the shape that it came in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sliders.llm.replies import without_halves

_CUT = {"length", "max_tokens", "model_length"}
_DECLINED = {"content_filter", "safety", "recitation", "prohibited_content"}
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought")
_THINK = re.compile(
    r"<(?P<tag>(?:\w+:)?(?:think|thinking|thought|reasoning))>.*?(?:</(?P=tag)>|\Z)"
    r"|\[THINK\].*?(?:\[/THINK\]|\Z)|◁think▷.*?(?:◁/think▷|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_THOUGHT_ENDS = re.compile(
    r"\A.*(?:</(?:\w+:)?(?:think|thinking|thought|reasoning)>|\[/THINK\]|◁/think▷)", re.DOTALL
)
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(\w+)((?:(?!<\|message\|>).)*)<\|message\|>(.*?)(?=<\||\Z)", re.DOTALL
)
"""A message of a channel, in the format in which gpt-oss writes: all are thoughts but "final", and
what is addressed to a tool.
"""


@dataclass(frozen=True, slots=True)
class Said:
    """What a completion says.

    `text` is the reply without thoughts, or the arguments of the tool that was called with the
    number `call_id`; `thought` says that the model thought before it, `cut` that it was stopped by
    its limit; `declined` is the reason for which it gave none, "" otherwise. `tokens` are those
    generated, as the chat API tells them, empty where thoughts are among them; `prompt` and
    `generated` count tokens, None where the server does not.
    """

    text: str
    call_id: str | None
    thought: bool
    cut: bool
    declined: str
    tokens: Sequence[Mapping[str, Any]]
    prompt: int | None
    generated: int | None


def error_of(completion: object) -> tuple[int, object] | None:
    """The status and the error of a completion that is one, sent with status 200 all the same."""
    body = completion if isinstance(completion, Mapping) else {}
    choice = _choice(body)
    own = (choice or {}).get("error") or (
        choice is not None and str(choice.get("finish_reason")).lower() == "error"
    )
    error = own if choice is not None else body.get("error")
    if completion == "" or (isinstance(completion, str) and completion.startswith("{")):
        error = "an empty reply" if not completion else f"a reply that was cut: {completion[:80]}"
    if not error:
        return None
    told = error if isinstance(error, Mapping) else body
    codes = (told.get(name) for name in ("code", "status", "status_code", "type"))
    return next((status for code in codes if (status := _status(code))), 500), {"error": error}


def _status(code: object) -> int | None:
    """An error's code as a status of HTTP; None where it is none that is known."""
    if isinstance(code, int) or (isinstance(code, str) and code.isdigit()):
        return int(code) if 400 <= int(code) < 600 else None
    word = str(code or "").lower()
    known = {"rate_limit": 429, "exhausted": 429, "overloaded": 503, "auth": 401, "invalid": 400}
    return next((status for part, status in known.items() if part in word), None)


def said(completion: object) -> Said | None:
    """What a completion says; None for something else than a completion."""
    body = completion if isinstance(completion, Mapping) else {}
    choice = _choice(body)
    if not choice:
        return None
    message = choice.get("message") or choice.get("delta") or choice
    message = message if isinstance(message, Mapping) else {"content": message}
    whole = _joined(message.get("content", message.get("text")))
    text = answer_of(whole)
    called = _call(message)
    reason = str(choice.get("finish_reason") or "").lower()
    usage = _mapping(body.get("usage"))
    thinking = _count(_mapping(usage.get("completion_tokens_details")), "reasoning_tokens")
    thought = bool(thinking or text != whole or any(message.get(name) for name in _THOUGHTS))
    declined = message.get("refusal") or (reason if reason in _DECLINED else "")
    return Said(
        without_halves(text if called is None else called[1]),
        None if called is None else called[0],
        thought,
        reason in _CUT,
        str(declined),
        () if text != whole else _tokens(choice),
        _count(usage, "prompt_tokens", "input_tokens"),
        _count(usage, "completion_tokens", "output_tokens"),
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    """The first of these counts that a usage has, whatever form its numbers have."""
    told = (str(usage.get(name)).removesuffix(".0") for name in names)
    return next((int(number) for number in told if number.isdigit()), None)


def _tokens(choice: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The tokens of a reply with their log-probabilities, where the server tells them."""
    told = _mapping(choice.get("logprobs")).get("content")
    tokens = told if isinstance(told, list) else ()
    whole = all(isinstance(one, Mapping) and {"token", "logprob"} <= one.keys() for one in tokens)
    return tokens if whole else ()


def answer_of(text: str) -> str:
    """A reply without the thoughts that stand before it; text that only mentions such marks inside
    JSON stays.
    """
    if text.lstrip().startswith(("{", "[{", '["')):
        return text
    if channels := _CHANNEL.findall(text):
        final = [said for name, _, said in channels if name == "final"]
        return "".join(final or [said for _, head, said in channels if "to=" in head])
    without = _THINK.sub("", text)
    return (
        _THOUGHT_ENDS.sub("", without).strip() if without != text else _THOUGHT_ENDS.sub("", text)
    )


def _choice(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first choice of a completion; a message without choices is one, too."""
    choices = body.get("choices")
    if isinstance(choices, list):
        first = choices[0] if choices else None
        return first if isinstance(first, Mapping) else None
    return body if isinstance(body.get("message"), Mapping) else None


def _joined(content: object) -> str:
    """The content of a message in one piece: some come in parts, with thoughts among them."""
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    if isinstance(content, Mapping):  # JSON that was not written as text
        return json.dumps(content, ensure_ascii=False)
    return str(content or "")


def _call(message: Mapping[str, Any]) -> tuple[str, str] | None:
    """The number of the first tool call of a message, and the arguments of all of them as text."""
    told = message.get("tool_calls") or [message.get("function_call")]
    calls = [call for call in told if isinstance(call, Mapping)] if isinstance(told, list) else []
    if not calls:
        return None
    return str(calls[0].get("id") or "call_1"), "\n".join(map(_arguments, calls))


def _arguments(call: Mapping[str, Any]) -> str:
    function = _mapping(call.get("function")) or call
    given = function.get("arguments", function.get("parameters", function.get("input")))
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
