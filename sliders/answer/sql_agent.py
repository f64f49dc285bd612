"""Answers by SQL: the model writes statements, looks things up and refines; code runs the
statements and reports odd results (SLIDERS).

The statement that answers is the model's own; code changes only its SQL dialect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from sliders.answer.dialects import in_sqlite
from sliders.answer.doubts import Gap
from sliders.answer.figures import YES_NO
from sliders.answer.finding import Finding
from sliders.answer.findings import findings_of, misshapen
from sliders.answer.profile import TableProfile, profile_tables
from sliders.answer.range import number_in
from sliders.answer.references import References
from sliders.answer.result import Completeness, SqlAnswer
from sliders.answer.result_shape import NOT_FOUND, empty, text_of, value_of, yes_or_no
from sliders.answer.result_units import units_of
from sliders.answer.sql_prompt import Turn, result_lines
from sliders.answer.sql_writer import STEPS, SqlQuestion, SqlWriter
from sliders.answer.stated_currency import with_currencies
from sliders.answer.turns import QueryResult, RunSql, SqlTurn, TableView, Value
from sliders.errors import BudgetExceeded, CallFailed, QueryError, StoreError
from sliders.llm.model import Model, Request, Usage
from sliders.sentences import Sentences
from sliders.sql.statement import parse_select

say = Sentences("answer")

STUCK_TEMPERATURE = 0.7


@dataclass(slots=True)
class _Talk:
    """The conversation so far: the turns, the findings that were sent, and the usage."""

    turns: list[Turn] = field(default_factory=list)
    sent: set[tuple[str, str]] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)

    @property
    def attempts(self) -> tuple[SqlTurn, ...]:
        return tuple(turn.attempt for turn in self.turns)


async def answer_question(
    question: str,
    tables: Sequence[TableView],
    run_sql: RunSql,
    model: Model,
    *,
    uncovered: str = "",
    draft: str = "",
    profiles: Sequence[TableProfile] | None = None,
    writer: SqlWriter = STEPS,
    first: SqlTurn | None = None,
) -> SqlAnswer:
    """Answers a question from tables, "not_found" with a reason when they do not hold the answer.

    Args:
        uncovered: the part of the question that no column holds, in words; the prompt shows it.
        draft: the statement that the model drafted before the tables were filled.
        profiles: the tables' profiles, when they are known from an earlier question.
        writer: the functions by which the model writes SQL.
        first: the model's first turn, when one call gave the first turns of several questions.

    Raises:
        QueryError: a view does not fit the database.
    """
    known = tuple(profiles) if profiles is not None else profile_tables(tables, run_sql)
    talk = _Talk()
    if not any(profile.rows for profile in known):
        return _not_found(question, "the tables have no rows", talk)
    runs = result_of(draft, known, run_sql) is not None  # a small model copies one, errors and all
    ask = partial(writer.request, question, known, uncovered=uncovered, draft=draft if runs else "")
    for left in reversed(range(writer.shown.turns)):
        request = ask(talk.turns, last=left == 0, temperature=_temperature(talk))
        attempt, first = first or await _attempt(request, model, writer, talk), None
        turn = _turn(attempt, known, run_sql, talk, writer)
        talk.turns.append(turn)
        if turn.attempt.action == "cannot":
            return _not_found(question, turn.attempt.error or "no column holds it", talk)
        if _ends(turn, talk, writer):
            break
    return _final(question, talk, writer, known, run_sql)


def _ends(turn: Turn, talk: _Talk, writer: SqlWriter) -> bool:
    """Says whether no further turn is asked for."""
    if turn.attempt.error and not writer.mends:
        return True
    return not turn.told and not (writer.repeats and _stuck(talk))


def _temperature(talk: _Talk) -> float:
    return STUCK_TEMPERATURE if _stuck(talk) else 0.0


async def first_turns(
    questions: Sequence[SqlQuestion],
    profiles: Sequence[TableProfile],
    model: Model,
    writer: SqlWriter = STEPS,
) -> dict[str, SqlTurn]:
    """Returns the model's first turns for several questions over the same tables, by the text of
    the question. A question without a readable turn, or whose call failed, is left out: it is then
    asked alone.

    Raises:
        ModelUnavailable: there is no model to ask.
    """
    several, turns = writer.several, dict[str, SqlTurn]()
    if several is None or len(questions) < 2 or not any(profile.rows for profile in profiles):
        return turns
    for at in range(0, len(questions), several.most):
        batch = questions[at : at + several.most]
        if len(batch) > 1:
            try:
                reply = await model.generate(several.request(batch, profiles))
            except (CallFailed, BudgetExceeded):  # the call of one question may still do
                continue
            given = several.attempts(reply)
            turns |= {q.text: given[n] for n, q in enumerate(batch, 1) if n in given}
    return turns


async def _attempt(request: Request, model: Model, writer: SqlWriter, talk: _Talk) -> SqlTurn:
    """Returns the model's next turn; a failed call is a turn with an error."""
    try:
        reply = await model.generate(request)
    except CallFailed as error:
        talk.usage += error.usage if isinstance(error.usage, Usage) else Usage()
        return SqlTurn("", "", error=str(error))
    talk.usage += reply.usage
    return writer.attempt(reply)


