"""A second reading of a question: a small model's answer is held against its other statements, and marked where they differ.

Two statements from two prompts that give the same are rarely both wrong; one prompt is not to be believed, and where two
prompts disagree most of several statements decide (compact dialect).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

from sliders.answer.dialects import in_sqlite, statement_in
from sliders.answer.findings import cell_text, column_name, findings
from sliders.answer.profile import TableProfile
from sliders.answer.range import number_in
from sliders.answer.result import SqlAnswer
from sliders.answer.shape import Rows, empty, text_of, value_of
from sliders.answer.sql_agent import check_names
from sliders.answer.sql_prompt import SHOWN, named_values, sql_request
from sliders.answer.turns import RunSql, SqlAttempt
from sliders.errors import ModelRefusal, QueryError, StoreError, TruncatedReply
from sliders.llm.dialect import Dialect
from sliders.llm.model import Model, Request
from sliders.llm.prompts import load_prompt

_EXAMPLE_ROWS = 3
_SHOWN = 80
_ENOUGH = 3
_TEMPERATURES = (0.7, 0.8)
_NO_VOTE = {"literal", "nothing"}
"""A statement that names a value which no row has, or finds nothing, tells nothing of the answer."""


def second_prompt(question: str, profiles: Sequence[TableProfile], dialect: Dialect) -> Request:
    """The request for a statement from bare tables with example rows, the form that code models are trained on."""
    prompt = load_prompt("answer/second_sql", dialect)
    shown = SHOWN[dialect.name]
    tables = [_bare_table(profile, shown.longest) for profile in profiles]
    named = named_values(question, profiles, shown.named)
    messages = prompt.render(tables=tables, named=named, question=question)
    return Request("answer", messages, prompt.hash, max_tokens=shown.max_tokens)


@dataclass(frozen=True, slots=True)
class _Vote:
    """A statement of the model that ran, and what it gave."""

    sql: str
    columns: tuple[str, ...]
    rows: Rows


async def beside_others(
    answer: SqlAnswer, profiles: Sequence[TableProfile], run_sql: RunSql, model: Model, *, draft: str = "",
    mind: Sequence[str] = (), uncovered: str = "",
) -> SqlAnswer:  # fmt: skip
    """The answer as most statements of the model have it, marked where they differ.

    Where a second statement from another prompt gives the same, that is all (the draft from before the tables were filled
    has no say: the first statement was written with it in sight). Where they differ, more statements are drawn by chance from
    both prompts until three give the same, and the result that most of them give answers (self-consistency by execution; Wang
    et al., 2023); of equally many, the earlier.

    Args:
        draft, mind, uncovered: as the answer's own prompt had them.

    Raises:
        ModelUnavailable: there is no model to ask.
        BudgetExceeded: the run's limit is reached.
    """
    if model.dialect.sql != "text" or answer.status != "answered":
        return answer
    votes = [_Vote(answer.sql, answer.columns, answer.rows)]
    second = second_prompt(answer.question, profiles, model.dialect)
    first = sql_request(answer.question, profiles, model.dialect, draft=draft, mind=mind, uncovered=uncovered)
    drawn = [replace(request, temperature=t) for t in _TEMPERATURES for request in (second, first)]
    for request in (second, *drawn):
        try:
            reply = await model.generate(request)
        except (ModelRefusal, TruncatedReply):
            continue
        answer = replace(answer, usage=answer.usage + reply.usage)
        votes += _vote(statement_in(reply.text), profiles, run_sql)
        if request is second and len(votes) > 1 and _same(votes[1].rows, answer.rows):
            return answer
        if max(map(len, _alike(votes))) >= _ENOUGH:
            break
    return _most(answer, votes)


def _vote(sql: str, profiles: Sequence[TableProfile], run_sql: RunSql) -> list[_Vote]:
    """The statement with what it gives; none where it does not run, or finds nothing."""
    if not sql:
        return []
    try:
        ran, tree = in_sqlite(sql, profiles)
        check_names(tree, profiles)
        result = run_sql(ran)
    except (StoreError, QueryError):
        return []
    rows = tuple(tuple(row) for row in result.rows)
    odd = {one.kind for one in findings(tree, profiles, result, run_sql)}
    return [] if empty(rows) or odd & _NO_VOTE else [_Vote(ran, tuple(result.columns), rows)]


def _alike(votes: Sequence[_Vote]) -> list[list[_Vote]]:
    """The votes in groups that give the same, in the order of their first ones."""
    groups: list[list[_Vote]] = []
    for vote in votes:
        group = next((g for g in groups if _same(g[0].rows, vote.rows)), None)
        if group is None:
            groups.append([vote])
        else:
            group.append(vote)
    return groups


def _most(answer: SqlAnswer, votes: Sequence[_Vote]) -> SqlAnswer:
    groups = _alike(votes)
    chosen = max(groups, key=len)
    sql, columns, rows = (answer.sql, answer.columns, answer.rows) if chosen is groups[0] else astuple(chosen[0])
    other = [text_of(value_of(group[0].rows))[:_SHOWN] for group in groups if group is not chosen]
    doubt = f"{len(chosen)} of {len(votes)} statements of the model give this, others {' or '.join(other) or 'nothing'}"
    numbers = (number for group in groups if group is not chosen and (number := number_in(group[0].rows)) is not None)
    reason = answer.reason if chosen is groups[0] else ""
    value = value_of(rows)
    return replace(
        answer, status="incomplete", sql=sql, columns=columns, rows=rows, value=value, text=text_of(value),
        reason="; ".join(filter(None, (reason, doubt))), others=(*answer.others, *numbers),
        attempts=(*answer.attempts, *(SqlAttempt(v.sql, v.sql, rows=len(v.rows)) for v in votes[1:])),
    )  # fmt: skip


def _same(one: Rows, other: Rows) -> bool:
    """Whether two results tell the same, in any order, the narrower one within the wider one's rows."""
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
    columns = ",\n".join(f"  {column_name(c.column.name)} {c.column.type.sql}" for c in profile.columns)
    names = " | ".join(c.column.name for c in profile.columns)
    rows = [" | ".join(cell_text(cell)[:longest] for cell in row) for row in profile.examples[:_EXAMPLE_ROWS]]
    return "\n".join([f"CREATE TABLE {column_name(table.name)} (", columns, ");", "/* example rows:", names, *rows, "*/"])
