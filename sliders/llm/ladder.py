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
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletionMessage

from sliders.llm.completions import Said
from sliders.llm.model import Message
from sliders.llm.replies import Shape, is_strict

# A grammar alone bends the model: it wants to start a new line, and takes `[]` when it may not.
# Told so, it writes the rows (3 of 3 documents, against 0 of 3), and leaves the list empty
# where there are none.
COMPACT_NOTE = "Reply with compact JSON on one line, without spaces."


_NO_USAGE = CompletionUsage(prompt_tokens=0, completion_tokens=0, total_tokens=0)
"""An empty usage: the client counts the usage, and `instructor` would search for other kinds
of it.
"""


class Rung(IntEnum):
    """The ways of asking for JSON, from the strictest; a higher number needs fewer features of the
    server.
    """

    GRAMMAR = 0
    JSON_SCHEMA = 1
    JSON = 2
    TOOLS = 3
    MD_JSON = 4

    @property
    def mode(self) -> Mode:
        """The mode of `instructor` that asks and parses in this way."""
        return Mode.JSON_SCHEMA if self is Rung.GRAMMAR else Mode[self.name]


def wire_messages(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """Returns messages as the JSON objects of the chat API."""
    return [
        # half a surrogate pair of a document is no character
        {"role": message.role, "content": message.content.encode(errors="replace").decode()}
        for message in messages
    ]


def compact_grammar(json_schema: Mapping[str, Any]) -> str:
    """The schema as a grammar for servers of the llama.cpp family (llguidance) that
    leaves no white space.

    Asked for a JSON schema, such a server lets the model indent: measured on an object of nine
    fields, 101 generated tokens against 73.
    """
    separators = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}
    return "%llguidance {}\nstart: %json " + json.dumps({**json_schema, "x-guidance": separators})


def asked(rung: Rung, arguments: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Returns the arguments of `instructor`, changed for features that it does not know: compact
    grammars, and schemas that a strict server accepts.
    """
    said = {name: value for name, value in arguments.items() if name != "response_format"}
    if rung is Rung.GRAMMAR:
        # In the first message, which calls of one prompt share: it costs its tokens once in the
        # server's prefix cache.
        first, *others = arguments["messages"]
        noted = {**first, "content": f"{first['content']}\n{COMPACT_NOTE}"}
        grammar = compact_grammar(shape.model_json_schema())
        return {**said, "messages": [noted, *others], "grammar": grammar}
    if rung is Rung.JSON_SCHEMA:
        schema = arguments["response_format"]["json_schema"]
        strict = {**schema, "strict": is_strict(schema["schema"])}
        return {**said, "response_format": {"type": "json_schema", "json_schema": strict}}
    return dict(arguments)


def completion(said: Said) -> Any:
    """Returns a completion in the form that `instructor` reads. Making an object of the `openai`
    client would take fifty times as long.
    """
    message: Any = SimpleNamespace(
        role="assistant", content=said.text, tool_calls=None, refusal=None
    )
    if said.call_id is not None:
        function = {"name": "reply", "arguments": said.text}
        call = {"id": said.call_id, "type": "function", "function": function}
        message = ChatCompletionMessage.construct(
            role="assistant", content=None, tool_calls=[call], refusal=None
        )
    # The client checks why a reply ended, and keeps complete items of a cut one.
    choice = SimpleNamespace(message=message, finish_reason="stop")
    return SimpleNamespace(choices=[choice], usage=_NO_USAGE)
