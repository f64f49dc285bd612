"""Extracted rows to the data table that answers questions: materialise, reconcile, keep versions and open conflicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sliders.executor.citing import quote_of
from sliders.executor.dating import document_dates
from sliders.executor.memory import criteria_of, recall, remember
from sliders.executor.session import Session
from sliders.extraction.cell import Row
from sliders.extraction.records import records_of
from sliders.reconcile.reconcile import reconcile_table
from sliders.reconcile.relation import relation_of
from sliders.reconcile.values import (
    DEFAULT_CRITERIA,
    Correction,
    DocumentSource,
    Options,
    ReconciledRow,
    Reconciliation,
)
from sliders.schema.types import Table
from sliders.store.records import Derivation
from sliders.store.tables import DataRow, enters


async def settle(
    session: Session, table: Table, *, options: Options | None = None, model: bool = True
) -> Reconciliation | None:
    """Bring the data table up to date with its cells; None when nothing changed since the last time.

    What a model decided in an earlier run is not asked again while the words that it decided on stand.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    before = session.catalog.tables.current(table.name)
    unverified = session.settings.unverified
    version = session.catalog.tables.materialise(table.name, unverified=unverified)
    decisions = session.catalog.knowledge.corrections(table.name)
    corrections = tuple(map(_correction, decisions))
    criteria = criteria_of(session)
    decided = "+".join(str(decision.id) for decision in decisions)
    fingerprint = f"{version.revision}:{decided}{_hinted(session, criteria)}"
    if before is not None and before.version == version.version and _known(session, table) == fingerprint:
        return None
    rows = session.catalog.extractions.rows(table.name)
    relation = relation_of(
        rows, table.column_names, _documents(session), _sections(session), _table_chunks(session),
        unverified, quote=quote_of(session, rows),
    )  # fmt: skip
    memory = recall(session, table.name)
    chosen = options or Options(
        criteria=criteria,
        corrections=corrections,
        additive=frozenset(c.name for c in table.columns if c.additive),
        normalize=session.normalize,
        precede=session.precede,
        settled=memory.settled,
        changed=memory.new_among(relation.document_ids),
        entries=_are_entries(session, table, rows),
    )
    result = await reconcile_table(table, relation, chosen, session.models.model_for("reconcile") if model else None)
    _store(session, table, rows, result, corrections)
    remember(session, result, memory, relation.document_ids)
    session.catalog.knowledge.set_statistic(f"settled:{table.name}", fingerprint)
    return result


def _are_entries(session: Session, table: Table, rows: Sequence[Row]) -> bool:
    """Whether the rows of a table are entries of lists, so that equal ones are different things."""
    if table.grain != "many" or not rows:
        return False
    documents = {row.chunk_id: row.document_id for row in rows}
    read_from = list(documents)[:_CHUNKS_LOOKED_AT]
    looked_in = dict.fromkeys(documents[chunk] for chunk in read_from)
    chunks = {c.id: c for document in looked_in for c in session.catalog.chunks.of(document)}
    return all(chunk in chunks and records_of(chunks[chunk]) for chunk in read_from)


_CHUNKS_LOOKED_AT = 20


def _hinted(session: Session, criteria: Sequence[str]) -> str:
    """What the user's hints and criteria add to a fingerprint."""
    hinted = f":{session.normalize}{session.precede}" if session.normalize or session.precede else ""
    return hinted + ("" if criteria == DEFAULT_CRITERIA else f":{criteria}")


def _known(session: Session, table: Table) -> Any:
    return session.catalog.knowledge.statistic(f"settled:{table.name}")


def _documents(session: Session) -> Mapping[str, DocumentSource]:
    dates = document_dates(session)
    return {
        d.id: DocumentSource(d.id, d.name, dates[d.id], position)
        for position, d in enumerate(session.catalog.documents.all())
    }


def _sections(session: Session) -> Mapping[str, str]:
    return {identifier: " > ".join(path) for identifier, path, _ in session.catalog.chunks.outlines() if path}


def _table_chunks(session: Session) -> frozenset[str]:
    return frozenset(identifier for identifier, _, kinds in session.catalog.chunks.outlines() if kinds == {"table"})


