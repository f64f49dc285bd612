"""A double that reads documents of plain lines, "item: Room; amount:
145.00", each line a row, word for word.

It reads nothing but the prompt. It gives a row where the part tells one of the columns that are
asked for, the columns in `naming` alone aside: those only tell which row a value is of. It
speaks both dialects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reading_model import asked_columns, reply_shape

from sliders.llm import FULL, Dialect, Request
from sliders.llm.testing import FunctionModel

FILLER = "\n".join(
    f"Remark {n} of the clerk, who had nothing to add to the figures of the day and said so."
    for n in range(200)
)
"""Words between two parts of a document, so many that these are read apart."""


class LineReader:
    """The double; `sql` is the statement for each question, `settles` replies to what
    reconciliation asks in the full dialect.
    """

    def __init__(
        self,
        sql: Mapping[str, str] | None = None,
        naming: Sequence[str] = (),
        dialect: Dialect = FULL,
        settles: Callable[[str], Any] | None = None,
        tables: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.sql, self.naming, self.settles, self.tables = (
            dict(sql or {}),
            set(naming),
            settles,
            list(tables),
        )
        self.model = FunctionModel(self.reply, dialect=dialect)

    def asked(self, stage: str) -> list[str]:
        """The prompts of a stage."""
        return [
            "\n".join(m.content for m in r.messages) for r in self.model.history if r.stage == stage
        ]

    def reply(self, request: Request) -> Any:
        """What a literal reader would answer."""
        prompt = "\n".join(message.content for message in request.messages)
        shape = reply_shape(request)
        fields = set(shape.get("properties", ()))
        if request.choices:
            return request.choices[-1]
        if request.stage == "reconcile":
            return self.settled(prompt, fields)
        if "tables" in fields:
            return self.schema(prompt)
        if request.stage == "answer":
            statement = self.statement(prompt)
            return {"action": "answer", "sql": statement} if "action" in fields else statement
        if "rows" in fields:
            return {"rows": self.rows(prompt, shape)}
        if "parts" in fields:
            return {"parts": [int(n) for n in re.findall(r'<part number="(\d+)">', prompt)]}
        return (
            {name: [] for name in fields & {"cells", "hints"}}
            if fields & {"cells", "hints"}
            else json.dumps({})
        )

    def settled(self, prompt: str, fields: set[str]) -> Any:
        """What was said for this group; else nothing is decided."""
        said = self.settles(prompt) if self.settles is not None else None
        if said is not None:
            return said
        if "key" in fields:
            return {"key": [], "reason": "nothing tells"}
        groups = re.findall(r"^Group (\d+),", prompt, re.MULTILINE)
        leave = {"operation": "leave", "column": "", "statements": [], "reason": "nothing tells"}
        return {"looks": [], "repairs": [{"group": int(n), **leave} for n in groups]}

    def schema(self, prompt: str) -> dict[str, Any]:
        """The tables that were given, and for each question the columns that
        its statement names.
        """
        needs = []
        for number, question in re.findall(r"^(\d+)\. (.+)$", prompt, re.MULTILINE):
            words = re.findall(r"\w+", self.sql.get(question, ""))
            columns = [
                f"{t['name']}.{c['name']}"
                for t in self.tables
                for c in t["columns"]
                if t["name"] in words
            ]
            needs.append(
                {
                    "question": int(number),
                    "columns": [c for c in columns if c.split(".")[1] in words],
                }
            )
        return {"tables": self.tables, "needs": needs, "not_covered": []}

    def statement(self, prompt: str) -> str:
        """The statement of the question that stands last in the prompt."""
        return self.sql[max(self.sql, key=prompt.rfind)]

    def rows(self, prompt: str, shape: Mapping[str, Any]) -> list[dict[str, Any]]:
        """A row for each line of the text."""
        text = prompt.split("<document>")[1].split("</document>")[0]
        lines = [
            dict(re.findall(r"(\w+): ([^;\n]+)", line))
            for line in text.splitlines()
            if not line.startswith("From: ")
        ]
        if self.model.dialect is not FULL:
            wanted = list(shape["properties"]["rows"]["items"]["properties"])
            return [
                {c: _plain(line.get(c)) for c in wanted}
                for line in lines
                if self.told(line, wanted)
            ]
        return [
            {
                "table": table,
                "cells": {
                    c: {"value": _plain(line[c]), "words": [line[c]]} for c in columns if c in line
                },
            }
            for table, columns in asked_columns(prompt)
            for line in lines
            if self.told(line, columns)
        ]

    def told(self, line: Mapping[str, str], columns: Sequence[str]) -> bool:
        """Whether a line tells one of the columns."""
        return any(
            column in line
            for column in columns
            if column not in self.naming or self.naming.issuperset(columns)
        )


def _plain(words: str | None) -> Any:
    if words is None or not re.fullmatch(r"-?[\d.]+", words):
        return words
    return float(words) if "." in words else int(words)
