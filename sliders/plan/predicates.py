"""What a query's columns mean, and its conditions as filters; NOT is pushed down into them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sliders.errors import QueryError
from sliders.plan.filters import And, Expression, Filter, Operator, Or, Scalar
from sliders.schema.types import Column, ColumnType, Table

SYSTEM = ("document", "document_id")
"""Columns that every table has, known without reading."""


@dataclass(frozen=True, slots=True)
class QueryTable:
    """A table that a query may name. An `open` one takes attributes that it does not have yet, as the query names them."""

    table: Table
    name: str
    open: bool = False


def place(sql: str, node: exp.Expr) -> str:
    """Where the first word of a node stands: " at line 1, column 8", or nothing when unknown."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    if not starts:
        return ""
    before = sql[: min(starts)]
    return f" at line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


@dataclass(slots=True)
class Names:
    """Names of one query. `types` collects what the query shows of the types of new attributes."""

    sql: str
    tables: Mapping[str, QueryTable]
    types: dict[tuple[str, str], ColumnType] = field(default_factory=dict)

    def resolve(self, column: exp.Column) -> tuple[str, str]:
        """Alias and attribute of a column. Raises QueryError: there is none, or there are several."""
        at, name = place(self.sql, column), column.name
        if column.table:
            if column.table not in self.tables:
                known = ", ".join(self.tables)
                raise QueryError(f"there is no table {column.table!r}{at}; the query's tables are: {known}")
            return column.table, self._attribute(column.table, name, at)
        if len(self.tables) == 1:
            alias = next(iter(self.tables))
            return alias, self._attribute(alias, name, at)
        having = [alias for alias in self.tables if self._has(alias, name)]
        if len(having) > 1 or (not having and any(t.open for t in self.tables.values())):
            choices = " or ".join(f"{alias}.{name}" for alias in having or self.tables)
            raise QueryError(f"column {name!r}{at} is ambiguous; write {choices}")
        if not having:
            raise QueryError(f"no table of the query has a column {name!r}{at}; {self._known(name)}")
        return having[0], self._attribute(having[0], name, at)

    def column(self, alias: str, name: str) -> Column:
        """The definition of an attribute; an attribute that nobody described has its name only."""
        for column in self.tables[alias].table.columns:
            if column.name == name:
                return column
        return Column(name)

    def columns(self, alias: str, star: exp.Expr) -> tuple[str, ...]:
        """All attributes of a table, for `*`."""
        names = self.tables[alias].table.column_names
        if not names:
            at = place(self.sql, star)
            raise QueryError(f"'*'{at} has no meaning: {alias!r} has no attributes yet; name those that you want")
        return names

    def star(self, star: exp.Expr) -> tuple[str, ...]:
        """Aliases that a star covers."""
        table = star.table if isinstance(star, exp.Column) else ""
        return (table,) if table else tuple(self.tables)

    def is_output(self, column: exp.Column, select: exp.Select) -> bool:
        """Whether the name is one that SELECT gives (`count(*) AS n ... ORDER BY n`), and no attribute."""
        if column.is_star:
            return True
        outputs = {e.alias for e in select.expressions if isinstance(e, exp.Alias)}
        if column.table or column.name not in outputs or any(self._has(alias, column.name) for alias in self.tables):
            return False
        return column.find_ancestor(exp.Order, exp.Group, exp.Having) is not None

    def _has(self, alias: str, name: str) -> bool:
        return any(name.casefold() == known.casefold() for known in (*self.tables[alias].table.column_names, *SYSTEM))

    def _attribute(self, alias: str, name: str, at: str) -> str:
        table = self.tables[alias]
        for known in (*table.table.column_names, *SYSTEM):
            if known.casefold() == name.casefold():
                return known
        close = difflib.get_close_matches(name, table.table.column_names, 1, 0.85)
        if not table.open or close:
            raise QueryError(f"table {alias!r} has no column {name!r}{at}; {self._known(name, alias)}")
        return name

    def _known(self, name: str, alias: str = "") -> str:
        known = [c for a, t in self.tables.items() if alias in ("", a) for c in t.table.column_names]
        close = difflib.get_close_matches(name, known, 1)
        return f"did you mean {close[0]!r}?" if close else f"its columns are: {', '.join(dict.fromkeys(known)) or 'none'}"


