"""SQL over documents: the query's cells are extracted, and nothing else; then SQL runs over the
filled tables.

    SELECT company FROM docs WHERE fiscal_year = 2022 AND capex > 1e9

`docs` stands for all documents, one row each; its columns are the attributes that the query names.
Their types and descriptions come from `describe`, from a schema table with these columns, or else
from their names and the query's comparisons. A schema table with one row for each document is read
in the same way. Every table also has `document` and `document_id`, which cost nothing. Tables with
many rows for each document are filled first, with the columns that the query names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from sliders.engine.filling import Filling
from sliders.engine.kept_segments import update_index
from sliders.engine.query_binding import bind
from sliders.engine.query_candidates import prepare
from sliders.engine.query_estimate import plan_before
from sliders.engine.query_joins import join_all, unequal_names
from sliders.engine.running_query import Running
from sliders.engine.session import Session
from sliders.engine.table_run import TableRun
from sliders.engine.table_stages import settle_tables
from sliders.errors import BudgetExceeded
from sliders.progress import counted
from sliders.query.explain import PlanNode, QueryExplanation
from sliders.query.parsing import Query, TableUse
from sliders.query.predicates import SYSTEM
from sliders.schema.types import Table
from sliders.sql.limits import Result
from sliders.store.copied_tables import CopiedTables


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss from leaving documents out: of `audited` documents among the `excluded` ones,
    `found` held values.
    """

    excluded: int = 0
    audited: int = 0
    found: int = 0

    @property
    def estimate(self) -> float:
        """The estimated number of documents with values among those that were excluded and not
        audited.
        """
        return (
            0.0 if not self.audited else (self.excluded - self.audited) * self.found / self.audited
        )


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """The rows of a query, with its costs in tokens of segments: `tokens` were sent in all,
    `sample_tokens` for the sample; `whole_tokens` is the size of all documents. `stopped` says why
    it ended early, "" when it did not.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    explanation: QueryExplanation
    tokens: int
    sample_tokens: int
    whole_tokens: int
    loss: Loss = Loss()
    notes: tuple[str, ...] = ()
    stopped: str = ""


async def run_query(
    session: Session, sql: str, describe: Mapping[str, str] | None = None, *, reuse: bool = True
) -> QueryOutcome:
    """Runs SQL over documents, and extracts the cells that it needs. Queries over one table wait
    for each other, so that they share work.

    Args:
        describe: the meaning of attributes of `docs`, by name.
        reuse: False neither uses nor stores cells, evidence and counts (for measurements).

    Raises:
        QueryError: SQL that is not supported, or an unknown or ambiguous column; the message says
            where.
        PlanError: the workspace has no documents.
    """
    query, tables = bind(session, sql, describe or {})
    async with AsyncExitStack() as turns:
        for name in sorted(table.name for table in tables):
            await turns.enter_async_context(session.catalog.claims.turn(f"query:{name}"))
        for table in tables:
            session.catalog.extractions.supersede(table)
        running = _open(session, query, tables, reuse)
        try:
            await _execute(running)
            while reuse and await _settled(running):
                await _execute(running)
        finally:
            _keep(running)
    result = _accepted_rows(running)
    if result.truncated:
        running.notes.append(result.cut)
    return _told(running, result)


def _keep(running: Running) -> None:
    """Stores in the workspace what was read and learned."""
    for run in running.runs.values():
        run.save()


async def _settled(running: Running) -> bool:
    """Brings the tables up to date, as for a question. Returns True when they now show values of a
    document that were unknown when the document was decided.
    """
    _keep(running)
    filling = running.filling
    filling.stopped = await settle_tables(running.session, filling.stopped, list(running.runs))
    return any([run.refresh() for run in running.runs.values()]) and not filling.stopped


async def explain_query(session: Session, sql: str) -> QueryExplanation:
    """Returns the plan of a query, with estimated tokens and their interval (EXPLAIN). No model is
    called, and nothing but the index is changed.

    Raises:
        QueryError: as `run_query`.
    """
    words = sql.lstrip()[len("explain ") :] if explains(sql) else sql
    return plan_before(_open(session, *bind(session, words, {}, save=False)))


def explains(sql: str) -> bool:
    """Says whether a statement begins with EXPLAIN."""
    return sql.lstrip()[: len("explain ")].casefold() == "explain "


def _open(session: Session, query: Query, tables: Sequence[Table], reuse: bool = True) -> Running:
    index = update_index(session, *session.indexes)
    session.indexes[:] = [index]
    filling = Filling(session)
    runs = {}
    for table in tables:
        named = dict.fromkeys(
            name for use in query.tables if use.table == table.name for name in use.attributes
        )
        attributes = tuple(name for name in named if name in table.column_names)
        names = {d.id: d.name for d in session.catalog.documents.all()}
        runs[table.name] = TableRun(filling, table, attributes, index, reuse, names)
    running = Running(filling, query, runs)
    if query.unplanned:
        running.notes.append(
            f"{query.unplanned} cannot be planned: its attributes are read for every row that the "
            "other conditions let pass"
        )
    return running


async def _execute(running: Running) -> None:
    if impossible := running.contradictions():
        running.notes.append(impossible[0])
        return
    try:
        for run in running.runs.values():
            if not run.candidates.to_read:
                run.candidates = await prepare(run)
            run.doubted = frozenset(run.candidates.audited)
    except BudgetExceeded as error:
        running.filling.stopped = str(error)
        return
    running.joins.clear()
    if running.query.joins:
        await join_all(running)
        return
    for use in running.query.tables:
        running.accepted[use.alias] = await running.filter_all(use.alias, use.where)


def _accepted_rows(running: Running) -> Result:
    """Runs the query over the accepted rows, as tables in memory."""
    with CopiedTables(running.session.catalog.database) as memory:
        for written in dict.fromkeys(use.written for use in running.query.tables):
            _fill(memory, running, [use for use in running.query.tables if use.written == written])
        return memory.run(running.query.sql)


def _fill(memory: CopiedTables, running: Running, uses: Sequence[TableUse]) -> None:
    """Copies the accepted rows of one table, under all its aliases."""
    run = running.runs[uses[0].table]
    named = dict.fromkeys(name for use in uses for name in (*use.attributes, *use.select))
    types = {n: run.table.column(n).type.sql for n in named if n not in SYSTEM}
    types |= dict.fromkeys(SYSTEM, "TEXT")
    accepted = {d for use in uses for d in running.accepted.get(use.alias, ())}
    # in the order of the documents, whichever was read first
    rows = [row for d in run.names if d in accepted for row in run.rows(d)]
    # one row may come from several documents
    alone = {row.get("row_id", number): row for number, row in enumerate(rows)}
    memory.add(uses[0].written, types, ([row.get(n) for n in types] for row in alone.values()))


def _told(running: Running, result: Result) -> QueryOutcome:
    """Returns the result with its costs and notes."""
    accepted: dict[str, set[str]] = {}
    for use in running.query.tables:
        accepted.setdefault(use.table, set()).update(running.accepted.get(use.alias, ()))
    traces = tuple(t for name, run in running.runs.items() for t in run.traces(accepted[name]))
    spent, whole = sum(t.tokens for t in traces), sum(t.whole for t in traces)
    loss = _loss(running)
    notes = tuple(dict.fromkeys(_notes(running, loss)))
    share = f"{spent / whole:.0%} of reading everything" if whole else ""
    inputs = tuple(running.joins) or tuple(_filtered(running, use) for use in running.query.tables)
    root = PlanNode("result", "", share, None, spent, len(result.rows), inputs)
    return QueryOutcome(
        result.columns,
        result.rows,
        explanation=QueryExplanation(root, traces, notes),
        tokens=spent,
        sample_tokens=sum(t.tokens for t in traces if t.verdict == "sampled"),
        whole_tokens=whole,
        loss=loss,
        notes=notes,
        stopped=running.filling.stopped,
    )


def _notes(running: Running, loss: Loss) -> Iterator[str]:
    """Yields lines about missing parts of a result."""
    yield from running.notes
    yield from unequal_names(running)
    if loss.excluded:
        yield (
            f"excluded by the index: {counted(loss.excluded, 'document')}; "
            f"{loss.found} of {loss.audited} audited ones held values, so about "
            f"{loss.estimate:.1f} documents may be missed"
        )
    failed = {
        document: next(reversed(reasons.values()))
        for run in running.runs.values()
        for document, reasons in run.failed.items()
    }
    if failed:
        yield (
            f"the result is incomplete: {counted(len(failed), 'document')} could not be read, "
            f"the next query asks again: {next(iter(failed.values()))}"
        )
    if running.filling.stopped:
        yield f"the result is incomplete: {running.filling.stopped}"


def _filtered(running: Running, use: TableUse) -> PlanNode:
    run, where = running.runs[use.table], str(use.where or "")
    rows = len(running.accepted.get(use.alias, ()))
    return PlanNode("filter", use.alias, where, None, run.tokens, rows)


def _loss(running: Running) -> Loss:
    excluded = audited = held = 0
    for run in running.runs.values():
        # A join needs no look at a document that prints none of its values:
        # it was not audited then.
        looked_at = [d for d in run.candidates.audited if run.steps.get(d) or run.known[d]]
        excluded += len(run.candidates.excluded)
        audited += len(looked_at)
        held += sum(map(run.has_values, looked_at))
    return Loss(excluded, audited, held)
