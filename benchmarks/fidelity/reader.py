"""The perfect reader: a model double of the full dialect that answers every prompt from a
world's facts and SQL.

It finds the document by its text in the prompt, tables and columns by their names, the
question by its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from statistics import median
from typing import Any

import sqlglot
from sqlglot import exp

from benchmarks.fidelity.gold import Fact, FactRow, FactTable, World, key_of
from benchmarks.fidelity.sight import Eyes, Sight, documents_shown
from benchmarks.fidelity.words import places
from sliders.llm import FULL, Request
from sliders.llm.testing import FunctionModel
from sliders.schema import Column
from sliders.values import ColumnType, parse_value

_WINDOW = 128_000
_MEANING = 8
_ABOVE = re.compile(r"^(?:From|Document|About|Section|Note): .*$", re.MULTILINE)
"""What stands above a chunk: the document's card and headings."""


def prompt_of(request: Request) -> str:
    """All messages of a request."""
    return "\n".join(message.content for message in request.messages)


def shape_of(request: Request) -> Mapping[str, Any]:
    """The JSON schema of the reply that is asked for; {} for plain text."""
    if request.json_schema is not None:
        return request.json_schema
    return request.reply.model_json_schema() if request.reply is not None else {}


class PerfectReader:
    """See the module.

    `given` holds the cells that were said, by table and number of the row, `statements` the SQL by
    question, `doubted` cells that a check sent back, `unknown` requests that no reply is known for.

    Args:
        split: documents are cut into small parts, and a row of several in a document is told only
            where the part prints its whole key, with the key.
    """

    def __init__(self, world: World, split: bool = False) -> None:
        self.world, self.split = world, split
        self.given: dict[tuple[str, int], dict[str, Fact]] = {}
        self.statements: dict[str, str] = {}
        self.unknown: list[str] = []
        self.doubted: list[tuple[str, Fact]] = []
        self._eyes = Eyes(world.documents)
        dialect = replace(FULL, chunk_tokens=part_tokens(world)) if split else FULL
        self.model = FunctionModel(
            self.reply, name="perfect-reader", context_tokens=_WINDOW, dialect=dialect
        )

    def reply(self, request: Request) -> Any:
        """The reply of one request, by what its shape asks for."""
        shape, prompt = shape_of(request), prompt_of(request)
        asked = set(shape.get("properties", {}))
        if "tables" in asked:
            return self.schema(prompt)
        if "rows" in asked:
            return self.read(prompt)
        if "answers" in asked:
            listed = re.findall(r"^Question (\d+): (.*)$", prompt, re.MULTILINE)
            return {"answers": [{"question": int(n), **self.step(q)} for n, q in listed]}
        if "sql" in asked:
            return self.step(prompt)
        if "cells" in asked:
            return {"cells": list(self.again(prompt))}
        if "parts" in asked:
            return {
                "parts": [int(number) for number in re.findall(r'<part number="(\d+)">', prompt)]
            }
        if "looks" in asked:
            groups = re.findall(r"^Group (\d+), (\w+)", prompt, re.MULTILINE)
            return {
                "looks": [],
                "repairs": [
                    {
                        "group": int(n),
                        "operation": "leave" if kind == "conflict" else "apart",
                        "column": "",
                        "statements": [],
                        "reason": "gold tells no two of them to be one",
                    }
                    for n, kind in groups
                ],
            }
        if "key" in asked:
            stands = re.search(r"key as first thought of: ([^\n]*)", prompt)
            key = stands[1].split(", ") if stands else []
            return {
                "key": key,
                "scope": "document",
                "reason": "gold has a row for each document that tells of a thing",
            }
        if "hints" in asked:
            return {"hints": []}
        if "cards" in asked:
            listed = re.findall(
                r'<document number="(\d+)"[^>]*>(.*?)</document>', prompt, re.DOTALL
            )
            return {"cards": [{"document": int(n), **self.card(text)} for n, text in listed]}
        if "about" in asked:
            return filled(shape, self.card(prompt))
        self.unknown.append(f"{request.stage}: {sorted(asked)}")
        return filled(shape, {"operation": "leave"}) if asked else "no"

    # schema

    def schema(self, prompt: str) -> dict[str, Any]:
        """The tables that the prompt's questions read, and which columns each question needs."""
        placed = sorted(
            (prompt.find(q.question), sql)
            for q, sql in self.world.questions
            if q.question in prompt
        )
        needs, names = [], set()
        for number, (_, sql) in enumerate(placed, 1):
            columns = list(self._columns_of(sql))
            needs.append({"question": number, "columns": [f"{t}.{c}" for t, c in columns]})
            names |= {t for t, _ in columns}
        tables = [
            _proposed(t, self.split) for t in self.world.tables if t.name in names or not placed
        ]
        return {"tables": tables, "needs": needs, "not_covered": [], "hints": []}

    def _columns_of(self, sql: str) -> Iterator[tuple[str, str]]:
        tree = sqlglot.parse_one(sql, dialect="sqlite")
        read = {t.name for t in tree.find_all(exp.Table)}
        used = {c.name for c in tree.find_all(exp.Column)}
        for table in (t for t in self.world.tables if t.name in read):
            yield from (
                (table.name, c) for c in table.columns if c in used or not used & set(table.columns)
            )

    # extraction

    def card(self, prompt: str) -> dict[str, str]:
        """What a document's card says: what all rows of the document have in
        common, in its words.
        """
        sight = self._eyes.look(prompt)
        rows = [
            row
            for table in self.world.tables
            for row in table.rows
            if sight and row.document == sight.document
        ]
        told = {
            words: 0
            for row in rows
            for name in row.shared & set(row.facts)
            for words in row.facts[name].words
        }
        return {
            "title": sight.document.rpartition(".")[0] if sight else "",
            "kind": "document",
            "who": ", ".join(told),
        }

    def visible(self, shown: str, table: FactTable) -> list[tuple[int, FactRow, dict[str, Fact]]]:
        """Rows of a table that a document of the prompt shows, with their number and the facts
        whose words it shows.
        """
        above = "\n".join(_ABOVE.findall(shown))
        sight = self._exactly(shown, above) or self._eyes.look(
            _ABOVE.sub("", shown), self._named(above)
        )
        if sight is None:
            return []
        if self.split:
            return list(self._visible_of_part(sight, table, _section(shown)))
        out = []
        for number, row in enumerate(table.rows):
            if row.document == sight.document and (
                table.grain == "document" or _row_shown(row, sight)
            ):
                facts = {
                    n: f
                    for n, f in row.facts.items()
                    if _shown(f, row, sight) or _told_above(n, row, above)
                }
                if facts or (
                    table.grain == "document" and sight.shows(self._eyes.start(sight.document))
                ):
                    out.append((number, row, facts))
        return out

    def _named(self, above: str) -> str:
        """The document that the card above a part names, "" for none."""
        found = (
            re.search(r"^From: (?:file )?([^;\n]+)", above, re.MULTILINE) if self.split else None
        )
        return next(
            (
                name
                for name in self.world.documents
                if found and PurePath(name).stem == found[1].strip()
            ),
            "",
        )

    def _exactly(self, text: str, above: str) -> Sight | None:
        """The part of a document that is shown, where its text stands there as it is."""
        if not self.split:
            return None
        named, shown = self._named(above), _section(text)
        texts = {named: self.world.documents[named]} if named else self.world.documents
        starts = [0, *(found.end() for found in re.finditer(r"\n\n", shown))]
        bodies = [
            body
            for start in starts
            if 2 * len(body := shown[start:].strip()) > len(_ABOVE.sub("", shown))
        ]
        found = (
            (name, text.find(body), len(body)) for body in bodies for name, text in texts.items()
        )
        return next((Sight(name, ((at, at + size),)) for name, at, size in found if at >= 0), None)

    def _visible_of_part(
        self, sight: Sight, table: FactTable, shown: str
    ) -> Iterator[tuple[int, FactRow, dict[str, Fact]]]:
        """Rows that one of several parts tells: what it shows of the document's row, or of rows
        whose key it prints.
        """
        key = key_of(table, within=True)
        begins = sight.shows(self._eyes.start(sight.document))
        for number, row in enumerate(table.rows):
            if row.document != sight.document:
                continue
            facts = {
                n: f
                for n, f in row.facts.items()
                if (sight.shows(f.place) if f.place and f.place != (0, 0) else begins)
            }
            if table.grain != "document":
                names = {
                    n: _printed_in(row.facts[n], shown)
                    for n in key
                    if n in row.facts and n not in facts
                }
                if (
                    not (facts if key else sight.shows(row.anchor))
                    or None in names.values()
                    or set(key) >= set(facts)
                ):
                    continue
                facts = {n: names.get(n) or facts[n] for n in row.facts if n in facts or n in names}  # type: ignore[misc]
            if facts or begins:
                yield number, row, facts

    def say(self, table: FactTable, number: int, facts: Mapping[str, Fact]) -> None:
        """Remember what was said of a row."""
        self.given.setdefault((table.name, number), {}).update(facts)

    def again(self, prompt: str) -> Iterator[dict[str, Any]]:
        """Cells that a check doubts, as they were given before: the reader is certain of them."""
        given = [(name, fact) for facts in self.given.values() for name, fact in facts.items()]
        for number, name, said in re.findall(
            r"^(\d+)\. (\w+) \(.*?: (value .*)\. Found: ", prompt, re.MULTILINE | re.DOTALL
        ):
            known = (f for n, f in given if n == name)
            fact = next((f for f in known if said in (_said(f, f.words), _said(f, ()))), None)
            if fact is not None:
                self.doubted.append((name, fact))
                yield {"number": int(number), "how": "stated", **_cell(fact)}

    def read(self, prompt: str) -> dict[str, Any]:
        """All rows of the tables that the prompt asks for, with the columns that it asks for, for
        each document that it shows.
        """
        reply: dict[str, Any] = {"rows": []}
        for number, shown in documents_shown(prompt).items():
            own = {} if number is None else {"document": number}
            before = len(reply["rows"])
            for table in self.world.tables:
                if f"\nTable {table.name}:" in f"\n{prompt}":
                    rows = self._rows(prompt, shown, table)
                    named = own | ({"table": table.name} if _several(prompt) else {})
                    _add(reply, named, rows, prompt)
            if number is not None and len(reply["rows"]) == before:
                reply.setdefault("no_rows", []).append(number)
        return reply

    def _rows(self, prompt: str, shown: str, table: FactTable) -> list[dict[str, Fact]]:
        """The facts of each row of a table that a document shows, of the columns asked for."""
        out = []
        for number, _, facts in self.visible(shown, table):
            asked = {
                name: _quoted(fact, shown)
                for name, fact in facts.items()
                if f"\n- {name} (" in prompt
            }
            if self.split:  # words may be cut where a part ends
                asked = {
                    name: fact
                    for name, fact in asked.items()
                    if all(_stands(w, shown) for w in fact.words)
                }
                key = key_of(table, within=True) if table.grain != "document" else []
                whole = all(name in asked for name in key if f"\n- {name} (" in prompt)
                asked = asked if whole else {}
            if asked or table.grain == "document":
                self.say(table, number, asked)
                out.append(asked)
        return out

    # answer

    def step(self, asked: str) -> dict[str, str]:
        """The first turn of the question that stands last in a text."""
        reason = "the columns hold what is asked"
        return {"action": "answer", "sql": self.sql(asked), "reason": reason}

    def sql(self, prompt: str) -> str:
        """The gold SQL of the question that stands last in the prompt."""
        placed = [
            (prompt.rfind(q.question), len(q.question), q, sql) for q, sql in self.world.questions
        ]
        at, _, question, sql = max(placed, key=lambda p: (p[0], p[1]))
        if at < 0:
            return "SELECT NULL"
        self.statements[question.question] = sql
        return sql


