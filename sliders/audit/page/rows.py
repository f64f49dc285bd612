"""Rows of a data table with the words behind each value, who read it how, and what a repair or
a person made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sliders.answer.turns import TableView
from sliders.audit.page.page_content import (
    Change,
    Place,
    ShownColumn,
    ShownRow,
    ShownTable,
    Source,
    Value,
)
from sliders.errors import QueryError, StoreError
from sliders.extraction.cell import Absence, Cell, Row, Scalar
from sliders.schema.types import Column, Table
from sliders.sql.quoting import quote_identifier, quote_literal
from sliders.store.cage import run_readonly
from sliders.store.catalog import Catalog
from sliders.store.data_tables import UNVERIFIED
from sliders.store.lineage import doubt_of, words_of_odds
from sliders.store.materialise import enters
from sliders.store.records import Correction, Derivation, TableVersion


@dataclass(frozen=True, slots=True)
class Behind:
    """For each answer the SQL that names the rows behind it (None where it cannot be told);
    `names`: tables it may see.
    """

    statements: tuple[str | None, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """What all rows of a table share."""

    table: Table
    unverified: bool
    conflicts: Sequence[Mapping[str, Any]]
    corrections: Mapping[tuple[str, Scalar], Correction]
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
    """A table with at most `most_cells` values: the rows behind the answers first."""
    table = (catalog.schemas.current() or _missing(name)).table(name)
    chain = catalog.tables.lineage(name)
    known = _known(catalog, table, chain)
    most = max(1, most_cells // max(len(table.columns), 1))
    listed, numbers, note = _listed(catalog, view, behind, most, chain[0].columns if chain else ())
    merged = catalog.tables.merged_rows(name)
    sources = {row: merged.get(row, (row,)) for row in (str(line[-1]) for line in listed)}
    extracted = catalog.extractions.get([source for found in sources.values() for source in found])
    rows = []
    for line in listed:
        row = str(line[-1])
        told = [extracted[source] for source in sources[row]]
        rows.append(_row(catalog, known, line, told, numbers.get(row, ())))
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


def _known(catalog: Catalog, table: Table, chain: Sequence[TableVersion]) -> _Known:
    """What all rows of a table share; `chain` is its current version and those before."""
    decided = catalog.knowledge.corrections(table.name)
    return _Known(
        table,
        unverified=any(version.operation == UNVERIFIED for version in chain),
        conflicts=catalog.knowledge.statistic(f"conflicts:{table.name}", []),
        corrections={(c.column, c.value): c for c in decided if c.kind == "set_value"},
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
    catalog: Catalog, view: TableView, behind: Behind, most: int, stored: Sequence[str]
) -> tuple[list[tuple[Any, ...]], dict[str, tuple[int, ...]], str]:
    """The rows to show (values, document, document id, row id), by row id the answers that it
    stands behind, a note.
    """
    numbers: dict[str, tuple[int, ...]] = {}
    note = ""
    columns = (quote_identifier(c.name) if c.name in stored else "NULL" for c in view.table.columns)
    wanted = ", ".join([*columns, "document", "document_id", "row_id"])
    rows: dict[str, tuple[Any, ...]] = {}
    for number, statement in enumerate(behind.statements):
        if statement is not None:
            # As an expression, so that the rows come in the table's own order, not in that of
            # the inner statement.
            test = (
                f"row_id || '' IN (SELECT row_id FROM ({statement}) WHERE table_name = "
                f"{quote_literal(view.name)})"
            )
            sql = f"SELECT {wanted} FROM {quote_identifier(view.name)} WHERE {test} LIMIT {most}"
            try:
                found = run_readonly(catalog.database, sql, tables=behind.names).rows
            except (QueryError, StoreError) as error:
                note = f"Which rows stand behind the answer cannot be told: {error}"
                continue
            for line in found:
                rows.setdefault(str(line[-1]), line)
                numbers[str(line[-1])] = (*numbers.get(str(line[-1]), ()), number)
    everything = f"SELECT {wanted} FROM {quote_identifier(view.name)} LIMIT {most}"
    for line in run_readonly(catalog.database, everything, tables=behind.names).rows:
        if len(rows) >= most:
            break
        rows.setdefault(str(line[-1]), line)
    return list(rows.values())[:most], numbers, note


def _row(
    catalog: Catalog,
    known: _Known,
    line: Sequence[Any],
    sources: Sequence[Row],
    behind: tuple[int, ...],
) -> ShownRow:
    *shown, _, document_id, row_id = line
    derived = catalog.tables.derivations(known.table.name, row_id) if known.repairs else []
    values = tuple(
        _named(
            _value(known, column, value, sources, [d for d in derived if d.column == column.name]),
            column,
            derived,
        )
        for column, value in zip(known.table.columns, shown, strict=True)
    )
    return ShownRow(row_id, document_id, values, behind, len(sources))


def _value(
    known: _Known, column: Column, shown: Scalar, rows: Sequence[Row], derived: Sequence[Derivation]
) -> Value:
    cells = [(row, cell) for row in rows if (cell := row.cell(column.name)) is not None]
    read = [
        _source(row, cell, shown)
        for row, cell in cells
        if cell.value is not None and enters(cell, known.unverified)
    ]
    read.sort(key=lambda source: not source.agrees)
    if shown is not None and column.type.value == "boolean":
        shown = bool(shown)
    changes = tuple(c for made in derived if (c := _change(known, made, shown, read)) is not None)
    others = tuple(dict.fromkeys(source.value for source in read if not source.agrees))
    if not changes and others and shown is not None:
        changes = (Change(others, shown, "repair", known.repairs),)
    empty = "" if shown is not None else _absence(cells)
    return Value(shown, tuple(read), changes, empty, _conflict(known, column.name, rows))


def _named(value: Value, column: Column, derived: Sequence[Derivation]) -> Value:
    """A value with the canonical form that stands beside it, and why."""
    beside = (
        d for d in derived if d.column == f"{column.name}_canonical" and d.kind == "canonicalize"
    )
    return next((replace(value, name=str(d.value), named=d.reason) for d in beside), value)


def _source(row: Row, cell: Cell, shown: Scalar) -> Source:
    places = tuple(
        Place(s.document_id, s.start, s.end, s.page)
        for s in (cell.span, *cell.parts)
        if s is not None
    )
    document = places[0].document if places else row.document_id
    return Source(
        document,
        cell.value,
        cell.printed,
        cell.how.value,
        cell.grounding.value,
        cell.value == shown,
        places,
        cell.rationale,
        words_of_odds(cell.odds),
        doubt_of(cell),
        cell.model,
    )


def _change(
    known: _Known, made: Derivation, shown: Scalar, read: Sequence[Source]
) -> Change | None:
    """A declared change of this value; one of the whole column only where the row has the
    value that it replaced.
    """
    if made.row_id is None and made.source_value not in [source.value for source in read]:
        return None
    before = tuple(dict.fromkeys(source.value for source in read if not source.agrees))
    if made.source_value is not None and made.source_value != made.value:
        before = (made.source_value,)
    decided = (
        known.corrections.get((made.column, made.value)) if made.kind == "correction" else None
    )
    if decided is None:
        return Change(before, shown, made.kind, made.reason)
    return Change(before, shown, "correction", decided.reason, decided.author or "a person")


def _absence(cells: Sequence[tuple[Row, Cell]]) -> str:
    """Why there is no value; what the model said all the same is told."""
    told = []
    for _, cell in cells:
        reason = doubt_of(cell) or Absence.NOT_STATED.value
        told.append(reason if cell.value is None else f"{reason}; the model said {cell.value!r}")
    return "; ".join(dict.fromkeys(told)) or Absence.NOT_ASKED.value


def _conflict(known: _Known, column: str, rows: Sequence[Row]) -> str:
    mine = {row.id for row in rows}
    for one in known.conflicts:
        if one["column"] == column and any(
            mine & set(candidate["rows"]) for candidate in one["candidates"]
        ):
            sides = "; ".join(
                f"{candidate['value']} ({candidate['document']})" for candidate in one["candidates"]
            )
            return f"{sides}. {one['reason']}"
    return ""
