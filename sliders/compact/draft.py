"""Prompts that ask a small model for the columns of one question. The model writes the SQL that
would answer the question, then the words and a plain question for each column.

A *proposal* is the table and columns that a reply gives. `row` says what one row is ("a barn").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from sliders.errors import CallFailed, ModelRefusal, QueryError
from sliders.llm.dialect import COMPACT
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt
from sliders.schema.names import snake_name
from sliders.schema.pin import column_type
from sliders.schema.proposal import DOCUMENT, Proposal
from sliders.schema.row_names import naming_column, row_noun
from sliders.schema.sample import Sample
from sliders.schema.types import Column, ColumnType, Grain, Schema, Table
from sliders.sql.statement import parse_statements, with_apostrophes
from sliders.values.folding import fold

_REPLY_TOKENS = 500


def row_prompt(questions: Sequence[str]) -> Request:
    """Returns the request for the kind of row that answers all these questions. Asked about each
    question alone, a small model takes many of them to be about different things.
    """
    prompt = load_prompt("schema/row", COMPACT)
    return Request(
        stage="schema",
        messages=prompt.render(questions=list(questions)),
        prompt_hash=prompt.hash,
        json_schema=_object(row=_words(_ROW_LENGTH)),
        max_tokens=_ROW_LENGTH,
    )


async def row_of(questions: Sequence[str], model: Model) -> tuple[str, int]:
    """Asks what one row is in the table that answers all questions.

    Returns the row, as "a barn", and the tokens spent; "" when there is one question alone (its own
    reply says the row) or when the call fails.
    """
    if len(questions) < _IN_COMMON:
        return "", 0
    try:
        reply = await model.generate(row_prompt(questions[:_MOST_QUESTIONS]))
    except CallFailed:
        return "", 0
    return row_said(reply.data), reply.usage.tokens


_ROW_LENGTH = 50
_IN_COMMON = 2
_MOST_QUESTIONS = 40


def draft_prompt(
    question: str, samples: Sequence[Sample], schema: Schema, row: str = ""
) -> Request:
    """Returns the request for the columns of one question: the SQL that would answer it, and the
    columns that this SQL names.
    """
    return _asked("schema/induce", _REPLY, question, samples, schema, row)


def facts_prompt(question: str, samples: Sequence[Sample], schema: Schema, row: str) -> Request:
    """Returns the second request, after a faulty proposal: it asks for the facts about one row
    first, and for the SQL over them afterwards.

    Asked for the SQL first, a small model names columns that it does not describe. Asked for the
    facts first, it sometimes leaves out what the SQL tests, and was right less often; so this one
    is second.
    """
    row = row or ANY_ROW
    of = {"of": _one_of("one " + row_noun(Table("facts", (), row)))}
    column = _object(
        **{
            name: {**_COLUMN["properties"], **of}[name]
            for name in ("asked", "of", "question", "type", "name")
        }
    )
    members = {name: _REPLY["properties"][name] for name in ("in_document", "sql")}
    reply = _object(columns={**_COLUMNS, "items": column}, **members)
    return _asked("schema/facts", reply, question, samples, schema, row)


def _asked(
    name: str,
    reply: dict[str, Any],
    question: str,
    samples: Sequence[Sample],
    schema: Schema,
    row: str,
) -> Request:
    """Returns a request for a proposal.

    Examples and samples come first, for the server's prefix cache. The prompt shows the stated
    columns of other questions, so that one fact gets one name. It does not show judged columns: a
    small model would use one of them for any question.
    """
    prompt = load_prompt(name, COMPACT)
    known = [
        column for table in schema.tables for column in table.columns if column.reading == "stated"
    ]
    return Request(
        stage="schema",
        messages=prompt.render(
            samples=[s.text for s in samples], question=question, known=known, row=row
        ),
        prompt_hash=prompt.hash,
        json_schema=reply,
        max_tokens=_REPLY_TOKENS,
    )


def row_said(data: Any) -> str:
    """Returns the row that a reply names; "" when it names none."""
    return str(data.get("row", "")).strip() if isinstance(data, Mapping) else ""


ANY_ROW = "a fact"


def drafted(
    data: Any, question: str, standing: Schema, grain: Grain | None = None, row: str = ""
) -> Proposal:
    """Returns the proposal of a reply: one table with the columns that the question and the SQL
    use.

    Args:
        standing: the schema so far; the SQL may use its columns without describing them again.
        grain: how many rows a document gives, by the documents' structure; None takes the reply's.
        row: what one row is, when the reply does not say it.

    Raises:
        ModelRefusal: the reply is no object with columns.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("columns"), list):
        raise ModelRefusal(
            "the model's reply does not list columns; ask the question again, or use a larger model"
        )
    parts = [part for part in data["columns"] if isinstance(part, Mapping)]
    asked = [part for part in parts if _in_question(str(part.get("asked", "")), question)]
    # The reply can give one fact twice, for two names in the question: "the Merrow or the Tarn".
    told_twice = [_column(part) for part in asked or parts]
    columns = list({(c.name, c.type): c for c in reversed(told_twice)}.values())[::-1]
    draft = _parsed(str(data.get("sql", "")))
    name, used = _used(draft)
    known = {c: f"{t.name}.{c}" for t in reversed(standing.tables) for c in t.column_names}
    taken = [c for c in columns if c.name in used or c.type is ColumnType.BOOLEAN]
    if not taken and not (used and all(column in known for column in used)):
        taken = columns
    # The SQL only counts rows: other proposed columns are not needed.
    if not used and name:
        taken = [naming_column(Table(name, (), row_said(data) or row))]
    row = row_said(data) or row
    name = name or snake_name(row, "facts")
    said: Grain = "document" if data.get("in_document") == "one" else "many"
    told = {_column(part).name for part in parts}
    needs = [f"{name}.{c.name}" for c in taken]
    needs += [known.get(n, f"{name}.{n}") for n in used if n not in told]
    tables = (Table(name, tuple(taken), row, grain=grain or said),) if taken else ()
    return Proposal(tables, {1: tuple(needs)}, drafts={1: draft})


