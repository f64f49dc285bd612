"""Which table rows an answer came from: the final statement rewritten to return row ids instead of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sliders.answer.dialects import DIALECT, parse_select
from sliders.answer.profile import quote
from sliders.answer.references import read_by
from sliders.answer.turns import TableView
from sliders.errors import QueryError

MAX_CITED = 20


def contributing_rows_sql(sql: str, tables: Sequence[TableView], limit: int = MAX_CITED) -> str | None:
    """SQL that returns `table_name, row_id` of the rows that `sql`'s result comes from, at most `limit`.

    A filter keeps its conditions, a group the groups that came out, a maximum or minimum the rows that hold it; a sum,
    count or average all rows that it ran over. None when the statement reads no table with row ids.
    """
    views = {view.name.lower(): view for view in tables if view.row_id}
    try:
        tree = parse_select(sql)
    except QueryError:
        return None
    shared = tree.args.get("with_") or tree.args.get("with")
    parts: list[str] = []
    for select in _sources(tree):
        parts += _rows_of(select, views)
    if not parts:
        return None
    head = f"{shared.sql(DIALECT)} " if shared else ""
    return f"{head}SELECT DISTINCT table_name, row_id FROM ({' UNION ALL '.join(dict.fromkeys(parts))}) LIMIT {limit}"


def columns_used(sql: str, tables: Sequence[TableView]) -> dict[str, tuple[str, ...]]:
    """The columns of each table that a statement reads: those whose words a citation should quote."""
    try:
        tree = parse_select(sql)
    except QueryError:
        return {}
    named = {column.name.lower() for column in tree.find_all(exp.Column)}
    read = {table.name.lower() for table in tree.find_all(exp.Table)}
    return {
        view.name: tuple(column.name for column in view.table.columns if column.name.lower() in named)
        for view in tables
        if view.name.lower() in read
    }


def _sources(tree: exp.Query) -> list[exp.Select]:
    """The selects that read tables for this result: through unions, derived tables, CTEs and scalar subqueries."""
    if isinstance(tree, exp.SetOperation):
        return _sources(tree.left) + _sources(tree.right)
    if isinstance(tree, exp.Subquery):
        return _sources(tree.this)
    if not isinstance(tree, exp.Select):
        return []
    ctes = {cte.alias.lower(): cte.this for cte in tree.root().find_all(exp.CTE)}
    named = read_by(tree)
    if not named:
        scalars = [node for item in tree.expressions for node in item.find_all(exp.Subquery)]
        return [select for scalar in scalars for select in _sources(scalar.this)]
    inner = [node.this for node in named if isinstance(node, exp.Subquery)]
    inner += [ctes[node.name.lower()] for node in named if isinstance(node, exp.Table) and node.name.lower() in ctes]
    if inner:
        return [select for query in inner for select in _sources(query)]
    return [tree]


def _rows_of(select: exp.Select, views: Mapping[str, TableView]) -> list[str]:
    base = _narrowed(select)
    parts = []
    for node in read_by(select):
        view = views.get(node.name.lower()) if isinstance(node, exp.Table) else None
        if view is None:
            continue
        rows = base.copy()
        row_id = exp.column(view.row_id, table=node.alias_or_name)
        rows.set("expressions", [exp.alias_(exp.Literal.string(view.name), "table_name"), exp.alias_(row_id, "row_id")])
        parts.append(f"SELECT table_name, row_id FROM ({rows.sql(DIALECT)})")
    return parts


def _narrowed(select: exp.Select) -> exp.Select:
    """The same FROM and WHERE, narrowed to the rows that the result shows or was computed from."""
    base = resolved(select)  # what it orders by is no longer selected
    for part in ("with_", "with", "distinct"):
        base.set(part, None)
    group = select.args.get("group")
    if group:
        return _of_groups(base, [named(select, key) for key in group.expressions])
    measures = [node for item in select.expressions for node in item.find_all(exp.AggFunc)]
    if not measures:
        return base
    for part in ("order", "limit", "having"):
        base.set(part, None)
    if len(measures) == 1 and isinstance(measures[0], exp.Max | exp.Min):
        best = base.copy()
        best.set("expressions", [measures[0].copy()])
        return base.where(exp.EQ(this=measures[0].this.copy(), expression=exp.Subquery(this=best)))
    columns = [node.this for node in measures if isinstance(node.this, exp.Column)]
    if len(columns) == len(measures) == 1:
        return base.where(exp.Not(this=exp.Is(this=columns[0].copy(), expression=exp.Null())))
    return base


def _of_groups(base: exp.Select, keys: list[exp.Expr]) -> exp.Select:
    """Rows of the groups that came out: their keys are those of the statement itself."""
    groups = resolved(base)
    groups.set("expressions", [exp.alias_(key.copy(), f"k{n}") for n, key in enumerate(keys)])
    for part in ("group", "having", "order", "limit", "offset"):
        base.set(part, None)
    none = quote("")
    test = " AND ".join(f"IFNULL({key.sql(DIALECT)}, {none}) = IFNULL(k{n}, {none})" for n, key in enumerate(keys))
    return base.where(f"EXISTS (SELECT 1 FROM ({groups.sql(DIALECT)}) AS g WHERE {test})", dialect=DIALECT)


def resolved(select: exp.Select) -> exp.Select:
    """A copy whose GROUP BY, HAVING and ORDER BY name expressions, not aliases or positions."""
    kept = select.copy()
    for part in ("order", "group", "having"):
        clause = kept.args.get(part)
        for node in list(clause.find_all(exp.Column, exp.Literal)) if clause else ():
            direct = isinstance(node, exp.Column) or isinstance(node.parent, exp.Ordered | exp.Group)
            meant = named(select, node) if direct else node
            if meant is not node:
                node.replace(meant.copy())
    return kept


def named(select: exp.Select, key: exp.Expr) -> exp.Expr:
    """The expression behind an alias or a position in GROUP BY or ORDER BY, else the key itself."""
    meant: exp.Expr = key
    if isinstance(key, exp.Literal) and key.name.isdigit() and 0 < int(key.name) <= len(select.expressions):
        meant = select.expressions[int(key.name) - 1].unalias()
    elif isinstance(key, exp.Column) and not key.table:
        for item in select.expressions:
            if isinstance(item, exp.Alias) and item.alias.lower() == key.name.lower():
                meant = item.unalias()
    return meant
