"""Conditions of SQL as filters; NOT is pushed down into them."""

from __future__ import annotations

from sqlglot import exp

from sliders.errors import QueryError
from sliders.plan.filters import And, Expression, Filter, Operator, Or, Scalar
from sliders.plan.names import Names, Place
from sliders.schema.types import ColumnType

_COMPARISONS: dict[type[exp.Expr], Operator] = {
    exp.EQ: "=", exp.NEQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
_TURNED: dict[Operator, Operator] = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Unsupported(QueryError):
    """A condition that cannot be planned, though SQL could run it."""


def predicate(node: exp.Expr, names: Names, sql: str, negated: bool = False) -> Expression | bool:
    """The filters of a condition; a condition without attributes is decided (TRUE, 1 = 1).

    Raises:
        Unsupported: it is no filter that can be planned.
    """
    if isinstance(node, exp.Paren):
        return predicate(node.this, names, sql, negated)
    if isinstance(node, exp.Not):
        return predicate(node.this, names, sql, not negated)
    if isinstance(node, (exp.And, exp.Or)):
        return _both(node, names, sql, negated)
    if isinstance(node, exp.Boolean):
        return bool(node.this) != negated
    if isinstance(node, exp.Column):
        return _filter(node, "is true", (), negated, names)
    if isinstance(node, exp.Is):
        return _is(node, names, sql, negated)
    if isinstance(node, exp.In) and node.expressions and isinstance(node.this, exp.Column):
        values = tuple(_literal(value, sql) for value in node.expressions)
        return _filter(node.this, "in", values, negated, names)
    if isinstance(node, exp.Between) and isinstance(node.this, exp.Column):
        values = (_literal(node.args["low"], sql), _literal(node.args["high"], sql))
        return _filter(node.this, "between", values, negated, names)
    if isinstance(node, exp.Like) and isinstance(node.this, exp.Column):
        return _filter(node.this, "like", (_literal(node.expression, sql),), negated, names)
    if type(node) in _COMPARISONS:
        return _comparison(node, names, sql, negated)
    raise _unsupported(node, sql)


def _both(node: exp.Expr, names: Names, sql: str, negated: bool) -> Expression | bool:
    """AND or OR, flat; under NOT they change places (De Morgan)."""
    either = isinstance(node, exp.Or) != negated
    children: list[Expression] = []
    for side in (node.this, node.expression):
        part = predicate(side, names, sql, negated)
        if isinstance(part, bool):
            if part is either:
                return either
        elif isinstance(part, Or if either else And):
            children.extend(part.children)
        else:
            children.append(part)
    if not children:
        return not either
    return children[0] if len(children) == 1 else (Or if either else And)(tuple(children))


def _is(node: exp.Is, names: Names, sql: str, negated: bool) -> Filter:
    if isinstance(node.this, exp.Column):
        if isinstance(node.expression, exp.Null):
            return _filter(node.this, "is null", (), negated, names)
        if isinstance(node.expression, exp.Boolean):
            found = _filter(node.this, "=", (int(bool(node.expression.this)),), negated, names, ColumnType.BOOLEAN)
            if not negated:
                return found
    raise _unsupported(node, sql)


def _comparison(node: exp.Expr, names: Names, sql: str, negated: bool) -> Filter:
    operator = _COMPARISONS[type(node)]
    flipped = negated != isinstance(node, exp.NEQ)
    left, right = node.this, node.expression
    if isinstance(left, exp.Column) and isinstance(right, exp.Column):
        (alias, a), (_, b) = names.resolve(left), names.resolve(right)
        return Filter((a, b), operator, (), flipped, names.column(alias, a).type)
    if isinstance(right, exp.Column):
        left, right, operator = right, left, _TURNED[operator]
    if not isinstance(left, exp.Column):
        raise _unsupported(node, sql)
    return _filter(left, operator, (_literal(right, sql),), flipped, names)


def _filter(
    column: exp.Column, operator: Operator, values: tuple[Scalar, ...], negated: bool, names: Names,
    kind: ColumnType | None = None,
) -> Filter:  # fmt: skip
    alias, name = names.resolve(column)
    defined = names.column(alias, name)
    shown = kind or _shown_type(operator, values)
    if shown is not None:
        names.types.setdefault((alias, name), shown)
    return Filter((name,), operator, values, negated, defined.type)


def _shown_type(operator: Operator, values: tuple[Scalar, ...]) -> ColumnType | None:
    """The type that an attribute must have for a condition to make sense."""
    if operator == "is true":
        return ColumnType.BOOLEAN
    if not values or operator == "like":
        return None
    if all(isinstance(v, bool) for v in values):
        return ColumnType.BOOLEAN
    if all(isinstance(v, (int, float)) for v in values):
        return ColumnType.NUMBER
    if all(isinstance(v, str) and len(v) == 10 and v[4] == v[7] == "-" and v.replace("-", "").isdigit() for v in values):
        return ColumnType.DATE
    return None


def _literal(node: exp.Expr, sql: str) -> Scalar:
    if isinstance(node, exp.Paren):
        return _literal(node.this, sql)
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Neg):
        value = _literal(node.this, sql)
        if isinstance(value, (int, float)):
            return -value
    if isinstance(node, exp.Literal):
        if node.is_string:
            return str(node.this)
        return float(node.this) if any(c in node.this for c in ".eE") else int(node.this)
    raise _unsupported(node, sql)


def _unsupported(node: exp.Expr, sql: str) -> Unsupported:
    text = node.sql("sqlite")
    return Unsupported(
        f"the condition {text!r}{Place.of(sql, node)} is not supported; compare an attribute with a value "
        "(=, <, BETWEEN, IN, LIKE, IS NULL)"
    )
