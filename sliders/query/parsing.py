"""SQL over attributes that need not be extracted yet, parsed into values that can be planned.

Supported: SELECT with projection, aggregates, GROUP BY, HAVING, ORDER BY, LIMIT and DISTINCT;
filters =, !=, <, <=, >, >=, BETWEEN, IN, LIKE, IS NULL under AND, OR and NOT in any nesting; inner
joins of two and more tables on equal attributes. Parts that cannot be planned (a condition over two
tables, for instance) stay in the SQL that runs over the filled tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sliders.errors import QueryError
from sliders.query.filters import And, Expression, Filter, Scalar, conjuncts, joined, leaves
from sliders.query.predicates import SYSTEM, Names, QueryTable, Unsupported, place, predicate
from sliders.schema.types import ColumnType, Table
from sliders.sql.names import read_by
from sliders.sql.statement import parse_select

__all__ = ["JoinEdge", "Query", "QueryTable", "TableUse", "parse_query"]


@dataclass(frozen=True, slots=True)
class TableUse:
    """One table of the FROM clause: its alias, the condition on it alone (`where`), the attributes
    that accepted rows must have (`select`), and its name in the query (`written`).
    """

    alias: str
    table: str
    where: Expression | None
    select: tuple[str, ...]
    attributes: tuple[str, ...]
    written: str = ""


@dataclass(frozen=True, slots=True)
class JoinEdge:
    """Rows of two tables belong together when these attributes are equal."""

    left: str
    left_attribute: str
    right: str
    right_attribute: str

    def other(self, alias: str) -> str:
        """The alias at the other end."""
        return self.right if alias == self.left else self.left

    def attribute(self, alias: str) -> str:
        """The attribute at this end."""
        return self.left_attribute if alias == self.left else self.right_attribute

    @property
    def ends(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Alias and attribute of both ends."""
        return (self.left, self.left_attribute), (self.right, self.right_attribute)

    @property
    def exact(self) -> bool:
        """True when it joins documents, which must be the same."""
        return self.left_attribute in SYSTEM or self.right_attribute in SYSTEM

    def __str__(self) -> str:
        return f"{self.left}.{self.left_attribute} = {self.right}.{self.right_attribute}"


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `sql` is its text in SQLite's dialect. Over the accepted rows it gives the
    result: a row that was decided before all its values were read is decided whatever these are.

    `stop_after` is the number of accepted rows that is enough (a LIMIT without order or grouping),
    or None; `types` are the types of attributes as the conditions show them; `unplanned` are the
    conditions on one table that only SQL can decide.
    """

    sql: str
    tables: tuple[TableUse, ...]
    joins: tuple[JoinEdge, ...] = ()
    stop_after: int | None = None
    types: tuple[tuple[str, ColumnType], ...] = ()
    unplanned: str = ""

    def use(self, alias: str) -> TableUse:
        """Returns the table with an alias."""
        return next(table for table in self.tables if table.alias == alias)

    def keys(self, alias: str) -> tuple[str, ...]:
        """The attributes by which a table is joined, each once."""
        ends = (end for edge in self.joins for end in edge.ends)
        return tuple(dict.fromkeys(name for owner, name in ends if owner == alias))


def parse_query(sql: str, tables: Sequence[QueryTable | Table]) -> Query:
    """Returns one parsed SELECT.

    Conditions that cannot be planned are left to the SQL over the filled tables; their attributes
    are read for every row that the other conditions accept.

    Args:
        tables: the tables that it may name; a `QueryTable` may be open to new attributes.

    Raises:
        QueryError: a syntax error, an unknown table or attribute, an ambiguous one, or SQL that is
            not supported; the message names the place.
    """
    select = _parsed(sql)
    known = [t if isinstance(t, QueryTable) else QueryTable(t, t.name) for t in tables]
    names = Names(sql, _sources(sql, select, known))
    conditions, edges, residual = _conditions(select, names)
    used = _used(select, names, residual)
    _connected(sql, names, edges)
    uses = []
    for alias, table in names.tables.items():
        where = joined(And, *conditions[alias])
        filters = [leaf for part in conditions[alias] for leaf in leaves(part)]
        filtered = [name for leaf in filters for name in leaf.attributes]
        keys = [name for edge in edges for owner, name in edge.ends if owner == alias]
        attributes = tuple(dict.fromkeys([*filtered, *keys, *used[alias]]))
        uses.append(TableUse(alias, table.name, where, used[alias], attributes, table.name))
    alone = [
        part
        for part in residual
        if len({names.resolve(c)[0] for c in part.find_all(exp.Column)}) < 2
    ]
    return Query(
        select.sql("sqlite"),
        tables=tuple(uses),
        joins=tuple(edges),
        stop_after=_enough(select, edges, residual),
        types=tuple((name, kind) for (_, name), kind in names.types.items()),
        unplanned=", ".join(part.sql("sqlite") for part in alone),
    )


def _used(
    select: exp.Select, names: Names, residual: Sequence[exp.Expr]
) -> dict[str, tuple[str, ...]]:
    """Returns, by alias, the attributes that are read for rows which the conditions accept."""
    used = {alias: dict[str, None]() for alias in names.tables}
    for node in _outside_conditions(select, residual):
        for column in node.find_all(exp.Column):
            if not names.is_output(column, select):
                alias, name = names.resolve(column)
                used[alias][name] = None
    for star in _stars(select):
        for alias in names.star(star):
            used[alias].update(dict.fromkeys(names.columns(alias, star)))
    return {alias: tuple(attributes) for alias, attributes in used.items()}


def _parsed(sql: str) -> exp.Select:
    if not sql.strip():
        raise QueryError(
            "the query is empty; write a SELECT, for instance: SELECT title FROM docs "
            "WHERE year = 2020"
        )
    tree = parse_select(sql)
    if not isinstance(tree, exp.Select):
        raise QueryError(f"a query is one SELECT, this is {tree.key.upper()}; write one SELECT")
    return tree


def _sources(sql: str, select: exp.Select, known: Sequence[QueryTable]) -> dict[str, QueryTable]:
    """The tables of the FROM clause by alias."""
    if select.args.get("with_") or select.args.get("with"):
        raise QueryError("WITH is not supported; write one SELECT over the tables")
    for inner in select.find_all(exp.Subquery, exp.Exists, exp.Select):
        if inner is not select:
            raise QueryError(
                f"a subquery is not supported{place(sql, inner)}; split it into two queries"
            )
    if not read_by(select):
        raise QueryError(
            "the query has no FROM; name the table whose rows it wants, for instance: FROM docs"
        )
    by_name = {table.name.casefold(): table for table in known}
    found: dict[str, QueryTable] = {}
    for table in read_by(select):
        node = table.parent
        at = place(sql, table)
        if not isinstance(table, exp.Table):
            raise QueryError(f"FROM takes only tables{at}; name a table and filter it with WHERE")
        if isinstance(node, exp.Join) and (
            node.side or node.kind.upper() not in ("", "INNER", "CROSS")
        ):
            kind = " ".join(part for part in (node.side, node.kind) if part)
            raise QueryError(f"{kind} JOIN is not supported{at}; use an inner join")
        if isinstance(node, exp.Join) and (node.args.get("using") or node.method):
            raise QueryError(f"JOIN with USING or NATURAL is not supported{at}; write ON a.x = b.y")
        if table.name.casefold() not in by_name:
            raise QueryError(
                f"there is no table {table.name!r}{at}; tables are: "
                f"{', '.join(t.name for t in known)}"
            )
        alias = table.alias_or_name
        if alias in found:
            raise QueryError(f"two tables are called {alias!r}{at}; give each an alias of its own")
        found[alias] = by_name[table.name.casefold()]
    return found


def _conditions(
    select: exp.Select, names: Names
) -> tuple[dict[str, list[Expression]], list[JoinEdge], list[exp.Expr]]:
    """Returns conditions by alias, joins, and conditions over several tables."""
    conditions: dict[str, list[Expression]] = {alias: [] for alias in names.tables}
    edges: list[JoinEdge] = []
    residual: list[exp.Expr] = []
    where = select.args.get("where")
    roots = [join.args["on"] for join in select.args.get("joins") or [] if join.args.get("on")]
    for part in [
        p for root in [*roots, *([where.this] if where else [])] for p in _conjuncts(root)
    ]:
        aliases = list(dict.fromkeys(names.resolve(c)[0] for c in part.find_all(exp.Column)))
        edge = _edge(part, names)
        if edge is not None:
            edges.append(edge)
            continue
        if len(aliases) > 1:
            residual.append(part)
            continue
        try:
            built = predicate(part, names)
        except Unsupported:
            residual.append(part)
            continue
        conditions[aliases[0] if aliases else next(iter(names.tables))].append(built)
    return conditions, edges, residual


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        return [*_conjuncts(node.this), *_conjuncts(node.expression)]
    return [node]


def _edge(part: exp.Expr, names: Names) -> JoinEdge | None:
    if not (
        isinstance(part, exp.EQ)
        and isinstance(part.this, exp.Column)
        and isinstance(part.expression, exp.Column)
    ):
        return None
    (left, a), (right, b) = names.resolve(part.this), names.resolve(part.expression)
    return JoinEdge(left, a, right, b) if left != right else None


def _connected(sql: str, names: Names, edges: Sequence[JoinEdge]) -> None:
    reached = {next(iter(names.tables))}
    while more := {e.other(a) for e in edges for a in (e.left, e.right) if a in reached} - reached:
        reached |= more
    for alias in names.tables:
        if alias not in reached:
            raise QueryError(
                f"table {alias!r} is not joined to the others on equal attributes; add a condition "
                "such as a.x = b.y"
            )


def _outside_conditions(select: exp.Select, residual: Sequence[exp.Expr]) -> list[exp.Expr]:
    parts = list(select.expressions)
    for key in ("group", "having", "order", "distinct", "windows", "qualify"):
        node = select.args.get(key)
        parts.extend(node if isinstance(node, list) else [node] if node is not None else [])
    return [*parts, *residual]


def _stars(select: exp.Select) -> list[exp.Expr]:
    return [
        e
        for e in select.expressions
        if isinstance(e, exp.Star) or (isinstance(e, exp.Column) and e.is_star)
    ]


def _enough(
    select: exp.Select, edges: Sequence[JoinEdge], residual: Sequence[exp.Expr]
) -> int | None:
    """Returns the number of accepted rows that is enough (LIMIT with OFFSET); None when an order or
    a grouping needs all rows.
    """
    limit = select.args.get("limit")
    if limit is None or edges or residual:
        return None
    if any(select.args.get(key) for key in ("order", "group", "having", "distinct")):
        return None
    if any(e.find(exp.AggFunc, exp.Window) for e in select.expressions):
        return None
    sizes = [
        limit.expression,
        *([select.args["offset"].expression] if select.args.get("offset") else []),
    ]
    if not all(isinstance(size, exp.Literal) and not size.is_string for size in sizes):
        return None
    return sum(int(size.name) for size in sizes)


def contradiction(expression: Expression | None) -> str:
    """Returns the sentence that two filters of a conjunction exclude each other, so that no row can
    pass; "" when none do. Nothing is read.
    """
    parts = conjuncts(expression)
    plain = [part for part in parts if isinstance(part, Filter) and len(part.attributes) == 1]
    for number, one in enumerate(plain):
        for other in plain[number + 1 :]:
            if one.attributes == other.attributes and _excludes(one, other):
                return f"no value can satisfy both {one} and {other}"
    return ""


def _excludes(one: Filter, other: Filter) -> bool:
    """True when no value fulfils both filters: their literals, values beside and between these, and
    NULL are tried.
    """
    if not {one.kind, other.kind} <= _TRIED:
        return False
    named = [value for leaf in (one, other) for value in leaf.values]
    numbers = [float(value) for value in named if isinstance(value, int | float)]
    tried: list[Scalar] = [
        None,
        True,
        False,
        "",
        *named,
        *(f"{value} x" for value in named if isinstance(value, str)),
    ]
    tried += [number + step for number in numbers for step in (-1, 1)] + [
        (a + b) / 2 for a in numbers for b in numbers
    ]
    name = one.attributes[0]
    return not any(one.truth({name: value}) and other.truth({name: value}) for value in tried)


_TRIED = {"eq", "neq", "lt", "lte", "gt", "gte", "between", "in", "is", "column"}
