"""From filled tables to an answer: the model's SQL, the words behind it, missing parts, and
doubts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sliders.answer.doubts import incomplete
from sliders.answer.result import Answer, Completeness, SqlAnswer, Status
from sliders.answer.turns import TableView
from sliders.engine.cite import cite
from sliders.engine.completeness import completeness
from sliders.engine.doubt import Tried, try_variations
from sliders.engine.question import Need
from sliders.engine.session import Session
from sliders.engine.statements import ShownTables, shown_tables, statement
from sliders.engine.tables_read import tables_read
from sliders.errors import BudgetExceeded
from sliders.llm.model import Usage
from sliders.store.records import SqlAttempt as StoredAttempt


async def answer_need(
    session: Session, need: Need, stopped: str, shared: Usage, shown: ShownTables | None = None
) -> Answer:
    """Returns the answer of a question from the tables as they are.

    Args:
        need: the columns that the question needs.
        stopped: why filling them stopped early; "" when it did not.
        shared: the usage for this question so far.
        shown: the tables that several questions share; None looks for the tables of this question
            alone.
    """
    session.progress("answer", detail=need.question)
    before = session.models.meter.total
    if not need.columns or not session.filled:
        return replace(_without_rows(session, need, stopped), usage=shared)
    try:
        shown = shown or (await shown_tables(session, [need]))[need.question]
        found, profiles = await statement(session, need, shown)
    except BudgetExceeded as error:
        spent = session.models.meter.total - before + shared
        return replace(
            _without_rows(session, need, str(error)),
            text=f"No answer yet: {error}",
            reason=str(error),
            usage=spent,
        )
    _log_attempts(session, need.question, found)
    views = [profile.view for profile in profiles]
    return _finished(
        session, need, found, stopped, session.models.meter.total - before + shared, views
    )


def _without_rows(session: Session, need: Need, stopped: str) -> Answer:
    ended = need.reason if need.ended == "incomplete" else ""
    ledger = completeness(session, need.columns, need.uncovered, stopped or ended)
    unread = stopped or _unread(ledger)
    reason = need.reason or unread or "the documents gave no rows for it"
    text = (
        f"No answer yet: {reason}"
        if need.ended or unread
        else f"Not found in these documents: {reason}."
    )
    return Answer(
        need.question,
        need.ended or (_status_unread(ledger, stopped) if unread else "not_found"),
        None,
        text,
        reason=reason,
        completeness=ledger,
        decisions=tuple(session.question.notes),
    )


def _status_unread(ledger: Completeness, stopped: str) -> Status:
    """Returns the status when unread text may hold the answer: "failed" when no part of the
    documents could be read, else "incomplete".
    """
    nothing = ledger.failed_chunks and ledger.failed_chunks + ledger.gated_chunks >= ledger.chunks
    return "failed" if nothing and not stopped else "incomplete"


def _unread(ledger: Completeness) -> str:
    """Returns a sentence about chunks that could not be read; "" when there are none."""
    failed = next((gap for gap in ledger.missing if gap.kind == "failed"), None)
    return (
        f"{failed}: what they say is not known; ask again, or see why with: {failed.command}"
        if failed
        else ""
    )


def _unreadable(ledger: Completeness) -> str:
    """Returns a sentence about values that could not be parsed in the type of their column; "" when
    there are none.
    """
    gap = next((gap for gap in ledger.missing if gap.kind == "value"), None)
    return str(gap) if gap and ledger.unparsed_cells else ""


def _finished(
    session: Session,
    need: Need,
    found: SqlAnswer,
    stopped: str,
    usage: Usage,
    views: Sequence[TableView],
) -> Answer:
    read = tables_read(session, found.sql, views)
    used = {one.table.name: tuple(column.name for column in one.columns) for one in read}
    ledger = completeness(session, used or need.columns, need.uncovered, stopped)
    status, text, reason = found.status, found.text, found.reason or stopped
    ledger = replace(ledger, missing=(*found.completeness.missing, *ledger.missing))
    tried = Tried(ledger, doubts=found.doubts)
    if found.sql:
        tried = try_variations(session, found, views, ledger)
    ledger = tried.ledger
    unread = stopped or _unread(ledger) or _unreadable(ledger)
    if status == "answered" and not ledger.complete:
        status = "incomplete"
    elif status == "not_found" and unread:  # the unread parts may hold it
        status, text, reason = _status_unread(ledger, stopped), f"No answer yet: {unread}", unread
    if status == "incomplete" and found.value is not None:
        text = found.text + incomplete(ledger.missing)
    return replace(
        found,
        status=status,
        text=text,
        citations=cite(session, found.sql, views, found.rows),
        completeness=ledger,
        usage=usage,
        reason=reason,
        decisions=tuple(session.question.notes),
        range=tried.range,
        doubts=tried.doubts,
    )


def _log_attempts(session: Session, question: str, found: SqlAnswer) -> None:
    for attempt in found.attempts:
        outcome = "error" if attempt.error else "ok" if attempt.rows else "empty"
        session.catalog.journal.record_attempt(
            StoredAttempt(
                "answer",
                question,
                attempt.sql or attempt.written,
                outcome,  # type: ignore[arg-type]
                "; ".join([attempt.error, *attempt.findings]).strip("; "),
                attempt.rows,
            )
        )
