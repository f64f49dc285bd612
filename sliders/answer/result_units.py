"""The unit of each column of a result, from the statement's expressions and the schema."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope

from sliders.answer.expression_types import TRUTHS
from sliders.answer.figures import YES_NO
from sliders.schema.types import Column, ColumnType, Table
from sliders.values.currencies import currency_code, same_currency
from sliders.values.notes import scale_in

_KEEPING = (
    *(exp.Paren, exp.Neg, exp.Abs, exp.Max, exp.Min, exp.Round, exp.Ceil, exp.Floor),
    *(exp.Nullif, exp.Filter, exp.Window, exp.Cast, exp.Lag, exp.Lead),
    *(exp.FirstValue, exp.LastValue),
)
_OVER_ROWS = (exp.Sum, exp.Avg, exp.Median)
_WRAPPERS = (exp.Paren, exp.Neg, exp.Nullif, exp.Cast, exp.Filter, exp.Window)
_NUMERIC = (ColumnType.INTEGER, ColumnType.NUMBER)
_ONES = (1.0, 2.0)
"""Factors that never convert a unit, as 1000, 60 or 0.3048 may."""


def unit_of_column(column: Column) -> str:
    """Returns the scale, unit and currency of a column as they are printed behind a number:
    "million USD", "metres"; "yes/no" for a boolean; "" for none.
    """
    if column.type is ColumnType.BOOLEAN:
        return YES_NO
    if column.type not in _NUMERIC:
        return ""
    scale = (scale_in(column.scale) or column.scale).removesuffix("s")
    unit = column.unit
    if column.currency and same_currency(currency_code(unit), column.currency):
        unit = ""
    said: list[str] = []
    for part in (scale, "%" if unit == "percent" else unit, column.currency):
        said += [word for word in part.split() if word not in said and f"{word}s" not in said]
    return " ".join(said)


def units_of(tree: exp.Expr, tables: Sequence[Table], columns: Sequence[str]) -> tuple[str, ...]:
    """Returns the unit of each column of a statement's result; "" when there is none or it is not
    sure.

    Args:
        tree: the parsed statement.
        tables: the tables with their SQL names.
        columns: the names of the result's columns.
    """
    scope = build_scope(tree)
    if scope is None:
        return ("",) * len(columns)
    units = _Units({table.name.lower(): table for table in tables}).of_query(scope, columns)
    return units if len(units) == len(columns) else ("",) * len(columns)


class _Units:
    """Finds the units of expressions. The unit None belongs to a value that fits any unit: 0 or
    NULL.
    """

    def __init__(self, tables: dict[str, Table]) -> None:
        self.tables = tables
        self.open: list[Scope] = []

    def of_query(self, scope: Scope, columns: Sequence[str] = ()) -> tuple[str, ...]:
        """Returns the units of a query's columns; for a star, of the columns named."""
        if scope in self.open:  # a recursive query
            return ()
        self.open.append(scope)
        try:
            if isinstance(scope.expression, exp.SetOperation):
                sides = [self.of_query(side, columns) for side in scope.set_operation_scopes]
                return tuple(_one(both) or "" for both in zip(*sides, strict=False))
            items: list[exp.Expr] = list(_selects(scope))
            if any(item.is_star for item in items):
                items = [exp.column(name) for name in columns]
            return tuple(self.of(item.unalias(), scope) or "" for item in items)
        finally:
            self.open.pop()

    def of(self, node: exp.Expr | None, scope: Scope) -> str | None:
        """Returns the unit of an expression in its query; "" for none, None for a value that fits
        any unit.
        """
        if isinstance(node, exp.Column):
            return self._of_column(node, scope)
        if isinstance(node, TRUTHS):
            return YES_NO
        if isinstance(node, exp.Null) or _number(node) == 0:
            return None
        if isinstance(node, _KEEPING):
            return self.of(node.this, scope)
        if isinstance(node, _OVER_ROWS):
            unit = self.of(node.this, scope)
            return "" if unit == YES_NO else unit
        if isinstance(node, exp.Mul | exp.Div):
            return self._of_product(node, scope)
        if isinstance(node, exp.Subquery | exp.Select):
            inner = [s for s in scope.subquery_scopes if s.expression is node.unnest()]
            units = self.of_query(inner[0]) if inner else ()
            return units[0] if len(units) == 1 else ""
        parts = [self.of(part, scope) for part in _alternatives(node)]
        unit = _one(parts) if parts else ""
        return "" if isinstance(node, exp.Add | exp.Sub) and unit == YES_NO else unit

    def _of_product(self, node: exp.Mul | exp.Div, scope: Scope) -> str:
        """Returns the unit of a product or quotient: the unit of one side when the other side only
        counts.
        """
        if _counts(node.expression):
            return self.of(node.this, scope) or ""
        if isinstance(node, exp.Mul) and _counts(node.this):
            return self.of(node.expression, scope) or ""
        return ""

    def _of_column(self, column: exp.Column, scope: Scope | None) -> str:
        """Returns the unit of a name, searched in its query and in the queries around it."""
        while scope is not None:
            held = [
                unit
                for alias, source in scope.sources.items()
                if column.table.lower() in ("", str(alias).lower())
                for unit in self._held(column.name.lower(), source)
            ]
            if held:
                return held[0] if len(set(held)) == 1 else ""
            scope = scope.parent
        return ""

    def _held(self, name: str, source: exp.Expr | Scope) -> list[str]:
        """Returns the unit of a source's column of that name; [] when there is no such column."""
        if isinstance(source, Scope):
            names = source.outer_columns or [item.alias_or_name for item in _selects(source)]
            units = self.of_query(source, names)
            return [u for n, u in zip(names, units, strict=False) if n.lower() == name]
        table = self.tables.get(source.name.lower())
        columns = table.columns if table is not None else ()
        return [unit_of_column(c) for c in columns if c.name.lower() == name]


def _selects(scope: Scope) -> list[exp.Expr]:
    query = scope.expression
    return query.selects if isinstance(query, exp.Query) else []


def _alternatives(node: exp.Expr | None) -> list[exp.Expr]:
    """Returns the expressions of which one gives the value, or which are added up; [] for other
    expressions.
    """
    if isinstance(node, exp.Case):
        chosen = [branch.args["true"] for branch in node.args["ifs"]]
        return [part for part in (*chosen, node.args.get("default")) if part is not None]
    if isinstance(node, exp.If):
        return [p for p in (node.args["true"], node.args.get("false")) if p is not None]
    if isinstance(node, exp.Coalesce):
        return [node.this, *node.expressions]
    return [node.this, node.expression] if isinstance(node, exp.Add | exp.Sub) else []


def _one(units: Sequence[str | None]) -> str | None:
    """Returns the unit that all share; "" when they differ."""
    known = {unit for unit in units if unit is not None}
    return None if not known else known.pop() if len(known) == 1 else ""


def _number(node: exp.Expr | None) -> float | None:
    return float(node.name) if isinstance(node, exp.Literal) and not node.is_string else None


def _counts(node: exp.Expr | None) -> bool:
    """Says whether an expression is a count, or a factor that changes no unit."""
    if isinstance(node, _WRAPPERS):
        return _counts(node.this)
    if isinstance(node, exp.Mul):
        return _counts(node.this) and _counts(node.expression)
    return isinstance(node, exp.Count) or _number(node) in _ONES
