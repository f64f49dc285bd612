"""The prompts of this room, filled in; pure, so that `--dry-run` can print them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sliders.answer.profile import TableProfile, quote, schema_sql
from sliders.answer.question import NamedValue, dates
from sliders.answer.values import SqlAttempt
from sliders.llm.model import Message, Request

MAX_SQL_TOKENS = 320


@cache
def _environment() -> Environment:
    package = Path(__file__).resolve().parent.parent
    roots = [package / "_prompts" / "answer", package.parent / "prompts" / "answer"]
    return Environment(
        loader=FileSystemLoader(roots), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )


def _fill(prompt: str, **values: object) -> str:
    return _environment().get_template(f"{prompt}.md").render(**values).strip()


def prompt_hash() -> str:
    """Hash of the room's SQL prompts, stored with every call."""
    environment = _environment()
    assert environment.loader is not None
    texts = [environment.loader.get_source(environment, f"{name}.md")[0] for name in ("write_sql", "ask_sql", "refine_sql")]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def hints(question: str, named: Sequence[NamedValue]) -> str:
    """Lines on the question's own words: which column holds a value that it names, ISO forms of its dates."""
    lines: dict[str, list[str]] = {}
    for value in named[:8]:
        place = f"{value.table}.{value.column}"
        test = f"{place} = {quote(value.value)}" if value.exact else f"{place} LIKE {quote('%' + value.value + '%')}"
        lines.setdefault(value.value, []).append(test)
    found = [" or ".join(tests) for tests in lines.values()]
    found += [f"{words} is {quote(iso)}" for words, iso in dates(question)]
    return "In the question: " + "; ".join(found) if found else ""


def sql_request(
    question: str,
    profiles: Sequence[TableProfile],
    named: Sequence[NamedValue] = (),
    attempts: Sequence[SqlAttempt] = (),
    *,
    temperature: float = 0.0,
    extra: Mapping[str, object] | None = None,
) -> Request:
    """The request for one statement; earlier attempts and what is wrong with the last one follow the question."""
    messages = [
        Message("system", _fill("write_sql")),
        Message("user", _fill("ask_sql", tables=schema_sql(profiles), hints=hints(question, named), question=question)),
    ]
    for attempt in attempts[-1:]:
        messages.append(Message("assistant", attempt.sql or attempt.written))
        messages.append(Message("user", _fill("refine_sql", findings=attempt.findings, question=question)))
    return Request("answer", tuple(messages), prompt_hash(), max_tokens=MAX_SQL_TOKENS, temperature=temperature)