def part_tokens(world: World) -> int:
    """The size of a part, so that a usual document is cut in three."""
    return max(12, round(median(len(text) for text in world.documents.values()) / 4 / 3))


def _section(shown: str) -> str:
    """A part with the headings and the head of the table above it, without the document's card."""
    return re.sub(r"^From: .*$", "", shown, flags=re.MULTILINE).strip()


def _stands(words: str, shown: str) -> bool:
    """Whether a part holds these words, not within other ones."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", _section(shown)) is not None


def _printed_in(fact: Fact, shown: str) -> Fact | None:
    """The fact with words of its value that are shown, None where none are."""
    spot = next(iter(places(shown, fact.value)), None)
    return (
        None
        if spot is None
        else replace(fact, words=(shown[spot[0] : spot[1]],), how="stated", why="")
    )


def _row_shown(row: FactRow, sight: Sight) -> bool:
    """Whether the text shows where the row stands: its anchor, or most of its words where a mark
    was taken off a line.
    """
    found = [
        fact.place
        for name, fact in row.facts.items()
        if fact.place is not None and name not in row.shared
    ]
    return sight.shows(row.anchor) or 2 * sum(map(sight.shows, found)) > len(found)


def _told_above(name: str, row: FactRow, above: str) -> bool:
    """Whether the document's card or headings tell what all its rows have in common."""
    return (
        name in row.shared
        and bool(row.facts[name].words)
        and all(w in above for w in row.facts[name].words)
    )


