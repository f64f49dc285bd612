"""The completion of a server in one form, whatever form the server sent."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sliders.llm.replies import without_halves

_CUT = {"length", "max_tokens", "model_length"}
_DECLINED = {"content_filter", "safety", "recitation", "prohibited_content"}
_PROMPT = ("prompt_tokens", "input_tokens")
_GENERATED = ("completion_tokens", "output_tokens")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought")
_TAG = re.compile(
    r"<(?P<ends>/?)(?P<tag>(?:\w+:)?(?:think|thinking|thought|reasoning))>"
    r"|\[(?P<close>/?)THINK\]|◁(?P<shut>/?)think▷",
    re.IGNORECASE,
)
_CHANNEL, _MESSAGE = "<|channel|>", "<|message|>"
_STRIPPED, _FINAL = re.compile(r"\s*(?:analysis|commentary)(?=[A-Z\d])"), "assistantfinal"
"""Channels of gpt-oss whose marks a server took away: "analysisWe need ... assistantfinal{"."""
_MOST_TOKENS = 10**9
_LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class Said:
    """The content of a completion.

    `text` is the reply without thoughts, or the arguments of the tool call with the id `call_id`;
    `thought` is True when the model thought before it, `cut` when the limit stopped it; `declined`
    is the reason when the model refused to answer, "" otherwise. `tokens` are the generated tokens
    in the form of the chat API, empty when thoughts are among them. `prompt` and `generated` count
    tokens, None when the server does not; `cached` counts the prompt tokens from the server's
    cache.
    """

    text: str
    call_id: str | None
    thought: bool
    cut: bool
    declined: str
    tokens: Sequence[Mapping[str, Any]]
    prompt: int | None
    generated: int | None
    cached: int = 0


def error_of(completion: object) -> tuple[int, object] | None:
    """Returns the status and the error of a completion that is an error sent with status 200; None
    for any other.
    """
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
    codes = [told.get(name) for name in ("code", "status", "status_code", "type")]
    codes += ["no_endpoint"] if "unexpected endpoint" in str(error).lower() else []
    return next((status for code in codes if (status := _status(code))), 500), {"error": error}


def _status(code: object) -> int | None:
    """The HTTP status that an error's code means; None for an unknown code."""
    if type(code) is int or re.fullmatch(r"[0-9]{3}", str(code)):
        return status if 400 <= (status := int(str(code))) < 600 else None
    word = str(code or "").lower()
    known = {
        "no_endpoint": 404,
        "rate_limit": 429,
        "exhausted": 429,
        "overloaded": 503,
        "auth": 401,
        "invalid": 400,
    }
    return next((status for part, status in known.items() if part in word), None)


def said(completion: object) -> Said | None:
    """Returns the content of a completion; None for anything else."""
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
    prompt, generated = _count(usage, *_PROMPT), _count(usage, *_GENERATED)
    thinking = _count(_mapping(usage.get("completion_tokens_details")), "reasoning_tokens")
    total = _count(usage, "total_tokens")
    if prompt and generated and total and total > prompt + generated:
        thinking = total - prompt - generated  # some servers count thoughts in the total alone
        generated += thinking
    thought = bool(thinking or text != whole or any(message.get(name) for name in _THOUGHTS))
    declined = message.get("refusal") or (reason if reason in _DECLINED else "")
    return Said(
        without_halves(text if called is None else called[1]),
        None if called is None else called[0],
        thought,
        reason in _CUT,
        str(declined)[:_LONGEST_REASON],
        () if text != whole else _tokens(choice),
        prompt,
        generated,
        _cached(usage),
    )


def _cached(usage: Mapping[str, Any]) -> int:
    """The prompt tokens that came from the server's cache; 0 when it does not say."""
    details = (_mapping(usage.get(f"{name}_tokens_details")) for name in ("prompt", "input"))
    told = (_count(one, "cached_tokens") for one in details)
    return max((n for n in told if n), default=_count(usage, "prompt_cache_hit_tokens") or 0)


def total_of(completion: object) -> int | None:
    """All tokens of a completion; None when the server does not say."""
    body = completion if isinstance(completion, Mapping) else {}
    return _count(_mapping(body.get("usage")), "total_tokens")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    """The first of these counts that the usage has; the numbers may be texts."""
    told = (usage.get(name) for name in names)
    plain = (str(one).removesuffix(".0") for one in told if isinstance(one, int | float | str))
    numbers = (int(one) for one in plain if one.isascii() and one.isdigit() and len(one) < 12)
    return next((number for number in numbers if number <= _MOST_TOKENS), None)


