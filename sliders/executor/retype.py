"""Types that the documents do not bear out, changed without a call: words that are no numbers or dates are text, words
that only say whether something is so are yes or no."""

from __future__ import annotations

import re
from dataclasses import replace

from sliders.executor.session import Session
from sliders.extraction.cell import Absence, Cell, Row
from sliders.extraction.coerce import coerce
from sliders.extraction.lexicon import stem
from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType, Schema, Table
from sliders.store.records import Task

_FEWEST = 3
_KEPT = (ColumnType.TEXT, ColumnType.BOOLEAN)
"""A yes or no is read from its clause where the copied words do not say it."""


def retype(session: Session) -> None:
    """Make text of each induced column of which more words failed to parse than parsed, and parse its cells again."""
    schema = session.catalog.schemas.current() or Schema()
    for table in schema.tables:
        if session.catalog.knowledge.statistic(f"retyped:{table.name}") == _state(session, table):
            continue
        changed = [
            c for c in table.columns if not c.pinned and c.type not in _KEPT and _misfits(session, table, c)
        ]
        if changed:
            _apply(session, schema, table, changed, ColumnType.TEXT, "most of the words found for it are no such value")
            schema = session.catalog.schemas.current() or schema
            table = schema.table(table.name)
        truths = [c for c in table.columns if not c.pinned and c.type is ColumnType.TEXT and _yes_or_no(session, table, c)]
        if truths:
            _apply(session, schema, table, truths, ColumnType.BOOLEAN, "nearly all of its words only say that it is so or not")
            schema = session.catalog.schemas.current() or schema
            table = schema.table(table.name)
        session.catalog.knowledge.set_statistic(f"retyped:{table.name}", _state(session, table))


def _state(session: Session, table: Table) -> list[object]:
    """What the types follow from: while it stands, rows are not read again."""
    return [session.catalog.tables.revision(table.name), [f"{c.name}:{c.type.value}" for c in table.columns]]


def _yes_or_no(session: Session, table: Table, column: Column) -> bool:
    """Whether the words found for a column repeat its own last word ("family friendly": "kid friendly", "not friendly")."""
    words = spoken_name(column.name).split()
    if len(words) < 2 or len(words[-1]) < _TELLING_LENGTH:
        return False
    cells = [c for row in session.catalog.extractions.rows(table.name) if (c := row.cell(column.name))]
    told = [c.printed.strip().lower() for c in cells if c.printed]
    if len(told) >= _FEWEST_TRUTHS and sum(t in _TRUTHS for t in told) >= _MOST * len(told):
        return True  # the model did not copy, it judged: code reads the clauses
    said = [c.printed for c in cells if c.absence is None]
    truths = [s for s in said if stem(words[-1]) in {stem(w) for w in re.findall(r"[a-z]+", s.lower())}]
    if len(said) < _FEWEST_TRUTHS or len(truths) < _MOST * len(said):
        return False
    retyped = replace(column, type=ColumnType.BOOLEAN)
    return sum(coerce(s, retyped).value is not None for s in truths) >= _MOST * len(truths)


_TRUTHS = frozenset({"yes", "no", "true", "false"})
_FEWEST_TRUTHS, _MOST, _TELLING_LENGTH = 6, 0.7, 5


def _misfits(session: Session, table: Table, column: Column) -> bool:
    failed = session.catalog.extractions.absences(table.name).get(column.name, {}).get(Absence.NOT_PARSED.value, 0)
    if failed < _FEWEST:
        return False
    rows = session.catalog.extractions.rows(table.name)
    parsed = sum(1 for row in rows if (cell := row.cell(column.name)) and cell.absence is None)
    return failed > parsed


def _apply(
    session: Session, schema: Schema, table: Table, columns: list[Column], to: ColumnType, reason: str
) -> None:
    names = {c.name for c in columns}
    grown = replace(
        table, columns=tuple(replace(c, type=to) if c.name in names else c for c in table.columns)
    )
    settled = session.catalog.extractions.settled(table)
    rows = [_again(row, grown, names) for row in session.catalog.extractions.rows(table.name)]
    session.catalog.schemas.save(schema.with_table(grown), "types that the words do not bear out")
    tasks = [
        Task(table.name, tuple(sorted(names & known)), chunk, "done")
        for chunk, known in settled.items()
        if names & known
    ]
    session.catalog.extractions.save(rows, tasks)
    for name in sorted(names):
        session.decide("schema", f"column:{name}", f"made {to.value}", reason)


def _again(row: Row, table: Table, names: set[str]) -> Row:
    return replace(
        row, cells=tuple(_parsed(cell, table.column(cell.column)) for cell in row.cells if cell.column in names)
    )


def _parsed(cell: Cell, column: Column) -> Cell:
    if cell.span is None or not cell.printed:
        return cell
    parsed = coerce(cell.printed, column)
    return replace(cell, value=parsed.value, absence=parsed.absence, detail=parsed.detail, rationale=parsed.rationale)