def _shown(fact: Fact, row: FactRow, sight: Sight) -> bool:
    return sight.shows(fact.place or row.anchor) or row.anchor == (0, 0) == (
        fact.place or row.anchor
    )


def _quoted(fact: Fact, prompt: str) -> Fact:
    """The fact with its words as the prompt prints them: a row of a table may be laid out anew."""
    parts = [
        part
        for words in fact.words
        for part in ([words] if words in prompt else re.split(r"\s{2,}|\t", words))
    ]
    return replace(fact, words=tuple(part for part in parts if part in prompt) or fact.words)


def _several(prompt: str) -> bool:
    """Whether a row has to name its table."""
    return 'Each row begins with "table"' in prompt or _BARE not in prompt


def _add(
    reply: dict[str, Any],
    named: Mapping[str, Any],
    rows: Sequence[Mapping[str, Fact]],
    prompt: str,
) -> None:
    """Add rows in the form that the prompt asks for: what they have in common once, bare values,
    false ones by name.
    """
    common: set[str] = set()
    if '"all_rows"' in prompt and len(rows) > 1:
        common = {n for n in rows[0] if all(rows[0][n] == row.get(n) for row in rows)}
    if common:
        shared = {name: rows[0][name] for name in rows[0] if name in common}
        reply.setdefault("all_rows", []).append({**named, **_row(shared, prompt)})
    for row in rows:
        own = {name: fact for name, fact in row.items() if name not in common}
        reply["rows"].append({**named, **_row(own, prompt)})


