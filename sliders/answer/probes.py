"""Statements that code makes from a model's statement, for instance to count the rows that its
conditions keep.
"""

from __future__ import annotations

from sqlglot import exp

from sliders.answer.turns import RunSql
from sliders.errors import QueryError, StoreError
from sliders.sql.statement import DIALECT


def counting(select: exp.Select, *items: exp.Expr) -> exp.Select:
    """Returns a statement with the same FROM and WHERE that counts its rows, or selects `items`."""
    bare = select.copy()
    for part in ("distinct", "group", "having", "order", "limit", "offset"):
        bare.set(part, None)
    bare.set("expressions", [item.copy() for item in items] or [exp.Count(this=exp.Star())])
    return bare


def number(statement: exp.Expr, run_sql: RunSql) -> int | None:
    """Returns the first cell of a statement that code made; None when it does not run (it is
    correlated, or too slow).
    """
    try:
        rows = run_sql(statement.sql(DIALECT)).rows
    except (StoreError, QueryError):
        return None
    return int(rows[0][0]) if rows and isinstance(rows[0][0], int | float) else None


def distinct(column: exp.Expr) -> exp.Count:
    """An expression that counts the different values of a column."""
    return exp.Count(this=exp.Distinct(expressions=[column.copy()]))
