"""A question from its words to its answer: schema, missing cells, reconciliation, SQL, citations, completeness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sliders.answer.agent import answer_question
from sliders.answer.result import Answer, Completeness
from sliders.answer.values import SqlAnswer, TableView
from sliders.errors import BudgetExceeded, ModelRefusal, PlanError, TruncatedReply
from sliders.executor.citing import cite
from sliders.executor.completing import ROUNDS, can_wait, complete_statement, sample_cells
from sliders.executor.fill import Filled, fill
from sliders.executor.mentions import none_happened, none_mentioned
from sliders.executor.needs import keep_needs, known_needs
from sliders.executor.pinned_sides import results_first
from sliders.executor.results import asks_of_results, printed_results, shape_results
from sliders.executor.retype import retype
from sliders.executor.sampling import beginnings, grain_of, samples
from sliders.executor.scores import split_columns, split_scores
from sliders.executor.session import Session
from sliders.executor.settle import settle
from sliders.executor.shaping import PrintedPeriods, period_grain, printed_periods, shape
from sliders.executor.sides import add_sides, derived_tables
from sliders.llm.model import Usage
from sliders.schema.induction import Induction, complete_table, induce_schema
from sliders.schema.types import ColumnType, Grain, Schema, Table
from sliders.store.guard import run_readonly
from sliders.store.records import SqlAttempt as StoredAttempt


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a question needs: its table, the columns, and why there is none when there is none."""

    question: str
    table: str = ""
    columns: tuple[str, ...] = ()
    reason: str = ""


async def ask(session: Session, question: str, *, lazy: bool = False) -> Answer:
    """Answer one question; `lazy` as for `ask_many`.

    Raises:
        PlanError: the question is empty, or there is no document.
        ModelUnavailable: the model cannot be reached.
    """
    return (await ask_many(session, [question], lazy=lazy))[0]


async def ask_many(session: Session, questions: Sequence[str], *, lazy: bool = False) -> list[Answer]:
    """Answer several questions with one schema and one pass of extraction.

    Args:
        lazy: read a few documents only, and of the others what each question's own SQL needs (tables with one row a
            document). Cheap for long documents; the SQL is first written over the sample.

    Raises:
        PlanError: a question is empty, or there is no document.
        ModelUnavailable: the model cannot be reached.
    """
    check(session, questions)
    session.notes.clear()
    prepared = []
    stopped = ""
    for number, question in enumerate(questions, 1):
        try:
            prepared.append(await prepare(session, question, questions))
        except BudgetExceeded as error:
            stopped = str(error)
            prepared.append(Prepared(question, reason=stopped))
        session.progress("schema", number, len(questions))
    prepared = _with_home(prepared)
    shared = session.models.meter.total
    if not stopped:
        stopped = await _fill_all(session, prepared, lazy)
        split_scores(session)
        add_sides(session)
        retype(session)
    await _settle_all(session, stopped)
    answers = []
    for item in prepared:
        answers.append(await _answer(session, item, stopped, shared if len(questions) == 1 else Usage(), lazy))
    return answers


def check(session: Session, questions: Sequence[str]) -> None:
    """Refuse empty questions, and any question over a workspace without documents.

    Raises:
        PlanError: it is one of these.
    """
    if any(not question.strip() for question in questions):
        raise PlanError("the question is empty; ask something about the documents")
    if not session.catalog.documents.count():
        raise PlanError("the workspace has no documents; add some first: sliders add FILES")


def _with_home(prepared: Sequence[Prepared]) -> list[Prepared]:
    """The questions, those that gave no column of their own asked of the table that most of the others need."""
    homes = Counter(item.table for item in prepared if item.table)
    if not homes:
        return list(prepared)
    home = homes.most_common(1)[0][0]
    return [replace(item, table=home) if item.reason == _NO_FACT else item for item in prepared]


_NO_FACT = "no fact of the documents was found that the question needs"


async def prepare(session: Session, question: str, together: Sequence[str] = ()) -> Prepared:
    """The table and columns of a question; the schema is extended where it must be, and saved."""
    session.progress("schema")
    schema = await complete_pinned(session)
    known = known_needs(session, question)
    if known is not None:
        return Prepared(question, known[0].name, known[1])
    model = session.models.model_for("schema")
    printed = printed_periods(session)
    grain = grain_of(session) if printed is None else "document"
    try:
        induced = await induce_schema(
            question,
            samples(session, question),
            schema,
            model,
            session.embedder.embed,
            grain=grain,
            others=[q for q in together if q != question],
            texts=beginnings(session),
            names=[d.name for d in session.catalog.documents.all()[:50]],
            shape=_shape(session, question, printed, grain),
        )
    except (ModelRefusal, TruncatedReply) as error:
        session.decide("schema", "question", "refused", str(error))
        return Prepared(question, reason=f"the model gave no usable schema: {error}")
    needed = tuple(n for n in induced.table.column_names if n in induced.needed or induced.table.pinned)
    with session.catalog.database.transaction():  # a kill leaves both or neither: the call is not made again
        _record(session, induced, schema)
        if induced.table.columns and not induced.table.pinned:
            keep_needs(session, question, induced.table.name, needed or induced.table.column_names)
    if not induced.table.columns:
        return Prepared(question, reason=_NO_FACT)
    return Prepared(question, induced.table.name, needed or induced.table.column_names)


