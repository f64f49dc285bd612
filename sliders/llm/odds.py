"""The log-probability of each choice at the first token of a reply."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

LISTED = 20
"""How many likeliest tokens a server is asked to list."""
_MARKS = " \t\r\n\"'`*_.,:;!?()[]"


def chosen(text: str, choices: Sequence[str]) -> str | None:
    """The one choice that a token stands for, whatever its capitals, spaces and marks around it.

    A token that is a choice, or the beginning of one choice only. Where two choices share their first token, the token
    stands for neither: let the model choose by letter then.
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
        choices: what the reply may be.
        listed: the likeliest first tokens as the chat API gives them, each with `token` and `logprob`.

    Returns:
        Nothing when no token stands for a choice; a choice that none stands for gets the floor of the list, minus 1.
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


def _added_up(logs: Sequence[float]) -> float:
    most = max(logs)
    return most + math.log(sum(math.exp(log - most) for log in logs))
