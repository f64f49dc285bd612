"""Types that the documents do not bear out: a column whose words are no numbers or dates becomes text, without a call."""

from __future__ import annotations

from dataclasses import replace

from sliders.executor.session import Session
from sliders.extraction.cells import Absence, Cell, Row
from sliders.extraction.coerce import coerce
from sliders.schema.schema import Column, ColumnType, Schema, Table
from sliders.store.records import Task

_FEWEST = 3


def retype(session: Session) -> None:
    """Make text of each induced column of which more words failed to parse than parsed, and parse its cells again."""
    schema = session.catalog.schemas.current() or Schema()
    for table in schema.tables:
        changed = [
            c for c in table.columns if not c.pinned and c.type is not ColumnType.TEXT and _misfits(session, table, c)
        ]
        if changed:
            _apply(session, schema, table, changed)
            schema = session.catalog.schemas.current() or schema


def _misfits(session: Session, table: Table, column: Column) -> bool:
    failed = session.catalog.extractions.absences(table.name).get(column.name, {}).get(Absence.NOT_PARSED.value, 0)
    if failed < _FEWEST:
        return False
    rows = session.catalog.extractions.rows(table.name)
    parsed = sum(1 for row in rows if (cell := row.cell(column.name)) and cell.absence is None)
    return failed > parsed


def _apply(session: Session, schema: Schema, table: Table, columns: list[Column]) -> None:
    names = {c.name for c in columns}
    grown = replace(
        table, columns=tuple(replace(c, type=ColumnType.TEXT) if c.name in names else c for c in table.columns)
    )
    settled = session.catalog.extractions.settled(table)
    rows = [_again(row, grown, names) for row in session.catalog.extractions.rows(table.name)]
    session.catalog.schemas.save(
        Schema(tuple(grown if t.name == table.name else t for t in schema.tables)),
        "types that the words do not bear out",
    )
    tasks = [
        Task(table.name, tuple(sorted(names & known)), chunk, "done")
        for chunk, known in settled.items()
        if names & known
    ]
    session.catalog.extractions.save(rows, tasks)
    for name in sorted(names):
        session.decide("schema", f"column:{name}", "made text", "most of the words found for it are no such value")


def _again(row: Row, table: Table, names: set[str]) -> Row:
    return replace(
        row, cells=tuple(_as_text(cell, table.column(cell.column)) for cell in row.cells if cell.column in names)
    )


def _as_text(cell: Cell, column: Column) -> Cell:
    if cell.span is None or not cell.printed:
        return cell
    parsed = coerce(cell.printed, column)
    return replace(cell, value=parsed.value, absence=parsed.absence, detail=parsed.detail, rationale=parsed.rationale)
