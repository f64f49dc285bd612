"""Statements of our own over what a model's statement reads: how many rows its conditions keep."""

from __future__ import annotations

from sqlglot import exp

from sliders.answer.turns import RunSql
from sliders.errors import QueryError, StoreError
from sliders.sql.statement import DIALECT


def counting(select: exp.Select, *items: exp.Expr) -> exp.Select:
    """The same FROM and WHERE that counts its rows, or selects `items`."""
    bare = select.copy()
    for part in ("distinct", "group", "having", "order", "limit", "offset"):
        bare.set(part, None)
    bare.set("expressions", [item.copy() for item in items] or [exp.Count(this=exp.Star())])
    return bare


def number(statement: exp.Expr, run_sql: RunSql) -> int | None:
    """The first cell of a statement of our own; None where it does not run (it is
    correlated, or too slow).
    """
    try:
        rows = run_sql(statement.sql(DIALECT)).rows
    except (StoreError, QueryError):
        return None
    return int(rows[0][0]) if rows and isinstance(rows[0][0], int | float) else None


def distinct(column: exp.Expr) -> exp.Count:
    """How many different values a column has."""
    return exp.Count(this=exp.Distinct(expressions=[column.copy()]))
