"""The right reply to each request of one question over three short documents."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

QUESTION, ANSWER = "What is the total cost?", 60
DOCUMENTS = {
    f"{name}.txt": f"# Report on {name}\n\nThe name is {name}.\nThe cost is {cost} euros.\n"
    for name, cost in (("Anchor", 10), ("Beacon", 20), ("Crane", 30))
}
CALLS = 6
"""Requests that the question takes: hints, schema, three documents, statement."""
_SCHEMA = {
    "tables": [
        {
            "name": "things",
            "row": "a thing",
            "rows_per_document": "one",
            "key": ["name"],
            "key_scope": "document",
            "columns": [
                {"name": "name", "type": "text", "description": "the name"},
                {"name": "cost_eur", "type": "number", "description": "the cost in euros"},
            ],
        }
    ],
    "needs": [{"question": 1, "columns": ["things.name", "things.cost_eur"]}],
    "not_covered": [],
}
_STATEMENT = {"action": "answer", "sql": "SELECT SUM(cost_eur) FROM things"}


def kind_of(body: Mapping[str, Any]) -> str:
    """What a request asks for: "hints", "schema", "rows", "recheck" or "statement"."""
    members = _asked_members(body)
    if "rows" in members:
        return "rows"
    if "action" in members:
        return "statement"
    known = {"tables": "schema", "cells": "recheck"}
    return next((kind for member, kind in known.items() if member in members), "hints")


def _asked_members(body: Mapping[str, Any]) -> set[str]:
    """The members of the JSON that a request asks for, in whatever way it asks."""
    form = body.get("response_format") or {}
    schema = form.get("json_schema", {}).get("schema")
    if schema is None and body.get("tools"):
        schema = body["tools"][0]["function"]["parameters"]
    if schema is None:
        text = "\n".join(str(message["content"]) for message in body["messages"])
        start = text.find("{", text.find("json_schema"))
        schema = json.JSONDecoder().raw_decode(text, start)[0] if "json_schema" in text else {}
    return set(schema.get("properties", ()))


def reply(body: Mapping[str, Any]) -> Any:
    """The data of the right reply; a recheck is of the cost alone."""
    kind = kind_of(body)
    if kind not in ("rows", "recheck"):
        return {"schema": _SCHEMA, "statement": _STATEMENT, "hints": {"hints": []}}[kind]
    text = "\n".join(str(message["content"]) for message in body["messages"])
    name = re.findall(r"The name is (\w+)\.", text)[-1]
    cost = re.findall(r"The cost is (\d+) euros", text)[-1]
    if kind == "recheck":
        cell = {"number": 1, "value": int(cost), "words": [f"{cost} euros"], "how": "stated"}
        return {"cells": [cell]}
    cells = {
        "name": {"value": name, "words": [name]},
        "cost_eur": {"value": int(cost), "words": [f"{cost} euros"]},
    }
    return {"rows": [{"table": "things", "cells": cells}]}
