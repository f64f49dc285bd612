"""Structured replies: their shape, always a pydantic model that `instructor` asks for and checks,
and what is complete of a reply whose tail is broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jsonschema_rs
from pydantic import BaseModel, ConfigDict, RootModel, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError, from_json

from sliders.llm.model import Request
from sliders.llm.prompts import LONE_SURROGATE

_MOST_TOLD = 8
_UNKNOWN_TO_STRICT = {"minLength", "maxLength", "oneOf"}
Shape = type[BaseModel]


class LenientReply(BaseModel):
    """A reply, or a part of one, in which null is as good as a field left out and a number
    as good as its digits.
    """

    model_config = ConfigDict(coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        return (
            {k: v for k, v in data.items() if v is not None} if isinstance(data, Mapping) else data
        )


def every_member(schema: dict[str, Any]) -> None:
    """For `json_schema_extra`: the schema that is sent asks for every member, though a reply
    without one is taken.

    Under a grammar a small model leaves out what is optional: an expression
    behind its quote, for one.
    """
    schema["required"] = list(schema["properties"])


def shape_of(request: Request) -> Shape | None:
    """The reply's shape as a pydantic model; None for free text."""
    if request.reply is not None:
        return _of_model(request.reply)
    if request.json_schema is None:
        return None
    return _of_schema(json.dumps(request.json_schema, default=dict))


def is_strict(schema: object) -> bool:
    """Whether a strict server takes the schema: every object closed, every property required,
    no limits of length.
    """
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    members = schema.get("properties")
    if isinstance(members, Mapping) and (
        schema.get("additionalProperties") is not False
        or set(schema.get("required", ())) != set(members)
    ):
        return False
    return not _UNKNOWN_TO_STRICT & set(schema) and all(map(is_strict, schema.values()))


def plain_data(reply: BaseModel) -> Any:
    """A checked reply as JSON data."""
    return without_halves(reply.model_dump(mode="json", by_alias=True))


def without_halves(data: Any) -> Any:
    """`data` with a mark in the place of each half of a surrogate pair, which no file
    and no database takes.
    """
    if isinstance(data, str):
        return data if data.isascii() else LONE_SURROGATE.sub("\ufffd", data)
    if isinstance(data, dict):
        return {without_halves(name): without_halves(value) for name, value in data.items()}
    return [without_halves(item) for item in data] if isinstance(data, list) else data


def told(error: ValidationError) -> tuple[str, ...]:
    """What does not fit, a line each with its place, at most eight."""
    lines = (
        f"{'.'.join(map(str, e['loc'])) or 'the reply'}: {e['msg']}"
        for e in error.errors(include_url=False)
    )
    return tuple(lines)[:_MOST_TOLD]


def without_bad_items(data: Any, shape: Shape) -> Any | None:
    """`data` without the items of its lists that do not fit, as JSON data;
    None where that does not make it fit.
    """
    try:
        return plain_data(shape.model_validate(data))
    except ValidationError as error:
        bad = {item for e in error.errors() if (item := _item(data, e["loc"]))}
        if not bad or any(not _item(data, e["loc"]) for e in error.errors()):
            return None
    try:
        return plain_data(shape.model_validate(_without(data, bad, ())))
    except ValidationError:
        return None


def _item(data: Any, place: tuple[int | str, ...]) -> tuple[int | str, ...] | None:
    """The outermost list item that holds a place."""
    for depth, step in enumerate(place):
        if isinstance(data, list) and isinstance(step, int):
            return place[: depth + 1]
        if not isinstance(data, dict) or step not in data:
            return None
        data = data[step]
    return None


def _without(data: Any, bad: set[tuple[int | str, ...]], here: tuple[int | str, ...]) -> Any:
    if isinstance(data, dict):
        return {name: _without(value, bad, (*here, name)) for name, value in data.items()}
    if isinstance(data, list):
        return [item for position, item in enumerate(data) if (*here, position) not in bad]
    return data


