"""The ladder of structured output: ways to ask for a JSON reply, from the strongest to the weakest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from sliders.llm.grammar import COMPACT_NOTE, compact_grammar
from sliders.llm.model import Message
from sliders.llm.validate import strict_form

_TOOL = "reply"


class Rung(IntEnum):
    """Ways to ask for JSON; a higher number needs less of the server."""

    GRAMMAR = 0
    JSON_SCHEMA = 1
    JSON_OBJECT = 2
    TOOL_CALL = 3
    TEXT = 4

    @property
    def shows_schema(self) -> bool:
        """Whether the schema has to stand in the prompt because the server does not enforce it."""
        return self in (Rung.JSON_OBJECT, Rung.TEXT)


def wire_messages(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """Messages as the chat API takes them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def schema_note(schema: Mapping[str, Any]) -> str:
    """The sentence that shows a schema to a model whose server does not enforce it."""
    return "Reply with JSON only, no other words and no code fence. It must fit this JSON schema:\n" + json.dumps(
        schema, ensure_ascii=False, separators=(",", ":"), default=dict
    )


def ask(rung: Rung, messages: tuple[Message, ...], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a chat completion that asks for JSON in the way of `rung`."""
    wire = wire_messages(messages)
    if rung.shows_schema:
        # At the end of the last message: what stands before it keeps its place in the server's prefix cache.
        wire[-1] = {**wire[-1], "content": f"{wire[-1]['content']}\n\n{schema_note(schema)}"}
    if rung is Rung.GRAMMAR:
        # In the first message, which calls of one prompt share: it costs its tokens once in the server's prefix cache.
        wire[0] = {**wire[0], "content": f"{wire[0]['content']}\n{COMPACT_NOTE}"}
        return {"messages": wire, "extra_body": {"grammar": compact_grammar(schema)}}
    if rung is Rung.JSON_SCHEMA:
        strict = strict_form(schema)
        shape = {"name": _TOOL, "schema": strict or dict(schema), "strict": strict is not None}
        return {"messages": wire, "response_format": {"type": "json_schema", "json_schema": shape}}
    if rung is Rung.JSON_OBJECT:
        return {"messages": wire, "response_format": {"type": "json_object"}}
    if rung is Rung.TOOL_CALL:
        function = {"name": _TOOL, "description": "Give the reply.", "parameters": dict(schema)}
        return {
            "messages": wire,
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": _TOOL}},
        }
    return {"messages": wire}


def correction(messages: tuple[Message, ...], reply: str, wrong: tuple[str, ...]) -> tuple[Message, ...]:
    """The conversation that asks once more, with what was wrong about the first reply."""
    listed = "\n".join(f"- {line}" for line in wrong)
    told = (
        f"This reply does not have the form that was asked for:\n{listed}\nGive the whole corrected JSON, nothing else."
    )
    return (*messages, Message("assistant", reply or "(empty)"), Message("user", told))
