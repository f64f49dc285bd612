"""Rows of a data table for the page: for each value its words, how a model read it, and the changes
that a repair or a person made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sliders.answer.turns import TableView
from sliders.audit.page.page_content import (
    ShownChange,
    ShownColumn,
    ShownRow,
    ShownSource,
    ShownTable,
    ShownValue,
    TextPlace,
)
from sliders.errors import QueryError, StoreError
from sliders.extraction.cell import Absence, Cell, Row, Scalar
from sliders.schema.types import Column, Table
from sliders.sql.quoting import quote_identifier, quote_literal
from sliders.store.cage import run_readonly
from sliders.store.catalog import Catalog
from sliders.store.facts import OpenConflict
from sliders.store.lineage import Change as Made
from sliders.store.lineage import Lineage, Reading, doubt_of, lineages, words_of_odds
from sliders.store.records import TableVersion


@dataclass(frozen=True, slots=True)
class Behind:
    """For each answer, the SQL that returns the ids of the rows behind it (None when they cannot be
    found); and the names of the tables that this SQL may read.
    """

    statements: tuple[str | None, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _SharedByRows:
    """The table, its open conflicts and its repairs: the same for all rows."""

    table: Table
    conflicts: Sequence[OpenConflict]
    repairs: str


def sql_view(catalog: Catalog, table: Table) -> TableView:
    """A table under its SQL names."""
    relation = catalog.schemas.relation(table.name)
    columns = tuple(replace(c, name=relation.sql_name(c.name)) for c in table.columns)
    beside = tuple(
        replace(c, companion_of=relation.sql_name(c.companion_of)) for c in relation.companions
    )
    return TableView(replace(table, name=relation.relation, columns=columns), companions=beside)


def shown_table(
    catalog: Catalog, name: str, view: TableView, behind: Behind, most_cells: int
) -> ShownTable:
    """Returns a table with at most `most_cells` values; rows behind the answers come first."""
    table = (catalog.schemas.current() or _missing(name)).table(name)
    chain = catalog.tables.lineage(name)
    known = _known(catalog, table, chain)
    most = max(1, most_cells // max(len(table.columns), 1))
    listed, note = _listed(catalog, view, behind, most)
    found = lineages(catalog, name, listed)
    homes = {row: document for row, (document, _) in listed.items()}
    rows = [_row(known, one, homes[row], listed[row][1]) for row, one in found.items()]
    return ShownTable(
        name,
        columns=tuple(_column(catalog, name, column) for column in table.columns),
        rows=tuple(rows),
        total=chain[0].rows if chain else len(rows),
        meaning=table.row,
        description=table.description,
        grain=table.grain,
        history=tuple(f"{v.operation}: {v.reason}" for v in reversed(chain)),
        note=note,
    )


def _known(catalog: Catalog, table: Table, chain: Sequence[TableVersion]) -> _SharedByRows:
    """Returns the facts that all rows of a table share; `chain` is its current version followed by
    the versions that it was made from.
    """
    return _SharedByRows(
        table,
        conflicts=catalog.open_questions.conflicts(table.name),
        repairs="; ".join(version.reason for version in chain if version.parent is not None),
    )


def _missing(name: str) -> Any:
    raise StoreError(f"table {name!r} is not in the schema any more; ask the question again")


def _column(catalog: Catalog, table: str, column: Column) -> ShownColumn:
    counted = catalog.extractions.reliability(table, [column.name])
    return ShownColumn(
        column.name,
        column.type.value,
        column.description,
        column.measured_in,
        column.reading,
        column.values,
        counted.values,
        counted.judged,
        counted.unverified,
    )


def _listed(
    catalog: Catalog, view: TableView, behind: Behind, most: int
) -> tuple[dict[str, tuple[str, tuple[int, ...]]], str]:
    """Returns the rows to show, by id, each with its document and the numbers of the answers that
    rest on it; and a note when rows were left out.
    """
    rows: dict[str, tuple[str, tuple[int, ...]]] = {}
    note, table = "", quote_identifier(view.name)
    for number, statement in enumerate(behind.statements):
        if statement is not None:
            # As an expression, so that the rows come in the table's own order, not in that of
            # the inner statement.
            test = (
                f"row_id || '' IN (SELECT row_id FROM ({statement}) WHERE table_name = "
                f"{quote_literal(view.name)})"
            )
            sql = f"SELECT row_id, document_id FROM {table} WHERE {test} LIMIT {most}"
            try:
                found = run_readonly(catalog.database, sql, tables=behind.names).rows
            except (QueryError, StoreError) as error:
                note = f"Which rows stand behind the answer cannot be told: {error}"
                continue
            for row, document in found:
                _, numbers = rows.get(row, (document, ()))
                rows[row] = (document, (*numbers, number))
    everything = f"SELECT row_id, document_id FROM {table} LIMIT {most}"
    for row, document in run_readonly(catalog.database, everything, tables=behind.names).rows:
        if len(rows) >= most:
            break
        rows.setdefault(row, (document, ()))
    return dict(list(rows.items())[:most]), note


def _row(
    known: _SharedByRows, lineage: Lineage, document_id: str, behind: tuple[int, ...]
) -> ShownRow:
    values = tuple(_value(known, column, lineage) for column in known.table.columns)
    return ShownRow(lineage.row_id, document_id, values, behind, len(lineage.sources))


def _value(known: _SharedByRows, column: Column, lineage: Lineage) -> ShownValue:
    shown = lineage.shown.get(column.name)
    readings = (one for one in lineage.readings if one.cell.column == column.name)
    read = sorted(map(_source, readings), key=lambda source: not source.agrees)
    if shown is not None and column.type.value == "boolean":
        shown = bool(shown)
    made = (one for one in lineage.changes if one.made.column == column.name)
    changes = tuple(c for one in made if (c := _change(one, shown, read)) is not None)
    others = tuple(dict.fromkeys(source.value for source in read if not source.agrees))
    if not changes and others and shown is not None:
        changes = (ShownChange(others, shown, "repair", known.repairs),)
    cells = [cell for row in lineage.sources if (cell := row.cell(column.name)) is not None]
    empty = "" if shown is not None else _absence(cells)
    conflict = _conflict(known, column.name, lineage.sources)
    return _named(ShownValue(shown, tuple(read), changes, empty, conflict), column, lineage)


def _named(value: ShownValue, column: Column, lineage: Lineage) -> ShownValue:
    """Returns a value with its canonical form, and why the two are one name."""
    about = (f"{column.name}_canonical", "canonicalize")
    declared = (change.made for change in lineage.changes)
    beside = (made for made in declared if (made.column, made.kind) == about)
    return next((replace(value, name=str(m.value), named=m.reason) for m in beside), value)


def _source(reading: Reading) -> ShownSource:
    cell = reading.cell
    places = tuple(TextPlace(s.document_id, s.start, s.end, s.page) for s in reading.spans)
    document = places[0].document if places else reading.row.document_id
    return ShownSource(
        document,
        cell.value,
        cell.printed,
        cell.how.value,
        cell.grounding.value,
        reading.agrees,
        places,
        cell.rationale,
        words_of_odds(cell.odds),
        doubt_of(cell),
        cell.model,
    )


def _change(change: Made, shown: Scalar, read: Sequence[ShownSource]) -> ShownChange | None:
    """Returns a declared change of this value; None when a change of the whole column does not
    concern it.
    """
    made, decision = change.made, change.decision
    if made.row_id is None and made.source_value not in [source.value for source in read]:
        return None
    before = tuple(dict.fromkeys(source.value for source in read if not source.agrees))
    if made.source_value is not None and made.source_value != made.value:
        before = (made.source_value,)
    if decision is None:
        return ShownChange(before, shown, made.kind, made.reason)
    return ShownChange(before, shown, "correction", decision.reason, decision.author or "a person")


def _absence(cells: Sequence[Cell]) -> str:
    """Says why there is no value, and what the model said all the same."""
    told = []
    for cell in cells:
        reason = doubt_of(cell) or Absence.NOT_STATED.value
        told.append(reason if cell.value is None else f"{reason}; the model said {cell.value!r}")
    return "; ".join(dict.fromkeys(told)) or Absence.NOT_ASKED.value


def _conflict(known: _SharedByRows, column: str, rows: Sequence[Row]) -> str:
    mine = {row.id for row in rows}
    for one in known.conflicts:
        if one.column == column and any(mine & set(side.rows) for side in one.candidates):
            sides = "; ".join(f"{side.value} ({side.document})" for side in one.candidates)
            return f"{sides}. {one.reason}"
    return ""