def _row(facts: Mapping[str, Fact], prompt: str) -> dict[str, Any]:
    listed = [n for n, f in facts.items() if f.value is False and '"false"' in prompt]
    cells = {n: _bare(f, prompt) for n, f in facts.items() if n not in listed}
    return {"cells": cells} | ({"false": listed} if listed else {})


_BARE = "A cell is the bare value"
_NUMBER, _DAY = Column("number", ColumnType.NUMBER), Column("day", ColumnType.DATE)


def _bare(fact: Fact, prompt: str) -> Any:
    """The value alone where its words print it as it is, else the whole cell."""
    printed = fact.how == "stated" and len(fact.words) == 1
    if isinstance(fact.value, str) and fact.words != (fact.value,):
        printed = printed and parse_value(fact.words[0], _DAY).value == fact.value
    if isinstance(fact.value, int | float) and not isinstance(fact.value, bool):
        printed = printed and parse_value(fact.words[0], _NUMBER).value == fact.value
    return fact.value if printed and _BARE in prompt else _cell(fact)


def _said(fact: Fact, words: Sequence[str]) -> str:
    """What a finding repeats of a cell."""
    return f"value {fact.value!r}, words {list(words)!r}"


def _cell(fact: Fact) -> dict[str, Any]:
    said: dict[str, Any] = {"value": fact.value, "words": list(fact.words)}
    return said if fact.how == "stated" else said | {"how": fact.how, "why": fact.why}


def _proposed(table: FactTable, within: bool = False) -> dict[str, Any]:
    columns = []
    for name, options in table.columns.items():
        empty = {
            "description": name,
            "meaning": meaning(str(options.get("description", name))),
            "unit": "",
            "scale": "",
            "currency": "",
            "values": [],
            "reading": "stated",
        }
        columns.append({"name": name, "required": False, **empty, **options})
    return {
        "name": table.name,
        "row": table.row or table.name,
        "description": table.row or table.name,
        "documents": "",
        "rows_per_document": "one" if table.grain == "document" else "several",
        "key": key_of(table, within),
        "columns": columns,
    }


def meaning(description: str) -> str:
    """The first words of a column's description, for whoever writes SQL."""
    return " ".join(re.split(r"[.;:,]", description)[0].split()[:_MEANING])


def filled(shape: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """An object of a JSON schema: what is known, and the first allowed or an
    empty value for the rest.
    """
    empty: dict[str, Any] = {"array": [], "object": {}, "boolean": False, "integer": 0, "number": 0}
    out = {}
    for name, form in shape.get("properties", {}).items():
        allowed = form.get("enum")
        fits = name in known and (not allowed or known[name] in allowed)
        out[name] = (
            known[name] if fits else allowed[0] if allowed else empty.get(form.get("type", ""), "")
        )
    return out
