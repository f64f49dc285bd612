"""Structured replies: their shape (a pydantic model, with which `instructor` asks and checks), and
the parts of a reply that fit it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema_rs
from instructor import response_schema
from pydantic import BaseModel, ConfigDict, RootModel, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from sliders.llm.model import Request
from sliders.llm.prompts import LONE_SURROGATE

_MOST_TOLD, _MOST_ERRORS, _DEEPEST = 8, 2_000, 60
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
    """Changes a schema that is sent (`json_schema_extra`) so that it asks for every member; a reply
    without one is accepted all the same.

    Under a grammar a small model leaves out optional members, for instance the expression behind a
    quote.
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
    """True when a strict server accepts the schema: every object is closed, every property
    required, no length limited.
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
    """Returns a checked reply as JSON data."""
    return without_halves(reply.model_dump(mode="json", by_alias=True))


def shallow(data: Any) -> bool:
    """True when JSON data is not nested deeper than a reply may be."""
    level = [data] if isinstance(data, dict | list) else []
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return True
    return False


def without_halves(data: Any) -> Any:
    """Returns `data` with a replacement character for each half of a surrogate pair, which files
    and databases refuse.
    """
    if isinstance(data, str):
        return data if data.isascii() else LONE_SURROGATE.sub("\ufffd", data)
    if isinstance(data, dict):
        return {without_halves(name): without_halves(value) for name, value in data.items()}
    return [without_halves(item) for item in data] if isinstance(data, list) else data


def told(error: ValidationError) -> tuple[str, ...]:
    """Returns a line for each part that does not fit, with its place; at most eight."""
    lines = (
        f"{'.'.join(map(str, e['loc'])) or 'the reply'}: {e['msg']}"
        for e in error.errors(include_url=False)
    )
    return tuple(lines)[:_MOST_TOLD]


def without_bad_items(data: Any, shape: Shape) -> Any | None:
    """Returns `data` as JSON data without list items that do not fit; None when it still does not
    fit.
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
    """The model with its JSON schema made once (pydantic would make it anew for each request, 0.5
    ms), and with member names matched as in SQL.
    """
    schema = reply.model_json_schema()

    def named(data: Any) -> Any:
        data = _named(data, schema, schema.get("$defs", {}))
        optional = isinstance(data, dict) and data and not schema.get("required")
        if optional and not schema["properties"].keys() & data.keys():
            raise ValueError(f"none of {', '.join(schema['properties'])} is among its members")
        return data

    members = {
        "__doc__": reply.__doc__,
        "__module__": reply.__module__,
        "model_json_schema": classmethod(lambda *_, **__: dict(schema)),
        "members_by_name": model_validator(mode="before")(named),
    }
    return response_schema(type(reply.__name__, (reply,), members))


@lru_cache(maxsize=256)
def _of_schema(text: str) -> Shape:
    """A pydantic model that accepts data by a JSON schema."""
    schema = {"title": "Reply", **json.loads(text)}
    validator = jsonschema_rs.validator_for(schema)

    class Reply(RootModel[Any]):
        """The reply."""

        @model_validator(mode="before")
        @classmethod
        def fits(cls, data: Any) -> Any:
            """Raises what the schema says is wrong, at its place."""
            data = _named(data, schema, schema.get("$defs", {}))
            wrong: list[InitErrorDetails] = []
            for error in islice(validator.iter_errors(data), _MOST_ERRORS):
                said = PydanticCustomError("json_schema", "{said}", {"said": error.message[:200]})
                wrong.append({"type": said, "loc": tuple(error.instance_path), "input": None})
            if wrong:
                raise ValidationError.from_exception_data("Reply", wrong)
            return data

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            """The schema itself."""
            return dict(schema)

    return response_schema(Reply)


def same_name(name: str) -> str:
    """A name as SQL compares it: without case, and without blanks, hyphens and underscores.

    >>> same_name("Cost EUR") == same_name("COST_EUR")
    True
    """
    return re.sub(r"[\s_-]+", "", name).casefold()


def by_name(name: str, names: Collection[str]) -> str | None:
    """Returns the one of `names` that a name stands for; None for none or several."""
    if name in names:
        return name
    same = [known for known in names if same_name(known) == same_name(name)]
    return same[0] if len(same) == 1 else None


def _named(data: Any, schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Any:
    """Returns data in which the members of objects have the names of the schema."""
    if not isinstance(data, dict | list):
        return data
    if "$ref" in schema:
        schema = parts.get(schema["$ref"].rpartition("/")[2], {})
    for one in schema.get("anyOf", ()):
        data = _named(data, one, parts)
    if isinstance(data, list):
        items = schema.get("items")
        return [_named(item, items, parts) for item in data] if isinstance(items, dict) else data
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    named: dict[str, Any] = {}
    for name, value in data.items():
        meant = name if name in known or not known else by_name(name, known) or name
        within = known.get(meant, others)
        if meant in named or (meant != name and meant in data):
            meant = name
        named[meant] = _named(value, within, parts) if isinstance(within, dict) else value
    return named
