"""A double that does the work of a model by rules, for documents of plain sentences:
"The cost is 12 euros."

It reads nothing but the prompt it gets, so that whole runs can be tested: schema by the words of
the question, extraction by sentences, SQL by the kind of question. It speaks the full dialect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fake_server import Scripted

from sliders.llm import Request
from sliders.llm.testing import FunctionModel

FACTS = {"name": "text", "cost": "number", "length": "number", "keeper": "text"}
Shape = Mapping[str, Any]


def document(name: str, **facts: object) -> str:
    """The text of a document that states the facts."""
    lines = [f"# Report on {name}", "", f"The name is {name}."]
    lines += [f"The {fact} is {value}." for fact, value in facts.items()]
    return "\n".join(lines) + "\n"


def reply_shape(request: Request) -> Shape:
    """The JSON schema that a request asks its reply to fit; {} for free text."""
    if request.json_schema is not None:
        return request.json_schema
    return request.reply.model_json_schema() if request.reply is not None else {}


def reply(prompt: str, shape: Shape) -> str:
    """What a perfect, literal reader would answer."""
    return json.dumps(_data(prompt, set(shape.get("properties", ()))))


def _data(prompt: str, fields: set[str]) -> Any:
    if "tables" in fields:
        return _schema(prompt)
    if "action" in fields:
        return {"action": "answer", "sql": _sql(prompt)}
    if "rows" in fields:
        return {"rows": _rows(prompt)}
    if "rows_per_document" in fields:
        return {"row": "a thing", "rows_per_document": "one"}
    if "parts" in fields:
        return {"parts": list(range(1, prompt.count("<part number=") + 1))}
    if "cells" in fields or "hints" in fields:
        return {key: [] for key in fields & {"cells", "hints"}}
    return {}


def _schema(prompt: str) -> dict[str, Any]:
    """One table of things, its columns by the words of the questions."""
    questions = re.findall(r"^\s*(?:\d+\.|-)\s*(.+\?)\s*$", prompt, re.MULTILINE) or [
        prompt.rsplit("\n", 1)[-1]
    ]
    wanted = [["name", *(_facts(question) or ["cost"])] for question in questions]
    names = list(dict.fromkeys(name for names in wanted for name in names))
    columns = [
        {"name": n, "type": FACTS[n], "description": f"the {n} that the document states"}
        for n in names
    ]
    table = {
        "name": "things",
        "row": "a thing",
        "rows_per_document": "one",
        "key": ["name"],
        "columns": columns,
    }
    needs = [
        {"question": n, "columns": [f"things.{name}" for name in names]}
        for n, names in enumerate(wanted, 1)
    ]
    return {"tables": [table], "needs": needs, "not_covered": []}


def _facts(question: str) -> list[str]:
    return [fact for fact in FACTS if fact != "name" and fact in question.lower()]


def asked_columns(prompt: str) -> list[tuple[str, list[str]]]:
    """Tables with the columns that an extraction asks for, as the prompt lists them."""
    listing = prompt.split("<document>")[0]
    tables = re.split(r"^Table (\w+):.*$", listing, flags=re.MULTILINE)[1:]
    return [
        (name, re.findall(r"^- (\w+) \(", body, re.MULTILINE))
        for name, body in zip(tables[::2], tables[1::2], strict=True)
    ]


def _rows(prompt: str) -> list[dict[str, Any]]:
    """A row for each table, its cells the facts that the document states."""
    text = prompt.rsplit("<document>", 1)[-1]
    rows = []
    for table, columns in asked_columns(prompt):
        told = {c: words for c in columns if (words := _stated(text, c))}
        cells = {c: {"value": _value(c, words), "words": [words]} for c, words in told.items()}
        rows.append({"table": table, "cells": cells})
    return rows


def _value(column: str, words: str) -> Any:
    number = re.match(r"[\d.]+", words)
    return float(number[0]) if FACTS.get(column) == "number" and number else words


def _stated(text: str, name: str) -> str:
    found = re.search(rf"The {name.replace('_', ' ')} is ([^.\n]+)\.", text)
    return found[1] if found else ""


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
        return reply("\n".join(m.content for m in request.messages), reply_shape(request))

    return FunctionModel(function, **settings)


def served(body: dict[str, Any]) -> Scripted:
    """The double as a server's function."""
    form = body.get("response_format") or {}
    shape = form.get("json_schema", {}).get("schema") or {}
    return Scripted(reply("\n".join(str(m["content"]) for m in body["messages"]), shape))
