"""What an extraction asks: the pure twins that build each request, printable without running."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sliders.chunks.chunk import Chunk
from sliders.llm.model import Request
from sliders.llm.prompts import load_prompt
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType, Table

_WORDS_PER_VALUE = 40
"""Characters are cheap, run-away values are not: the grammar stops a value at about this many words."""


def field_line(column: Column, *, examples: bool = False) -> str:
    """How a column is named to the model: its words, its unit, its closed values, and its name.

    Nothing says that a value is a number: told so, a small model writes a figure of its own instead of the words.
    """
    words = spoken_name(column.name)
    said = column.description or words
    notes = [said if words in said.lower() or column.pinned else f"{words}: {said}"]
    if column.unit and column.unit.lower() not in said.lower():
        notes.append(f"in {column.unit}")
    if examples and column.examples:
        notes.append("such as " + ", ".join(column.examples))
    if column.values:
        notes.append("one of " + ", ".join(column.values))
    return f'{"; ".join(notes)} ("{column.name}")'


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
    return {"type": "array", "items": item, "maxItems": len(columns) + 2}


def record_schema(columns: Sequence[Column]) -> dict[str, Any]:
    """JSON schema of one row: for each column words of the document or null.

    Over a whole document a list of mentions runs on through the text and is cut before its end; over a line it labels
    better than this does.
    """
    names = [column.name for column in columns]
    return {
        "type": "object",
        "properties": {name: _VALUE for name in names},
        "required": names,
        "additionalProperties": False,
    }


_VALUE: dict[str, Any] = {"anyOf": [{"type": "string", "maxLength": _WORDS_PER_VALUE * 6}, {"type": "null"}]}


def naming_first(columns: Sequence[Column]) -> list[Column]:
    """The columns with the one that names the row first: a number that stands before its name is left null."""
    naming = next((c for c in columns if c.type in (ColumnType.TEXT, ColumnType.CATEGORY)), None)
    return [naming, *(c for c in columns if c is not naming)] if naming is not None else list(columns)


def rows_schema(columns: Sequence[Column], least: int = 0, counted: Collection[str] = ()) -> dict[str, Any]:
    """JSON schema of several rows, each value words of the document or null; the first column names the row.

    Args:
        least: so many rows there must be.
        counted: names of columns that no row leaves null.
    """
    names = [column.name for column in columns]
    needed = {names[0], *counted}  # a row of nothing but nulls is how a small model begins to loop
    row = {
        "type": "object",
        "properties": {name: _VALUE["anyOf"][0] if name in needed else _VALUE for name in names},
        "required": names,
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": row, **({"minItems": least} if least else {})}},
        "required": ["rows"],
        "additionalProperties": False,
    }


def chunk_document(chunk: Chunk) -> str:
    """The chunk with its context above it, as the model reads it."""
    header = chunk.context.header()
    body = chunk.text.strip()
    if not header or (chunk.position == 0 and not chunk.context.captions):
        return body
    return f"{header}\n\n{body}"


def record_prompt(text: str, table: Table, columns: Sequence[Column], *, line: bool = False) -> Request:
    """One record out of `text`: a document, or with `line` one line of a list (then the fields stand first, so that
    the server's prefix cache serves them)."""
    mentions = line and len(columns) >= _MENTIONED_FIELDS
    prompt = load_prompt("extraction/line" if mentions else "extraction/entry" if line else "extraction/record")
    return Request(
        stage="extract",
        messages=prompt.render(document=text, row=table.row, fields=[field_line(c, examples=line) for c in columns]),
        prompt_hash=prompt.hash,
        json_schema=mentions_schema(columns) if mentions else record_schema(columns),
        max_tokens=64 + 48 * len(columns),
    )


_MENTIONED_FIELDS = 6
"""A list of mentions labels every phrase of a line: right where the fields cover the line, not for a few of them."""


def rows_prompt(
    text: str, tokens: int, table: Table, columns: Sequence[Column], least: int = 0, counted: Collection[str] = ()
) -> Request:
    """All rows of a table that `text` (of so many tokens) tells of; `least` and `counted` as in `rows_schema`."""
    columns = naming_first(columns)
    prompt = load_prompt("extraction/rows")
    return Request(
        stage="extract",
        messages=prompt.render(
            document=text,
            row=table.row or f"one of the {spoken_name(table.name)}",
            fields=[field_line(c) for c in columns],
        ),
        prompt_hash=prompt.hash,
        json_schema=rows_schema(columns, least, counted),
        max_tokens=max(256, min(4096, tokens + 40 * len(columns))),  # a loop is cut here; more rows are read in halves
        enough=says_again,
    )


_READER = {"document": "extraction/record", "many": "extraction/rows"}
_AGAIN = 4


def says_again(text: str) -> bool:
    """Whether the last rows of a reply under way all stand in it already: a small model with nothing more to say loops.

    >>> says_again('{"rows":[{"a":"1"},{"a":"2"},{"a":"1"},{"a":"2"},{"a":"1"},{"a":"2"}')
    True
    """
    rows = text.rstrip().removesuffix("}").partition("[{")[2].split("},{")
    return len(rows) > _AGAIN and all(rows[at] in rows[:at] for at in range(len(rows) - _AGAIN, len(rows)))


def gate_prompt(chunk: Chunk, table: Table, columns: Sequence[Column]) -> Request:
    """Whether the chunk can hold a row.

    It begins as the request that then reads the chunk does, so that a server with a prefix cache reads the text once.
    """
    prompt, reader = load_prompt("extraction/gate"), load_prompt(_READER[table.grain])
    asked = prompt.render(
        document=chunk_document(chunk),
        row=table.row or spoken_name(table.name),
        fields=", ".join(spoken_name(c.name) for c in columns),
    )
    return Request(
        stage="gate",
        messages=(reader.system, *asked),
        prompt_hash=prompt.hash,
        json_schema={
            "type": "object",
            "properties": {"relevant": {"type": "boolean"}},
            "required": ["relevant"],
            "additionalProperties": False,
        },
        max_tokens=16,
    )