_COMPARISONS: dict[type[exp.Expr], Operator] = {
    exp.EQ: "=", exp.NEQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
_TURNED: dict[Operator, Operator] = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Unsupported(Exception):
    """A condition that cannot be planned, though SQL can run it."""


def predicate(node: exp.Expr, names: Names, negated: bool = False) -> Expression | bool:
    """The filters of a condition; a condition without attributes is decided (TRUE).

    Raises Unsupported: it is no filter that can be planned.
    """
    if isinstance(node, exp.Paren):
        return predicate(node.this, names, negated)
    if isinstance(node, exp.Not):
        return predicate(node.this, names, not negated)
    if isinstance(node, (exp.And, exp.Or)):
        return _both(node, names, negated)
    if isinstance(node, exp.Boolean):
        return bool(node.this) != negated
    if isinstance(node, exp.Column):
        return _filter(node, "is true", (), negated, names)
    if type(node) in _COMPARISONS:
        return _comparison(node, names, negated)
    if isinstance(node, exp.Is) and isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Null):
        return _filter(node.this, "is null", (), negated, names)
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Boolean) and not negated:
        return _filter(node.this, "=", (int(bool(node.expression.this)),), False, names, ColumnType.BOOLEAN)
    if isinstance(node, exp.In) and node.expressions:
        return _filter(node.this, "in", tuple(map(_literal, node.expressions)), negated, names)
    if isinstance(node, exp.Between):
        return _filter(node.this, "between", (_literal(node.args["low"]), _literal(node.args["high"])), negated, names)
    if isinstance(node, exp.Like):
        return _filter(node.this, "like", (_literal(node.expression),), negated, names)
    raise Unsupported


def _both(node: exp.Expr, names: Names, negated: bool) -> Expression | bool:
    """AND or OR, flat; under NOT they change places (De Morgan)."""
    either = isinstance(node, exp.Or) != negated
    children: list[Expression] = []
    for side in (node.this, node.expression):
        part = predicate(side, names, negated)
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


def _comparison(node: exp.Expr, names: Names, negated: bool) -> Filter:
    operator = _COMPARISONS[type(node)]
    flipped = negated != isinstance(node, exp.NEQ)
    left, right = node.this, node.expression
    if isinstance(left, exp.Column) and isinstance(right, exp.Column):
        (alias, a), (_, b) = names.resolve(left), names.resolve(right)
        return Filter((a, b), operator, (), flipped, names.column(alias, a).type)
    if isinstance(right, exp.Column):
        left, right, operator = right, left, _TURNED[operator]
    return _filter(left, operator, (_literal(right),), flipped, names)


def _filter(
    column: exp.Expr, operator: Operator, values: tuple[Scalar, ...], negated: bool, names: Names,
    kind: ColumnType | None = None,
) -> Filter:  # fmt: skip
    if not isinstance(column, exp.Column):
        raise Unsupported
    alias, name = names.resolve(column)
    shown, defined = kind or _shown_type(operator, values), names.column(alias, name).type
    if shown is not None:
        names.types.setdefault((alias, name), shown)
    return Filter((name,), operator, values, negated, shown if shown is not None and defined is ColumnType.TEXT else defined)


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
    dated = all(isinstance(v, str) and len(v) == 10 and v[4] == v[7] == "-" and v.replace("-", "").isdigit() for v in values)
    return ColumnType.DATE if dated else None


def _literal(node: exp.Expr) -> Scalar:
    if isinstance(node, exp.Paren):
        return _literal(node.this)
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Neg) and isinstance(value := _literal(node.this), (int, float)):
        return -value
    if isinstance(node, exp.Literal):
        if node.is_string:
            return str(node.this)
        return float(node.this) if any(c in node.this for c in ".eE") else int(node.this)
    raise Unsupported
