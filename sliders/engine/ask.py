"""The stages of a question on one page: hints, schema, extraction, judgement,
reconciliation, SQL, citations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sliders.answer.passages import PassageSource
from sliders.answer.result import Answer
from sliders.answer.route import INSIST, with_verify
from sliders.engine.answer import answer_need
from sliders.engine.fill import fill_cells
from sliders.engine.hint_scope import PROBE, narrow, passage_source, switch_off
from sliders.engine.left_out_sample import audit
from sliders.engine.odds_cut import judge_table
from sliders.engine.question_columns import Need, plan_tables
from sliders.engine.session import Question, Session
from sliders.engine.settle import settle_data_table
from sliders.engine.ways import ways_of
from sliders.errors import BudgetExceeded, PlanError
from sliders.llm.model import Usage
from sliders.reconcile.repairs import Normalization, Precedence
from sliders.schema.hints import Hints, Normalize, Precede, Verify
from sliders.schema.types import Table

_FEW_ROWS = 0.25
"""A document with less than this share of the median rows of the others counts as cut by a hint."""


async def ask_many(session: Session, questions: Sequence[str]) -> list[Answer]:
    """Answer several questions out of tables, in their order; what the model judges to be no
    question is not answered.

    A question that says where to look, what to skip, which terms mean the same or which source wins
    is asked by itself, after the others: what its hints leave out must not be missing for them.
    Raises PlanError: a question is empty, or there is no document.
    """
    check(session, questions)
    before = session.models.meter.total
    model = session.models.model_for("plan")
    hints = await ways_of(model).hints.read(questions, model)
    asked = [n for n, read in enumerate(hints) if read.kind != "no question"]
    alone = session.models.meter.total - before if len(questions) == 1 else Usage()
    answers = {
        n: turned_away(question, alone) for n, question in enumerate(questions) if n not in asked
    }
    # Verify ranks candidates, of which tables know none: its sentence stays in the question.
    hinted = {n: hints[n] for n in asked if len(hints[n].directives) > len(hints[n].of(Verify))}
    if shared := [n for n in asked if n not in hinted]:
        answers |= dict(
            zip(shared, await ask_tables(session, [questions[n] for n in shared]), strict=True)
        )
    for n, read in hinted.items():
        own = session.asking(Question(questions[n]))
        for verdict, reason in (line.split(": ", 1) for line in read.lines()):
            own.decide("plan", "question", verdict, reason)
        answers[n] = await ask_hinted(own, questions[n], read, passage_source(own, read.question))
    return [answers[n] for n in range(len(questions))]


def check(session: Session, questions: Sequence[str]) -> None:
    """Refuse empty questions, and any question over a workspace without documents.

    Raises:
        PlanError: it is one of these.
    """
    if any(not any(map(str.isalnum, question)) for question in questions):
        raise PlanError("the question is empty; ask something about the documents")
    if not session.catalog.documents.count():
        raise PlanError("the workspace has no documents; add some first: sliders add FILES")


def turned_away(question: str, spent: Usage) -> Answer:
    """The answer to what the model judges to be no question: that it is none, and how to insist."""
    reason = "the model judges that this is no question about documents"
    return Answer(question, "failed", None, INSIST, workflow="reply", reason=reason, usage=spent)


async def ask_tables(session: Session, questions: Sequence[str]) -> list[Answer]:
    """Answer several questions with one schema and one pass of extraction."""
    needs = await plan_tables(session, questions)
    stopped = await fill_tables(session, needs)
    wanted = {table for need in needs for table in need.columns} | {
        table.name for table in session.filled
    }
    async with session.standing():
        await settle_tables(
            session,
            stopped,
            [table.name for table in session.schema.tables if table.name in wanted],
        )
        alone = session.models.meter.total if len(questions) == 1 else Usage()
        return [await answer_need(session, need, stopped, alone) for need in needs]


async def fill_tables(session: Session, needs: Sequence[Need]) -> str:
    """Extract what all the questions need; why it stopped, or ""."""
    wanted: dict[str, list[str]] = {}
    for table in session.schema.tables:
        columns = [
            n
            for n in table.column_names
            if any(n in need.columns.get(table.name, ()) for need in needs)
        ]
        if columns:
            wanted[table.name] = columns
    questions = [need.question for need in needs]
    stopped = (await fill_cells(session, wanted, questions)).stopped
    share = session.settings.audit_share
    if share and not stopped:
        stopped = await audit(session, wanted, share, questions)
    if stopped:
        session.decide("extract", "tables", "stopped", stopped)
    return stopped


async def settle_tables(
    session: Session, stopped: str = "", tables: Sequence[str] | None = None
) -> str:
    """Judge by the whole collection, reconcile, and bring data tables, all when none are named, up
    to date; why it stopped.

    Args:
        stopped: why filling them stopped: then no model is called.
    """
    for table in session.schema.tables:
        if tables is not None and table.name not in tables:
            continue
        session.progress("reconcile", detail=table.name)
        judge_table(session, table)
        stopped = await settle_table(session, table, not stopped) or stopped
    return stopped


async def settle_table(session: Session, table: Table, model: bool) -> str:
    """Reconcile a table and bring it up to date, by code alone once the budget
    ends; why it did, or "".
    """
    try:
        await settle_data_table(session, table, model=model)
        return ""
    except BudgetExceeded as error:
        session.decide("reconcile", f"table:{table.name}", "stopped", str(error))
        await settle_data_table(session, table, model=False)
        return str(error)


async def ask_hinted(
    session: Session, question: str, hints: Hints, source: PassageSource
) -> Answer:
    """Answer one question out of tables under its hints; documents that the hints
    starve are read whole.
    """
    before, narrowed, asked = (
        session.models.meter.total,
        narrow(session, source, hints),
        session.question,
    )
    asked.normalize = tuple(
        Normalization(d.terms[0], d.terms[1:]) for d in hints.of(Normalize) if len(d.terms) > 1
    )
    asked.precede = tuple(Precedence(d.prefer, d.over) for d in hints.of(Precede))
    asked.out_of_scope = _left_out(session, narrowed) if narrowed is not None else frozenset()
    (answer,) = await ask_tables(session, [with_verify(hints)])
    if asked.out_of_scope:
        starved = list(source.documents) if answer.status == "not_found" else _starved(session)
        if starved:
            switch_off(
                session, f"no rows, or far fewer than elsewhere, in {len(starved)} documents"
            )
            asked.out_of_scope -= {
                chunk.id for document in starved for chunk in session.catalog.chunks.of(document)
            }
            (answer,) = await ask_tables(session, [with_verify(hints)])
    return as_told(session, question, hints, answer, before)


def as_told(session: Session, question: str, hints: Hints, answer: Answer, before: Usage) -> Answer:
    """The answer under the user's own words, with all notes and all that was
    spent since `before`.
    """
    notes = tuple(dict.fromkeys((*hints.notes, *session.question.notes, *answer.decisions)))
    return replace(
        answer, question=question, usage=session.models.meter.total - before, decisions=notes
    )


def _left_out(session: Session, narrowed: PassageSource) -> frozenset[str]:
    """Chunks that hold none of the segments that the hints leave; the first one of a
    document stays: it names it.
    """
    kept = narrowed.index(PROBE.tokens)
    out: set[str] = set()
    for document_id in narrowed.documents:
        spans = [(start, end) for start, end, _ in kept.entries[document_id].spans.tolist()]
        for chunk in session.catalog.chunks.of(document_id)[1:]:
            if not any(start < chunk.end and chunk.start < end for start, end in spans):
                out.add(chunk.id)
                session.decide(
                    "gate", f"chunk:{chunk.id}", "left out", "outside of what the hints name"
                )
    return frozenset(out)


def _starved(session: Session) -> list[str]:
    """Documents with chunks left out that gave no rows, or far fewer than the others."""
    counts: dict[str, int] = {}
    for table in session.schema.tables:
        for row in session.catalog.extractions.rows(table.name):
            counts[row.document_id] = counts.get(row.document_id, 0) + 1
    cut = {
        c.document_id for c in session.catalog.chunks.all() if c.id in session.question.out_of_scope
    }
    others = sorted(counts.values())
    typical = others[len(others) // 2] if others else 0
    return [d for d in sorted(cut) if counts.get(d, 0) < max(1.0, _FEW_ROWS * typical)]
