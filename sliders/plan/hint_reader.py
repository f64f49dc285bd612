"""Reads hints by the model where no pattern reads them (HALO, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sliders.errors import ModelRefusal, TruncatedReply
from sliders.llm.model import Model, Request, Usage
from sliders.llm.prompts import load_prompt
from sliders.plan.directives import Directive, Hints, Ignore, Locate, Verify, parse_hints, settle, sounds_like_hint

_LIST = {"type": "array", "items": {"type": "string"}, "maxItems": 4}
_SCHEMA = {
    "type": "object",
    "properties": {name: _LIST for name in ("look_in", "ignore", "answer_is", "answer_is_not")},
    "required": ["look_in", "ignore", "answer_is", "answer_is_not"],
    "additionalProperties": False,
}


def hints_request(text: str) -> Request:
    """The call that reads hints."""
    prompt = load_prompt("plan/read_hints")
    return Request("plan", prompt.render(text=text[:4_000]), prompt.hash, _SCHEMA, max_tokens=160)


async def read_hints(text: str, model: Model, extra: Sequence[Directive] = ()) -> tuple[Hints, Usage]:
    """Hints by patterns, and by the model where patterns read nothing though the text sounds like a hint.

    What the model names must stand in the text: a place or subject that the user did not write is dropped.
    """
    hints = parse_hints(text, extra)
    if hints.directives or not sounds_like_hint(text):
        return hints, Usage()
    try:
        reply = await model.generate(hints_request(text))
    except (ModelRefusal, TruncatedReply) as error:
        spent = error.usage if isinstance(error.usage, Usage) else Usage()
        return hints, spent
    found = _directives(reply.data if isinstance(reply.data, dict) else {}, text.lower())
    directives, notes = settle(found)
    return Hints(hints.question, directives, notes), reply.usage


def _directives(data: dict[str, Any], text: str) -> list[Directive]:
    def said(name: str) -> tuple[str, ...]:
        values = data.get(name)
        listed = values if isinstance(values, list) else []
        return tuple(dict.fromkeys(str(v).strip() for v in listed if str(v).strip() and str(v).strip().lower() in text))

    out: list[Directive] = []
    if look := said("look_in"):
        out.append(Locate(look))
    if skip := said("ignore"):
        out.append(Ignore(skip))
    positive, negative = said("answer_is"), said("answer_is_not")
    if positive or negative:
        out.append(Verify(positive, negative))
    return out
