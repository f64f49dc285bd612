"""A double that reads the sample documents of the demo by patterns, as a good model would."""

from __future__ import annotations

import json
import re
from typing import Any

from reading_model import asked_columns, reply_shape

from sliders.llm import Request
from sliders.llm.testing import FunctionModel

COLUMNS = {"bridge_name": "text", "cost": "number", "year_opened": "integer", "length": "number"}
_PATTERNS = {
    "bridge_name": r"([A-Z]\w+(?: \w+)? (?:Footbridge|Viaduct|Bridge|Br|Crossing)\b)",
    "cost": r"(?:cost|paid)(?: \|)? ([\d.,]+ (?:(?:million|thousand) )?euros|[\d,]+)",
    "year_opened": r"opened.*?((?:19|20)\d\d)|((?:19|20)\d\d)\. The mayor opened",
    "length": r"(\d+) metres",
}
_SCALES = {"million": 1_000_000, "thousand": 1000}
_SQL = {
    "most": "SELECT bridge_name, cost FROM bridges ORDER BY cost DESC LIMIT 1",
    "after 2000": "SELECT COUNT(*) FROM bridges WHERE year_opened > 2000",
    "average": "SELECT AVG(length) FROM bridges",
}


def _reply(request: Request) -> str | dict[str, Any] | list[Any]:
    text = "\n".join(message.content for message in request.messages)
    fields = set(reply_shape(request).get("properties", ()))
    if "tables" in fields:
        return _schema()
    if "action" in fields:
        question = text.rsplit("Question", 1)[-1]
        return {
            "action": "answer",
            "sql": next(sql for words, sql in _SQL.items() if words in question),
        }
    if "rows" in fields:
        document = " ".join(text.rsplit("<document>", 1)[-1].split())
        return {
            "rows": [
                {"table": t, "cells": _cells(columns, document)}
                for t, columns in asked_columns(text)
            ]
        }
    if "key" in fields:
        return {
            "key": ["bridge_name"],
            "scope": "collection",
            "reason": "a bridge is one bridge in whatever report",
        }
    if "looks" in fields:
        groups = re.findall(
            r"^Group (\d+), (\w+).*?in question: (\w+)(.*?)</group>", text, re.MULTILINE | re.DOTALL
        )
        return {
            "looks": [],
            "repairs": [_repair(int(n), kind, column, rows) for n, kind, column, rows in groups],
        }
    return {}


def _repair(number: int, kind: str, column: str, group: str) -> dict[str, Any]:
    """Names get their longest form; of contradictory values the one holds that no
    words call preliminary.
    """
    rows = re.findall(r"^row_id (\S+): (.*?)(?=^row_id|\Z)", group, re.MULTILINE | re.DOTALL)
    longest = max(
        rows,
        key=lambda row: len(json.loads(row[1].splitlines()[0])[column]) if kind == "names" else 0,
    )
    told = longest if kind == "names" else min(rows, key=lambda row: "preliminary" in row[1])
    sql = f"UPDATE rows SET {column} = (SELECT {column} FROM rows WHERE row_id = '{told[0]}')"
    operation = "canonicalize" if kind == "names" else "resolve_conflict"
    return {
        "group": number,
        "operation": operation,
        "column": column,
        "statements": [sql],
        "reason": "as the words say",
    }


def _schema() -> dict[str, Any]:
    columns = [
        {"name": n, "type": t, "description": f"the {n} that the document states"}
        for n, t in COLUMNS.items()
    ]
    columns[1]["currency"], columns[3]["unit"] = "EUR", "metres"
    table = {
        "name": "bridges",
        "row": "a bridge",
        "rows_per_document": "one",
        "key": ["bridge_name"],
        "columns": columns,
    }
    table["key_scope"] = "collection"
    needs = [{"question": 1, "columns": [f"bridges.{name}" for name in COLUMNS]}]
    return {"tables": [table], "needs": needs, "not_covered": []}


def _cells(columns: list[str], document: str) -> dict[str, Any]:
    cells = {}
    for name in columns:
        if found := re.search(_PATTERNS[name], document):
            words = next(filter(None, found.groups()))
            cells[name] = {"value": _value(name, words, document), "words": [words]}
    return cells


def _value(name: str, words: str, document: str) -> str | float:
    if name == "bridge_name":
        return words
    scale = next((factor for word, factor in _SCALES.items() if word in words), 1)
    if words == "3,120" and "in thousands" in document:
        scale = 1000
    return round(float(words.split()[0].replace(",", "")) * scale)


def demo_reader() -> FunctionModel:
    """The double as a model."""
    return FunctionModel(_reply)
