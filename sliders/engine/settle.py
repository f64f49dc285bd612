"""From extracted rows to the data table that answers questions. To *settle* a table is to build it
from the extracted rows, reconcile it, and store it with its versions and open conflicts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sliders.engine.cite import quote_of
from sliders.engine.companion_columns import canonical_columns, made_by, with_read_companions
from sliders.engine.document_dating import document_dates
from sliders.engine.reconcile_memory import criteria_of, recall, remember
from sliders.engine.session import Session
from sliders.engine.undone_repairs import undone_rows
from sliders.engine.ways import ways_of
from sliders.errors import RepairError
from sliders.extraction.cell import Row
from sliders.extraction.list_entries import lines_of_lists, records_of
from sliders.progress import counted
from sliders.reconcile.reconcile import reconcile_table
from sliders.reconcile.relation import MemoryRelation, relation_of
from sliders.reconcile.repairs import (
    Conflict,
    DecidedCorrection,
    DocumentSource,
    Options,
    Reconciliation,
    Repair,
)
from sliders.reconcile.workbench import SYSTEM, replay, script
from sliders.schema.types import Table
from sliders.sql.limits import Limits
from sliders.store import codec
from sliders.store.cage import run_readonly
from sliders.store.data_rows import DataRow
from sliders.store.facts import ConflictSide, OpenConflict, Settled, Terms, Unsettled
from sliders.store.records import Decision, Derivation, Relation, RelationColumn, TableVersion


async def settle_data_table(session: Session, table: Table, *, model: bool = True) -> None:
    """Settles a table, if anything changed since it was settled last; one writer at a time. A
    model's decision of an earlier run is kept while the words that it rests on stay.

    Args:
        model: False asks no model.

    Raises:
        ModelUnavailable: the model cannot be reached.
        BudgetExceeded: the budget ends; the table has the extracted rows, without repairs.
    """
    async with session.catalog.claims.turn(f"settle:{table.name}"):
        await _settle(session, table, model)


_METHOD = "names beside what is printed"
"""The name of the method of settling. A table that an earlier version settled by another method is
settled again.
"""


def decided(session: Session, table: str) -> tuple[int, ...]:
    """Returns the numbers of people's decisions on a table that are in force."""
    return tuple(decision.id for decision in session.catalog.knowledge.corrections(table))


async def _settle(session: Session, table: Table, model: bool) -> None:
    if table.given:
        session.catalog.tables.materialise(table.name)
        return
    before = session.catalog.tables.current(table.name)
    version = session.catalog.tables.materialise(table.name, unverified=session.settings.unverified)
    held = undone_rows(session, table.name)
    terms, last = _terms(session, table, held), session.catalog.settled.of(table.name)
    if held:
        again = f"make them again with: sliders reconcile {table.name}"
        session.note(
            f"{table.name}: repairs of {counted(len(held), 'row')} were undone by a person and "
            f"stay undone; {again}"
        )
    # A table that was settled with a model need not be settled again without one.
    done = last is not None and last.terms == terms and (last.by_model or not model)
    if done and before is not None and before.version == version.version:
        return
    rows = [row for row in session.catalog.extractions.rows(table.name) if row.id not in held]
    relation = _relation(session, table, rows)
    memory = recall(session, table.name, last)
    options = replace(
        _options(session, table),
        settled=memory.settled,
        changed=memory.new_among(relation.document_ids),
        entries=_are_entries(session, table, rows),
    )
    asked = session.models.model_for("reconcile")
    result = await reconcile_table(
        table, relation, options, asked if model else None, ways_of(asked).repairer
    )
    with session.catalog.database.transaction():  # a kill leaves all of the repairs, or none
        _store(session, table, result)
        remember(session, result, memory, Settled(terms, model, frozenset(relation.document_ids)))


def _terms(session: Session, table: Table, held: Collection[str]) -> Terms:
    """Returns the inputs that a table is settled from. Equal inputs need no second settling.

    Args:
        held: the rows whose repairs a person undid.
    """
    root = session.catalog.tables.lineage(table.name)[-1].version
    told = f"{session.question.normalize}{session.question.precede}:{criteria_of(session)}"
    without = f":without {codec.digest(codec.dump(sorted(held)))[:16]}" if held else ""
    applied = f"{told}:{table.key}{table.key_scope}{table.pinned}:{_METHOD}{without}"
    return Terms(root, decided(session, table.name), applied)


