"""A reply of a server, before it becomes a response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sliders.errors import ModelError
from sliders.llm.completions import Said
from sliders.llm.model import Response, Usage
from sliders.llm.odds import sureness, told_odds
from sliders.llm.reading import complete_items
from sliders.llm.replies import Shape, without_bad_items


@dataclass(frozen=True, slots=True)
class ServerReply:
    """A reply of the server that is not parsed yet; `told` is True when its odds are asked for."""

    said: Said
    usage: Usage
    told: bool

    @property
    def text(self) -> str:
        return self.said.text

    @property
    def first(self) -> Sequence[Mapping[str, Any]]:
        """The likeliest first tokens."""
        tokens = self.said.tokens
        return (tokens[0].get("top_logprobs") or tokens[:1]) if tokens else ()

    def response(self, data: Any = None, *, salvaged: bool = False) -> Response:
        tokens = self.said.tokens
        logs = () if self.told else tuple(token["logprob"] for token in tokens)
        odds, sure = (told_odds(tokens), sureness(tokens)) if self.told else ({}, {})
        ended: Any = "length" if self.said.cut else "stop"
        return Response(self.text, data, ended, self.usage, "", salvaged, logs, odds, sure)


class Unusable(Exception):
    """A reply that does not fit, with the reasons."""

    def __init__(self, reply: ServerReply, wrong: Sequence[str]) -> None:
        super().__init__("; ".join(wrong))
        self.reply, self.wrong = reply, wrong


def add_paid(error: ModelError, before: Usage) -> None:
    """Adds the usage before an error to the usage of the error."""
    error.usage = before + error.usage if isinstance(error.usage, Usage) else before


def good_items(reply: ServerReply, shape: Shape) -> Response | None:
    """Returns the complete part of a reply, without list items that do not fit, so that one bad row
    does not cost the others; None when nothing is left.
    """
    items = complete_items(reply.text)
    data = None if items is None else without_bad_items(items, shape)
    return None if data is None else reply.response(data, salvaged=True)
