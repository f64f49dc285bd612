"""A double that does the work of a model by rules, for documents of plain sentences: "The cost is 12 euros."

It reads nothing but the prompt it gets, so that whole runs can be tested: schema by the words of the question,
extraction by sentences, SQL by the kind of question.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sliders.llm.model import Request
from sliders.llm.testing import FunctionModel, Scripted

FACTS = {"name": "text", "cost": "number", "length": "number", "keeper": "text"}


def document(name: str, **facts: object) -> str:
    """The text of a document that states the facts."""
    lines = [f"# Report on {name}", "", f"The name is {name}."]
    lines += [f"The {fact} is {value}." for fact, value in facts.items()]
    return "\n".join(lines) + "\n"


def reply(prompt: str, schema: dict[str, Any] | None) -> str:
    """What a perfect, literal reader would answer."""
    if schema is None:
        return _sql(prompt)
    return json.dumps(_data(prompt, schema))


def _data(prompt: str, schema: dict[str, Any]) -> Any:
    if schema.get("type") == "array":
        names = schema["items"]["properties"]["field"]["enum"]
        return [{"words": words, "field": name} for name in names for words in _stated(prompt, name)]
    properties = schema["properties"]
    if "columns" in properties:
        columns = [filled(properties["columns"]["items"], _about(name)) for name in _wanted(prompt)]
        return filled(schema, {"columns": columns, "row": "a thing", "table": "things"})
    if "rows" in properties:
        names = properties["rows"]["items"]["required"]
        return {"rows": [{name: next(iter(_stated(prompt, name)), None) for name in names}]}
    facts = {name: next(iter(_stated(prompt, name)), None) for name in properties if name in FACTS}
    return filled(schema, {"relevant": True, "row": "a thing", **facts})


def asked_fields(schema: Any) -> list[str]:
    """The columns that an extraction's JSON schema asks for, whether as labels, one row or many."""
    if schema["type"] == "array":
        return list(schema["items"]["properties"]["field"]["enum"])
    rows = schema["properties"].get("rows")
    return list(rows["items"]["required"] if rows else schema["required"])


def filled(schema: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """An object of the schema: what is known, and the first allowed or an empty value for the rest."""
    empty = {"array": [], "object": {}, "boolean": False, "integer": 0, "number": 0}
    out = {}
    for name, form in schema["properties"].items():
        allowed = form.get("enum")
        if name in known and (not allowed or known[name] in allowed):
            out[name] = known[name]
        else:
            out[name] = allowed[0] if allowed else empty.get(form.get("type"), "")
    return out


def _wanted(prompt: str) -> list[str]:
    question = prompt.rsplit("Question: ", 1)[-1].split("\n", 1)[0].lower()
    wanted = [fact for fact in FACTS if fact in question] or ["cost"]
    return list(dict.fromkeys(["name", *wanted]))


def _about(name: str) -> dict[str, Any]:
    return {"name": name, "type": FACTS[name], "description": name, "asked": name}


def _stated(prompt: str, name: str) -> list[str]:
    words = name.replace("_", " ")
    return list(dict.fromkeys(re.findall(rf"The {words} is ([^.\n]+)\.", prompt)))


def _sql(prompt: str) -> str:
    asked = prompt.rsplit("Question:", 1)[-1].lower()
    fact = next((f for f in FACTS if f != "name" and f in asked), "name")
    if "how many" in asked:
        return f"SELECT COUNT({fact}) FROM things WHERE {fact} IS NOT NULL"
    if "most" in asked or "largest" in asked:
        return f"SELECT name FROM things WHERE {fact} IS NOT NULL ORDER BY {fact} DESC LIMIT 1"
    if "total" in asked:
        return f"SELECT SUM({fact}) FROM things"
    return f"SELECT name, {fact} FROM things"


def reading_model(**settings: Any) -> FunctionModel:
    """The double as a model."""

    def function(request: Request) -> str:
        schema = dict(request.json_schema) if request.json_schema is not None else None
        return reply("\n".join(m.content for m in request.messages), schema)

    return FunctionModel(function, **settings)


def served(body: dict[str, Any]) -> Scripted:
    """The double as a server's function."""
    form = body.get("response_format") or {}
    schema = form.get("json_schema", {}).get("schema")
    return Scripted(reply("\n".join(str(m["content"]) for m in body["messages"]), schema))