@lru_cache(maxsize=256)
def _of_model(reply: type[BaseModel]) -> Shape:
    """The model with its JSON schema made once: pydantic makes it anew at
    every request (0.5 ms).
    """
    schema = reply.model_json_schema()
    members = {
        "__doc__": reply.__doc__,
        "__module__": reply.__module__,
        "model_json_schema": classmethod(lambda *_, **__: dict(schema)),
    }
    return type(reply.__name__, (reply,), members)


@lru_cache(maxsize=256)
def _of_schema(text: str) -> Shape:
    """A pydantic model that takes what fits a JSON schema."""
    schema = {"title": "Reply", **json.loads(text)}
    validator = jsonschema_rs.validator_for(schema)

    class Reply(RootModel[Any]):
        """The reply."""

        @model_validator(mode="before")
        @classmethod
        def fits(cls, data: Any) -> Any:
            """Raises what the schema says is wrong, at its place."""
            wrong: list[InitErrorDetails] = []
            for error in validator.iter_errors(data):
                said = PydanticCustomError("json_schema", "{said}", {"said": error.message[:200]})
                wrong.append({"type": said, "loc": tuple(error.instance_path), "input": None})
            if wrong:
                raise ValidationError.from_exception_data("Reply", wrong)
            return data

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            """The schema itself."""
            return dict(schema)

    return Reply


_THINK = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_NUMBER_AT_END = re.compile(r"(?<![\w.+-])-?\d[\d.eE+-]*\s*\Z")
_FAULT = re.compile(r"at line (\d+) column (\d+)")


def unwrapped(text: str) -> str:
    """The reply without reasoning and code fences around it."""
    text = text.strip()
    if not text.startswith(("{", "[")):  # such a mark inside JSON is text
        text = _THINK.sub("", text).rpartition("</think>")[2].strip()
        if (
            not text.startswith(("{", "["))
            and (fenced := _FENCE.search(text))
            and fenced[1].strip()
        ):
            return fenced[1].strip()
    return text.removesuffix("```").strip()


def is_closed(text: str) -> bool:
    """Whether every bracket of `text` is closed, so that no part of a value
    passes for the whole.
    """
    return not _open_brackets(text)


def complete_items(text: str) -> Any | None:
    """The complete items of a reply that breaks off or has a fault; None when nothing can be kept.

    Handles a list and an object that holds one (also nested): members before the break stay, the
    list keeps its complete items, what follows is dropped. A value that is cut is never kept.
    """
    start = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
    if start < 0:
        return None
    body = text[start:]
    try:
        return json.loads(body, strict=False)  # line breaks inside strings are common and harmless
    except (ValueError, RecursionError):
        pass
    for _ in range(2):
        # A number at the end may lack digits: 12 of 1248.
        body = _NUMBER_AT_END.sub("", body)
        try:
            data = from_json(body, allow_partial=True)
        except ValueError as fault:
            body = _before(body, str(fault))
            continue
        _drop_cut_item(data, _open_brackets(body))
        return data if _has_items(data) else None
    return None


def _before(text: str, fault: str) -> str:
    """The text up to the place that the parser names."""
    place = _FAULT.search(fault)
    if place is None:
        return ""
    lines = text.encode("utf-8", "replace").split(b"\n")
    line, column = int(place[1]), int(place[2])
    whole = b"\n".join([*lines[: line - 1], lines[line - 1][: max(0, column - 1)]])
    return whole.decode("utf-8", "ignore")


def _open_brackets(text: str) -> list[str]:
    stack: list[str] = []
    for mark in _MARK.findall(text):
        if mark in ("{", "["):
            stack.append(mark)
        elif mark in ("}", "]") and stack:
            stack.pop()
    return stack


def _drop_cut_item(data: Any, brackets: list[str]) -> None:
    """Take the item in which the text breaks off from the outermost list that is open."""
    if "[" not in brackets:
        return
    outermost = brackets.index("[")
    for _ in range(outermost):
        data = list(data.values())[-1]
    if len(brackets) > outermost + 1:
        data.pop()


def _has_items(data: Any) -> bool:
    """Whether a list with at least one item was kept; an object cut before
    its list is no answer.
    """
    if isinstance(data, list):
        return bool(data)
    return isinstance(data, dict) and any(
        _has_items(v) for v in data.values() if isinstance(v, dict | list)
    )
