"""Companion columns (`<column>_bound`, `<column>_doubt`, `<column>_canonical`) in a repair: a
repaired row keeps the bound and the doubt of the cells whose values it shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sliders.engine.session import Session
from sliders.extraction.cell import Scalar
from sliders.reconcile.repairs import Repair
from sliders.sql.quoting import quote_identifier
from sliders.store.companions import READ
from sliders.store.data_rows import DataRow
from sliders.store.records import Relation, RelationColumn, TableVersion


def canonical_columns(relation: Relation, repairs: Sequence[Repair]) -> tuple[RelationColumn, ...]:
    """Returns the columns with canonical forms that the repairs' statements fill."""
    named = {
        name: relation.companion(name, "canonical")
        for name in dict.fromkeys(r.column for r in repairs if r.column)
    }
    filled = (
        r.column
        for r in repairs
        if r.column and any(quote_identifier(named[r.column].sql_name) in s for s in r.statements)
    )
    return tuple(named[name] for name in dict.fromkeys(filled))


def made_by(repairs: Sequence[Repair]) -> dict[tuple[str, str], Repair]:
    """Returns the last repair of each value, by row id of the extracted row and column."""
    return {
        (row, r.column): r
        for r in repairs
        if r.column and r.operation != "canonicalize"
        for row in r.rows
    }


def with_read_companions(
    session: Session,
    root: TableVersion,
    relation: Relation,
    after: Sequence[DataRow],
    before: Mapping[str, Sequence[Any]],
    repairs: Sequence[Repair],
) -> Sequence[DataRow]:
    """Returns the repaired rows with the companions that their values had when they were extracted.

    Args:
        root: the version of the table as extracted.
        relation: the table.
        after: the repaired rows.
        before: the values of the extracted rows by row id, in the order of the relation's columns.
        repairs: the repairs.
    """
    columns = [c for c in root.companions if c.role in READ]
    if not columns:
        return after
    names = [c.sql_name for c in columns]
    beside = {
        line[0]: dict(zip(names, line[1:], strict=True))
        for line in session.catalog.tables.lines(root, ("row_id", *names))
    }
    made = made_by(repairs)
    places = {c.name: (place, c.sql_name) for place, c in enumerate(relation.columns)}
    return [
        replace(row, values={**row.values, **_beside(row, columns, places, before, beside, made)})
        for row in after
    ]


def _beside(
    row: DataRow,
    columns: Sequence[RelationColumn],
    places: Mapping[str, tuple[int, str]],
    before: Mapping[str, Sequence[Any]],
    beside: Mapping[str, Mapping[str, Scalar]],
    made: Mapping[tuple[str, str], Repair],
) -> dict[str, Scalar]:
    """Returns the companions of one row.

    A value that a person decided has none; a value that another row gave has the companions of that
    row.
    """
    own = row.sources or (row.row_id,)
    out: dict[str, Scalar] = {}
    for column in columns:
        place, sql_name = places[column.companion_of]
        value = row.values[sql_name]
        repair = next(
            (made[s, column.companion_of] for s in own if (s, column.companion_of) in made), None
        )
        decided = value is None or (repair is not None and repair.operation == "correct")
        givers = [] if decided else [s for s in own if before[s][place] == value]
        if not givers and repair is not None and not decided:
            givers = [s for s in repair.rows if before[s][place] == value]
        said = [beside[s][column.sql_name] for s in givers]
        # Where one of several readings of the same value is sure, the value is verified.
        sure = column.role == "doubt" and None in said
        out[column.sql_name] = (
            None if sure else next((one for one in said if one is not None), None)
        )
    return out
