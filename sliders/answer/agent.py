"""Answers a question over tables with SQL: write, check, repair, run, look at the result, refine (SLIDERS).

Code repairs what it can before the model is asked again; of several statements the one with the least oddities answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sliders.answer.filings import two_filings_sql
from sliders.answer.profile import TableProfile, profile_tables
from sliders.answer.prompting import sql_request
from sliders.answer.question import named_values
from sliders.answer.review import failing_conditions, is_zero
from sliders.answer.scope import Names, extract_sql
from sliders.answer.shape import empty, text_of, value_of
from sliders.answer.trial import Candidate, try_sql
from sliders.answer.values import RunSql, SqlAnswer, SqlAttempt, TableView
from sliders.llm.model import Model, Usage

MAX_ATTEMPTS = 3
DOUBT = 1
"""Weight of a single doubt: a statement that the model writes twice in spite of it stands."""
STUCK_TEMPERATURE = 0.7


async def answer_question(
    question: str,
    tables: Sequence[TableView],
    run_sql: RunSql,
    model: Model,
    *,
    profiles: Sequence[TableProfile] | None = None,
    max_attempts: int = MAX_ATTEMPTS,
) -> SqlAnswer:
    """Answer `question` from `tables`.

    `profiles` saves reading the columns again for a second question over the same tables. The answer is `not_found`
    with a reason when the tables do not hold it: a number is never made up.

    Raises:
        QueryError: a view does not fit the database.
        ModelUnavailable: there is no model to ask.
        BudgetExceeded: the run's limit is reached.
    """
    known = tuple(profiles) if profiles is not None else profile_tables(tables, run_sql)
    if not any(profile.rows for profile in known):
        return _nothing(question, "the tables have no rows", (), Usage())
    named = named_values(question, known)
    candidates: list[Candidate] = []
    usage = Usage()
    told = two_filings_sql(question, known, named)
    if told is not None and not (first := try_sql(question, told, known, named, run_sql)).weight:
        return _answer(question, first, (first.attempt,), known, run_sql, usage)
    for _ in range(max_attempts):
        past = [candidate.attempt for candidate in candidates]
        warm = STUCK_TEMPERATURE if _stuck(past) else 0.0
        reply = await model.generate(sql_request(question, known, named, past, temperature=warm))
        usage += reply.usage
        candidate = try_sql(question, extract_sql(reply.text), known, named, run_sql)
        candidates.append(candidate)
        again = _stuck([one.attempt for one in candidates])
        if not candidate.weight or (again and (candidate.weight <= DOUBT or _declined(candidate))):
            break
    best = min(candidates, key=lambda one: one.weight)
    return _answer(question, best, tuple(one.attempt for one in candidates), known, run_sql, usage)


def _stuck(attempts: Sequence[SqlAttempt]) -> bool:
    """Whether the last statement is one that was tried before."""
    return bool(attempts) and any(attempts[-1].sql == before.sql for before in attempts[:-1])


def _declined(candidate: Candidate) -> bool:
    """Whether the model says that no column can answer."""
    return candidate.tree is not None and candidate.tree.find(exp.Table) is None


def _answer(
    question: str,
    best: Candidate,
    attempts: tuple[SqlAttempt, ...],
    profiles: Sequence[TableProfile],
    run_sql: RunSql,
    usage: Usage,
) -> SqlAnswer:
    if best.result is None or best.tree is None:
        return _nothing(question, f"no statement could be run: {best.attempt.error}", attempts, usage)
    rows = tuple(tuple(row) for row in best.result.rows)
    if not rows or empty(rows):
        reason = " ".join(best.attempt.findings) or "the result is empty"
        return _nothing(question, reason, attempts, usage, best.attempt.sql)
    if is_zero(best.result):
        unknown = _unknown_values(best.tree, profiles, run_sql)
        if unknown:
            return _nothing(question, unknown, attempts, usage, best.attempt.sql)
    value = value_of(question, rows)
    return SqlAnswer(
        question=question,
        status="incomplete" if best.result.truncated else "answered",
        value=value,
        text=text_of(value),
        sql=best.attempt.sql,
        columns=tuple(best.result.columns),
        rows=rows,
        reason="the row limit cut the result" if best.result.truncated else " ".join(best.attempt.findings),
        attempts=attempts,
        usage=usage,
    )


def _unknown_values(tree: exp.Query, profiles: Sequence[TableProfile], run_sql: RunSql) -> str:
    """Why a zero is no answer: a condition on a value that the data does not know, in a column with gaps."""
    names = Names(tree, profiles)
    gaps = [
        found[1].nulls
        for node in tree.find_all(exp.EQ, exp.Like, exp.ILike, exp.In)
        if (found := names.resolve(node.this)) is not None
    ]
    return " ".join(failing_conditions(tree, names, run_sql)) if any(gaps) else ""


def _nothing(question: str, reason: str, attempts: tuple[SqlAttempt, ...], usage: Usage, sql: str = "") -> SqlAnswer:
    return SqlAnswer(question, "not_found", None, text_of(None), sql, reason=reason, attempts=attempts, usage=usage)
