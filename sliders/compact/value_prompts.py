"""Requests of an extraction in the compact dialect (small models): typed values under a grammar,
and the odds of one token for a judged column.

*Odds* are the model's probabilities for the first token of its reply. A *gate* is a question asked
before reading: may this text hold a value at all? The document stands first in each prompt and the
system message is always the same, so that a server's prefix cache serves every further question on
the same document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sliders.llm.dialect import COMPACT
from sliders.llm.model import Message, Request
from sliders.llm.prompts import load_prompt
from sliders.schema.names import spoken_name
from sliders.schema.row_names import row_noun
from sliders.schema.types import Column, ColumnType, Table

YES_NO = ("yes", "no")
ONE_SEVERAL = ("one", "several")
_LONGEST_VALUE = 240
"""The most characters of a value. The grammar stops there, since endless values are costly."""
_ROW_TOKENS = 40
"""The most tokens of one value with its key in a reply of rows; most replies end long before."""


def values_prompt(document: str, columns: Sequence[Column]) -> Request:
    """Returns the request for one row of typed values, as one object."""
    shapes = {c.name: _value_schema(c) for c in columns}
    return _object(
        "extraction/values", document, columns, shapes, 24 + 100 * len(columns), told=True
    )


def words_prompt(document: str, columns: Sequence[Column]) -> Request:
    """Returns the request for the exact words of the document that give each of these columns."""
    shapes = {c.name: _nullable({"type": "string", "maxLength": _LONGEST_VALUE}) for c in columns}
    return _object("extraction/words", document, columns, shapes, 24 + 100 * len(columns))


def rows_prompt(document: str, tokens: int, table: Table, columns: Sequence[Column]) -> Request:
    """Returns the request for all rows of a table in a document, as typed values. The first column
    names the row.

    Args:
        tokens: the length of the document.
    """
    prompt = load_prompt("extraction/rows", COMPACT)
    shapes = {c.name: _value_schema(c) for c in columns}
    shapes |= {
        c.name: {"type": "boolean"} for c in columns if c.type is ColumnType.BOOLEAN
    }  # its odds tell how sure it is
    if (
        columns[0].type is ColumnType.TEXT
    ):  # free to leave it empty, a small model gives the page as a first row
        shapes[columns[0].name] = {"type": "string", "minLength": 1, "maxLength": _LONGEST_VALUE}
    return Request(
        stage="extract",
        messages=prompt.render(
            document=document, row=row_noun(table), fields=[field_line(c) for c in columns]
        ),
        prompt_hash=prompt.hash,
        json_schema=_closed({"rows": {"type": "array", "items": _closed(shapes)}}),
        max_tokens=max(256, min(4096, tokens + _ROW_TOKENS * len(columns))),
        told=True,
        enough=says_again,
    )


def judge_prompt(document: str, column: Column) -> Request:
    """Returns the request for the value of a judged column: one plain question about the document,
    which one token answers. `choices_of` gives the possible answers.
    """
    choices = choices_of(column)
    listed = [
        c if choice == c else f"{choice} ({c})"
        for choice, c in zip(choices, _options(column), strict=True)
    ]
    question = column.description or spoken_name(column.name)
    return _choice(
        "extract",
        "extraction/judge",
        choices,
        document=document,
        question=question,
        choices=_or(listed),
    )


def several_prompt(document: str, table: Table, *, counted: bool) -> Request:
    """Returns the request that asks whether a document has one row of a table or several, as the
    odds of "one" and "several". `counted` selects between two phrasings.
    """
    return _choice(
        "extract",
        "extraction/several",
        ONE_SEVERAL,
        document=document,
        row=row_noun(table),
        counted=counted,
    )


def judge_gate_prompt(document: str, table: Table, columns: Sequence[Column]) -> Request:
    """Returns the request that asks whether a text holds a value of any of these columns, as the
    odds of "yes" and "no".

    Args:
        document: the text of a document or of one chunk of it.
        table: the table, which says what one row is.
        columns: the columns that are asked about.
    """
    fields = "; ".join(spoken_name(c.name) for c in columns)
    return _choice(
        "gate", "extraction/gate", YES_NO, document=document, row=table.row, fields=fields
    )


def _choice(stage: str, name: str, words: tuple[str, ...], /, **shown: Any) -> Request:
    """Returns a request for the odds of one token, which is one of `words`."""
    prompt = load_prompt(name, COMPACT)
    return Request(
        stage=stage,
        messages=prompt.render(**shown),
        prompt_hash=prompt.hash,
        choices=words,
        max_tokens=1,
        logprobs=True,
    )


def choices_of(column: Column) -> tuple[str, ...]:
    """Returns the words that answer a judged column: yes and no, the category's values, or letters
    when two values begin with the same three characters.
    """
    options = _options(column)
    heads = [option.casefold()[:3] for option in options]
    if len(set(heads)) == len(heads):
        return options
    return tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(options)])


def chosen_value(column: Column, choice: str) -> str | bool:
    """Returns the column's value for a choice."""
    option = _options(column)[choices_of(column).index(choice)]
    return option == YES_NO[0] if column.type is ColumnType.BOOLEAN else option