def _tokens(choice: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The tokens of a reply with their log-probabilities, if the server sends them."""
    told = _mapping(choice.get("logprobs")).get("content")
    tokens = told if isinstance(told, list) else ()
    return tokens if all(map(_is_token, tokens)) else ()


def _is_token(one: object) -> bool:
    if not isinstance(one, Mapping) or not isinstance(one.get("token"), str):
        return False
    log, rivals = one.get("logprob"), one.get("top_logprobs") or []
    known = isinstance(log, int | float) and math.isfinite(log)
    return known and isinstance(rivals, list) and all(map(_is_token, rivals))


def answer_of(text: str) -> str:
    """Returns a reply without the thoughts before it. Marks of thoughts inside JSON are left."""
    if text.lstrip().startswith(("{", "[{", '["')):
        return text
    if _CHANNEL in text:
        return _of_channels(text)
    if _STRIPPED.match(text):
        return text.rpartition(_FINAL)[2].strip() if _FINAL in text else ""
    kept, since, within = list[str](), 0, ""
    last_open, last_close = max(map(text.rfind, "{[")), text.rfind("}")
    for mark in _TAG.finditer(text):
        name = (mark["tag"] or mark[0].strip("[]◁▷/")).lower()
        ends = bool(mark["ends"] or mark["close"] or mark["shut"])
        if not within and ends:
            if 0 <= last_open < mark.start() < last_close:
                continue  # it stands in the last object, whose end follows
            kept, since = [], mark.end()  # all that came before was thought
        elif not within:
            kept.append(text[since : mark.start()])
            within = name
        elif ends and name == within:
            since, within = mark.end(), ""
    kept += [] if within else [text[since:]]
    answer = "".join(kept)
    return text if answer == text else answer.strip()


def _of_channels(text: str) -> str:
    """Returns the answer in a message with channels (the format of gpt-oss): the channel "final",
    and calls of tools; all other channels are thoughts.
    """
    said = []
    for part in text.split(_CHANNEL)[1:]:
        head, mark, rest = part.partition(_MESSAGE)
        if mark and (name := re.match(r"\s*(\w+)", head)):
            said.append((name[1], head, rest.partition("<|")[0]))
    final = [words for name, _, words in said if name == "final"]
    return "".join(final or [words for _, head, words in said if "to=" in head])


def _choice(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first choice of a completion, by its number; a message without choices is one, too."""
    choices = body.get("choices")
    if isinstance(choices, list):
        first = first_choice(choices)
        return first if isinstance(first, Mapping) else None
    return body if isinstance(body.get("message"), Mapping) else None


def first_choice(choices: Sequence[object]) -> object:
    """The choice with the smallest index, wherever it stands in the list; None of an empty list. A
    choice without an index counts as number 0.
    """

    def number(choice: object) -> float:
        index = choice.get("index") if isinstance(choice, Mapping) else None
        return index if isinstance(index, int | float) else 0

    return min(choices, key=number, default=None)


def _joined(content: object) -> str:
    """The content of a message as one text; some servers send parts, with thoughts among them."""
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    if isinstance(content, Mapping) and isinstance(content.get("text"), str) and "type" in content:
        return str(content["text"])  # one part that is no list
    if isinstance(content, Mapping):  # JSON that was not written as text
        return json.dumps(content, ensure_ascii=False)
    return str(content or "")


def _call(message: Mapping[str, Any]) -> tuple[str, str] | None:
    """The id of the first tool call of a message, and the arguments of all calls as text."""
    told = message.get("tool_calls") or [message.get("function_call")]
    told = told if isinstance(told, list) else [told]
    calls = [call for call in told if isinstance(call, Mapping) and _given(call) is not None]
    if not calls:
        return None
    return str(calls[0].get("id") or "call_1"), "\n".join(map(_arguments, calls))


def _arguments(call: Mapping[str, Any]) -> str:
    given = _given(call)
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _given(call: Mapping[str, Any]) -> Any:
    function = _mapping(call.get("function")) or call
    return function.get("arguments", function.get("parameters", function.get("input")))