def _in_question(words: str, question: str) -> bool:
    """Says whether more than half of the words stand in the question, with any ending. A column
    without words in the question is dropped.
    """
    said, there = set(fold(words).split()), fold(question).split()
    return sum(any(_same_word(word, other) for other in there) for word in said) > len(said) / 2


def _same_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= _STEM and long.startswith(short))


_STEM = 4  # letters from which on a word with another ending is the same


def _column(part: Mapping[str, Any]) -> Column:
    kind = column_type(str(part.get("type", "text")))
    return Column(
        name=snake_name(str(part.get("name", "")), "fact"),
        type=kind,
        description=str(part.get("question", "")).strip(),
        reading="judged" if kind is ColumnType.BOOLEAN else "stated",
    )


def _parsed(sql: str) -> str:
    """Returns the statement as it is, or with its apostrophes doubled when it cannot be parsed
    otherwise.
    """
    return next((text for text in (sql, with_apostrophes(sql)) if _tree(text) is not None), sql)


def _tree(sql: str) -> exp.Expr | None:
    """Returns the parsed statement; None when it cannot be parsed."""
    try:
        return next(iter(parse_statements(sql)), None)
    except QueryError:
        return None


def _used(sql: str) -> tuple[str, list[str]]:
    """Returns the table that a statement reads and the columns that it names; "" and [] when the
    statement cannot be parsed.
    """
    if (statement := _tree(sql)) is None:
        return "", []
    table = statement.find(exp.Table)
    made = {"", DOCUMENT, *(alias.alias for alias in statement.find_all(exp.Alias))}
    columns = [
        snake_name(c.name, "fact") for c in statement.find_all(exp.Column) if c.name not in made
    ]
    return (snake_name(table.name) if table is not None else ""), list(dict.fromkeys(columns))


def standing_draft(sql: str, table: str, places: Mapping[str, str]) -> str:
    """Returns a drafted statement with the schema's names in the place of the draft's; "" when it
    cannot be parsed or reads several tables.

    Args:
        sql: the drafted statement.
        table: the table's name in the proposal.
        places: the schema's "table.column" by the proposal's "table.column".
    """
    if (statement := _tree(sql)) is None:
        return ""
    homes = set()
    for column in statement.find_all(exp.Column):
        place = places.get(f"{table}.{snake_name(column.name, 'fact')}")
        if place is not None:
            home, _, name = place.partition(".")
            homes.add(home)
            column.set("this", exp.to_identifier(name))
    if len(homes) != 1:
        return ""
    for read in statement.find_all(exp.Table):
        read.set("this", exp.to_identifier(next(iter(homes))))
    return statement.sql("sqlite")


def _object(**members: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def _words(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}


def _one_of(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


_COLUMN = _object(
    asked=_words(100),
    name=_words(60),
    question=_words(120),
    type=_one_of("text", "integer", "number", "date", "yes/no"),
)
_COLUMNS = {"type": "array", "items": _COLUMN, "minItems": 1, "maxItems": 6}
_REPLY = _object(
    sql=_words(320),
    row=_words(_ROW_LENGTH),
    in_document=_one_of("one", "several"),
    columns=_COLUMNS,
)
