"""A pinned table of sides ("team", "opponent", "points") is filled from the results that stand in another table, by code.

Both tables say the same of a document; asked for a list, a small model names one side where there are two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sliders.executor.session import Session
from sliders.executor.sides import Roles, result_columns, sides_of
from sliders.extraction.cell import Cell, Grounding, Row, Span
from sliders.extraction.scores import read_score
from sliders.schema.opponents import SideColumns, side_columns
from sliders.schema.types import Column, ColumnType, Schema, Table
from sliders.store.records import Task


def results_first(tables: Iterable[Table]) -> list[Table]:
    """The tables in their order, those of sides behind the others."""
    return sorted(tables, key=lambda table: side_columns(table) is not None)


def fill_from_results(session: Session, table: Table) -> None:
    """Give a pinned table of sides its two rows for each result of another table; other columns are left to be asked."""
    columns = side_columns(table) if table.pinned else None
    if columns is None:
        return
    for results in (session.catalog.schemas.current() or Schema()).tables:
        roles = _roles(results, table, columns) if results.name != table.name else None
        if roles is not None:
            _fill(session, table, results, roles, columns)


def _roles(results: Table, table: Table, columns: SideColumns) -> Roles | None:
    named = result_columns(results) if results.grain == "document" else None
    numbers = {c.name for c in table.columns if c.type in (ColumnType.INTEGER, ColumnType.NUMBER)}
    scores = [s for s in numbers if {f"winner_{s}", f"loser_{s}"} <= set(results.column_names)]
    return Roles(*named, scores[0], columns.own, columns.own) if named and len(scores) == 1 else None


def _fill(session: Session, table: Table, results: Table, roles: Roles, columns: SideColumns) -> None:
    settled = session.catalog.extractions.settled(table)
    names = {roles.noun: columns.own, "opponent": columns.other, roles.score: roles.score, "won": columns.won}
    asked = tuple(name for name in names.values() if name)
    records = [c for c in table.columns if _asks_for_record(c)]
    by_document: dict[str, list[Row]] = {}
    for row in session.catalog.extractions.rows(results.name):
        if columns.own not in settled.get(row.chunk_id, ()):
            by_document.setdefault(row.document_id, []).extend(_named(side, names) for side in sides_of(row, table, roles))
    made, tasks = [], []
    for document, sides in by_document.items():
        if len(sides) != _BOTH:
            continue
        found = [_with_records(session, row, sides, columns.own, records) for row in sides]
        told = {cell.column for row in found for cell in row.cells}
        known = (*asked, *(c.name for c in records if c.name in told))
        made += found
        tasks += [Task(table.name, known, chunk.id) for chunk in session.catalog.chunks.of(document)]
    with session.catalog.database.transaction():
        session.catalog.extractions.save(made, tasks)
    if made:
        session.decide("extract", f"table:{table.name}", "derived", f"{len(made)} sides of the rows of {results.name}")


_BOTH = 2


def _named(row: Row, names: dict[str, str]) -> Row:
    return replace(row, cells=tuple(replace(c, column=names[c.column]) for c in row.cells if names.get(c.column)))


def _asks_for_record(column: Column) -> bool:
    """Whether a column asks for one number of a record ("wins", "losses")."""
    found = read_score("5-2", column) if column.type in (ColumnType.INTEGER, ColumnType.NUMBER) else None
    return found is not None and "record" in found[1]


def _with_records(session: Session, row: Row, rows: Sequence[Row], own: str, columns: Sequence[Column]) -> Row:
    """The row with the numbers of the record that its document prints in brackets behind the side's name ("Otters (5-2)")."""
    text = session.catalog.documents.text(row.document_id) if columns else ""
    name, others = _name(row, own), [_name(r, own) for r in rows if r.id != row.id]
    words = [w for w in name.split() if len(w) > _SHORT and not any(w in other.split() for other in others)]
    called = "|".join(map(re.escape, words))
    match = re.search(rf"\b(?:{called})(?:['’]s?)? \((\d{{1,3}}[-–]\d{{1,3}})[^)\d]?[^)]*\)", text) if called else None
    if match is None:
        return row
    span = Span(row.document_id, match.start(), match.end())
    cells = []
    for column in columns:
        read = read_score(match[1], column)
        if read is not None:
            cells.append(
                Cell(column.name, read[0], match.group(), Grounding.DERIVED, span, rationale=f"{read[1]} behind its name")
            )
    return replace(row, cells=(*row.cells, *cells))


_SHORT = 2


def _name(row: Row, own: str) -> str:
    cell = row.cell(own)
    return str(cell.value) if cell is not None and cell.value is not None else ""
