"""The meaning of a query's columns, and its conditions as filters, with NOT pushed down into
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from sqlglot import exp

from sliders.errors import QueryError
from sliders.query.filters import And, Expression, Filter, Or, Scalar, Undecidable, joined
from sliders.schema.types import ColumnType, Table
from sliders.sql.names import did_you_mean

SYSTEM = ("document", "document_id")
"""Columns that every table has, known without reading."""


@dataclass(frozen=True, slots=True)
class QueryTable:
    """A table that a query may name.

    An `open` one takes attributes that it does not have yet, as the query names them.
    """

    table: Table
    name: str
    open: bool = False


def place(sql: str, node: exp.Expr) -> str:
    """Returns the position of the first word of a node: " at line 1, column 8"; "" when unknown."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    if not starts:
        return ""
    before = sql[: min(starts)]
    return f" at line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


@dataclass(slots=True)
class Names:
    """The names in one query. `types` collects the types of new attributes as the query shows
    them.
    """

    sql: str
    tables: Mapping[str, QueryTable]
    types: dict[tuple[str, str], ColumnType] = field(default_factory=dict)

    def resolve(self, column: exp.Column) -> tuple[str, str]:
        """Returns the alias and attribute of a column.

        Raises:
            QueryError: there is no such attribute, or several tables have it.
        """
        at, name = place(self.sql, column), column.name
        if column.table:
            if column.table not in self.tables:
                known = ", ".join(self.tables)
                raise QueryError(
                    f"there is no table {column.table!r}{at}; the query's tables are: {known}"
                )
            return column.table, self._attribute(column.table, name, at)
        if len(self.tables) == 1:
            alias = next(iter(self.tables))
            return alias, self._attribute(alias, name, at)
        having = [alias for alias in self.tables if self._has(alias, name)]
        if len(having) > 1 or (not having and any(t.open for t in self.tables.values())):
            choices = " or ".join(f"{alias}.{name}" for alias in having or self.tables)
            raise QueryError(f"column {name!r}{at} is ambiguous; write {choices}")
        if not having:
            raise QueryError(
                f"no table of the query has a column {name!r}{at}; {self._known(name)}"
            )
        return having[0], self._attribute(having[0], name, at)

    def type_of(self, alias: str, name: str) -> ColumnType:
        """Returns the type of an attribute: as defined; in an open table, if that is only text, as
        the query shows it.
        """
        table = self.tables[alias]
        defined = next((c.type for c in table.table.columns if c.name == name), ColumnType.TEXT)
        if table.open and defined is ColumnType.TEXT:
            return self.types.get((alias, name), defined)
        return defined

    def columns(self, alias: str, star: exp.Expr) -> tuple[str, ...]:
        """Returns all attributes of a table, for `*`.

        Raises:
            QueryError: the table has no attributes yet.
        """
        names = self.tables[alias].table.column_names
        if not names:
            at = place(self.sql, star)
            raise QueryError(
                f"'*'{at} has no meaning: {alias!r} has no attributes yet; name those that you want"
            )
        return names

    def star(self, star: exp.Expr) -> tuple[str, ...]:
        """Returns the aliases of the tables that a star covers."""
        table = star.table if isinstance(star, exp.Column) else ""
        return (table,) if table else tuple(self.tables)

    def is_output(self, column: exp.Column, select: exp.Select) -> bool:
        """True when a name is the name of an output column of the SELECT (`count(*) AS n ... ORDER
        BY n`), and not of an attribute.
        """
        if column.is_star:
            return True
        outputs = {e.alias for e in select.expressions if isinstance(e, exp.Alias)}
        if (
            column.table
            or column.name not in outputs
            or any(self._has(alias, column.name) for alias in self.tables)
        ):
            return False
        return column.find_ancestor(exp.Order, exp.Group, exp.Having) is not None

    def _has(self, alias: str, name: str) -> bool:
        return any(
            name.casefold() == known.casefold()
            for known in (*self.tables[alias].table.column_names, *SYSTEM)
        )

    def _attribute(self, alias: str, name: str, at: str) -> str:
        table = self.tables[alias]
        for known in (*table.table.column_names, *SYSTEM):
            if known.casefold() == name.casefold():
                return known
        if not table.open or did_you_mean(name, table.table.column_names, 0.85):
            raise QueryError(
                f"table {alias!r} has no column {name!r}{at}; {self._known(name, alias)}"
            )
        return name

    def _known(self, name: str, alias: str = "") -> str:
        known = [
            c for a, t in self.tables.items() if alias in ("", a) for c in t.table.column_names
        ]
        columns = ", ".join(dict.fromkeys(known)) or "none"
        return did_you_mean(name, known) or f"its columns are: {columns}"


