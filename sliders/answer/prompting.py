"""The prompts of this room, filled in; pure, so that `--dry-run` can print them."""

from __future__ import annotations

from collections.abc import Sequence

from sliders.answer.profile import DATED, TableProfile, quote, schema_sql
from sliders.answer.question import NamedValue, dates, kinds, periods
from sliders.answer.values import SqlAttempt
from sliders.llm.model import Message, Request
from sliders.llm.prompts import load_prompt

MAX_SQL_TOKENS = 320
MAX_HINTS = 8


def hints(question: str, named: Sequence[NamedValue], *, dated: bool = False) -> str:
    """Lines on the question's own words: which column holds a value that it names, ISO forms of its dates.

    Columns stand without their tables: a value shown with all its tables invites a join of them all.

    `dated` says that a table has a date column `d` that the question's periods can be tested on.
    """
    lines: dict[str, list[str]] = {}
    for value in named[:MAX_HINTS]:
        lines.setdefault(value.value, []).append(value.column if value.exact else f"{value.column} (a part: LIKE)")
    found = [f"{quote(text)} is in {', '.join(dict.fromkeys(places))}" for text, places in lines.items()]
    found += [f"{words} is {quote(iso)}" for words, iso in dates(question)]
    if dated:
        found += [f"{words} is {test}" for words, test in periods(question)]
    return "In the question: " + "; ".join(found) if found else ""


def sql_request(
    question: str,
    profiles: Sequence[TableProfile],
    named: Sequence[NamedValue] = (),
    attempts: Sequence[SqlAttempt] = (),
    *,
    temperature: float = 0.0,
) -> Request:
    """The request for one statement; the last attempt and what is wrong with it follow the question."""
    prompt = load_prompt("answer/write_sql")
    dated = any(column.column.type in DATED for profile in profiles for column in profile.columns)
    messages = prompt.render(
        tables=schema_sql(profiles), hints=hints(question, named, dated=dated), kinds=kinds(question), question=question
    )
    for attempt in attempts[-1:]:
        again = load_prompt("answer/refine_sql").render(findings=attempt.findings, question=question)
        messages = (*messages, Message("assistant", attempt.sql or attempt.written), *again)
    return Request("answer", messages, prompt.hash, max_tokens=MAX_SQL_TOKENS, temperature=temperature)
