"""The requests of an extraction in the full dialect: reading, rechecking, choosing parts (the gate)
and making cards. Every request is built without running it, so that it can be printed. Functions
that both dialects use to show tables and chunks stand here too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, Field

from sliders.llm.dialect import FULL
from sliders.llm.model import Request
from sliders.llm.prompts import joined_hash, load_prompt
from sliders.llm.replies import LenientReply
from sliders.retrieval.chunk import Chunk
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, Table
from sliders.sentences import Sentences

_MOST_QUESTIONS = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """A table and those of its columns that a chunk is asked for."""

    table: Table
    columns: tuple[Column, ...]


class CellReply(LenientReply):
    """A corrected cell of the full dialect."""

    number: int
    value: Any = None
    words: list[str] | str | None = None
    how: str | None = None
    why: str | None = None
    sure: bool | None = None


class Rechecked(BaseModel):
    """The reply to findings."""

    cells: list[CellReply]


class Chosen(LenientReply):
    """The reply of the gate: the numbers of the parts to read, and words to search the others
    for.
    """

    parts: list[int]
    search: list[str] = Field(default_factory=list)


class Card(LenientReply):
    """What the model says of a document from how it begins (SLIDERS, global metadata)."""

    title: str = ""
    kind: str = ""
    who: str = ""
    date: str = ""
    period: str = ""
    about: str = ""

    def line(self) -> str:
        """Returns the card as one line, without its empty fields."""
        named = (
            self.title,
            self.kind,
            self.who,
            self.date,
            f"period: {self.period}" if self.period else "",
            self.about,
        )
        return "; ".join(" ".join(part.split()) for part in named if part.strip())


class NumberedCard(Card):
    """The card of one of several documents."""

    document: int


class Cards(Card):
    """The cards of several documents. A reply about one document may be its card alone."""

    cards: list[NumberedCard] = Field(default_factory=list)

    def by_number(self, documents: int) -> dict[int, Card]:
        """Returns the cards by the number of their document, from 1.

        Args:
            documents: how many documents the request was about.
        """
        told: dict[int, Card] = {card.document: card for card in self.cards}
        return {1: self} if documents == 1 and not told else told


def column_line(column: Column) -> str:
    """Returns a line that describes a column to the model: name, type with unit or values, "to be
    judged" for a judged column, and description.
    """
    unit = column.measured_in
    kind = "one of " + ", ".join(column.values) if column.values else column.type.value
    judged = "to be judged" if column.reading == "judged" else ""
    facts = "; ".join(part for part in (kind, f"in {unit}" if unit else "", judged) if part)
    return f"{column.name} ({facts}): {column.description or spoken_name(column.name)}"


def table_about(table: Table) -> str:
    """Returns a line that describes a table: its row, the number of rows in a document (one or
    several), the documents that fill it, and its description.
    """
    row = f"one row is {table.row}" if table.row else f"rows are {spoken_name(table.name)}"
    each = "a document has one" if table.grain == "document" else "a document may have several"
    parts = (row, each, table.documents, table.description)
    return "; ".join(part for part in parts if part)


def chunk_document(chunk: Chunk, card: str = "") -> str:
    """Returns the text of a chunk below its document's card and its own headings, as the model
    reads it.
    """
    head = chunk_head(chunk, card)
    body = chunk.text.strip()
    return f"{head}\n\n{body}" if head else body


def chunk_head(chunk: Chunk, card: str = "") -> str:
    """Returns the lines above a chunk's text: its document's card, or the title where there is no
    card, then the headings. "" for the first chunk of a document without card and captions.
    """
    if chunk.position == 0 and not chunk.context.captions and not card:
        return ""
    header = (replace(chunk.context, title="") if card else chunk.context).header()
    return "\n".join(part for part in (f"From: {card}" if card else "", header) if part)


def read_prompt(
    documents: Sequence[str],
    asked: Sequence[Asked],
    reply_tokens: int,
    questions: Sequence[str] = (),
    *,
    whole: bool = False,
) -> Request:
    """Returns the request that reads rows: all rows of the tables that the documents tell of, with
    their words. The text that all requests of one filling share stands first.

    Args:
        documents: the texts of documents, or a part of one document.
        asked: the tables and columns.
        reply_tokens: the usual size of the reply; it may be twice as long.
        questions: the questions that the tables are for.
        whole: True where the texts are whole documents.
    """
    prompt = load_prompt("extraction/read", FULL)
    return Request(
        stage="extract",
        messages=prompt.render(
            tables=[_with_examples(a, documents) for a in asked],
            questions=list(questions[:_MOST_QUESTIONS]),
            lists=any(a.table.grain == "many" for a in asked),
            documents=list(documents),
            whole=whole,
        ),
        prompt_hash=prompt.hash,
        json_schema=read_schema(),
        max_tokens=max(_LEAST_REPLY, min(MOST_REPLY, 2 * reply_tokens)),
    )


_LEAST_REPLY, MOST_REPLY = 1_500, 16_000
_ROW_TOKENS, _CELL_TOKENS = 12, 10
_ENTRY = re.compile(r"\n\s*\S|[.!?。！？]\s")


def reply_tokens(text: str, asked: Sequence[Asked]) -> int:
    """Returns the most tokens that a reply over a text may need: each of its lines and sentences
    may be a row, and a row has a cell for each column.
    """
    return reply_of_rows(1 + len(_ENTRY.findall(text)), asked)


def reply_of_rows(rows: int, asked: Sequence[Asked]) -> int:
    """Returns the tokens of a reply with that many rows of a document, when every column has a
    value.
    """
    counts = (rows if a.table.grain == "many" else 1 for a in asked)
    return sum(
        reply_of_cells(count, count * len(a.columns))
        for count, a in zip(counts, asked, strict=True)
    )


def reply_of_cells(rows: int, cells: int) -> int:
    """Returns the tokens of a reply with that many rows and, in all of them, that many cells."""
    return _ROW_TOKENS * rows + _CELL_TOKENS * cells


def _shown(asked: Asked) -> dict[str, Any]:
    return {
        "name": asked.table.name,
        "about": table_about(asked.table),
        "columns": [column_line(column) for column in asked.columns],
    }


def _with_examples(asked: Asked, documents: Sequence[str]) -> dict[str, Any]:
    """A table as it is shown to a reader, with the examples that stand in none of the documents."""
    shown = _shown(asked)
    for number, column in enumerate(asked.columns):
        for one in column.examples:
            if not any(one.stands_in(text) for text in documents):
                words = json.dumps(one.words, ensure_ascii=False)
                value = json.dumps(one.value, ensure_ascii=False)
                shown["columns"][number] += (
                    f"\n  An example, from a document that is not here: {words} gives {value}"
                )
    return shown


def read_schema() -> dict[str, Any]:
    """Returns the JSON schema of the reply with rows. A row holds bare values, or cells with value,
    words, how, why, sure and bound, and lists the columns that are false or do not apply. Beside
    the rows stand the values that all rows of a document share, and the documents without rows.

    The schema allows more than the prompt asks for (the name of another table, words in one piece):
    a strict schema would lose a whole row for one odd cell, while the check names what is wrong
    with the cell.
    """
    names = {"type": ["array", "null"], "items": {"type": "string"}}
    row = {
        "type": "object",
        "properties": {
            "document": {"type": "integer"},
            "table": {"type": "string"},
            "cells": {"type": "object", "additionalProperties": _cell_schema()},
            "false": names,
            "does_not_apply": names,
        },
        "required": ["cells"],
    }
    rows = {"type": "array", "items": row}
    numbers = {"type": "array", "items": {"type": "integer"}}
    return {
        "type": "object",
        "properties": {"rows": rows, "all_rows": rows, "no_rows": numbers},
        "required": ["rows"],
    }


def _cell_schema() -> dict[str, Any]:
    """The JSON schema of a bare value or a cell."""
    return {
        "type": ["object", "string", "number", "boolean", "null"],
        "properties": {
            "value": {"type": ["string", "number", "boolean", "null", "array"]},
            "words": {
                "type": ["array", "string", "null"],
                "items": {"type": ["string", "number", "null"]},
            },
            "how": {"type": ["string", "null"]},
            "why": {"type": ["string", "number", "null"]},
            "sure": {"type": ["boolean", "null"]},
            "bound": {"type": ["string", "null"]},
        },
    }


def recheck_prompt(
    documents: Sequence[str], findings: Sequence[str], tables: Sequence[Asked] = ()
) -> Request:
    """Returns the request that asks once more for cells with findings.

    Args:
        documents: the passages of each document that the findings are about.
        findings: a sentence for each finding.
        tables: tables of which a grid prints rows that were not read; the reply may add these rows.
    """
    prompt = load_prompt("extraction/recheck", FULL)
    return Request(
        stage="extract",
        messages=prompt.render(
            documents=list(documents),
            findings=list(findings),
            tables=[_shown(a) for a in tables],
        ),
        prompt_hash=joined_hash(prompt, Sentences("extraction"), Sentences("values")),
        reply=None if tables else Rechecked,
        json_schema=_with_new_rows() if tables else None,
        max_tokens=200 + 120 * len(findings) * (1 + sum(len(a.columns) for a in tables)),
    )


def _with_new_rows() -> dict[str, Any]:
    """The JSON schema of the reply to findings about rows of a grid that were not read."""
    cells = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
        },
    }
    properties = {"cells": cells, "new_rows": read_schema()["properties"]["rows"]}
    return {"type": "object", "properties": properties, "required": ["cells"]}


def gate_prompt(parts: Sequence[str], asked: Sequence[Asked], card: str = "") -> Request:
    """Returns the request that asks which parts of a document may hold a value of the tables.

    Args:
        parts: the lines of the document's outline, one for each part.
        asked: the tables and columns.
        card: the document's card in one line, "" for none.
    """
    prompt = load_prompt("extraction/gate", FULL)
    return Request(
        stage="gate",
        messages=prompt.render(tables=[_shown(a) for a in asked], parts=list(parts), card=card),
        prompt_hash=prompt.hash,
        reply=Chosen,
        max_tokens=300,
    )


def card_prompt(documents: Sequence[tuple[str, str]]) -> Request:
    """Returns the request for the cards of documents.

    Args:
        documents: the name and the beginning of each document.
    """
    prompt = load_prompt("extraction/card", FULL)
    return Request(
        stage="extract",
        messages=prompt.render(documents=list(documents)),
        prompt_hash=prompt.hash,
        reply=Cards,
        max_tokens=400 * len(documents),
    )
