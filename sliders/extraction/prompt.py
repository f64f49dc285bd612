"""What an extraction asks: the pure twins that build each request, printable without running."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from sliders.chunks.chunk import Chunk
from sliders.llm.dialect import COMPACT, FULL
from sliders.llm.model import Message, Request
from sliders.llm.prompts import load_prompt
from sliders.schema.grain import row_noun
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType, Table

YES_NO = ("yes", "no")
_LONGEST_VALUE = 240
"""Characters after which the grammar stops a value: run-away values are not cheap."""
_LONGEST_SENTENCE = 420
_MOST_QUESTIONS = 40
_ROW_TOKENS = 40
"""Of one value with its key, in a reply of rows: a reply ends long before."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Columns of a table that a chunk is asked for."""

    table: Table
    columns: tuple[Column, ...]


class CellReply(BaseModel):
    """A corrected cell of the full dialect."""

    number: int
    value: Any = None
    words: list[str] | str | None = None
    how: str | None = None
    why: str | None = None


class Rechecked(BaseModel):
    """The reply to findings."""

    cells: list[CellReply]


class Chosen(BaseModel):
    """The reply of the gate: numbers of the parts to read."""

    parts: list[int]


class Card(BaseModel):
    """What the model says of a document from its first pages (SLIDERS, global metadata)."""

    title: str = ""
    kind: str = ""
    who: str = ""
    date: str = ""
    period: str = ""
    about: str = ""

    def line(self) -> str:
        """The card as one line, what is empty left out."""
        named = (self.title, self.kind, self.who, self.date, f"period: {self.period}" if self.period else "", self.about)
        return "; ".join(" ".join(part.split()) for part in named if part.strip())


def column_line(column: Column) -> str:
    """A column for the full dialect: name, type with unit or values, how it is read, description."""
    unit = measured_in(column)
    kind = "one of " + ", ".join(column.values) if column.values else column.type.value
    judged = "to be judged" if column.reading == "judged" else ""
    facts = "; ".join(part for part in (kind, f"in {unit}" if unit else "", judged) if part)
    return f"{column.name} ({facts}): {column.description or spoken_name(column.name)}"


def measured_in(column: Column) -> str:
    """Currency, scale and unit, each word once: a schema may name the currency in its unit, too."""
    return " ".join(dict.fromkeys(word for part in (column.currency, column.scale, column.unit) for word in part.split()))


def field_line(column: Column) -> str:
    """A column for the compact dialect: its plain question, its unit and values, and the name of the field."""
    said = column.description or spoken_name(column.name)
    unit = measured_in(column)
    notes = [said]
    if unit and unit.casefold() not in said.casefold():
        notes.append(f"in {unit}")
    if column.values:
        notes.append("one of " + ", ".join(column.values))
    return f'{"; ".join(notes)} ("{column.name}")'


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
    """What stands above a chunk: its document's card, or its title where there is none, and its headings."""
    if chunk.position == 0 and not chunk.context.captions and not card:
        return ""
    header = (replace(chunk.context, title="") if card else chunk.context).header()
    return "\n".join(part for part in (f"From: {card}" if card else "", header) if part)


def read_prompt(document: str, asked: Sequence[Asked], tokens: int, questions: Sequence[str] = ()) -> Request:
    """All rows of all the tables asked that `document` (of so many tokens) tells of, each cell with its words."""
    prompt = load_prompt("extraction/read", FULL)
    columns = sum(len(a.columns) for a in asked)
    return Request(
        stage="extract",
        messages=prompt.render(tables=[_shown(a) for a in asked], questions=list(questions[:_MOST_QUESTIONS]), document=document),
        prompt_hash=prompt.hash,
        json_schema=read_schema(),
        max_tokens=max(1500, min(16_000, 4 * tokens + 120 * columns)),
    )


def _shown(asked: Asked) -> dict[str, Any]:
    return {
        "name": asked.table.name, "about": table_about(asked.table),
        "columns": [column_line(column) for column in asked.columns],
    }  # fmt: skip


def read_schema() -> dict[str, Any]:
    """The JSON schema of rows, each cell with value, words, how and why.

    It takes more than the prompt asks for (another table's name, a bare value, words in one piece): one odd cell would
    cost its row, while the check says what is wrong with it.
    """
    cell = {
        "type": ["object", "string", "number", "boolean", "null"],
        "properties": {
            "value": {"type": ["string", "number", "boolean", "null", "array"]},
            "words": {"type": ["array", "string", "null"], "items": {"type": ["string", "number", "null"]}},
            "how": {"type": ["string", "null"]},
            "why": {"type": ["string", "number", "null"]},
        },
    }
    row = {
        "type": "object",
        "properties": {
            "table": {"type": "string"},
            "cells": {"type": "object", "additionalProperties": cell},
        },
        "required": ["table", "cells"],
    }
    return {"type": "object", "properties": {"rows": {"type": "array", "items": row}}, "required": ["rows"]}