_PLAIN = {"eq", "neq", "lt", "lte", "gt", "gte", "between", "in", "is"}
"""Operators of comparison; the literal beside the attribute shows its type."""


class Unsupported(Exception):
    """A condition that SQLite alone cannot decide from the values of a row."""


def predicate(node: exp.Expr, names: Names, negated: bool = False) -> Expression:
    """Returns the filters of a condition; under NOT, AND and OR are exchanged (De Morgan).

    Raises:
        Unsupported: the condition cannot be planned.
    """
    if isinstance(node, (exp.Paren, exp.Not)):
        return predicate(node.this, names, negated != isinstance(node, exp.Not))
    if isinstance(node, (exp.And, exp.Or)):
        sides = (predicate(side, names, negated) for side in (node.this, node.expression))
        found = joined(Or if isinstance(node, exp.Or) != negated else And, *sides)
        assert found is not None
        return found
    return _filter(node, names, negated)


def _filter(node: exp.Expr, names: Names, negated: bool) -> Filter:
    if node.find(exp.AggFunc, exp.Window):
        raise Unsupported
    places = {column: names.resolve(column) for column in node.find_all(exp.Column)}
    attributes = tuple(dict.fromkeys(name for _, name in places.values()))
    literals = _literals(node) if len(attributes) == 1 else None
    if literals is not None and (shown := _shown_type(node, literals)) is not None:
        names.types.setdefault(next(iter(places.values())), shown)
    names_alone: dict[exp.Expr, exp.Expr] = {
        column: exp.column(name) for column, (_, name) in places.items()
    }
    parameters: dict[exp.Expr, exp.Expr] = {
        column: _parameter(attributes.index(name), names.type_of(alias, name))
        for column, (alias, name) in places.items()
    }
    plain, test = _replaced(node, names_alone), _replaced(node, parameters)
    if negated:
        plain, test = f"NOT ({plain})", f"NOT ({test})"
    kind = node.key if literals is not None or isinstance(node, exp.Like) else ""
    found = Filter(plain, attributes, test, kind, negated, literals or ())
    try:
        found.truth(dict.fromkeys(attributes))
    except Undecidable as error:
        raise Unsupported from error
    return found


def _replaced(node: exp.Expr, by: Mapping[exp.Expr, exp.Expr]) -> str:
    """The SQL of a condition with its columns replaced."""
    copy = exp.paren(node)
    for column in list(copy.find_all(exp.Column)):
        column.replace(by[column].copy())
    return str(copy.this.sql("sqlite"))


def _parameter(number: int, kind: ColumnType) -> exp.Expr:
    """A parameter for the value of an attribute, with the type affinity of its column."""
    text = kind.sql == "TEXT"
    return exp.Cast(
        this=exp.Placeholder(this=f"a{number}"),
        to=exp.DataType.build("TEXT" if text else "NUMERIC", udt=not text),
    )


def _literals(node: exp.Expr) -> tuple[Scalar, ...] | None:
    """Returns the literals of a plain comparison; None when the attribute is compared with anything
    else.
    """
    if isinstance(node, exp.Column):
        return ()
    sides = [side for side in node.iter_expressions() if not isinstance(side, exp.Column)]
    if node.key not in _PLAIN or not all(
        isinstance(s, (exp.Literal, exp.Neg, exp.Null, exp.Boolean)) for s in sides
    ):
        return None
    values = (side.to_py() for side in sides)
    return tuple(float(value) if isinstance(value, Decimal) else value for value in values)


def _shown_type(node: exp.Expr, values: tuple[Scalar, ...]) -> ColumnType | None:
    """The type that an attribute must have for a condition to make sense."""
    if isinstance(node, exp.Column) or (values and all(isinstance(v, bool) for v in values)):
        return ColumnType.BOOLEAN
    if values and all(isinstance(v, (int, float)) for v in values):
        return ColumnType.NUMBER
    dated = all(
        isinstance(v, str) and len(v) == 10 and v[4] == v[7] == "-" and v.replace("-", "").isdigit()
        for v in values
    )
    return ColumnType.DATE if values and dated else None
