"""SQL over documents: extracts what the query needs, and nothing else, then answers it
from the filled tables.

    SELECT company FROM docs WHERE fiscal_year = 2022 AND capex > 1e9

`docs` stands for all documents, one row each; its columns are the attributes that the query names.
They take their type and description from `describe`, from a schema table that has them, or else
from their name and how the query compares them. A schema table with one row a document is read the
same way. Every table also has `document` and `document_id`, which cost nothing. Tables with many
rows a document are filled first with the columns that the query names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from sliders.engine.attribute_reader import AttributeReader, ModelReader
from sliders.engine.kept_segments import update_index
from sliders.engine.query_binding import bind
from sliders.engine.query_candidates import Candidates, prepare
from sliders.engine.query_cells import CellWriter, Known, Shown, load_known
from sliders.engine.query_estimate import plan_before
from sliders.engine.query_evidence import Learned, load_learned, save_learned
from sliders.engine.query_joins import join_all, unequal_names
from sliders.engine.query_rows import answer_rows
from sliders.engine.running_query import Running
from sliders.engine.session import Session
from sliders.engine.table_run import TableRun
from sliders.engine.table_stages import settle_tables
from sliders.errors import BudgetExceeded
from sliders.query.explain import DocumentTrace, Explanation, PlanNode
from sliders.query.parsing import Query, TableUse, contradiction
from sliders.schema.types import Table


@dataclass(frozen=True, slots=True)
class Loss:
    """What leaving documents out may have cost: `found` of `audited` excluded documents
    held values after all.
    """

    excluded: int = 0
    audited: int = 0
    found: int = 0

    @property
    def estimate(self) -> float:
        """Documents with values among those excluded and not audited, estimated."""
        return (
            0.0 if not self.audited else (self.excluded - self.audited) * self.found / self.audited
        )


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query, and what they cost.

    `tokens` and `sample_tokens` count the segments that were sent.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    explanation: Explanation
    tokens: int
    sample_tokens: int
    whole_tokens: int
    loss: Loss = Loss()
    notes: tuple[str, ...] = ()
    stopped: str = ""


async def run_query(
    session: Session,
    sql: str,
    describe: Mapping[str, str] | None = None,
    *,
    reader: AttributeReader | None = None,
    reuse: bool = True,
) -> QueryResult:
    """Run SQL over documents, extracting lazily what it needs; queries of one table wait for each
    other, and so share work.

    Args:
        describe: what attributes of `docs` mean, by name.
        reader: reads attributes; the model when left out.
        reuse: False neither uses nor keeps cells, evidence and figures (measurements).

    Raises QueryError: with its place: SQL that is not supported, an unknown or ambiguous column;
    PlanError: the workspace has no documents.
    """
    query, tables = bind(session, sql, describe or {})
    async with AsyncExitStack() as turns:
        for name in sorted(table.name for table in tables):
            await turns.enter_async_context(session.catalog.claims.turn(f"query:{name}"))
        for table in tables:
            session.catalog.extractions.supersede(table)
        running = _open(session, query, tables, reader, reuse=reuse)
        try:
            await _execute(running)
            while reuse and await _settled(running):
                await _execute(running)
        finally:
            _keep(running)
    for use in query.tables:
        running.accepted.setdefault(use.alias, [])
    columns, rows = answer_rows(running)
    return _result(running, columns, rows)


def _keep(running: Running) -> None:
    """What was read and learned goes into the workspace."""
    for run in running.runs.values():
        if run.writer is not None:
            run.writer.flush()
            save_learned(running.session, run.learned)


async def _settled(running: Running) -> bool:
    """Brings the tables up to date, as for a question; whether they show of a document what was not
    known when it was decided.
    """
    _keep(running)
    running.stopped = await settle_tables(running.session, running.stopped, list(running.runs))
    return any([run.refresh() for run in running.runs.values()]) and not running.stopped


async def explain_query(session: Session, sql: str) -> Explanation:
    """EXPLAIN: the plan of a query with estimated tokens and their interval; no model is called.

    Raises QueryError: as `run_query`.
    """
    return plan_before(_open(session, *bind(session, sql, {}, save=False)))


def _open(
    session: Session,
    query: Query,
    tables: Sequence[Table],
    reader: AttributeReader | None = None,
    *,
    reuse: bool = True,
) -> Running:
    index = update_index(session, *session.indexes)
    session.indexes[:] = [index]
    running = Running(session, query, index)
    if query.unplanned:
        running.notes.append(
            f"{query.unplanned} cannot be planned: its attributes are read for every row that the "
            "other conditions let pass"
        )
    for table in tables:
        named = dict.fromkeys(
            name for use in query.tables if use.table == table.name for name in use.attributes
        )
        known, shown, learned, writer = Known(dict), Shown(), Learned(table.name), None
        if reuse:
            learned, writer = load_learned(session, table), CellWriter(session, table)
            known, shown = load_known(session, table)
            read = Counter(name for values in known.values() for name in values)
            session.models.outcomes.worked += any(0 < read[name] < len(known) for name in named)
        running.runs[table.name] = TableRun(
            session,
            table,
            tuple(name for name in named if name in table.column_names),
            index,
            reader or ModelReader(session),
            known,
            learned,
            writer,
            shown,
            names={d.id: d.name for d in session.catalog.documents.all()},
        )
    return running


async def _execute(running: Running) -> None:
    for use in running.query.tables:
        why = contradiction(use.where)
        if why:
            running.notes.append(f"the result is empty without reading: {why}")
            return
    try:
        for run in running.runs.values():
            if run.table.name not in running.candidates:
                running.candidates[run.table.name] = await prepare(run)
            run.doubted = frozenset(running.candidates[run.table.name].audited)
    except BudgetExceeded as error:
        running.stopped = str(error)
        return
    running.joins.clear()
    if running.query.joins:
        await join_all(running)
        return
    for use in running.query.tables:
        running.accepted[use.alias] = await running.filter_all(use.alias, use.where)


def _result(
    running: Running, columns: tuple[str, ...], rows: tuple[tuple[object, ...], ...]
) -> QueryResult:
    traces = tuple(trace for run in running.runs.values() for trace in _traces(running, run))
    spent, whole = sum(t.tokens for t in traces), sum(t.whole for t in traces)
    loss = _loss(running)
    notes = tuple(dict.fromkeys(_notes(running, loss)))
    root = PlanNode(
        "result",
        "",
        f"{spent / whole:.0%} of reading everything" if whole else "",
        None,
        spent,
        len(rows),
        tuple(running.joins) or tuple(_table_node(running, use) for use in running.query.tables),
    )
    return QueryResult(
        columns,
        rows,
        explanation=Explanation(root, traces, notes),
        tokens=spent,
        sample_tokens=sum(t.tokens for t in traces if t.verdict == "sampled"),
        whole_tokens=whole,
        loss=loss,
        notes=notes,
        stopped=running.stopped,
    )


def _notes(running: Running, loss: Loss) -> Iterator[str]:
    """Lines that say what a result lacks."""
    yield from running.notes
    yield from unequal_names(running)
    if loss.excluded:
        yield (
            f"{loss.excluded} documents were excluded by the index; {loss.found} of {loss.audited} "
            f"audited ones held values, so about {loss.estimate:.1f} documents may be missed"
        )
    failed = {
        owner: reason for run in running.runs.values() for (owner, _), reason in run.failed.items()
    }
    if failed:
        first = next(iter(failed.values()))
        yield (
            f"the result is incomplete: {len(failed)} documents could not be read, the next query "
            f"asks again: {first}"
        )
    if running.stopped:
        yield f"the result is incomplete: {running.stopped}"


def _table_node(running: Running, use: TableUse) -> PlanNode:
    run = running.runs[use.table]
    spent = sum(step.tokens for steps in run.steps.values() for step in steps)
    where = str(use.where) if use.where is not None else ""
    return PlanNode(
        "filter", use.alias, where, None, spent, len(running.accepted.get(use.alias, ()))
    )


def _loss(running: Running) -> Loss:
    counts = [0, 0, 0]
    for name, found in running.candidates.items():
        run = running.runs[name]
        # A join needs no look at a document that prints none of its values:
        # it was not audited then.
        audited = [
            document_id
            for document_id in found.audited
            if run.steps.get(document_id) or run.known[document_id]
        ]
        held = sum(run.has_values(document_id) for document_id in audited)
        counts = [
            a + b for a, b in zip(counts, (len(found.excluded), len(audited), held), strict=True)
        ]
    return Loss(*counts)


def _traces(running: Running, run: TableRun) -> list[DocumentTrace]:
    found = running.candidates.get(run.table.name, Candidates(()))
    aliases = [use.alias for use in running.query.tables if use.table == run.table.name]
    accepted = {document_id for alias in aliases for document_id in running.accepted.get(alias, ())}
    excluded = set(found.excluded)
    traces = []
    for document_id in running.index.entries:
        if document_id in found.sampled:
            verdict = "sampled"
        elif document_id in accepted:
            verdict = "accepted"
        elif document_id in excluded and not run.steps.get(document_id):
            verdict = "excluded"
        else:
            verdict = (
                "rejected" if run.steps.get(document_id) or document_id in run.known else "not read"
            )
        traces.append(run.trace(document_id, verdict))
    return traces
