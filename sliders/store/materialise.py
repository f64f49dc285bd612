"""The values of cells as rows of a data table: the rule for the values that enter it, and the
SELECT that makes its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Double,
    Numeric,
    ScalarSelect,
    Select,
    case,
    cast,
    func,
    literal_column,
    select,
)

from sliders.extraction.cell import Absence, Cell
from sliders.store import codec
from sliders.store.companions import companion_value
from sliders.store.layout import ASKED, CURRENT, cells, chunks, documents, rows
from sliders.store.records import Relation, RelationColumn

SAID = (Absence.UNGROUNDED.value, Absence.NOT_PARSED.value)
"""Absences whose cells may keep the model's value."""


def enters(cell: Cell, unverified: bool = False) -> bool:
    """True when a cell's value enters its data table; with `unverified`, values without proof enter
    too.
    """
    return cell.absence is None or (unverified and cell.absence in SAID)


def stands(absence: ColumnElement[Any], unverified: bool) -> ColumnElement[bool]:
    """The condition `enters` in SQL, for cells with this absence."""
    return absence.is_(None) | absence.in_(SAID) if unverified else absence.is_(None)


def materialise_sql(
    relation: Relation,
    table_key: int,
    keys: Mapping[str, int],
    unverified: bool = False,
    *,
    server: bool = False,
    companions: Sequence[RelationColumn] = (),
) -> Select[Any]:
    """Returns the SELECT that turns cells into rows, with one look-up for each cell, so that its
    cost is linear in the cells.

    Args:
        keys: integer key by schema column name.
        unverified: see `enters`.
        server: True for PostgreSQL, which stores a value as JSON and gives every column one type.
        companions: the companion columns to fill.
    """
    shown = {
        column: companion_value(column.role) if column.companion_of else _shown(column, server)
        for column in (*relation.columns, *companions)
    }
    return (
        select(
            *(
                _looked_up(value, keys[column.companion_of or column.name], unverified).label(
                    column.sql_name
                )
                for column, value in shown.items()
            ),
            documents.c.name.label("document"),
            documents.c.id.label("document_id"),
            rows.c.id.label("row_id"),
            literal_column("NULL").label("_sources"),
        )
        .join_from(rows, documents, documents.c.key == rows.c.document_key)
        .join(chunks, chunks.c.key == rows.c.chunk_key)
        .where(rows.c.table_key == table_key, CURRENT, ASKED)
        .order_by(documents.c.key, chunks.c.position, rows.c.ordinal, rows.c.key)
    )


def _looked_up(value: ColumnElement[Any], key: int, unverified: bool) -> ScalarSelect[Any]:
    """Looks up a value of the row's cell in the column with this key."""
    c = cells.c
    here = (c.row_key == rows.c.key, c.column_key == key, stands(c.absence, unverified))
    return select(value).where(*here).correlate(rows).scalar_subquery()


def _shown(column: RelationColumn, server: bool) -> ColumnElement[Any]:
    """The cell's value; a number column gets no words and no not-a-number."""
    value: ColumnElement[Any] = cells.c.value
    number = func.jsonb_typeof(value) == "number" if server else func.typeof(value) != "text"
    if server:
        value = value.op("#>>")(literal_column("'{}'"))
    if column.sql_type == "TEXT":
        return value
    large = func.coalesce(cells.c.kind, 0) == codec.LARGE_INTEGER
    return case(
        (
            number | large,
            cast(value, Double if column.sql_type == "REAL" else Numeric) if server else value,
        )
    )
