"""The ladder of structured output: a grammar, then the modes of `instructor`, from the
strongest to the weakest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

from instructor import Mode
from instructor.v2.core.providers import Provider
from instructor.v2.core.registry import ModeHandlers, mode_registry
from openai.types.chat import ChatCompletionMessage
from pydantic import BaseModel

from sliders.llm.model import Message
from sliders.llm.replies import Shape, is_strict

# A grammar alone bends the model: it wants to start a new line, and takes `[]` when it may not.
# Told so, it writes the rows (3 of 3 documents, against 0 of 3), and leaves the list empty
# where there are none.
COMPACT_NOTE = "Reply with compact JSON on one line, without spaces."


class Rung(IntEnum):
    """Ways to ask for JSON; a higher number needs less of the server."""

    GRAMMAR = 0
    JSON_SCHEMA = 1
    JSON = 2
    TOOLS = 3
    MD_JSON = 4

    @property
    def handlers(self) -> ModeHandlers:
        """What `instructor` does for this way: prepares a request, parses a reply, asks again."""
        mode = Mode.JSON_SCHEMA if self is Rung.GRAMMAR else Mode[self.name]
        return mode_registry.get_handlers(Provider.OPENAI, mode)


def wire_messages(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """Messages as the chat API takes them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def compact_grammar(json_schema: Mapping[str, Any]) -> str:
    """The schema as a grammar for servers of the llama.cpp family (llguidance) that
    leaves no white space.

    Asked for a JSON schema, such a server lets the model indent: measured on an object of nine
    fields, 101 generated tokens against 73.
    """
    separators = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}
    return "%llguidance {}\nstart: %json " + json.dumps({**json_schema, "x-guidance": separators})


def ask(rung: Rung, messages: tuple[Message, ...], shape: Shape) -> dict[str, Any]:
    """The arguments of a chat completion that asks for JSON in the way of `rung`."""
    wire = wire_messages(messages)
    if rung is Rung.GRAMMAR:
        # In the first message, which calls of one prompt share: it costs its tokens once in the
        # server's prefix cache.
        wire[0]["content"] += f"\n{COMPACT_NOTE}"
        return {"messages": wire, "grammar": compact_grammar(shape.model_json_schema())}
    arguments: dict[str, Any] = rung.handlers.request_handler(
        response_model=shape, kwargs={"messages": wire}
    )[1]
    if rung is Rung.JSON_SCHEMA:
        asked = arguments["response_format"]["json_schema"]
        arguments["response_format"] = {
            "type": "json_schema",
            "json_schema": asked | {"strict": is_strict(asked["schema"])},
        }
    return arguments


def parse(rung: Rung, message: Mapping[str, Any], shape: Shape) -> BaseModel:
    """The reply, checked; `message` is the assistant's, as the chat API gives it.

    Raises pydantic.ValidationError: it is no JSON, or does not fit;
    instructor.v2.core.errors.ResponseParsingError: no tool was called.
    """
    parsed: BaseModel = rung.handlers.response_parser(
        response=_completion(message), response_model=shape, strict=None
    )
    return parsed


def ask_again(
    rung: Rung, arguments: dict[str, Any], message: Mapping[str, Any], wrong: Exception
) -> dict[str, Any]:
    """The arguments of the call that corrects a reply, with what is wrong about it."""
    told = {**arguments, "messages": list(arguments["messages"])}
    return rung.handlers.reask_handler(told, _completion(message), wrong)


def _completion(message: Mapping[str, Any]) -> Any:
    """What `instructor` reads of a completion; one without tool calls is put together in a
    fiftieth of the time.
    """
    said: Any = SimpleNamespace(
        role="assistant", content=message.get("content"), tool_calls=None, refusal=None
    )
    if message.get("tool_calls"):
        said = ChatCompletionMessage.construct(**message)
    # Why a reply ended is told by the client, which keeps complete items of one that was cut.
    return SimpleNamespace(choices=[SimpleNamespace(message=said, finish_reason="stop")])
