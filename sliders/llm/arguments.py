"""The request arguments that one model of one server accepts: learned from its refusals and
replies, and used for every later request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

STRUCTURE = ("response_format", "tools", "tool_choice", "grammar")
"""The arguments that ask for a structured reply. When a server refuses them, the structure is asked
for in another way.
"""
ROOMS = ("max_tokens", "max_completion_tokens")
"""The names of the argument that limits the length of a reply."""
PREFIX = "prompt_cache_key"
"""The argument that marks prompts with an equal beginning, so that a server reuses its cache."""
_ROOM = 16_000
"""Tokens of thinking for a model that is seen to think for the first time."""
_NEVER = ("model", "messages", "stream", *STRUCTURE)
_NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w-])")
_JUST_ABOVE_ZERO = 0.01
_POSITIVE = re.compile(r"positive|> ?0|\(0", re.IGNORECASE)


@dataclass(slots=True)
class Arguments:
    """The changes to requests for one model of a server: arguments left out, renamed or bounded.

    `room` are the tokens for thinking, beside the tokens of the answer; `window` the tokens of
    prompt and reply together, as far as a refusal named them (0 otherwise); `streams` is True when
    the model answers streamed requests only.
    """

    room: int = 0
    window: int = 0
    streams: bool = False
    left_out: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)

    def thinks(self, used: int = 0) -> None:
        """Gives the model more tokens for thinking than `used`, in which it did not finish."""
        self.room = max(_ROOM, 2 * used)

    def reasons(self) -> None:
        """Switches to the arguments of a vendor's reasoning model: another name for the limit of
        the reply, which includes thinking, and no temperature.
        """
        self.thinks()
        self.names["max_tokens"] = "max_completion_tokens"
        self.left_out |= {"temperature", "seed"}

    def fitted(self, body: Mapping[str, Any], prompt: Callable[[], int]) -> dict[str, Any]:
        """Returns a request's body with these changes; `prompt` counts the tokens of its
        messages.
        """
        fitted = {}
        for name, value in body.items():
            name = self.names.get(name, name)
            if name in self.left_out or (name == "top_logprobs" and "logprobs" in self.left_out):
                continue
            if name in self.most:
                value = type(value)(min(value, self.most[name]))
            if name in self.least:
                value = max(value, self.least[name])
            if name in ROOMS and self.window and self.room:
                value = max(value - self.room, min(value, self.window - 11 * prompt() // 10))
            fitted[name] = value
        return fitted

    def refused(self, body: Mapping[str, Any], parameter: str, message: str) -> bool:
        """Learns from a refusal. Returns True when it named an argument that can be changed.

        Args:
            body: the request that was refused.
            parameter: the argument that the server names as the cause; "" for none.
            message: the server's message.
        """
        if "stream" not in body and mentioned(("stream", "streaming"), f"{parameter} {message}"):
            self.streams = True
            return True
        named = {parameter} & body.keys() or {name for name in body if mentioned((name,), message)}
        changed = [name for name in named if name not in _NEVER]
        if not named and PREFIX in body:  # a strict server may not say which argument is strange
            changed = [PREFIX]
        for name in changed:
            self._refuse(name, body[name], message)
        return bool(changed)

    def left(self, asked: float, message: str) -> int | None:
        """Returns the tokens that the prompt leaves for the reply, when the limit of the reply is
        too large for the window. None when the prompt alone is too large, or the message does not
        say.
        """
        told = _numbers(message)
        rest = {n for n in told if n != asked}
        rest -= {n for n in rest if n - asked in rest}  # both together
        if asked not in told or len(rest) < 2:
            return None
        prompt, window = sorted(rest)[-2:]
        left = int(window - prompt)
        if not (asked - self.room) / 4 <= left < asked:
            return None
        self.window = int(window)
        return left

    def _refuse(self, name: str, value: Any, message: str) -> None:
        """Handles one refused argument: it is renamed, bounded or left out."""
        other = ROOMS[name == ROOMS[0]]
        if name in ROOMS and other not in self.names and mentioned((other,), message):
            if name == "max_tokens":
                self.reasons()
            else:
                self.names = {"max_tokens": other, name: other}
            return
        bound = _bound(name, value, message)
        bounds = self.most if bound is not None and bound < value else self.least
        if bound is None or bound == bounds.get(name):  # bounded so, and refused all the same
            self.left_out.add(name)
        else:
            bounds[name] = bound


def mentioned(names: Collection[str], message: str) -> bool:
    """True when a message contains one of these argument names as a word."""
    return any(re.search(rf"(?<![A-Za-z_]){name}(?![A-Za-z_])", message) for name in names)


def _bound(name: str, value: Any, message: str) -> float | None:
    """Returns the allowed value nearest to the refused one, as the message names it; None when it
    names none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if name == "temperature":
        return _JUST_ABOVE_ZERO if not value and _POSITIVE.search(message) else None
    numbers = _numbers(message)
    below = [number for number in numbers if 0 < number < value]
    above = [number for number in numbers if number > value]
    found = max(below) if below else min(above, default=None)
    return int(found) if found is not None and isinstance(value, int) else found


def _numbers(message: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBER.findall(message)]
