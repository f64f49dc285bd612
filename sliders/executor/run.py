"""The stages of a question on one page: schema, extraction, judgement, reconciliation, SQL, citations, completeness."""

from __future__ import annotations

from collections.abc import Sequence

from sliders.answer.result import Answer
from sliders.errors import BudgetExceeded, PlanError
from sliders.executor.answering import answer_need
from sliders.executor.auditing import audit
from sliders.executor.fill import fill
from sliders.executor.judging import judge_table
from sliders.executor.needs import Need, plan_tables
from sliders.executor.session import Session
from sliders.executor.settle import settle
from sliders.llm.model import Usage
from sliders.schema.types import Schema


async def ask(session: Session, question: str) -> Answer:
    """Answer one question.

    Raises:
        PlanError: the question is empty, or there is no document.
        ModelUnavailable: the model cannot be reached.
    """
    return (await ask_many(session, [question]))[0]


async def ask_many(session: Session, questions: Sequence[str]) -> list[Answer]:
    """Answer several questions with one schema and one pass of extraction.

    Raises:
        PlanError: a question is empty, or there is no document.
        ModelUnavailable: the model cannot be reached.
    """
    check(session, questions)
    session.notes.clear()
    needs = await plan_tables(session, questions)
    shared = session.models.meter.total
    stopped = await fill_tables(session, needs)
    await settle_tables(session, stopped)
    alone = shared if len(questions) == 1 else Usage()
    return [await answer_need(session, need, stopped, alone) for need in needs]


def check(session: Session, questions: Sequence[str]) -> None:
    """Refuse empty questions, and any question over a workspace without documents.

    Raises:
        PlanError: it is one of these.
    """
    if any(not question.strip() for question in questions):
        raise PlanError("the question is empty; ask something about the documents")
    if not session.catalog.documents.count():
        raise PlanError("the workspace has no documents; add some first: sliders add FILES")


async def fill_tables(session: Session, needs: Sequence[Need]) -> str:
    """Extract what all the questions need; why it stopped, or ""."""
    schema = session.catalog.schemas.current() or Schema()
    wanted: dict[str, list[str]] = {}
    for table in schema.tables:
        columns = [n for n in table.column_names if any(n in need.columns.get(table.name, ()) for need in needs)]
        if columns:
            wanted[table.name] = columns
    questions = [need.question for need in needs]
    stopped = (await fill(session, wanted, questions)).stopped
    share = session.settings.audit_share
    if share and not stopped:
        stopped = await audit(session, wanted, share, questions)
    if stopped:
        session.decide("extract", "tables", "stopped", stopped)
    return stopped


async def settle_tables(session: Session, stopped: str = "") -> None:
    """Judge by the whole collection, reconcile, and bring every data table up to date."""
    for table in (session.catalog.schemas.current() or Schema()).tables:
        session.progress("reconcile", detail=table.name)
        judge_table(session, table)
        try:
            await settle(session, table, model=not stopped)
        except BudgetExceeded as error:
            session.decide("reconcile", f"table:{table.name}", "stopped", str(error))
            await settle(session, table, model=False)