def _options(session: Session, table: Table) -> Options:
    """Returns the options of the reconciliation, from the user and the workspace."""
    shape = session.catalog.schemas.relation(table.name)
    canonical = {c.name: shape.companion(c.name, "canonical").sql_name for c in shape.columns}
    return Options(
        criteria=criteria_of(session),
        corrections=tuple(map(_correction, session.catalog.knowledge.corrections(table.name))),
        normalize=session.question.normalize,
        precede=session.question.precede,
        sql_names={c.name: c.sql_name for c in shape.columns},
        canonical_names=canonical,
        look=lambda sql: _looked(session, sql),
    )


def _relation(session: Session, table: Table, rows: Sequence[Row]) -> MemoryRelation:
    """Returns the rows of a table in memory, with the places of their words."""
    outlines = session.catalog.chunks.outlines()
    return relation_of(
        rows,
        table.column_names,
        _documents(session),
        {chunk: " > ".join(path) for chunk, path, _ in outlines if path},
        {chunk: kinds for chunk, _, kinds in outlines},
        session.settings.unverified,
        quote=quote_of(session, rows),
        key=table.key,
        lists_of=lambda document: lines_of_lists(
            session.catalog.documents.get(document), session.catalog.chunks.of(document)
        ),
    )


def _are_entries(session: Session, table: Table, rows: Sequence[Row]) -> bool:
    """Says whether the rows of a table are entries of lists, so that equal rows are different
    things.
    """
    if table.grain != "many" or not rows:
        return False
    documents = {row.chunk_id: row.document_id for row in rows}
    read_from = list(documents)[:_CHUNKS_LOOKED_AT]
    looked_in = dict.fromkeys(documents[chunk] for chunk in read_from)
    chunks = {c.id: c for document in looked_in for c in session.catalog.chunks.of(document)}
    return all(chunk in chunks and records_of(chunks[chunk]) for chunk in read_from)


_CHUNKS_LOOKED_AT = 20


def _looked(session: Session, sql: str) -> str:
    """Runs a statement of the model read-only, and returns its result as lines of text."""
    found = run_readonly(
        session.catalog.database, sql, tables=session.data_tables, limits=Limits(rows=_LOOKED_ROWS)
    )
    lines = [" | ".join(found.columns), *(" | ".join(map(str, row)) for row in found.rows)]
    return "\n".join([*lines, *(["..."] if found.truncated else [])])[:_LOOKED_CHARACTERS]


_LOOKED_ROWS, _LOOKED_CHARACTERS = 30, 4_000


def _documents(session: Session) -> Mapping[str, DocumentSource]:
    dates = document_dates(session)  # another writer may add documents from here on
    return {
        d.id: DocumentSource(d.id, d.name, dates.get(d.id, ""), position, d.title)
        for position, d in enumerate(session.catalog.documents.all())
    }


def _correction(stored: Any) -> DecidedCorrection:
    subject = stored.subject
    return DecidedCorrection(
        stored.kind,
        tuple(subject.get("where", {}).items()),
        stored.author,
        stored.column,
        stored.value,
        tuple(subject.get("other", {}).items()),
        stored.reason,
        stored.id,
    )


def _store(session: Session, table: Table, result: Reconciliation) -> None:
    """Stores decisions and open conflicts, and a new version of the table when anything was
    repaired.
    """
    session.catalog.journal.record(_decisions(table.name, result))
    found = tuple(_conflict(table.name, conflict) for conflict in result.conflicts)
    left = Unsettled(found, result.open_names, result.left_open, result.unsure_merges)
    session.catalog.open_questions.keep(table.name, left)
    if not result.repairs:
        _as_extracted(session, table)
        return
    _repair(session, table, result.repairs)


_OF_A_GROUP = ("resolve_conflict", "convert", "aggregate")
_NAMED = 50  # rows that a decision names


def _decisions(table: str, result: Reconciliation) -> Iterator[Decision]:
    """Yields the decisions on the way, the repairs with their SQL, and the contradictions that stay
    open.
    """
    for c in result.decisions:
        about = (0, "", "", table, c.column, c.rows)
        yield Decision("reconcile", c.kind, c.verdict, c.reason, *about)
    for repair in result.repairs:
        settled = repair.operation == "correct" and len(repair.before) > 1
        if repair.author == "model" or repair.operation in _OF_A_GROUP or settled:
            values = " or ".join(dict.fromkeys(map(repr, repair.before)))
            rows = counted(len(repair.rows), "row")
            said = f"{values} became {repair.after!r}" if repair.column else rows
            verdict = f"{repair.operation} {repair.column}".strip()
            reason = f"{said}: {repair.reason}; SQL: {repair.sql}"
            about = (0, "", "", table, repair.column, repair.rows[:_NAMED])
            yield Decision("reconcile", "rows", verdict, reason, *about)
    for conflict in result.conflicts:
        yield Decision("reconcile", "table", "open conflict", str(conflict), table=table)