def _shape(
    session: Session, question: str, printed: PrintedPeriods | None, grain: Grain | None
) -> Callable[[Table], Table] | None:
    """What the documents' own tables or results make of a proposal; None where they say nothing of this question."""
    if printed is not None:
        return partial(shape, question=question, printed=printed)
    results = printed_results(session) if grain is None else None
    if results is None or not asks_of_results(question, results):
        return None
    return partial(shape_results, question=question, printed=results)


async def complete_pinned(session: Session) -> Schema:
    """The schema that stands, with the rows of pinned tables described once."""
    schema = session.catalog.schemas.current() or Schema()
    bare = [t for t in schema.tables if t.pinned and not t.row]
    if not bare:
        return schema
    model, texts, grain = session.models.model_for("schema"), samples(session), grain_of(session)
    printed = printed_periods(session)
    completed = schema
    for table in bare:
        told = grain if printed is None else period_grain(table) or grain
        completed = completed.with_table(await complete_table(table, texts, model, grain=told))
    session.catalog.schemas.save(completed, "pinned tables described")
    for table in (completed.table(t.name) for t in bare):
        session.decide("schema", f"table:{table.name}", "described", f"one row: {table.row}; grain {table.grain}")
    return completed


def _record(session: Session, induced: Induction, before: Schema) -> None:
    for issue in induced.issues:
        session.decide("schema", f"column:{issue.subject}", issue.action, issue.rule)
    if induced.schema != before:
        session.catalog.schemas.save(induced.schema, "extended for a question")
        session.decide("schema", f"table:{induced.table.name}", "extended", ", ".join(induced.needed), induced.tokens)


async def _fill_all(session: Session, prepared: Sequence[Prepared], lazy: bool) -> str:
    """Extract what all the questions need, table by table; why it stopped, or empty."""
    schema = session.catalog.schemas.current() or Schema()
    derived = derived_tables(session)
    for table in results_first(schema.tables):
        if table.name in derived:
            continue
        wanted = {name for p in prepared if p.table == table.name for name in p.columns}
        if table.pinned and any(p.table for p in prepared):
            wanted |= set(table.column_names)
        columns = [name for name in table.column_names if name in wanted]
        if not columns:
            continue
        if lazy and can_wait(table):
            stopped = await sample_cells(session, table, columns)
        else:
            filled: Filled = await fill(session, table, columns)
            stopped = filled.stopped
        if stopped:
            session.decide("extract", f"table:{table.name}", "stopped", stopped)
            return stopped
    return ""


async def _settle_all(session: Session, stopped: str) -> None:
    schema = session.catalog.schemas.current() or Schema()
    for table in schema.tables:
        session.progress("reconcile", detail=table.name)
        try:
            await settle(session, table, model=not stopped)
        except BudgetExceeded as error:
            session.decide("reconcile", f"table:{table.name}", "stopped", str(error))
            await settle(session, table, model=False)


async def _answer(session: Session, item: Prepared, stopped: str, shared: Usage, lazy: bool = False) -> Answer:
    session.progress("answer", detail=item.question)
    before = session.models.meter.total
    bare = bool(item.table) and next(session.catalog.extractions.iterate(item.table), None) is None
    zero = none_happened(session, item.question, _table(session, item.table)) if bare and not stopped else ""
    if zero or not item.table or not _filled_tables(session):
        return _without_rows(session, item, stopped, zero)
    try:
        found, views = await _statement(session, item)
        for number in range(ROUNDS + 1 if lazy and not stopped else 0):
            table = _table(session, item.table)
            if not await complete_statement(session, found.sql, table, item.columns, last=number == ROUNDS):
                break
            found, views = await _statement(session, item)
    except BudgetExceeded as error:
        return Answer(
            item.question,
            "incomplete",
            None,
            f"No answer yet: {error}",
            reason=str(error),
            completeness=completeness(session, item.table),
            decisions=tuple(session.notes),
        )
    found = none_mentioned(session, found)
    _log_attempts(session, item.question, found)
    after = session.models.meter.total
    return _finished(session, item, found, stopped, _minus(after, before) + shared, views)


def _without_rows(session: Session, item: Prepared, stopped: str, zero: str) -> Answer:
    """Not found, or zero of what no document mentions."""
    reason = zero or item.reason or stopped or "the documents gave no rows for it"
    if zero:
        session.decide("answer", "question", "zero", zero)
    return Answer(
        item.question,
        "answered" if zero else "incomplete" if stopped else "not_found",
        0 if zero else None,
        "0." if zero else f"Not found in these documents: {reason}.",
        reason=reason,
        completeness=completeness(session, item.table if zero else None),
        decisions=tuple(session.notes),
    )


