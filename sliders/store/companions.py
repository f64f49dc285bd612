"""Companion columns of data tables: the ones that a version has, and their values (see
`RelationColumn`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, case, func, or_, select

from sliders.extraction.cell import Scalar
from sliders.store.database import Database
from sliders.store.layout import CURRENT, cells, chunks, documents, rows
from sliders.store.records import Relation, RelationColumn, Role

READ: tuple[Role, ...] = ("bound", "doubt")
"""The companions that are filled when a value is read; the others are filled by repairs."""


def companions_read(
    database: Database, relation: Relation, keys: Mapping[str, int], said: Sequence[str] = ()
) -> tuple[RelationColumn, ...]:
    """Returns the companions for which at least one cell of the table has a value.

    Args:
        keys: the integer key by schema column name.
        said: the absences whose cells enter the table all the same.
    """
    present: dict[Role, set[int]] = {role: set() for role in READ}
    c = cells.c
    for role in READ:
        found = (
            select(c.column_key)
            .distinct()
            .select_from(
                cells.join(rows, rows.c.key == c.row_key)
                .join(chunks, chunks.c.key == rows.c.chunk_key)
                .join(documents, documents.c.key == rows.c.document_key)
            )
            .where(
                CURRENT,
                c.column_key.in_(list(keys.values())),
                c.value.is_not(None),
                _has(role, said),
            )
        )
        present[role] = {key for (key,) in database.query(found)}
    return tuple(
        relation.companion(column.name, role)
        for column in relation.columns
        for role in READ
        if keys[column.name] in present[role]
    )


def _has(role: Role, said: Sequence[str]) -> ColumnElement[bool]:
    c = cells.c
    standing = c.absence.is_(None) & c[role].is_not(None)
    if role == "bound":
        if said:
            return c.bound.is_not(None) & or_(c.absence.is_(None), c.absence.in_(said))
        return standing
    return or_(standing, c.absence.in_(said)) if said else standing


def companion_value(role: Role) -> ColumnElement[Any]:
    """Returns the SQL for the value of a companion; a refused cell that enters has its absence as
    its doubt.
    """
    if role == "bound":
        return cells.c.bound
    refused = cells.c.absence.op("||")(func.coalesce(": " + cells.c.detail, ""))
    return case(
        (cells.c.value.is_(None), None), (cells.c.absence.is_(None), cells.c.doubt), else_=refused
    )


def filled(
    companions: Iterable[RelationColumn], rows: Iterable[Mapping[str, Scalar]]
) -> tuple[RelationColumn, ...]:
    """Returns the companions, by SQL name, for which a row has a value; each once."""
    there = {name for row in rows for name, value in row.items() if value is not None}
    return tuple(c for c in dict.fromkeys(companions) if c.sql_name in there)
