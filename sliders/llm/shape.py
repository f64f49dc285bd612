"""The shape of a structured reply: always a pydantic model, so that `instructor` can ask for it, parse it and check it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jsonschema_rs
from pydantic import BaseModel, RootModel, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from sliders.llm.model import Request

_MOST_TOLD = 8
_UNKNOWN_TO_STRICT = {"minLength", "maxLength", "oneOf"}
Shape = type[BaseModel]


def shape_of(request: Request) -> Shape | None:
    """The reply's shape as a pydantic model; None for free text."""
    if request.reply is not None:
        return _of_model(request.reply)
    return None if request.json_schema is None else _of_schema(json.dumps(request.json_schema, default=dict))


def is_strict(schema: object) -> bool:
    """Whether a strict server takes the schema: every object closed, every property required, no limits of length."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    members = schema.get("properties")
    if isinstance(members, Mapping) and (
        schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(members)
    ):
        return False
    return not _UNKNOWN_TO_STRICT & set(schema) and all(map(is_strict, schema.values()))


def plain_data(reply: BaseModel) -> Any:
    """A checked reply as JSON data."""
    return reply.model_dump(mode="json", by_alias=True)


def told(error: ValidationError) -> tuple[str, ...]:
    """What does not fit, a line each with its place, at most eight."""
    lines = (f"{'.'.join(map(str, e['loc'])) or 'the reply'}: {e['msg']}" for e in error.errors(include_url=False))
    return tuple(lines)[:_MOST_TOLD]


def without_bad_items(data: Any, shape: Shape) -> Any | None:
    """`data` without the items of its lists that do not fit, as JSON data; None where that does not make it fit."""
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
    """The model with its JSON schema made once: pydantic makes it anew at every request (0.5 ms)."""
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
