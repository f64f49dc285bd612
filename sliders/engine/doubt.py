"""The doubts of an answer. Its statement runs again with other values in the tables; this gives the
range of a number, and the values on which the answer depends.

A *variation* is a value, a row or a name that may be wrong, with what it could be instead. The
*ledger* (`Completeness`) counts what is missing or unverified behind an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sliders.answer.doubts import Doubt
from sliders.answer.figures import YES_NO, Number
from sliders.answer.measured import measured_columns
from sliders.answer.range import (
    AnswerRange,
    Variation,
    bundled,
    measure,
    number_in,
    widened,
)
from sliders.answer.result import Completeness, SqlAnswer
from sliders.answer.turns import TableView
from sliders.engine.gaps import value_gaps
from sliders.engine.left_out_sample import audited, extrapolated
from sliders.engine.printed_units import printed_unit_doubts
from sliders.engine.session import Session
from sliders.engine.table_checks import check_doubts
from sliders.engine.tables_read import TableRead, tables_read
from sliders.engine.trial import Trial
from sliders.engine.variations import TableVariations
from sliders.errors import QueryError, StoreError
from sliders.progress import counted
from sliders.sql.statement import parse_select
from sliders.store.copied_tables import CopiedTables, TrialChange


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of running an answer's statement again on other values.

    Args:
        ledger: the counts of what is missing, with the empty cells of the columns that were read.
        range: the range of a numeric answer; None for any other answer, and when the tables are too
            large to run the statement again.
        doubts: unverified or open values that change the rows of the answer, alone or with all of
            their kind; those that change most stand first.
    """

    ledger: Completeness
    range: AnswerRange | None = None
    doubts: tuple[Doubt, ...] = ()


def try_variations(
    session: Session, found: SqlAnswer, views: Sequence[TableView], ledger: Completeness
) -> Tried:
    """Runs an answer's statement again with other values in the cells that are doubtful
    or empty.
    """
    reads = tables_read(session, found.sql, views)
    stated = (*found.doubts, *check_doubts(session, reads))
    value = None
    if found.value is not None and not isinstance(found.value, str) and YES_NO not in found.units:
        value = number_in(found.rows)
    try:
        tables = [TableVariations(session, read, found.sql) for read in reads]
        variations = [variation for table in tables for variation in table.every()]
        tree = parse_select(found.sql)
        inexact = [one for one in variations if not one.figures]
        variations = [one for one in variations if one.figures]
        unsettled = any(one.warns for one in variations)
        told = inexact or tree.args.get("limit") or measured_columns(tree) or unsettled
        if value is None and not told:
            return Tried(ledger, doubts=stated)  # no variations: the tables need no copy
        with CopiedTables(session.catalog.database, [r.relation for r in reads]) as sandbox:
            trial = Trial(sandbox, found)
            ledger = replace(ledger, missing=(*ledger.missing, *value_gaps(trial, tables)))
            measured = None
            if value is not None:
                measured = _measured(session, trial, value, reads, variations, ledger)
            units: tuple[Doubt, ...] = ()
            if all(doubt.kind != "units" for doubt in stated):
                units = tuple(printed_unit_doubts(trial, tables))
            doubts = (*stated, *units, *trial.doubts(variations), *trial.inexact(inexact))
            return Tried(ledger, measured, doubts)
    except (StoreError, QueryError) as error:
        session.decide("answer", "range", "left out", str(error))
        return Tried(ledger, doubts=(*stated, *_untried(ledger, str(error))))


def _untried(ledger: Completeness, error: str) -> Iterator[Doubt]:
    """Yields one doubt that names the unverified values of an answer whose statement could not run
    again; nothing when all values are verified.

    Args:
        ledger: the counts of what is unverified.
        error: why the statement could not run again.
    """
    remarks = Completeness(
        ungrounded_cells=ledger.ungrounded_cells,
        unparsed_cells=ledger.unparsed_cells,
        open_conflicts=ledger.open_conflicts,
        unverified_cells=ledger.unverified_cells,
    ).remarks()
    if remarks:
        yield Doubt(
            "value",
            ", ".join(remarks),
            "",
            f"what they change could not be tried: {error}",
            "sliders conflicts",
        )


def _measured(
    session: Session,
    trial: Trial,
    value: Number,
    reads: Sequence[TableRead],
    variations: Sequence[Variation],
    ledger: Completeness,
) -> AnswerRange:
    """Returns the range of a numeric answer under all variations."""
    measured = measure(value, bundled(variations, trial.most), trial.number)
    tied = [n for row in trial.tied() if (n := number_in([row])) is not None]
    others = [other for other in trial.found.others if other != value]
    measured = widened(measured, "choice", len(tied) + len(others), [*tied, *others])
    measured = widened(measured, "same", len(trial.found.by_names), trial.found.by_names)
    cells = zip(trial.found.rows[0], trial.found.units, strict=False)
    measured = replace(measured, unit=next((unit for cell, unit in cells if cell == value), ""))
    return _with_unread(session, measured, reads, trial.sql, trial.sandbox, ledger)


def _with_unread(
    session: Session,
    measured: AnswerRange,
    reads: Sequence[TableRead],
    sql: str,
    sandbox: CopiedTables,
    ledger: Completeness,
) -> AnswerRange:
    """Returns the range with the effect of the parts that were not read. When a sample of these was
    read as a check, its effect widens the range; otherwise the range gets a note.
    """
    notes = []
    chunks = audited(session, [read.table.name for read in reads])
    if chunks:
        without = {
            r.relation.relation: _rows_only_from(session, r.table.name, chunks) for r in reads
        }
        gone = [
            TrialChange(name, row_id, None) for name, rows in without.items() for row_id in rows
        ]
        with sandbox.changed(gone):
            before = number_in(sandbox.run(sql).rows)
        number = extrapolated(measured.value, before, len(chunks), ledger.gated_chunks)
        measured = widened(measured, "missing", ledger.gated_chunks, [number])
        changed = "changed it" if before != measured.value else "changed nothing"
        notes.append(
            f"read after all: {counted(len(chunks), 'part')}, which {changed}; still left out: "
            f"{ledger.gated_chunks}"
        )
    elif ledger.gated_chunks:
        notes.append(f"left out unread: {counted(ledger.gated_chunks, 'part')} of documents")
    return replace(measured, notes=tuple(notes))


def _rows_only_from(session: Session, table: str, chunks: frozenset[str]) -> list[str]:
    """Returns the ids of rows of a data table that come from these chunks alone."""
    chunk_of = {row.id: row.chunk_id for row in session.catalog.extractions.iterate(table)}
    sources = session.catalog.tables.merged_rows(table)
    merged = {source for of_row in sources.values() for source in of_row}
    alone = [row for row, chunk in chunk_of.items() if chunk in chunks and row not in merged]
    return alone + [
        row for row, of_row in sources.items() if all(chunk_of.get(s, "") in chunks for s in of_row)
    ]
