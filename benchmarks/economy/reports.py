"""Annual reports as PDF files: what questions over long documents cost, and whether the parts that
print the values are shown to a reader. The reader knows no document: it answers from the text of a
prompt alone, and chooses parts by the words of their outline.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from benchmarks.fidelity.gold import FactTable, World
from benchmarks.fidelity.reader import PerfectReader, filled, prompt_of, shape_of
from benchmarks.suites import GoldQuestion
from sliders.llm import Request

NAME = "annual_reports"
FOLDER = Path("financebench_pdfs", "dev", "docs")
_MOST = 2
"""The parts that the reader chooses for one column."""
_PART = re.compile(r'<part number="(\d+)">(.*?)(?=<part number=|\Z)', re.DOTALL)
_FROM = re.compile(r"^From: (?:file )?([^;\n]+)(.*?)(?=^From: |\Z)", re.MULTILINE | re.DOTALL)
_AMOUNT = re.compile(r"\(?\d[\d,.]*\)?")


def load() -> dict[str, Any]:
    """The questions, the columns and the values of the reports."""
    told = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(told)
    return loaded


class ReportsReader(PerfectReader):
    """A reader of the annual reports; `shown` holds the documents and columns whose value stood in
    a prompt that asked for it.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        columns = {
            name: {"type": one["type"], "description": one["description"]}
            | ({"unit": "million USD"} if one["type"] == "number" else {})
            for name, one in facts["columns"].items()
        }
        table = FactTable(facts["table"], columns, (), "document", facts["row"])
        questions = tuple(
            (
                GoldQuestion(str(number), one["text"], (), "list"),
                f"SELECT document, {', '.join(one['columns'])} FROM {facts['table']}",
            )
            for number, one in enumerate(facts["questions"])
        )
        super().__init__(World(NAME, {}, (table,), questions))
        self.columns, self.values = facts["columns"], facts["documents"]
        self.shown: set[tuple[str, str]] = set()

    def reply(self, request: Request) -> Any:
        """The reply of one request."""
        shape, prompt = shape_of(request), prompt_of(request)
        if "parts" in shape.get("properties", {}):
            return filled(shape, {"parts": self.parts(prompt)})
        return super().reply(request)

    def card(self, prompt: str) -> dict[str, str]:
        """The kind of document, as every first page of a filing prints it."""
        return {"kind": "Form 10-K"} if "10-K" in prompt else {}

    def parts(self, prompt: str) -> list[int]:
        """The numbers of the parts whose outline has the words of a column, at most two for each:
        the first of its words that any outline has decide.
        """
        listed = {int(number): told.lower() for number, told in _PART.findall(prompt)}
        chosen: set[int] = set()
        for name in self._asked(prompt):
            for words in self.columns[name]["shown"]:
                fitting = [number for number, told in listed.items() if re.search(words, told)]
                if fitting:
                    chosen |= set(fitting[:_MOST])
                    break
        return sorted(chosen)

    def read(self, prompt: str) -> dict[str, Any]:
        """The reply about the documents that a prompt shows."""
        return {"rows": self.rows(prompt)}

    def rows(self, prompt: str) -> list[dict[str, Any]]:
        """A row of each document that the prompt shows, with the values that its text prints."""
        return [
            {"table": self.world.tables[0].name, "cells": cells}
            for document, text in _FROM.findall(prompt)
            if (cells := dict(self._cells(document.strip().replace(" ", "_"), text, prompt)))
        ]

    def missed(self) -> list[str]:
        """The documents and columns whose value no prompt that asked for it has shown."""
        return [
            f"{document}.{name}"
            for document, values in self.values.items()
            for name in values
            if (document, name) not in self.shown
        ]

    def _asked(self, prompt: str) -> list[str]:
        return [name for name in self.columns if f"\n- {name} (" in prompt]

    def _cells(self, document: str, text: str, prompt: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for name in self._asked(prompt):
            printed = self.values.get(document, {}).get(name, "")
            if not printed or not (line := self._line(name, printed, text)):
                continue
            self.shown.add((document, name))
            if self.columns[name]["type"] == "text":
                yield name, {"value": printed, "words": [printed]}
                continue
            number = float(printed.replace(",", ""))
            if self.columns[name]["type"] == "number" and document.startswith("BLOCK"):
                number /= 1000
            words = next(one for one in _AMOUNT.findall(line) if one.strip("().,") == printed)
            how = {"how": "judged", "why": "the size of an outflow"} if words[0] == "(" else {}
            yield name, {"value": number, "words": [words.rstrip(".,")], **how}

    def _line(self, name: str, printed: str, text: str) -> str:
        """The line of a text that tells a value, "" for none."""
        value = re.compile(rf"(?<![\d,.]){re.escape(printed)}(?![\d%]|[.,]\d)")
        words = re.compile(self.columns[name]["lines"], re.IGNORECASE)
        lines = (one for one in text.splitlines() if value.search(one) and words.search(one))
        return next(lines, "")
