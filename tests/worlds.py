"""The world of documents that the tests of all rooms share, and its one perfect reader.

Its documents are of four kinds, and each kind prints its values in a way of its own, which is the
gold of any text that is written so:

- reports, `document("Anchor", cost="120 euros")`: a plain sentence for each fact, one row of
  `things` each; `TEXTS` are three of them, `ANSWERS` what is asked of them;
- lists: each line a row, "item: Room; amount: 145.00", for any table that asks for its columns;
- bridges: those of the demo, in prose, letters and tables, with traps and repairs;
- ships and towns, in `tests/ships.py`: long prose with a value here and there, for queries.

`Reader` replies to every request of the full dialect, and to those of the compact one that fill
rows or write statements.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.fidelity.gold import World
from benchmarks.fidelity.reader import PerfectReader, prompt_of, shape_of
from benchmarks.fidelity.sight import documents_shown
from sliders.llm import COMPACT, Dialect, Message, Request
from sliders.llm.testing import ONE_DOCUMENT, FunctionModel
from sliders.schema import Column, Table
from sliders.values import ColumnType, Scalar
from tests.fake_server import Scripted

NUMBER, INTEGER = ColumnType.NUMBER, ColumnType.INTEGER


@dataclass(frozen=True)
class Kind:
    """Documents of one kind: the table that they fill, a pattern for each of its columns where
    they are not plain sentences, and statements by words of a question.
    """

    table: Table
    printed: Mapping[str, str] = field(default_factory=dict)
    statements: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False
    """Whether every question gets all columns; else the key and those that it names."""

    def named(self, question: str) -> list[str]:
        """Columns other than the key that a question names."""
        names = [name for name in self.table.column_names if name not in self.table.key]
        return [name for name in names if name in question.lower()]

    def needs(self, question: str) -> list[str]:
        """Columns that a question needs."""
        if self.whole:
            return list(self.table.column_names)
        return [*self.table.key, *(self.named(question) or [self.table.column_names[1]])]

    def statement(self, question: str) -> str:
        """The statement of a question."""
        column = next(iter(self.named(question)), self.table.key[0])
        found = (sql for words, sql in self.statements.items() if words in question.lower())
        return next(found, "SELECT name, {column} FROM things").format(column=column)

    def words(self, column: str, text: str) -> str:
        """The words that print a column in a text, "" where none do."""
        sentence = rf"The {column.replace('_', ' ')} is ([^.\n]+)\."
        pattern = self.printed.get(column, sentence).replace(" ", r"\s+")
        found = re.search(pattern, text, re.DOTALL)
        return " ".join(next(filter(None, found.groups())).split()) if found else ""


# reports


def document(name: str, **facts: object) -> str:
    """The text of a report that states the facts of a thing."""
    lines = [f"# Report on {name}", "", f"The name is {name}."]
    lines += [f"The {fact} is {value}." for fact, value in facts.items()]
    return "\n".join(lines) + "\n"


_STATED = "the {} that the document states"
REPORTS = Kind(
    Table(
        "things",
        tuple(
            Column(name, kind, _STATED.format(name))
            for name, kind in (
                ("name", ColumnType.TEXT),
                ("cost", NUMBER),
                ("length", NUMBER),
                ("keeper", ColumnType.TEXT),
            )
        ),
        row="a thing",
        grain="document",
        key=("name",),
    ),
    statements={
        "how many": "SELECT COUNT({column}) FROM things WHERE {column} IS NOT NULL",
        "most": "SELECT name FROM things WHERE {column} IS NOT NULL ORDER BY {column} DESC LIMIT 1",
        "largest": "SELECT name FROM things WHERE {column} IS NOT NULL ORDER BY {column} DESC "
        "LIMIT 1",
        "total": "SELECT SUM({column}) FROM things",
    },
)
TEXTS = {
    "anchor.txt": document("Anchor", cost="120 euros", length="30 metres", keeper="Ida Holm"),
    "beacon.txt": document("Beacon", cost="340 euros", length="12 metres", keeper="Jon Marsh"),
    "crane.txt": document("Crane", cost="75 euros", length="48 metres"),
}
ANSWERS = {
    "What is the total cost?": 535,
    "What is the total length?": 90,
    "Which name has the largest cost?": "Beacon",
    "How many have a keeper?": 2,
}


# lists

LISTS = None
"""The kind of a reader of lists: they tell of any table."""
FILLER = "\n".join(
    f"Remark {n} of the clerk, who had nothing to add to the figures of the day and said so."
    for n in range(200)
)
"""Words between two parts of a document, so many that these are read apart."""


def parts(*texts: str) -> str:
    """One document of parts that are read apart."""
    return f"\n\n{FILLER}\n\n".join(texts)


# bridges

BRIDGES = Kind(
    Table(
        "bridges",
        (
            Column("bridge_name", description=_STATED.format("bridge_name")),
            Column("cost", NUMBER, _STATED.format("cost"), currency="EUR"),
            Column("year_opened", INTEGER, _STATED.format("year_opened")),
            Column("length", NUMBER, _STATED.format("length"), unit="metres"),
        ),
        row="a bridge",
        grain="document",
        key=("bridge_name",),
        key_scope="collection",
    ),
    {
        "bridge_name": r"([A-Z]\w+(?: \w+)? (?:Footbridge|Viaduct|Bridge|Br|Crossing)\b)",
        "cost": r"(?:cost|paid)(?: \|)? ([\d.,]+ (?:(?:million|thousand) )?euros|[\d,]+)",
        "year_opened": r"opened.*?((?:19|20)\d\d)|((?:19|20)\d\d)\. The mayor opened",
        "length": r"(\d+) metres",
    },
    {
        "most": "SELECT bridge_name, cost FROM bridges ORDER BY cost DESC LIMIT 1",
        "after 2000": "SELECT COUNT(*) FROM bridges WHERE year_opened > 2000",
        "average": "SELECT AVG(length) FROM bridges",
    },
    whole=True,
)
_SCALES = {"million": 1_000_000, "thousand": 1000}
_IN_THOUSANDS = ("3,120",)
"""Figures of the tables whose caption says "in thousands"."""


def _bridges_repaired(prompt: str) -> dict[str, Any] | None:
    """Of several names of a bridge the longest stands, and of several values the one that no
    words call preliminary.
    """
    groups = re.findall(
        r"^Group (\d+), (\w+).*?in question: (\w+)(.*?)</group>", prompt, re.MULTILINE | re.DOTALL
    )
    repairs = [_repair(int(n), kind, column, rows) for n, kind, column, rows in groups]
    return {"looks": [], "repairs": repairs} if groups else None


def _repair(number: int, kind: str, column: str, group: str) -> dict[str, Any]:
    rows = re.findall(r"^row_id (\S+): (.*?)(?=^row_id|\Z)", group, re.MULTILINE | re.DOTALL)
    longest = max(
        rows,
        key=lambda row: len(json.loads(row[1].splitlines()[0])[column]) if kind == "names" else 0,
    )
    told = longest if kind == "names" else min(rows, key=lambda row: "preliminary" in row[1])
    sql = f"UPDATE rows SET {column} = (SELECT {column} FROM rows WHERE row_id = '{told[0]}')"
    return {
        "group": number,
        "operation": "canonicalize" if kind == "names" else "resolve_conflict",
        "column": column,
        "statements": [sql],
        "reason": "as the words say",
    }


# the reader


def asked_columns(prompt: str) -> list[tuple[str, list[str]]]:
    """Tables with the columns that an extraction asks for, as the prompt lists them."""
    listing = re.split("<document[ >]", prompt)[0]
    tables = re.split(r"^Table (\w+):.*$", listing, flags=re.MULTILINE)[1:]
    return [
        (name, re.findall(r"^- (\w+) \(", body, re.MULTILINE))
        for name, body in zip(tables[::2], tables[1::2], strict=True)
    ]


class Reader:
    """The perfect reader. It knows nothing but the prompt and how the world's documents print
    their values; cards, gates, hints, keys and repairs that no kind decides it leaves to the
    perfect reader of the benchmarks, which changes nothing.

    Args:
        kind: what its documents are.
        sql: the statement of each question; those of the kind when left out.
        naming: columns of a list that only tell which row a value is of.
        settles: what reconciliation is told for a prompt; None for nothing.
        tables: the tables of lists, as a schema reply proposes them.
        options: of the model that it stands for.
    """

    def __init__(
        self,
        kind: Kind | None = REPORTS,
        *,
        sql: Mapping[str, str] | None = None,
        naming: Sequence[str] = (),
        settles: Callable[[str], Any] | None = None,
        tables: Sequence[Mapping[str, Any]] = (),
        dialect: Dialect = ONE_DOCUMENT,
        **options: Any,
    ) -> None:
        self.kind, self.sql, self.naming = kind, dict(sql or {}), set(naming)
        self.settles = settles or (_bridges_repaired if kind is BRIDGES else None)
        self.tables = list(tables) or ([proposed(kind.table)] if kind is not LISTS else [])
        self.model = FunctionModel(self.reply, dialect=dialect, **options)
        self._other = PerfectReader(World("", {}, (), ()))

    def asked(self, stage: str) -> list[str]:
        """The prompts of a stage."""
        return [prompt_of(request) for request in self.model.history if request.stage == stage]

    def served(self, body: Mapping[str, Any]) -> Scripted:
        """The reply of a server to the body of a request."""
        form = body.get("response_format") or {}
        messages = tuple(Message(m["role"], str(m["content"])) for m in body["messages"])
        shape = form.get("json_schema", {}).get("schema")
        said = self.reply(Request(stage="", messages=messages, json_schema=shape))
        return Scripted(said if isinstance(said, str) else json.dumps(said))

    def reply(self, request: Request) -> Any:
        """What a perfect, literal reader answers."""
        prompt, shape = prompt_of(request), shape_of(request)
        asked = set(shape.get("properties", ()))
        if request.choices:
            return request.choices[-1]
        if request.stage == "reconcile" and (said := self.settled(prompt, asked)) is not None:
            return said
        if "tables" in asked:
            return self.schema(prompt)
        if "rows" in asked:
            return {"rows": self.rows(prompt, shape)}
        if "action" in asked:
            return {"action": "answer", "sql": self.statement(prompt)}
        if request.stage == "answer":
            return self.statement(prompt)
        if "rows_per_document" in asked:
            return {"row": "a thing", "rows_per_document": "one"}
        return self._other.reply(request)

    def settled(self, prompt: str, asked: set[str]) -> Any:
        """What is said of a group, or of a key. Of lists nothing is known but what was given; None
        leaves it to the perfect reader of the benchmarks.
        """
        said = self.settles(prompt) if self.settles is not None else None
        if said is not None or (self.kind is not LISTS and "key" not in asked):
            return said
        if self.kind is not LISTS:
            key, scope = list(self.kind.table.key), self.kind.table.key_scope or "document"
            return {"key": key, "scope": scope, "reason": "one thing in whatever document"}
        if "key" in asked:
            return {"key": [], "reason": "nothing tells"}
        leave = {"operation": "leave", "column": "", "statements": [], "reason": "nothing tells"}
        groups = re.findall(r"^Group (\d+),", prompt, re.MULTILINE)
        return {"looks": [], "repairs": [{"group": int(n), **leave} for n in groups]}

    def schema(self, prompt: str) -> dict[str, Any]:
        """The tables with the columns that the questions need."""
        questions = re.findall(r"^\s*(?:\d+\.|-)\s*(.+\?)\s*$", prompt, re.MULTILINE) or [
            prompt.rsplit("\n", 1)[-1]
        ]
        needs = [
            {"question": number, "columns": self.needs(question)}
            for number, question in enumerate(questions, 1)
        ]
        wanted = {name for need in needs for name in need["columns"]}
        tables = [
            {**t, "columns": [c for c in t["columns"] if f"{t['name']}.{c['name']}" in wanted]}
            if self.kind is not LISTS
            else t
            for t in self.tables
        ]
        return {"tables": tables, "needs": needs, "not_covered": [], "hints": []}

    def needs(self, question: str) -> list[str]:
        """Columns that a question needs, with their tables."""
        if self.kind is not LISTS:
            return [f"{self.kind.table.name}.{name}" for name in self.kind.needs(question)]
        words = re.findall(r"\w+", self.sql.get(question, ""))
        return [
            f"{t['name']}.{c['name']}"
            for t in self.tables
            for c in t["columns"]
            if t["name"] in words and c["name"] in words
        ]

    def statement(self, prompt: str) -> str:
        """The statement of the question that stands last in the prompt."""
        if self.sql or self.kind is LISTS:
            return self.sql[max(self.sql, key=prompt.rfind)]
        return self.kind.statement(prompt.rsplit("Question", 1)[-1])

    def rows(self, prompt: str, shape: Mapping[str, Any]) -> list[dict[str, Any]]:
        """All rows of the tables that are asked for."""
        rows: list[dict[str, Any]] = []
        for number, text in documents_shown(prompt).items():
            own = {} if number is None else {"document": number}
            if self.kind is LISTS:
                rows += [own | row for row in self.listed(text, prompt, shape)]
                continue
            rows += [
                {**own, "table": table, "cells": _cells(self.kind, columns, text)}
                for table, columns in asked_columns(prompt)
            ]
        return rows

    def listed(self, text: str, prompt: str, shape: Mapping[str, Any]) -> list[dict[str, Any]]:
        """A row for each line that tells something."""
        lines = [
            dict(re.findall(r"(\w+): ([^;\n]+)", line))
            for line in text.splitlines()
            if not line.startswith("From: ")
        ]
        if self.model.dialect is COMPACT:
            wanted = list(shape["properties"]["rows"]["items"]["properties"])
            told = [line for line in lines if self.told(line, wanted)]
            return [{c: _plain(line.get(c)) for c in wanted} for line in told]
        return [
            {"table": table, "cells": {c: _cell(_plain(line[c]), line[c]) for c in held}}
            for table, columns in asked_columns(prompt)
            for line in lines
            if self.told(line, columns) and (held := [c for c in columns if c in line])
        ]

    def told(self, line: Mapping[str, str], columns: Sequence[str]) -> bool:
        """Whether a line tells one of the columns."""
        return any(
            column in line
            for column in columns
            if column not in self.naming or self.naming.issuperset(columns)
        )


def proposed(table: Table) -> dict[str, Any]:
    """A table as a schema reply proposes it."""
    columns = [
        {"name": c.name, "type": c.type.value, "description": c.description}
        | {option: said for option in ("unit", "currency") if (said := getattr(c, option))}
        for c in table.columns
    ]
    scope = {"key_scope": table.key_scope} if table.key_scope else {}
    return {
        "name": table.name,
        "row": table.row,
        "rows_per_document": "one",
        "key": list(table.key),
        "columns": columns,
        **scope,
    }


def _cell(value: Scalar, words: str) -> dict[str, Any]:
    return {"value": value, "words": [words]}


def _cells(kind: Kind, columns: Sequence[str], text: str) -> dict[str, Any]:
    """The cells of a document's row, those that it tells."""
    told = {c: words for c in columns if (words := kind.words(c, text))}
    return {c: _cell(_value(kind, c, words, text), words) for c, words in told.items()}


def _value(kind: Kind, column: str, words: str, text: str) -> Scalar:
    known = column in kind.table.column_names and kind.table.column(column).type
    number = re.match(r"[\d.,]*\d", words) if known in (NUMBER, INTEGER) else None
    if number is None:
        return words
    scale = next((factor for word, factor in _SCALES.items() if word in words), 1)
    if words in _IN_THOUSANDS and "in thousands" in text:
        scale = 1000
    value = float(number[0].replace(",", "")) * scale
    return round(value) if scale > 1 or value.is_integer() else value


def _plain(words: str | None) -> Scalar:
    if words is None or not re.fullmatch(r"-?[\d.]+", words):
        return words
    return float(words) if "." in words else int(words)


_OF_REPORTS = Reader()


def reply(request: Request) -> Any:
    """What the perfect reader of reports replies."""
    return _OF_REPORTS.reply(request)


def served(body: Mapping[str, Any]) -> Scripted:
    """What it replies as a server."""
    return _OF_REPORTS.served(body)