def _repair(session: Session, table: Table, repairs: Sequence[Repair]) -> None:
    """Runs the repairs on the extracted rows. The result is the new version.

    Raises:
        RepairError: the repairs do not run, or lose a row.
    """
    tables = session.catalog.tables
    root = tables.lineage(table.name)[-1]
    tables.undo(table.name, root.version)
    relation = session.catalog.schemas.relation(table.name)
    made = canonical_columns(relation, repairs)
    columns = [(c.sql_name, c.sql_type) for c in (*relation.columns, *made)]
    names = [name for name, _ in columns]
    before = version_rows(session, root, names)
    sql = script(repairs, names)
    searched = [relation.sql_name(c.companion_of) for c in made]
    after = [_data_row(row, names) for row in replay(columns, before.values(), sql, searched)]
    accounted = [source for row in after for source in row.sources or (row.row_id,)]
    if sorted(accounted) != sorted(before):
        raise RepairError(
            f"the repairs of {table.name!r} leave {len(accounted)} of {len(before)} rows; "
            "nothing was changed"
        )
    tables.create_version(
        table.name,
        with_read_companions(session, root, relation, after, before, repairs),
        operation="reconcile",
        sql=sql,
        reason="; ".join(dict.fromkeys(f"{r.operation}: {r.reason}" for r in repairs))[:2000],
        derived=[
            *_derivations(after, before, repairs, relation),
            *_canonical_forms(after, repairs, relation, made),
        ],
        companions=made,
    )


def version_rows(
    session: Session, version: TableVersion, names: Sequence[str] = ()
) -> dict[str, tuple[Any, ...]]:
    """Returns all rows of a version in order, by row id: these columns (without companions when
    left out), then document, document_id, row_id, _sources.
    """
    beside = {c.sql_name for c in version.companions}
    chosen = names or [name for name in version.columns if name not in beside]
    return {
        row[-2]: tuple(row) for row in session.catalog.tables.lines(version, (*chosen, *SYSTEM))
    }


def _data_row(row: Sequence[Any], names: Sequence[str]) -> DataRow:
    document, document_id, row_id, sources = row[-4:]
    values = dict(zip(names, row, strict=False))
    return DataRow(row_id, document, document_id, values, tuple(codec.load(sources) or ()))


def _as_extracted(session: Session, table: Table) -> None:
    """Shows the extracted rows again, when the current repairs come from other hints or
    criteria.
    """
    chain = session.catalog.tables.lineage(table.name)
    if len(chain) > 1:
        session.catalog.tables.undo(table.name, chain[-1].version)


def _conflict(table: str, conflict: Conflict) -> OpenConflict:
    sides = tuple(
        ConflictSide(
            side.value,
            side.rows,
            side.document_name or side.document_id,
            side.source.quote or side.source.printed,
            side.source.page,
        )
        for side in conflict.candidates
    )
    return OpenConflict(table, conflict.column, conflict.key, conflict.reason, sides)


def _derivations(
    after: Sequence[DataRow],
    before: Mapping[str, Sequence[Any]],
    repairs: Sequence[Repair],
    relation: Relation,
) -> list[Derivation]:
    """Returns a declaration for each value that no source row has, with the repair that made it."""
    made = made_by(repairs)
    out: list[Derivation] = []
    for row in after:
        sources = row.sources or (row.row_id,)
        for place, column in enumerate(relation.columns):
            final = row.values[column.sql_name]
            stated = [before[s][place] for s in sources]
            if final is None or final in stated:
                continue
            repair = next((made[s, column.name] for s in sources if (s, column.name) in made), None)
            operation = repair.operation if repair else "consolidate"
            source = next((value for value in stated if value is not None), None)
            told = (
                f"{operation} of {source!r}: "
                f"{repair.reason if repair else 'what another row of the same thing states'}"
            )
            kind = _KINDS.get(operation, operation)
            decision = repair.correction if repair else None
            out.append(Derivation(column.name, final, kind, told, row.row_id, source, decision))
    return out


def _canonical_forms(
    after: Sequence[DataRow],
    repairs: Sequence[Repair],
    relation: Relation,
    columns: Sequence[RelationColumn],
) -> Iterator[Derivation]:
    """Yields a declaration for each canonical form that differs from the printed one."""
    why = {
        (r.column, form): r.reason
        for r in repairs
        if r.operation == "canonicalize"
        for form in r.before
    }
    for column in columns:
        printed = relation.sql_name(column.companion_of)
        for row in after:
            form, name = row.values[printed], row.values[column.sql_name]
            if name != form:
                reason = why.get((column.companion_of, form), "")
                yield Derivation(column.name, name, "canonicalize", reason, row.row_id, form)


_KINDS: Mapping[str, str] = {"correct": "correction", "aggregate": "sum"}
