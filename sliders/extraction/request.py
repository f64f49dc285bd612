"""What an extraction asks: the pure twins that build each request, printable without running."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sliders.chunks.chunk import Chunk
from sliders.llm.model import Request
from sliders.llm.prompts import load_prompt
from sliders.schema.names import spoken_name
from sliders.schema.schema import Column, ColumnType, Table

_WORDS_PER_VALUE = 40
"""Characters are cheap, run-away values are not: the grammar stops a value at about this many words."""


def field_line(column: Column) -> str:
    """How a column is named to the model: its name, its words, its unit and its closed values."""
    words = spoken_name(column.name)
    said = column.description or ""
    if said and words not in said.lower():
        said = f"{words}: {said}"
    notes = [said or words]
    if column.unit and column.unit.lower() not in said.lower():
        notes.append(f"in {column.unit}")
    if column.enum_values:
        notes.append("one of " + ", ".join(column.enum_values))
    if column.type in (ColumnType.INTEGER, ColumnType.NUMBER):
        notes.append("the words with the number")
    return f"{column.name} ({'; '.join(notes)})"


def mentions_schema(columns: Sequence[Column]) -> dict[str, Any]:
    """JSON schema of a list of mentions, words first: a small model copies in reading order and then labels."""
    item = {
        "type": "object",
        "properties": {
            "words": {"type": "string", "maxLength": _WORDS_PER_VALUE * 6},
            "field": {"type": "string", "enum": [column.name for column in columns]},
        },
        "required": ["words", "field"],
        "additionalProperties": False,
    }
    return {"type": "array", "items": item, "maxItems": 2 * len(columns) + 2}


def rows_schema(columns: Sequence[Column]) -> dict[str, Any]:
    """JSON schema of several rows, each value words of the document or null."""
    value = {"anyOf": [{"type": "string", "maxLength": _WORDS_PER_VALUE * 6}, {"type": "null"}]}
    names = [column.name for column in columns]
    row = {
        "type": "object",
        "properties": {name: value for name in names},
        "required": names,
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": row}},
        "required": ["rows"],
        "additionalProperties": False,
    }


def chunk_document(chunk: Chunk) -> str:
    """The chunk with its context above it, as the model reads it."""
    header = chunk.context.header()
    body = chunk.text.strip()
    if not header or chunk.position == 0 and not chunk.context.captions:
        return body
    return f"{header}\n\n{body}"


def record_prompt(text: str, table: Table, columns: Sequence[Column], *, line: bool = False) -> Request:
    """One record out of `text`: a document, or with `line` one line of a list (then the fields stand first, so that
    the server's prefix cache serves them)."""
    prompt = load_prompt("extraction/line" if line else "extraction/record")
    return Request(
        stage="extract",
        messages=prompt.render(document=text, row=table.row, fields=[field_line(c) for c in columns]),
        prompt_hash=prompt.hash,
        json_schema=mentions_schema(columns),
        max_tokens=64 + 48 * len(columns),
    )


def rows_prompt(text: str, tokens: int, table: Table, columns: Sequence[Column]) -> Request:
    """All rows of a table that `text` (of so many tokens) tells of."""
    prompt = load_prompt("extraction/rows")
    return Request(
        stage="extract",
        messages=prompt.render(
            document=text, row=table.row or f"one of the {spoken_name(table.name)}",
            fields=[field_line(c) for c in columns],
        ),
        prompt_hash=prompt.hash,
        json_schema=rows_schema(columns),
        max_tokens=max(512, min(4096, 3 * tokens + 40 * len(columns))),
    )


def gate_prompt(chunk: Chunk, table: Table, columns: Sequence[Column]) -> Request:
    """Whether the chunk can hold a row."""
    prompt = load_prompt("extraction/gate")
    return Request(
        stage="gate",
        messages=prompt.render(
            document=chunk_document(chunk),
            row=table.row or spoken_name(table.name),
            fields=", ".join(spoken_name(c.name) for c in columns),
        ),
        prompt_hash=prompt.hash,
        json_schema={
            "type": "object",
            "properties": {"relevant": {"type": "boolean"}},
            "required": ["relevant"],
            "additionalProperties": False,
        },
        max_tokens=16,
    )
