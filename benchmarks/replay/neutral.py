"""A reader without knowledge: replies of the right shape, made of words and numbers of the
request itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sliders.llm import Request


def neutral_reply(request: Request) -> Any:
    """A reply of the shape that is asked for; the same request gets the same one."""
    prompt = request.messages[-1].content
    if request.choices:
        return {choice: -1.0 - place for place, choice in enumerate(request.choices)}
    shape = request.json_schema or (
        request.reply.model_json_schema() if request.reply is not None else None
    )
    if shape is not None:
        return _instance(shape, shape.get("$defs", {}), prompt)
    table = re.search(r'CREATE TABLE "?(\w+)', "\n".join(m.content for m in request.messages))
    return f"SELECT COUNT(*) FROM {table[1]}" if table else (_words(prompt) or ["no"])[0]


def _words(prompt: str) -> list[str]:
    return re.findall(r"\b[A-Z][a-z]{2,}\b", prompt)[-9:]


def _instance(shape: Mapping[str, Any], named: Mapping[str, Any], prompt: str) -> Any:
    """One value of a JSON schema."""
    if "$ref" in shape:
        return _instance(named[str(shape["$ref"]).rpartition("/")[2]], named, prompt)
    if "enum" in shape or "const" in shape:
        return shape["const"] if "const" in shape else shape["enum"][0]
    for several in ("anyOf", "oneOf"):
        if several in shape:
            return _instance(shape[several][0], named, prompt)
    kind = shape.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or "properties" in shape:
        return {
            name: _instance(one, named, prompt) for name, one in shape.get("properties", {}).items()
        }
    if kind == "array":
        return [_instance(shape.get("items", {"type": "string"}), named, prompt)]
    numbers = re.findall(r"\b\d+\b", prompt)
    values: dict[Any, Callable[[], Any]] = {
        "integer": lambda: min(int(numbers[-1]), 9) if numbers else 1,
        "number": lambda: float(numbers[-1]) if numbers else 1.0,
        "boolean": lambda: True,
        "null": lambda: None,
    }
    return values.get(kind, lambda: (_words(prompt) or ["word"])[-1])()