def _correction(stored: Any) -> Correction:
    subject = stored.subject
    return Correction(
        stored.kind,
        tuple(subject.get("where", {}).items()),
        stored.author,
        stored.column,
        stored.value,
        tuple(subject.get("other", {}).items()),
        stored.reason,
    )


def _store(
    session: Session, table: Table, rows: Sequence[Row], result: Reconciliation, corrections: Sequence[Correction]
) -> None:
    """A new version of the table where something was repaired; decisions and open conflicts in any case."""
    for choice in result.decisions:
        session.decide("reconcile", choice.subject or f"table:{table.name}", choice.verdict, choice.reason)
    for conflict in result.conflicts:
        session.decide("reconcile", f"table:{table.name}", "open conflict", str(conflict))
    session.catalog.knowledge.set_statistic(f"conflicts:{table.name}", [_conflict(c) for c in result.conflicts])
    if not result.repairs and len(result.rows) == len(rows):
        _as_extracted(session, table)
        return
    names = {d.id: d.name for d in session.catalog.documents.all()}
    let = session.settings.unverified
    values = {(row.id, cell.column): cell.value for row in rows for cell in row.cells if enters(cell, let)}
    session.catalog.tables.create_version(
        table.name,
        [_data_row(row, result, table, names, session) for row in result.rows],
        operation="reconcile",
        sql="\n".join(dict.fromkeys(r.sql for r in result.repairs if r.sql)),
        reason="; ".join(dict.fromkeys(f"{r.operation}: {r.reason}" for r in result.repairs))[:2000],
        derived=_derivations(result, table, values, corrections),
    )


def _as_extracted(session: Session, table: Table) -> None:
    """Show the extracted rows again where repairs that other hints or criteria made stand."""
    chain = session.catalog.tables.lineage(table.name)
    if len(chain) > 1:
        session.catalog.tables.undo(table.name, chain[-1].version)


def _conflict(conflict: Any) -> dict[str, Any]:
    return {
        "column": conflict.column,
        "key": list(conflict.key),
        "reason": conflict.reason,
        "chosen": conflict.chosen,
        "candidates": [
            {
                "value": c.value,
                "rows": list(c.rows),
                "document": c.document_name or c.document_id,
                "quote": c.source.quote or c.source.printed,
                "page": c.source.page,
            }
            for c in conflict.candidates
        ],
    }


def _data_row(
    row: ReconciledRow, result: Reconciliation, table: Table, names: Mapping[str, str], session: Session
) -> DataRow:
    relation = session.catalog.schemas.relation(table.name)
    by_column = dict(zip(result.columns, row.values, strict=True))
    # The canonical form stands in the table's own column, so that SQL sees one name for one thing; the printed form
    # stays in the cells, one step away.
    values = {relation.sql_name(name): _final(by_column, name) for name in table.column_names}
    return DataRow(
        _row_id(row),
        names.get(row.document_id, row.document_id),
        row.document_id,
        values,
        row.sources if len(row.sources) > 1 else (),
    )


def _row_id(row: ReconciledRow) -> str:
    """A merged row stands under the first row that it was made from, so that its id walks back to cells."""
    return row.sources[0] if len(row.sources) > 1 else row.id


def _final(values: Mapping[str, Any], name: str) -> Any:
    canonical = values.get(f"{name}_canonical")
    return canonical if canonical is not None else values.get(name)


def _derivations(
    result: Reconciliation, table: Table, values: Mapping[tuple[str, str], Any], corrections: Sequence[Correction]
) -> list[Derivation]:
    """Declares each value that no source row of its row has."""
    out: list[Derivation] = []
    decided = {(c.column, c.value) for c in corrections if c.kind == "set_value"}
    for row in result.rows:
        by_column = dict(zip(result.columns, row.values, strict=True))
        for name in table.column_names:
            final = _final(by_column, name)
            sources = row.sources or (row.id,)
            if final is None or any(values.get((s, name)) == final for s in sources):
                continue
            kind = "canonicalize" if by_column.get(f"{name}_canonical") is not None else "reconcile"
            kind = "correction" if (name, by_column.get(name)) in decided else kind
            source = by_column.get(name)
            out.append(Derivation(name, final, kind, f"{kind} of {source!r}", _row_id(row), source))
    return out
