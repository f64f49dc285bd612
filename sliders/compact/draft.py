"""How a small model is asked for the columns of one question: the SQL that it would write, then
words and a question a column.
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
    """What one row is of the table that answers all these questions: seen one by one, many are
    taken to be about other things.
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
    """The row that all questions have in common, as "a barn", and the tokens spent;
    "" for one alone, which says its own.
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
    """The request for the columns of one question: the SQL that would answer it, and the
    columns that this names.
    """
    return _asked("schema/induce", _REPLY, question, samples, schema, row)


def facts_prompt(question: str, samples: Sequence[Sample], schema: Schema, row: str) -> Request:
    """The other way to ask, for a proposal with faults: what must be known of one row, and the SQL
    over that.

    Asked for the SQL first, a small model names what it does not describe; asked for the facts of
    one row first, it leaves out now and then what the SQL tests, and was right less often.
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
    """Examples and samples stand first, for the server's prefix cache. Stated columns of other
    questions are shown, so that all ask for one fact by one name; judgements are not: a small model
    takes one of them for whatever is asked.
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
    """What a reply says that one row is; "" where it does not."""
    return str(data.get("row", "")).strip() if isinstance(data, Mapping) else ""


ANY_ROW = "a fact"


def drafted(
    data: Any, question: str, standing: Schema, grain: Grain | None = None, row: str = ""
) -> Proposal:
    """The proposal of a reply: the columns whose words stand in the question and that its
    SQL uses, as one table.

    Args:
        standing: the tables whose columns its SQL may name without describing them again.
        grain: what the documents' structure says; None lets the reply say.
        row: what one row is where the reply does not say it.

    Raises:
        ModelRefusal: the reply is no object with columns.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("columns"), list):
        raise ModelRefusal("the proposed columns have not the shape asked for; ask again")
    parts = [part for part in data["columns"] if isinstance(part, Mapping)]
    asked = [part for part in parts if _in_question(str(part.get("asked", "")), question)]
    # One fact for two names of the question: "the Merrow or the Tarn".
    told_twice = [_column(part) for part in asked or parts]
    columns = list({(c.name, c.type): c for c in reversed(told_twice)}.values())[::-1]
    draft = _parsed(str(data.get("sql", "")))
    name, used = _used(draft)
    known = {c: f"{t.name}.{c}" for t in reversed(standing.tables) for c in t.column_names}
    taken = [c for c in columns if c.name in used or c.type is ColumnType.BOOLEAN]
    if not taken and not (used and all(column in known for column in used)):
        taken = columns
    # It counts rows alone: what was proposed beside it would only stand in the way.
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
    """Whether most of the words stand in the question, be it with another ending:
    a column for what nobody asked is none.
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
    """The statement as it stands, or with its apostrophes doubled where only that parses."""
    return next((text for text in (sql, with_apostrophes(sql)) if _tree(text) is not None), sql)


def _tree(sql: str) -> exp.Expr | None:
    """The parsed statement, None where it does not parse."""
    try:
        return next(iter(parse_statements(sql)), None)
    except QueryError:
        return None


def _used(sql: str) -> tuple[str, list[str]]:
    """The table that a statement reads, and the columns that it names; empty
    where it does not parse.
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
    """A drafted statement with the names that stand in the schema; "" where it does not parse or
    reads several tables.

    Args:
        table: the table as the proposal names it.
        places: "table.column" that stands, by the proposal's own "table.column".
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
