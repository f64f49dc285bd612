"""Tracing: a statement is rewritten so that each row of its result carries the ids of the table
rows behind it.

A filter or a join keeps its rows. A group has the rows of its key. A maximum or minimum has the
rows that hold it; a sum, count or average has all its rows. Unions, derived tables, CTEs and scalar
subqueries are followed down to the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sliders.answer.resolving import named, resolved
from sliders.answer.turns import TableView
from sliders.errors import QueryError
from sliders.sql.names import read_by
from sliders.sql.statement import DIALECT, parse_select

Carried = list[tuple[str, str]]
"""Columns that carry row ids, each with its table."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A rewritten statement. Its first `shown` columns are the columns of the result; its columns
    `rows` hold row ids, each with its table. With `shown` 0, the rows belong to the whole result.
    """

    sql: str
    rows: tuple[tuple[str, str], ...]
    shown: int


def traces(sql: str, views: Sequence[TableView]) -> tuple[Trace, ...]:
    """Returns the rewritten statements that give the rows behind a result; () when the statement
    reads no table with row ids.
    """
    try:
        tree = parse_select(sql)
    except QueryError:
        return ()
    return _Tracer(tree, views).traces()


@dataclass(slots=True)
class _Tracer:
    tree: exp.Query
    views: Sequence[TableView]
    number: int = 0
    open: list[str] = field(default_factory=list)
    apart: list[exp.Select] = field(default_factory=list)
    """Aggregates of scalar subqueries: no single row gives their value."""

    def traces(self) -> tuple[Trace, ...]:
        shared = self.tree.args.get("with_") or self.tree.args.get("with")
        head = f"{shared.sql(DIALECT)} " if shared else ""
        found = []
        main = self.query(self.tree)
        if main is not None:
            query, carried = main
            found.append(
                Trace(f"{head}{query.sql(DIALECT)}", tuple(carried), len(self.tree.selects))
            )
        while self.apart:
            other = self.query(self.apart.pop())
            if other is not None:
                found.append(Trace(f"{head}{other[0].sql(DIALECT)}", tuple(other[1]), 0))
        return tuple(found)

    def query(self, tree: exp.Expr) -> tuple[exp.Query, Carried] | None:
        """Returns the query with row ids behind its own columns; None when it reads no table."""
        if isinstance(tree, exp.Subquery):
            return self.query(tree.this)
        if isinstance(tree, exp.Union):
            return self._union(tree)
        if isinstance(tree, exp.SetOperation):  # the left side gives the rows
            return self.query(tree.left)
        return self._select(tree) if isinstance(tree, exp.Select) else None

    def _union(self, tree: exp.Union) -> tuple[exp.Query, Carried] | None:
        left, right = self.query(tree.left), self.query(tree.right)
        if left is None or right is None:
            return left or right
        (one, first), (other, second) = left, right
        for name, _ in second:
            one = one.select(exp.alias_(exp.Null(), name), copy=True)
        blank = [exp.alias_(exp.Null(), name) for name, _ in first]
        other = other.copy()
        if not isinstance(other, exp.Select) or not isinstance(one, exp.Select):
            return left
        own = other.expressions[: len(other.expressions) - len(second)]
        other.set("expressions", [*own, *blank, *other.expressions[len(own) :]])
        return exp.Union(this=one, expression=other, distinct=False), [*first, *second]

    def _select(self, tree: exp.Select) -> tuple[exp.Query, Carried] | None:
        select = _without(tree.copy(), "with_", "with")
        carried, derived = self._sources(select)
        measures = _measures(select)
        if tree.args.get("group") or measures:
            return self._grouped(tree, select, carried, measures) if carried else None
        for item in list(select.expressions):
            carried += self._scalars(item, select)
        if not carried:
            return None
        if tree.args.get("distinct"):  # equal rows become one: they are found by their values
            _without(select, "distinct", "order", "limit", "offset")
        starred = any(
            item.find(exp.Star) is not None and item.find(exp.AggFunc) is None
            for item in select.expressions
        )
        if starred and derived:  # a star passes on the row ids of its only source
            if len(read_by(select)) != 1:
                return None
            return select, [(one.name, table) for one, table in carried]
        return self._carrying(select, carried)

    def _carrying(
        self, select: exp.Select, carried: Sequence[tuple[exp.Expr, str]]
    ) -> tuple[exp.Query, Carried]:
        names = [(self._name(), table) for _, table in carried]
        for (row, _), (name, _) in zip(carried, names, strict=True):
            select = select.select(exp.alias_(row.copy(), name))
        return select, names

    def _grouped(
        self,
        tree: exp.Select,
        detail: exp.Select,
        carried: Sequence[tuple[exp.Expr, str]],
        measures: Sequence[exp.Expr],
    ) -> tuple[exp.Query, Carried] | None:
        """Returns the rows behind each group, joined with the values that the statement shows of
        the group.
        """
        if any(isinstance(item, exp.Star) for item in tree.expressions):
            return None
        names = [item.alias_or_name or f"shown_{n}" for n, item in enumerate(tree.expressions)]
        group = tree.args.get("group")
        keys = [named(tree, key) for key in group.expressions] if group else []
        told = [(f"key_{n}", key) for n, key in enumerate(keys)]
        extremes = [m for m in measures if isinstance(m, exp.Max | exp.Min)]
        held: list[tuple[str, exp.Expr]] = []
        if len(extremes) == len(measures):
            held = [(f"held_{n}", measure) for n, measure in enumerate(extremes)]
        rows, listed = self._carrying(_members(detail, measures, told, held), carried)
        same = [_same(name) for name, _ in told]
        same += [exp.or_(*(_same(name) for name, _ in held))] if held else []
        always = exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(1))
        columns = [
            exp.alias_(exp.column(f"shown_{n}", table="g"), name, quoted=True)
            for n, name in enumerate(names)
        ]
        out = exp.select(*columns, *(exp.column(name, table="d") for name, _ in listed))
        shown = _derived(_groups(tree, [*told, *held]), "g")
        on = exp.and_(*same) if same else always
        return out.from_(_derived(rows, "d")).join(shown, on=on), listed

    def _sources(self, select: exp.Select) -> tuple[list[tuple[exp.Expr, str]], bool]:
        """Returns the row ids that the sources of a SELECT give, and True when one of them is a
        derived table, which is replaced by a copy with row ids.
        """
        known = {view.name.lower(): view for view in self.views if view.row_id}
        ctes = {cte.alias.lower(): cte for cte in self.tree.root().find_all(exp.CTE)}
        carried: list[tuple[exp.Expr, str]] = []
        derived = False
        for node in read_by(select):
            name = node.name.lower() if isinstance(node, exp.Table) else ""
            cte = ctes.get(name)
            inner = (
                node.this
                if isinstance(node, exp.Subquery)
                else cte.this
                if cte is not None
                else None
            )
            if inner is None and name in known:
                row = exp.column(known[name].row_id, table=node.alias_or_name, quoted=True)
                carried.append((row, known[name].name))
            renamed = cte is not None and cte.args["alias"].args.get("columns")
            if inner is None or name in self.open or renamed:
                continue
            self.open.append(name or "()")
            found = self.query(inner)
            self.open.pop()
            if found is None:
                continue
            query, rows = found
            derived, alias = True, node.alias_or_name or self._name()
            node.replace(_derived(query, alias, quoted=True))
            carried += [(exp.column(one, table=alias, quoted=True), table) for one, table in rows]
        return carried, derived

    def _scalars(self, item: exp.Expr, select: exp.Select) -> list[tuple[exp.Expr, str]]:
        """Returns the rows behind the scalar subqueries of a shown column, each as a subquery."""
        out: list[tuple[exp.Expr, str]] = []
        for scalar in item.find_all(exp.Subquery):
            if scalar.find_ancestor(exp.Select) is not select or not isinstance(
                scalar.this, exp.Select
            ):
                continue
            inner = scalar.this.copy()
            measures = _measures(inner)
            if inner.args.get("group") or (measures and not _is_extreme(measures)):
                self.apart += [scalar.this] if _stands_alone(scalar.this) else []
                continue
            carried, _ = self._sources(inner)
            for nested in list(inner.expressions):
                carried += self._scalars(nested, inner) if not read_by(inner) else []
            if measures:
                best = exp.Ordered(
                    this=measures[0].this.copy(),
                    desc=isinstance(measures[0], exp.Max),
                    nulls_first=False,
                )
                inner.set("order", exp.Order(expressions=[best]))
                inner = inner.where(_stated(measures[0].this))
            for row, table in carried:
                one = inner.copy()
                one.set("expressions", [row.copy()])
                one = one if one.args.get("limit") else one.limit(1) if read_by(one) else one
                out.append((exp.Subquery(this=one), table))
        return out

    def _name(self) -> str:
        self.number += 1
        return f"traced_{self.number}"


def _measures(select: exp.Select) -> list[exp.Expr]:
    """Returns the aggregates that make one row of several, without those in windows and
    subqueries.
    """
    found = [node for item in select.expressions for node in item.find_all(exp.AggFunc)]
    return [
        n
        for n in found
        if n.find_ancestor(exp.Select) is select and not isinstance(n.parent, exp.Window)
    ]


def _groups(tree: exp.Select, beside: Sequence[tuple[str, exp.Expr]]) -> exp.Select:
    """Returns the columns that a statement shows of its groups, as `shown_<n>`, with these columns
    beside.
    """
    shown = _without(resolved(tree), "with_", "with")
    own = [
        exp.alias_(item.unalias().copy(), f"shown_{n}") for n, item in enumerate(shown.expressions)
    ]
    named = [exp.alias_(column.copy(), name) for name, column in beside]
    shown.set("expressions", [*own, *named])
    return shown


def _members(
    detail: exp.Select,
    measures: Sequence[exp.Expr],
    keys: Sequence[tuple[str, exp.Expr]],
    held: Sequence[tuple[str, exp.Expr]],
) -> exp.Select:
    """Returns the rows of all groups with the keys of their group, and the values that a maximum or
    minimum is compared with.
    """
    _without(detail, "group", "having", "order", "limit", "offset", "distinct")
    detail.set("expressions", [exp.alias_(key.copy(), name) for name, key in keys])
    for name, measure in held:
        detail = detail.select(exp.alias_(measure.this.copy(), name))
    summed = [column for m in measures if isinstance(column := _counted(m), exp.Column)]
    return detail.where(_stated(summed[0])) if len(summed) == len(measures) == 1 else detail


def _counted(measure: exp.Expr) -> exp.Expr:
    """Returns the expression that an aggregate runs over, without DISTINCT."""
    of: exp.Expr = measure.this
    alone = isinstance(of, exp.Distinct) and len(of.expressions) == 1
    column: exp.Expr = of.expressions[0] if alone else of
    return column


def _without(select: exp.Select, *clauses: str) -> exp.Select:
    """Removes clauses from a statement, and returns the statement itself."""
    for clause in clauses:
        select.set(clause, None)
    return select


def _stated(column: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))


def _derived(query: exp.Query, alias: str, *, quoted: bool | None = None) -> exp.Subquery:
    """Returns a query as a source of another query."""
    name = exp.TableAlias(this=exp.to_identifier(alias, quoted=quoted))
    return exp.Subquery(this=query, alias=name)


def _is_extreme(measures: Sequence[exp.Expr]) -> bool:
    return len(measures) == 1 and isinstance(measures[0], exp.Max | exp.Min)


def _same(name: str) -> exp.Expr:
    return exp.Is(this=exp.column(name, table="d"), expression=exp.column(name, table="g"))


def _stands_alone(select: exp.Select) -> bool:
    """Says whether a subquery names no table of the statement around it."""
    own = {table.alias_or_name.lower() for table in select.find_all(exp.Table, exp.Subquery)}
    return all(
        not column.table or column.table.lower() in own for column in select.find_all(exp.Column)
    )
