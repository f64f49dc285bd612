"""Checks a reply's data against the subset of JSON Schema that the package uses, and shapes schemas for servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
_MAX_PROBLEMS = 8


def problems(data: Any, schema: Schema) -> tuple[str, ...]:
    """What is wrong with `data`, at most eight lines with their JSON paths; empty when it fits.

    Knows type, enum, const, properties, required, additionalProperties (false), items, minItems, maxItems, anyOf,
    oneOf, `$ref` into the schema's `$defs`, maxLength, minimum, maximum. Unknown keywords are ignored, as the
    standard says.
    """
    found: list[str] = []
    for problem in _check(data, schema, "$", schema):
        found.append(problem)
        if len(found) == _MAX_PROBLEMS:
            break
    return tuple(found)


def without_bad_items(data: Any, schema: Schema) -> Any | None:
    """`data` without the list items that do not fit, or None when that does not make it fit.

    Looks at a top-level list, or at the lists that are members of a top-level object.
    """
    if isinstance(data, list):
        cleaned: Any = _fitting(data, schema, schema)
    elif isinstance(data, dict):
        members = schema.get("properties", {})
        cleaned = {
            name: _fitting(value, members[name], schema) if isinstance(value, list) and name in members else value
            for name, value in data.items()
        }
    else:
        return None
    return None if problems(cleaned, schema) else cleaned


def _fitting(items: list[Any], schema: Schema, root: Schema) -> list[Any]:
    item_schema = _resolve(schema, root).get("items")
    if not isinstance(item_schema, Mapping):
        return items
    return [item for item in items if next(_check(item, item_schema, "$", root), None) is None]


def strict_form(schema: Schema) -> dict[str, Any] | None:
    """The schema as a strict server takes it, or None when it cannot be strict.

    Strict structured output wants every object closed and every property required; length limits are left out because
    servers that are strict refuse them.
    """
    closed: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("minLength", "maxLength"):
            continue
        if key in ("properties", "$defs"):
            parts = {name: strict_form(part) for name, part in value.items()}
            if any(part is None for part in parts.values()):
                return None
            closed[key] = parts
        elif key == "items" and isinstance(value, Mapping):
            closed[key] = strict_form(value)
            if closed[key] is None:
                return None
        elif key in ("anyOf", "oneOf"):
            options = [strict_form(option) for option in value]
            if any(option is None for option in options):
                return None
            closed["anyOf"] = options
        else:
            closed[key] = value
    if "properties" in schema:
        required = set(schema.get("required", ()))
        if schema.get("additionalProperties") is not False or required != set(schema["properties"]):
            return None
    return closed


def _resolve(schema: Schema, root: Schema) -> Schema:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for step in reference[2:].split("/"):
            target = target.get(step, {}) if isinstance(target, Mapping) else {}
        return target if isinstance(target, Mapping) else {}
    return schema


def _check(data: Any, schema: Schema, path: str, root: Schema) -> Iterator[str]:
    schema = _resolve(schema, root)
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        tried = [next(_check(data, option, path, root), None) for option in options]
        if all(tried):
            yield min((t for t in tried if t), key=lambda t: (": expected" in t, len(t)))
        return
    if "enum" in schema and data not in schema["enum"]:
        yield f"{path}: {_short(data)} is not one of {', '.join(map(_short, schema['enum']))}"
        return
    if "const" in schema and data != schema["const"]:
        yield f"{path}: expected {_short(schema['const'])}, got {_short(data)}"
        return
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if names and not any(_is_type(data, name) for name in names):
        yield f"{path}: expected {' or '.join(names)}, got {_short(data)}"
        return
    if isinstance(data, dict):
        yield from _check_object(data, schema, path, root)
    elif isinstance(data, list):
        yield from _check_list(data, schema, path, root)
    else:
        yield from _check_scalar(data, schema, path)


def _check_object(data: dict[str, Any], schema: Schema, path: str, root: Schema) -> Iterator[str]:
    members: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in data:
            yield f"{path}.{name}: missing"
    for name, value in data.items():
        if name in members:
            yield from _check(value, members[name], f"{path}.{name}", root)
        elif schema.get("additionalProperties") is False:
            yield f"{path}.{name}: not a field of the schema"


def _check_list(data: list[Any], schema: Schema, path: str, root: Schema) -> Iterator[str]:
    if len(data) < schema.get("minItems", 0):
        yield f"{path}: expected at least {schema['minItems']} items, got {len(data)}"
    if "maxItems" in schema and len(data) > schema["maxItems"]:
        yield f"{path}: expected at most {schema['maxItems']} items, got {len(data)}"
    if isinstance(schema.get("items"), Mapping):
        for position, item in enumerate(data):
            yield from _check(item, schema["items"], f"{path}[{position}]", root)


def _check_scalar(data: Any, schema: Schema, path: str) -> Iterator[str]:
    if isinstance(data, str) and len(data) > schema.get("maxLength", len(data)):
        yield f"{path}: longer than {schema['maxLength']} characters"
    if isinstance(data, int | float) and not isinstance(data, bool):
        if data < schema.get("minimum", data):
            yield f"{path}: below {schema['minimum']}"
        if data > schema.get("maximum", data):
            yield f"{path}: above {schema['maximum']}"


def _is_type(data: Any, name: str) -> bool:
    number = isinstance(data, int | float) and not isinstance(data, bool)
    return {
        "object": isinstance(data, dict),
        "array": isinstance(data, list),
        "string": isinstance(data, str),
        "number": number,
        "integer": number and float(data).is_integer(),
        "boolean": isinstance(data, bool),
        "null": data is None,
    }.get(name, True)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
