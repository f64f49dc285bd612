"""The types that SQL expressions give: whole numbers, and yes or no."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sliders.answer.references import References
from sliders.schema.types import ColumnType

_WHOLE_COLUMNS = (ColumnType.INTEGER, ColumnType.BOOLEAN)
_SAME_TYPE = (
    exp.Paren,
    exp.Neg,
    exp.Abs,
    exp.Sum,
    exp.Max,
    exp.Min,
    exp.Nullif,
    exp.Filter,
    exp.Window,
)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
TRUTHS = (exp.Predicate, exp.Not, exp.And, exp.Or, exp.Exists)


def is_whole(node: exp.Expr | None, names: References) -> bool:
    """True when an expression gives only whole numbers, so that SQLite divides it without a
    fraction.
    """
    if isinstance(node, exp.Literal):
        return not node.is_string and node.name.isdigit()
    if isinstance(node, exp.Column):
        return _is_whole_column(node, names)
    if isinstance(node, exp.Count | exp.Length) or is_truth(node, names):
        return True
    if isinstance(node, exp.Cast):
        return node.to.is_type(*exp.DataType.INTEGER_TYPES)
    if isinstance(node, exp.Subquery):
        inner = node.this
        return (
            isinstance(inner, exp.Select)
            and len(inner.selects) == 1
            and is_whole(inner.selects[0].unalias(), names)
        )
    parts = list(_parts(node))
    return bool(parts) and all(
        isinstance(part, exp.Null) or is_whole(part, names) for part in parts
    )


def _parts(node: exp.Expr | None) -> Iterator[exp.Expr | None]:
    """Yields the expressions that have the same type as the whole; none when the whole has a type
    of its own.
    """
    if isinstance(node, exp.Case):
        yield from (branch.args["true"] for branch in node.args["ifs"])
        if node.args.get("default") is not None:
            yield node.args["default"]
    elif isinstance(node, exp.If):
        yield from (
            part for part in (node.args["true"], node.args.get("false")) if part is not None
        )
    elif isinstance(node, exp.Coalesce):
        yield from (node.this, *node.expressions)
    elif isinstance(node, exp.Distinct):
        yield from node.expressions
    elif isinstance(node, _SAME_TYPE):
        yield node.this
    elif isinstance(node, _ARITHMETIC):
        yield from (node.this, node.expression)


def _is_whole_column(column: exp.Column, names: References) -> bool:
    owner = names.of(column)
    if owner is not None:
        return owner[1].column.type in _WHOLE_COLUMNS
    meant = _derived(column)
    return meant is not None and is_whole(meant, names)


def _derived(column: exp.Column) -> exp.Expr | None:
    """Returns the expression behind a column of a derived table or CTE; None when several columns
    have its name.
    """
    select = column.find_ancestor(exp.Select)
    inner = [
        item
        for item in column.root().find_all(exp.Alias)
        if item.alias.lower() == column.name.lower()
    ]
    meant = [item.this for item in inner if item.find_ancestor(exp.Select) is not select]
    return meant[0] if len(meant) == 1 else None


def is_truth(node: exp.Expr | None, names: References) -> bool:
    """True when an expression gives yes or no (1 or 0): a comparison, EXISTS, or a boolean
    column.
    """
    if isinstance(node, exp.Paren | exp.Alias):
        return is_truth(node.this, names)
    if isinstance(node, exp.Column):
        owner = names.of(node)
        return owner is not None and owner[1].column.type is ColumnType.BOOLEAN
    return isinstance(node, TRUTHS)
