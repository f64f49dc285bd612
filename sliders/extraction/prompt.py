"""What an extraction asks in the full dialect, and what both show: the pure twins that build each
request, printable without running.
"""

from __future__ import annotations

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
    """Columns of a table that a chunk is asked for."""

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
        """The card as one line, what is empty left out."""
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
        """The cards of so many documents by their numbers from 1."""
        told: dict[int, Card] = {card.document: card for card in self.cards}
        return {1: self} if documents == 1 and not told else told


def column_line(column: Column) -> str:
    """A column for the full dialect: name, type with unit or values, how it
    is read, description.
    """
    unit = column.measured_in
    kind = "one of " + ", ".join(column.values) if column.values else column.type.value
    judged = "to be judged" if column.reading == "judged" else ""
    facts = "; ".join(part for part in (kind, f"in {unit}" if unit else "", judged) if part)
    return f"{column.name} ({facts}): {column.description or spoken_name(column.name)}"


def table_about(table: Table) -> str:
    """What one row is, how many a document has, and which documents fill the table."""
    row = f"one row is {table.row}" if table.row else f"rows are {spoken_name(table.name)}"
    each = "a document has one" if table.grain == "document" else "a document may have several"
    parts = (row, each, table.documents, table.description)
    return "; ".join(part for part in parts if part)


def chunk_document(chunk: Chunk, card: str = "") -> str:
    """The chunk with its document's card and its own headings above it, as the model reads it."""
    head = chunk_head(chunk, card)
    body = chunk.text.strip()
    return f"{head}\n\n{body}" if head else body


def chunk_head(chunk: Chunk, card: str = "") -> str:
    """What stands above a chunk: its document's card, or its title where there is
    none, and its headings.
    """
    if chunk.position == 0 and not chunk.context.captions and not card:
        return ""
    header = (replace(chunk.context, title="") if card else chunk.context).header()
    return "\n".join(part for part in (f"From: {card}" if card else "", header) if part)


def read_prompt(
    document: str,
    asked: Sequence[Asked],
    tokens: int,
    questions: Sequence[str] = (),
    *,
    whole: bool = False,
) -> Request:
    """All rows of all the tables asked that `document` (of so many tokens, `whole` or a part) tells
    of, with their words.
    """
    prompt = load_prompt("extraction/read", FULL)
    columns = sum(len(a.columns) for a in asked)
    return Request(
        stage="extract",
        messages=prompt.render(
            tables=[_shown(a) for a in asked],
            questions=list(questions[:_MOST_QUESTIONS]),
            document=document,
            whole=whole,
        ),
        prompt_hash=prompt.hash,
        json_schema=read_schema(),
        max_tokens=max(1500, min(16_000, 4 * tokens + 120 * columns)),
    )


def _shown(asked: Asked) -> dict[str, Any]:
    return {
        "name": asked.table.name,
        "about": table_about(asked.table),
        "columns": [column_line(column) for column in asked.columns],
    }


def read_schema() -> dict[str, Any]:
    """The JSON schema of rows: cells with value, words, how, why, sure and bound, and the columns
    that do not apply to a row.

    It takes more than the prompt asks for (another table's name, a bare value, words in one piece):
    one odd cell would cost its row, while the check says what is wrong with it.
    """
    cell = {
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
    row = {
        "type": "object",
        "properties": {
            "table": {"type": "string"},
            "cells": {"type": "object", "additionalProperties": cell},
            "does_not_apply": {"type": ["array", "null"], "items": {"type": "string"}},
        },
        "required": ["table", "cells"],
    }
    return {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": row}},
        "required": ["rows"],
    }


def recheck_prompt(document: str, findings: Sequence[str], tables: Sequence[Asked] = ()) -> Request:
    """Cells that a check doubts, asked once more with what it found.

    Args:
        document: the passages that the findings are about.
        tables: those of which a grid prints rows that were not read; the reply may give these.
    """
    prompt = load_prompt("extraction/recheck", FULL)
    return Request(
        stage="extract",
        messages=prompt.render(
            document=document, findings=list(findings), tables=[_shown(a) for a in tables]
        ),
        prompt_hash=joined_hash(prompt, Sentences("extraction"), Sentences("values")),
        reply=None if tables else Rechecked,
        json_schema=_with_new_rows() if tables else None,
        max_tokens=200 + 120 * len(findings) * (1 + sum(len(a.columns) for a in tables)),
    )


def _with_new_rows() -> dict[str, Any]:
    """The JSON schema of the reply to findings that rows of a grid were not read."""
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
    """Which parts of a document may hold a value of the tables, by the lines of its outline."""
    prompt = load_prompt("extraction/gate", FULL)
    return Request(
        stage="gate",
        messages=prompt.render(tables=[_shown(a) for a in asked], parts=list(parts), card=card),
        prompt_hash=prompt.hash,
        reply=Chosen,
        max_tokens=300,
    )


def card_prompt(documents: Sequence[tuple[str, str]]) -> Request:
    """The cards of documents from their names and how they begin."""
    prompt = load_prompt("extraction/card", FULL)
    return Request(
        stage="extract",
        messages=prompt.render(documents=list(documents)),
        prompt_hash=prompt.hash,
        reply=Cards,
        max_tokens=400 * len(documents),
    )
