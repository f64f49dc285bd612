"""The request that most tests of this folder make."""

from __future__ import annotations

from typing import Any

from sliders.llm import Message, Request

ROWS = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}},
                "required": ["name", "age"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["rows"],
    "additionalProperties": False,
}


def rows_request(text: str = "Ann is 4.", **changes: Any) -> Request:
    """A request for rows of name and age."""
    messages = (Message("system", "List the people."), Message("user", text))
    return Request(**{"stage": "extract", "messages": messages, "json_schema": ROWS, **changes})