def recheck_prompt(document: str, findings: Sequence[str]) -> Request:
    """Cells that a check doubts, asked once more with what it found."""
    prompt = load_prompt("extraction/recheck", FULL)
    return Request(
        stage="extract",
        messages=prompt.render(document=document, findings=list(findings)),
        prompt_hash=prompt.hash,
        reply=Rechecked,
        max_tokens=200 + 120 * len(findings),
    )


def gate_prompt(parts: Sequence[str], asked: Sequence[Asked], card: str = "") -> Request:
    """Which parts of a document may hold a value of the tables: one call for all of them."""
    prompt = load_prompt("extraction/gate", FULL)
    return Request(
        stage="gate",
        messages=prompt.render(tables=[_shown(a) for a in asked], parts=list(parts), card=card),
        prompt_hash=prompt.hash,
        reply=Chosen,
        max_tokens=300,
    )


def card_prompt(name: str, document: str) -> Request:
    """A document's card from its first pages."""
    prompt = load_prompt("extraction/card", FULL)
    return Request(
        stage="extract", messages=prompt.render(name=name, document=document), prompt_hash=prompt.hash, reply=Card, max_tokens=400
    )


# The compact dialect: the document stands first and the system message is one, so that a server's prefix cache serves
# every further question on the same document.


_CALCULATION = "^[0-9][0-9.,]{0,15} [-+*/] [0-9][0-9.,]{0,15}$"  # of more terms than two a small model adds what it sees


def values_prompt(document: str, columns: Sequence[Column]) -> Request:
    """One object of typed values for one row."""
    shapes = {c.name: _value_schema(c) for c in columns}
    return _object("extraction/values", document, columns, shapes, 24 + 100 * len(columns), told=True)


def dates_prompt(document: str, columns: Sequence[Column]) -> Request:
    """Dates as year, month and day, which the grammar holds."""
    shapes = {c.name: _nullable({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}) for c in columns}
    return _object("extraction/values", document, columns, shapes, 24 + 40 * len(columns), note="as YYYY-MM-DD")


def words_prompt(document: str, columns: Sequence[Column]) -> Request:
    """The exact words that tell each of these columns."""
    shapes = {c.name: _nullable({"type": "string", "maxLength": _LONGEST_VALUE}) for c in columns}
    return _object("extraction/words", document, columns, shapes, 24 + 100 * len(columns))


def calculation_prompt(document: str, column: Column) -> Request:
    """The two printed numbers from which a number follows that is itself printed nowhere, as a calculation."""
    prompt = load_prompt("extraction/calculation", COMPACT)
    return Request(
        stage="extract",
        messages=prompt.render(document=document, question=column.description or spoken_name(column.name)),
        prompt_hash=prompt.hash,
        json_schema=_closed({"calculation": {"type": "string", "pattern": _CALCULATION}}),
        max_tokens=40,
    )


def sentence_prompt(document: str, column: Column) -> Request:
    """The sentence that tells a number, then the number."""
    prompt = load_prompt("extraction/sentence", COMPACT)
    shape = {"sentence": {"type": "string", "maxLength": _LONGEST_SENTENCE}, "number": {"type": "integer"}}
    messages = prompt.render(document=document, question=column.description or spoken_name(column.name))
    return Request(
        stage="extract", messages=messages, prompt_hash=prompt.hash, json_schema=_closed(shape), max_tokens=_LONGEST_SENTENCE // 3
    )


def counts_prompt(sentence: str, column: Column) -> Request:
    """What the words of one sentence count, part by part: a small model adds up a phrase, not a page."""
    prompt = load_prompt("extraction/counts", COMPACT)
    parts = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 8}
    return Request(
        stage="extract",
        messages=prompt.render(sentence=sentence, question=column.description or spoken_name(column.name)),
        prompt_hash=prompt.hash,
        json_schema=_closed({"counts": parts, "number": {"type": "integer"}}),
        max_tokens=64,
    )