def is_judged(column: Column) -> bool:
    """Says whether the compact dialect asks for a column by the odds of a choice: true for
    booleans, and for judged categories of 2 to 26 values.
    """
    return column.type is ColumnType.BOOLEAN or (
        column.reading == "judged" and 2 <= len(column.values) <= 26
    )


def _options(column: Column) -> tuple[str, ...]:
    """Returns the values that a judged column can have."""
    return YES_NO if column.type is ColumnType.BOOLEAN else column.values


def _or(words: Sequence[str]) -> str:
    """Returns words as a list in prose: "a, b or c"."""
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def _object(
    name: str,
    document: str,
    columns: Sequence[Column],
    shapes: Mapping[str, Any],
    most: int,
    told: bool = False,
) -> Request:
    prompt = load_prompt(name, COMPACT)
    fields = [field_line(c) for c in columns]
    messages: tuple[Message, ...] = prompt.render(document=document, fields=fields)
    return Request(
        stage="extract",
        messages=messages,
        prompt_hash=prompt.hash,
        json_schema=_closed(shapes),
        max_tokens=most,
        told=told,
    )


def _closed(shapes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(shapes),
        "required": list(shapes),
        "additionalProperties": False,
    }


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
    """Returns a JSON schema that allows null too."""
    return {"anyOf": [shape, {"type": "null"}]}


_AGAIN = 4


def says_again(text: str) -> bool:
    """True when an unfinished reply repeats itself: all of its last rows occurred before. A small
    model with nothing more to say writes the same rows again without end.

    >>> says_again('{"rows":[{"a":"1"},{"a":"2"},{"a":"1"},{"a":"2"},{"a":"1"},{"a":"2"}') True
    """
    rows = rows_begun(text.rstrip().removesuffix("}"))
    return len(rows) > _AGAIN and all(
        rows[at] in rows[:at] for at in range(len(rows) - _AGAIN, len(rows))
    )


def rows_begun(text: str) -> list[str]:
    """Returns the rows of a reply under way; the last one may be incomplete."""
    begun = text.partition("[{")[2]
    return _NEXT_ROW.split(begun) if begun else []


_NEXT_ROW = re.compile(r"\},\s*\{")


def field_line(column: Column) -> str:
    """Returns a column as a line of a prompt: its plain question, its unit, its values, and the
    name of the field.
    """
    said = column.description or spoken_name(column.name)
    unit = column.measured_in
    notes = [said]
    if unit and unit.casefold() not in said.casefold():
        notes.append(f"in {unit}")
    if column.values:
        notes.append("one of " + ", ".join(column.values))
    return f'{"; ".join(notes)} ("{column.name}")'