def _table(session: Session, name: str) -> Table:
    return (session.catalog.schemas.current() or Schema()).table(name)


async def _statement(session: Session, item: Prepared) -> tuple[SqlAnswer, list[TableView]]:
    """What the SQL agent finds in the tables as they stand, and the tables as it saw them."""
    ordered = sorted(_filled_tables(session), key=lambda t: t.name != item.table)
    views = [TableView(_sql_table(session, t)) for t in ordered]
    names = [session.catalog.schemas.relation(t.name).relation for t in ordered]
    found = await answer_question(
        item.question,
        views,
        lambda sql: run_readonly(session.catalog.database, sql, tables=names),
        session.models.model_for("answer"),
    )
    return found, views


def _finished(
    session: Session, item: Prepared, found: SqlAnswer, stopped: str, usage: Usage, views: Sequence[TableView]
) -> Answer:
    ledger = completeness(session, item.table)
    status = found.status
    if status == "answered" and (stopped or not ledger.complete):
        status = "incomplete"
    text = found.text
    if status == "incomplete" and found.value is not None:
        text = f"{found.text} (incomplete: {stopped or str(ledger)})"
    return Answer(
        question=item.question,
        status=status,
        value=found.value,
        text=text,
        sql=found.sql,
        columns=found.columns,
        rows=found.rows,
        citations=cite(session, found.sql, views),
        completeness=ledger,
        usage=usage,
        reason=found.reason or stopped,
        decisions=tuple(session.notes),
    )


def _minus(after: Usage, before: Usage) -> Usage:
    return Usage(
        after.calls - before.calls,
        after.cached_calls - before.cached_calls,
        after.prompt_tokens - before.prompt_tokens,
        after.completion_tokens - before.completion_tokens,
        after.seconds - before.seconds,
        after.cost - before.cost,
    )


def _filled_tables(session: Session) -> list[Table]:
    schema = session.catalog.schemas.current() or Schema()
    return [t for t in schema.tables if session.catalog.tables.current(t.name) is not None]


def _sql_table(session: Session, table: Table) -> Table:
    """The table under its SQL names, as the agent must write them."""
    relation = session.catalog.schemas.relation(table.name)
    hidden = {*split_columns(session, table.name), *_names_of_lists(session, table)}
    columns = tuple(replace(c, name=relation.sql_name(c.name)) for c in table.columns if c.name not in hidden)
    return replace(table, name=relation.relation, columns=columns)


def _names_of_lists(session: Session, table: Table) -> list[str]:
    """The columns of a table of documents that name the rows of a filled list ("player" of players), which holds them all."""
    if table.grain != "document":
        return []
    kinds = {t.row.split()[-1] for t in _filled_tables(session) if t.grain == "many" and t.row}
    texts = [c.name for c in table.columns if c.type is ColumnType.TEXT and not c.pinned]
    return [name for name in texts if name in kinds]


def _log_attempts(session: Session, question: str, found: SqlAnswer) -> None:
    for attempt in found.attempts:
        outcome = "error" if attempt.error else "ok" if attempt.rows else "empty"
        session.catalog.journal.record_attempt(
            StoredAttempt(
                "answer",
                question,
                attempt.sql or attempt.written,
                outcome,  # type: ignore[arg-type]
                "; ".join([attempt.error, *attempt.repairs, *attempt.findings]).strip("; "),
                attempt.rows,
            )
        )


def completeness(session: Session, table: str | None) -> Completeness:
    """The ledger of one table, or of the documents alone."""
    documents = session.catalog.documents.all()
    if table is None:
        return Completeness(documents=len(documents))
    tasks = session.catalog.extractions.tasks(table)
    states: dict[str, set[str]] = {"done": set(), "failed": set(), "gated": set(), "pruned": set(), "pending": set()}
    for task in tasks:
        states[task.state].add(task.chunk_id)
    absences = session.catalog.extractions.absences(table)
    conflicts = session.catalog.knowledge.statistic(f"conflicts:{table}", [])
    rows_in = session.catalog.database.value(
        "SELECT count(DISTINCT r.document_key) FROM sl_rows r JOIN sl_tables t ON t.key = r.table_key "
        "JOIN sl_documents d ON d.key = r.document_key WHERE t.name = ? AND d.superseded_by IS NULL",
        (table,),
    )
    return Completeness(
        documents=len(documents),
        documents_with_rows=int(rows_in or 0),
        chunks=len({t.chunk_id for t in tasks}),
        failed_chunks=len(states["failed"]),
        gated_chunks=len(states["gated"] | states["pruned"]),
        ungrounded_cells=sum(v.get("ungrounded", 0) for v in absences.values()),
        unparsed_cells=sum(v.get("did not parse", 0) for v in absences.values()),
        open_conflicts=len(conflicts),
    )