def rows_prompt(document: str, tokens: int, table: Table, columns: Sequence[Column], names: Sequence[str] = ()) -> Request:
    """All rows of a table that `document` (of so many tokens) tells of, as typed values; the first column names the row.

    Args:
        names: the rows to give, one for each name in this order; those that the model finds when there are none.
    """
    prompt = load_prompt("extraction/rows", COMPACT)
    shapes = {c.name: _value_schema(c) for c in columns}
    if columns[0].type is ColumnType.TEXT:  # free to leave it empty, a small model gives the page as a first row
        shapes[columns[0].name] = {"type": "string", "minLength": 1, "maxLength": _LONGEST_VALUE}
    shapes |= {c.name: {"type": "boolean"} for c in columns if c.type is ColumnType.BOOLEAN}  # its odds tell how sure it is
    named = [_closed(shapes | {columns[0].name: {"const": name}}) for name in names]
    rows = {"prefixItems": named, "items": False, "minItems": len(named)} if names else {"items": _closed(shapes)}
    most = _ROW_TOKENS * len(columns) * len(names) if names else min(4096, tokens + _ROW_TOKENS * len(columns))
    return Request(
        stage="extract",
        messages=prompt.render(
            document=document, row=row_noun(table), names=list(names), fields=[field_line(c) for c in columns]
        ),
        prompt_hash=prompt.hash,
        json_schema=_closed({"rows": {"type": "array", **rows}}),
        max_tokens=max(256, most),
        told=any(is_judged(c) for c in columns),
        enough=None if names else says_again,
    )


def judge_prompt(document: str, column: Column) -> Request:
    """One plain question on the document, answered by one token; `choices_of` gives the answers."""
    prompt = load_prompt("extraction/judge", COMPACT)
    choices = choices_of(column)
    listed = [c if choice == c else f"{choice} ({c})" for choice, c in zip(choices, _options(column), strict=True)]
    return Request(
        stage="extract",
        messages=prompt.render(document=document, question=column.description or spoken_name(column.name), choices=_or(listed)),
        prompt_hash=prompt.hash,
        choices=choices,
        max_tokens=1,
        logprobs=True,
    )


def judge_gate_prompt(document: str, table: Table, columns: Sequence[Column]) -> Request:
    """Whether a part tells any of the columns, as the odds of one token."""
    prompt = load_prompt("extraction/gate", COMPACT)
    fields = "; ".join(spoken_name(c.name) for c in columns)
    return Request(
        stage="gate",
        messages=prompt.render(document=document, row=table.row, fields=fields),
        prompt_hash=prompt.hash,
        choices=YES_NO,
        max_tokens=1,
        logprobs=True,
    )


def choices_of(column: Column) -> tuple[str, ...]:
    """The words that answer a judged column: yes and no, the category's values, or letters where those begin alike."""
    options = _options(column)
    heads = [option.casefold()[:3] for option in options]
    if len(set(heads)) == len(heads):
        return options
    return tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(options)])


def chosen_value(column: Column, choice: str) -> str | bool:
    """The value of the column that a choice stands for."""
    option = _options(column)[choices_of(column).index(choice)]
    return option == YES_NO[0] if column.type is ColumnType.BOOLEAN else option


def is_judged(column: Column) -> bool:
    """Whether the compact dialect asks for the odds of a choice: booleans, and categories that a reader judges."""
    return column.type is ColumnType.BOOLEAN or (column.reading == "judged" and 2 <= len(column.values) <= 26)


def _options(column: Column) -> tuple[str, ...]:
    return YES_NO if column.type is ColumnType.BOOLEAN else column.values


def _or(words: Sequence[str]) -> str:
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def _object(
    name: str,
    document: str,
    columns: Sequence[Column],
    shapes: Mapping[str, Any],
    most: int,
    note: str = "",
    told: bool = False,
) -> Request:
    prompt = load_prompt(name, COMPACT)
    fields = [f"{field_line(c)}, {note}" if note else field_line(c) for c in columns]
    messages: tuple[Message, ...] = prompt.render(document=document, fields=fields)
    return Request(
        stage="extract", messages=messages, prompt_hash=prompt.hash, json_schema=_closed(shapes), max_tokens=most, told=told
    )


def _closed(shapes: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(shapes), "required": list(shapes), "additionalProperties": False}


def _value_schema(column: Column) -> dict[str, Any]:
    match column.type:
        case ColumnType.INTEGER:
            return _nullable({"type": "integer"})
        case ColumnType.NUMBER:
            return _nullable({"type": "number"})
        case ColumnType.BOOLEAN:
            return _nullable({"type": "boolean"})
        case ColumnType.CATEGORY if column.values:
            return _nullable({"type": "string", "enum": list(column.values)})
        case _:
            return _nullable({"type": "string", "maxLength": _LONGEST_VALUE})


def _nullable(shape: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [shape, {"type": "null"}]}


_AGAIN = 4


def says_again(text: str) -> bool:
    """Whether the last rows of a reply under way all stand in it already: a small model with nothing more to say loops.

    >>> says_again('{"rows":[{"a":"1"},{"a":"2"},{"a":"1"},{"a":"2"},{"a":"1"},{"a":"2"}')
    True
    """
    rows = text.rstrip().removesuffix("}").partition("[{")[2].split("},{")
    return len(rows) > _AGAIN and all(rows[at] in rows[:at] for at in range(len(rows) - _AGAIN, len(rows)))