def _turn(
    attempt: SqlTurn,
    known: Sequence[TableProfile],
    run_sql: RunSql,
    talk: _Talk,
    writer: SqlWriter,
) -> Turn:
    """Runs the model's statement, and returns the turn. Its sentences are those to send back to the
    model; empty when there is nothing new to say.
    """
    if attempt.action == "cannot":
        return Turn(attempt, ())
    if attempt.error:
        return Turn(attempt, (attempt.error,))
    try:
        ran, tree = in_sqlite(attempt.sql, known)
        attempt = replace(attempt, sql=ran)
        check_names(tree, known, look=attempt.action == "look")
        result = run_sql(ran)
    except (StoreError, QueryError) as error:
        return Turn(replace(attempt, error=str(error)), (str(error),))
    attempt = replace(attempt, rows=len(result.rows))
    if attempt.action == "look":
        return Turn(attempt, (say("look_up"), *result_lines(result)))
    found = (*misshapen(attempt.asks, tree, result), *findings_of(tree, known, result, run_sql))
    attempt = replace(attempt, findings=tuple(one.text for one in found))
    informed = ("nothing", "") in talk.sent
    new = [f for f in found if f.kind in writer.shown.sent and (f.kind, f.subject) not in talk.sent]
    talk.sent |= {(f.kind, f.subject) for f in new}
    return Turn(attempt, tuple(f.text for f in new), result, found, informed)


def result_of(sql: str, known: Sequence[TableProfile], run_sql: RunSql) -> QueryResult | None:
    """Returns the result of a statement; None for an empty statement, or one that does not run."""
    if not sql:
        return None
    try:
        ran, tree = in_sqlite(sql, known)
        check_names(tree, known)
        return run_sql(ran)
    except (StoreError, QueryError):
        return None


def check_names(tree: exp.Query, known: Sequence[TableProfile], *, look: bool = False) -> None:
    """Checks that a statement uses known names and reads a table.

    Raises:
        QueryError: it does not; the message names the nearest known names.
    """
    unknown = References(tree, known).unknown()
    if unknown:
        raise QueryError("; ".join(unknown))
    if look:
        return
    read = (exp.Column, exp.AggFunc, exp.Star, exp.Select)
    if tree.find(exp.Table) is None or not any(item.find(*read) for item in tree.selects):
        raise QueryError(say("only_constants"))


def _stuck(talk: _Talk) -> bool:
    """Says whether the model repeats itself: its last statement was written before and did not run,
    or names a value that no row has although a similar one is there.
    """
    if not talk.turns:
        return False
    last = talk.turns[-1]
    unheard = bool(last.attempt.error) or any(one.near for one in last.found)
    return unheard and any(last.attempt.written == before.written for before in talk.attempts[:-1])


