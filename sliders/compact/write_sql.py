"""SQL by a small model: the model replies with the bare text of a statement, and a second statement
from another prompt checks the result.

Two statements from two prompts that give the same result are rarely both wrong. A single statement
is not to be trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from shlex import quote
from typing import get_args

from sliders.answer.doubts import Doubt, effect_words
from sliders.answer.finding import Kind, cell_text
from sliders.answer.profile import TableProfile
from sliders.answer.range import number_in
from sliders.answer.result import SqlAnswer
from sliders.answer.result_shape import Rows, empty
from sliders.answer.sql_agent import result_of
from sliders.answer.sql_prompt import Shown, Turn, named_values, on_one_line, shown_values
from sliders.answer.sql_writer import SqlWriter
from sliders.answer.turns import RunSql, SqlTurn
from sliders.errors import CallFailed
from sliders.llm.dialect import COMPACT
from sliders.llm.model import Model, Request, Response
from sliders.llm.prompts import joined_hash, load_prompt
from sliders.sentences import Sentences
from sliders.sql.quoting import plain_identifier
from sliders.sql.statement import statement_in

CANNOT = "CANNOT"
_CUT = "the statement stopped at the limit of a reply: write a shorter one"
_EXAMPLE_ROWS = 3
_SENT = frozenset(get_args(Kind)) - {"shape", "nulls", "ties", "units", "repeated"}
SHOWN = Shown(14, 260, 60, 0, 320, 3, 8, 12_000, _SENT)
"""The limits of the tables in the prompt of a small model."""


def bare_sql_request(
    question: str,
    profiles: Sequence[TableProfile],
    turns: Sequence[Turn] = (),
    *,
    uncovered: str = "",
    draft: str = "",
    last: bool = False,
    temperature: float = 0.0,
) -> Request:
    """Returns the request for a statement. It holds the findings of earlier turns but not the
    earlier statements: a small model that sees its own statement writes it again.

    Args:
        question: the question.
        profiles: the tables, with their values.
        turns: the turns so far.
        uncovered: the part of the question that no column covers.
        draft: the statement that the model drafted before the tables were filled.
        last: not used.
        temperature: the sampling temperature.
    """
    prompt = load_prompt("answer/write_sql", COMPACT)
    told = (on_one_line(note) for turn in turns for note in turn.told)
    messages = prompt.render(
        **shown_values(question, profiles, SHOWN, uncovered),
        notes=list(dict.fromkeys(told)),
        draft=draft,
    )
    said = joined_hash(prompt, Sentences("answer"))
    return Request("answer", messages, said, max_tokens=SHOWN.max_tokens, temperature=temperature)


def bare_attempt(reply: Response) -> SqlTurn:
    """Returns the statement of a reply. A reply that was cut gives no statement: the rest may run,
    and mean something else.
    """
    if reply.finish_reason == "length":
        return SqlTurn(reply.text, "", error=_CUT)
    text = reply.text.strip()
    if text.upper().startswith(CANNOT):
        return SqlTurn(reply.text, "", "cannot", error=text[len(CANNOT) :].strip(" :\n"))
    return SqlTurn(reply.text, statement_in(text))


def second_prompt(question: str, profiles: Sequence[TableProfile]) -> Request:
    """Returns the request for the second statement. It shows bare tables with example rows, the
    form that code models are trained on.
    """
    prompt = load_prompt("answer/second_sql", COMPACT)
    tables = [_bare_table(profile, SHOWN.longest) for profile in profiles]
    named = named_values(question, profiles, SHOWN.named)
    messages = prompt.render(tables=tables, named=named, question=question)
    return Request("answer", messages, prompt.hash, max_tokens=SHOWN.max_tokens)


async def beside_others(
    answer: SqlAnswer, profiles: Sequence[TableProfile], run_sql: RunSql, model: Model
) -> SqlAnswer:
    """Returns the answer, marked as doubtful when the model's second statement gives another
    result.

    The first statement stays the answer: the majority of up to six statements was right no more
    often. The draft from before the tables were filled is not compared, since the first statement
    was written with the draft in sight.

    Raises:
        ModelUnavailable: there is no model to ask.
        BudgetExceeded: the run's limit is reached.
    """
    if answer.status != "answered":
        return answer
    try:
        reply = await model.generate(second_prompt(answer.question, profiles))
    except CallFailed:
        return answer
    answer = replace(answer, usage=answer.usage + reply.usage)
    if reply.finish_reason == "length":
        return answer
    result = result_of(statement_in(reply.text), profiles, run_sql)
    rows: Rows = tuple(tuple(row) for row in result.rows) if result is not None else ()
    if _same(rows, answer.rows):
        return answer
    number = number_in(rows)
    others = answer.others if number is None else (*answer.others, number)
    effect, command = (
        effect_words(answer.rows, [rows]),
        f"sliders query {quote(statement_in(reply.text))}",
    )
    doubt = Doubt(
        "choice", "a second statement of the model gives something else", "", effect, command
    )
    return replace(answer, doubts=(*answer.doubts, doubt), others=others)


def _same(one: Rows, other: Rows) -> bool:
    """Says whether two results hold the same rows in any order. The result with fewer columns may
    be contained in the rows of the other.
    """
    if empty(one) or len(one) != len(other):
        return False
    narrow, wide = sorted((_plain(one), _plain(other)), key=lambda rows: len(rows[0]))
    left = list(wide)
    for row in narrow:
        match = next((w for w in left if all(cell in w for cell in row)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _plain(rows: Rows) -> list[list[object]]:
    return [[round(cell, 6) if isinstance(cell, float) else cell for cell in row] for row in rows]


def _bare_table(profile: TableProfile, longest: int) -> str:
    table = profile.view.table
    own = [c.column for c in profile.columns if c.companion is None]
    columns = ",\n".join(f"  {plain_identifier(column.name)} {column.type.sql}" for column in own)
    names = " | ".join(column.name for column in own)
    rows = [
        on_one_line(" | ".join(cell_text(cell)[:longest] for cell in row))
        for row in profile.examples[:_EXAMPLE_ROWS]
    ]
    shown = "\n".join([names, *rows]).replace("*/", "* /")
    return "\n".join(
        [
            f"CREATE TABLE {plain_identifier(table.name)} (",
            columns,
            ");",
            "/* example rows:",
            shown,
            "*/",
        ]
    )


BARE_SQL = SqlWriter(
    shown=SHOWN,
    request=bare_sql_request,
    attempt=bare_attempt,
    second_look=beside_others,
    statements=2,
    repeats=True,
)
"""The writer of a model that replies with a bare statement."""
