"""The log-probability of each choice at the first token of a reply, and the odds of a value against
null inside a JSON reply.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LISTED = 20
"""The number of likeliest tokens that a server is asked to list."""
_MARKS = " \t\r\n\"'`*_.,:;!?()[]"


def chosen(text: str, choices: Sequence[str]) -> str | None:
    """Returns the one choice that a token stands for, ignoring capitals, spaces and marks; None for
    no choice.

    A token stands for a choice when it is that choice, or the beginning of this choice alone. When
    two choices share their first token, let the model choose by letter.
    """
    token = text.strip(_MARKS).casefold()
    if not token:
        return None
    same = [choice for choice in choices if choice.casefold() == token]
    begun = same or [choice for choice in choices if choice.casefold().startswith(token)]
    return begun[0] if len(begun) == 1 else None


def odds_of(choices: Sequence[str], listed: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The natural log-probability of each choice, the variants of one ("Yes", " yes") added up.

    Args:
        choices: the possible replies.
        listed: the likeliest first tokens as the chat API gives them, each with `token` and
            `logprob`.

    Returns:
        {} when no token stands for a choice. A choice without a token gets the lowest value of the
            list, minus 1.
    """
    found: dict[str, list[float]] = {}
    for token in listed:
        choice = chosen(token["token"], choices)
        if choice is not None:
            found.setdefault(choice, []).append(token["logprob"])
    if not found:
        return {}
    floor = min(token["logprob"] for token in listed) - 1.0
    return {choice: _added_up(found[choice]) if choice in found else floor for choice in choices}


def told_odds(tokens: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Returns for each member of the reply's JSON objects the natural log-odds at the beginning of
    its value: of true against false for a boolean, else of a value against null.

    A small model may give a value for every document, but with much lower odds for a document that
    has none. Its order of documents is reliable, its threshold is not.

    Args:
        tokens: the reply's tokens as the chat API gives them, each with its likeliest rivals.

    Returns:
        By the member's name, followed by `#1`, `#2`... in further objects. Members whose token came
            without rivals are left out; a token that is not listed counts as the lowest value of
            the list, minus 1.
    """
    text, starts = _text(tokens)
    found: dict[str, float] = {}
    for name, begin in _members(text):
        listed = (
            tokens[bisect_right(starts, min(begin, len(text) - 1)) - 1].get("top_logprobs") or ()
        )
        if listed:
            found[name] = _preferred(listed, text.startswith(("true", "false"), begin))
    return found


def sureness(tokens: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Returns for each member of the reply's JSON objects the natural log-probability of the least
    likely token of its value.

    The token that ends a text is left out, since it also depends on what follows. Most values that
    a small model read wrongly have an unlikely token (AUC 0.81).

    Args:
        tokens: the reply's tokens as the chat API gives them, each with its `logprob`.

    Returns:
        By the member's name, numbered as in `told_odds`; a value that is cut is left out.
    """
    text, starts = _text(tokens)
    found: dict[str, float] = {}
    for name, begin in _members(text):
        try:
            value, end = _DECODER.raw_decode(text, begin)
        except ValueError:
            continue
        first, last = bisect_right(starts, begin) - 1, bisect_right(starts, end - 1) - 1
        closing = isinstance(value, str) and last > first
        found[name] = min(
            float(token["logprob"]) for token in tokens[first : last if closing else last + 1]
        )
    return found


def _text(tokens: Sequence[Mapping[str, Any]]) -> tuple[str, list[int]]:
    """The text of tokens, and where each of them starts in it."""
    starts, text = [], ""
    for token in tokens:
        starts.append(len(text))
        text += token["token"]
    return text, starts


def _members(text: str) -> Iterator[tuple[str, int]]:
    """Yields each member's name, numbered when it comes again in a further object, and the position
    where its value begins.
    """
    times: Counter[str] = Counter()
    for member in _MEMBER.finditer(text):
        yield numbered(member[1], times[member[1]]), member.end()
        times[member[1]] += 1


def numbered(member: str, object_number: int) -> str:
    """The key of a member's odds in the object of this number, from 0.

    >>> numbered("open", 0), numbered("open", 2)
    ('open', 'open#2')
    """
    return f"{member}#{object_number}" if object_number else member


def _preferred(listed: Sequence[Mapping[str, Any]], boolean: bool) -> float:
    """The log-odds of the first kind of token against the second: true against false, or any value
    against null.
    """
    begun = [(str(t["token"]).strip(), float(t["logprob"])) for t in listed]
    floor = min(log for _, log in begun) - 1.0
    if boolean:
        first, second = (
            [log for word, log in begun if word.startswith(said)] for said in ("true", "false")
        )
    else:
        first = [log for word, log in begun if not word.startswith("null")]
        second = [log for word, log in begun if word.startswith("null")]
    return max(first, default=floor) - max(second, default=floor)


_DECODER = json.JSONDecoder(strict=False)
_MEMBER = re.compile(r'[{,]\s*"([^"\\]+)"\s*:\s*')


def _added_up(logs: Sequence[float]) -> float:
    most = max(logs)
    return most + math.log(sum(math.exp(log - most) for log in logs))