def _final(
    question: str,
    talk: _Talk,
    writer: SqlWriter,
    known: Sequence[TableProfile],
    run_sql: RunSql,
) -> SqlAnswer:
    """Returns the answer of the last statement that ran."""
    trials = [(turn, turn.result) for turn in talk.turns if turn.result is not None]
    if not trials:
        return _failed(question, _last_error(talk), talk)
    last, result = trials[-1]
    rows = tuple(tuple(row) for row in result.rows)
    kept = _kept_findings(question, last)
    reason = _reason(last, kept)
    if empty(rows):
        return _not_found(question, reason or "the result is empty", talk, last)
    kinds = {one.kind for one in last.found}
    if "nothing" in kinds and (not last.informed or ("literal" in kinds and writer.repeats)):
        return _not_found(question, reason, talk, last)
    value, text, units = _said(last.attempt, result, known, run_sql)
    cut = (Gap("cut", "the row limit cut the result"),) if result.truncated else ()
    earlier = [number_in(before.rows) for _, before in trials[:-1]]
    return SqlAnswer(
        question=question,
        status="answered",
        value=value,
        text=text,
        sql=last.attempt.sql,
        columns=tuple(result.columns),
        units=units,
        rows=rows,
        reason=reason,
        doubts=tuple(one.doubt for one in kept if one.doubt is not None),
        completeness=Completeness(missing=cut),
        attempts=talk.attempts,
        usage=talk.usage,
        others=tuple(number for number in earlier if number is not None),
        by_names=tuple(one.other for one in kept if one.other is not None),
    )


def _last_error(talk: _Talk) -> str:
    errors = (attempt.error for attempt in reversed(talk.attempts) if attempt.error)
    return next(errors, "no statement was written")


def _reason(last: Turn, kept: Sequence[Finding]) -> str:
    """Returns the findings about a statement in words, without findings about the shape of its
    result, and without those that are shown as a doubt.
    """
    doubted = [one for one in kept if one.doubt is not None]
    told = (one for one in last.found if one.kind != "shape" and one not in doubted)
    return "; ".join(one.text for one in told)


def _kept_findings(question: str, last: Turn) -> tuple[Finding, ...]:
    """Returns the findings about the last statement; () when words of the question ask for it as it
    is.
    """
    meant = " ".join(last.attempt.meant.split()).casefold()
    if meant and meant in " ".join(question.split()).casefold():
        return ()
    return last.found


def _said(
    attempt: SqlTurn, result: QueryResult, known: Sequence[TableProfile], run_sql: RunSql
) -> tuple[Value, str, tuple[str, ...]]:
    """Returns the value, the text and the units of an answer: yes or no when the question asks for
    that, or when the only cell says so.
    """
    tree = parse_select(attempt.sql)
    units = units_of(tree, with_currencies(tree, known, run_sql), result.columns)
    if attempt.asks == "yes_no" or (units == (YES_NO,) and not attempt.asks):
        said = yes_or_no(result.columns, result.rows, units)
        if said is not None:
            return *said, units
    rows = tuple(tuple(row) for row in result.rows)
    return value_of(rows), text_of(result.columns, rows, units), units


def _failed(question: str, error: str, talk: _Talk) -> SqlAnswer:
    """Returns the answer for a question to which the model wrote no statement that runs; the
    content of the tables is not known then.
    """
    reason = f"no statement could be run: {error}"
    text = f"No answer: {reason.rstrip('.')}."
    return SqlAnswer(
        question, "failed", None, text, reason=reason, attempts=talk.attempts, usage=talk.usage
    )


def _not_found(question: str, reason: str, talk: _Talk, last: Turn | None = None) -> SqlAnswer:
    sql = last.attempt.sql if last else ""
    return SqlAnswer(
        question,
        "not_found",
        None,
        NOT_FOUND,
        sql,
        reason=reason,
        attempts=talk.attempts,
        usage=talk.usage,
    )
