"""A statement as a small model writes it: the bare text of one, from the tables, a draft and the
notes of earlier turns.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot

from sliders.answer.dialects import DIALECT, statement_in
from sliders.answer.literals import Unheld, unheld
from sliders.answer.profile import TEXTUAL, TableProfile
from sliders.answer.references import References
from sliders.answer.sql_prompt import Turn, on_one_line, shown_values
from sliders.answer.sql_writer import SqlWriter
from sliders.answer.turns import SqlAttempt
from sliders.compact.second_statement import SHOWN, beside_others
from sliders.llm.dialect import COMPACT
from sliders.llm.model import Request, Response
from sliders.llm.prompts import load_prompt

CANNOT = "CANNOT"
_CUT = "the statement stopped at the limit of a reply: write a shorter one"


def bare_sql_request(
    question: str,
    profiles: Sequence[TableProfile],
    turns: Sequence[Turn] = (),
    *,
    uncovered: str = "",
    draft: str = "",
    mind: Sequence[str] = (),
    last: bool = False,
    temperature: float = 0.0,
) -> Request:
    """The request for a statement; of earlier turns the findings alone: a small model that sees
    its own statement writes it again.

    Args:
        last: not used.
    """
    prompt = load_prompt("answer/write_sql", COMPACT)
    told = (on_one_line(note) for turn in turns for note in turn.told)
    messages = prompt.render(
        **shown_values(question, profiles, SHOWN, uncovered),
        notes=list(dict.fromkeys([*mind, *told])),
        draft=draft,
    )
    return Request(
        "answer", messages, prompt.hash, max_tokens=SHOWN.max_tokens, temperature=temperature
    )


def bare_attempt(reply: Response) -> SqlAttempt:
    """The statement of a reply; of one that was cut none: what is left may run, and mean
    something else.
    """
    if reply.finish_reason == "length":
        return SqlAttempt(reply.text, "", error=_CUT)
    text = reply.text.strip()
    if text.upper().startswith(CANNOT):
        return SqlAttempt(reply.text, "", "cannot", error=text[len(CANNOT) :].strip(" :\n"))
    return SqlAttempt(reply.text, statement_in(text))


def named_otherwise(sql: str, profiles: Sequence[TableProfile]) -> list[Unheld]:
    """The equalities of a statement that no row passes: a small model copies what a document
    prints ("Bavarian oak"), and a question names it otherwise ("German wood").
    """
    tree = sqlglot.parse_one(sql, dialect=DIALECT)
    return [
        one
        for one in unheld(tree, References(tree, profiles))
        if one.column.column.type in TEXTUAL
        and isinstance(one.test, sqlglot.exp.EQ | sqlglot.exp.In)
    ]


def is_value_question(question: str, value: str) -> str:
    """The question of a judged column: whether a document is meant by a value of another one.

    Args:
        question: what the other column asks.
    """
    prompt = load_prompt("schema/is_value", COMPACT)
    return prompt.render(question=question, value=value)[0].content


BARE_SQL = SqlWriter(
    shown=SHOWN,
    request=bare_sql_request,
    attempt=bare_attempt,
    second_look=beside_others,
    unheld=named_otherwise,
    statements=2,
    repeats=True,
)
"""A model that writes bare statements."""
