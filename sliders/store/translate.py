"""SQLite's SQL, which agents and users write, as PostgreSQL's: only dialect changes, no meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from sliders.store.sql_names import fold

_PREDICATES = (exp.Predicate, exp.Connector, exp.Not, exp.In, exp.Between, exp.Exists)
_ARITHMETIC = (
    exp.Sum,
    exp.Avg,
    exp.Max,
    exp.Min,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.EQ,
    exp.NEQ,
)


def to_postgres(tree: exp.Query, names: Iterable[str]) -> str:
    """A statement over tables and columns of these names, for PostgreSQL.

    SQLite takes names whatever their case, numbers for truth values and the reverse,
    dynamic types in sums, NULLs as the smallest values, and LIKE whatever the case of ASCII
    letters; so does the result.
    """
    _name_results(tree)
    result = tree.copy()
    _spell(result, names)
    for kind, change in _CHANGES.items():
        for node in list(result.find_all(kind)):
            new = change(node)
            if new is not node:
                node.replace(new)
    _truths(result)
    return result.sql("postgres")


def _name_results(tree: exp.Query) -> None:
    """A column of the result is called what SQLite calls it: the expression as it was written."""
    first = tree
    while isinstance(first, (exp.SetOperation, exp.Subquery)):
        first = first.this
    for shown in list(first.selects) if isinstance(first, exp.Select) else ():
        if not isinstance(shown, (exp.Column, exp.Star, exp.Alias)):
            shown.replace(exp.alias_(shown.copy(), shown.sql("sqlite"), quoted=True))


def _spell(tree: exp.Query, names: Iterable[str]) -> None:
    known = {fold(name): name for name in names}
    for table in tree.find_all(exp.Table):
        table.set("db", None)
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", known.setdefault(fold(identifier.name), identifier.name))
        identifier.set("quoted", True)


def _function(node: exp.Anonymous) -> exp.Expr:
    name, values = fold(node.name), node.expressions
    if name == "stdev_pop":
        return exp.StddevPop(this=values[0].copy())
    if name == "percentile" and len(values) == 2:
        share = exp.Div(this=values[1].copy(), expression=exp.Literal.number("100.0"))
        return exp.PercentileCont(this=values[0].copy(), expression=share)
    if name == "total" and values:
        return exp.Coalesce(
            this=exp.Sum(this=values[0].copy()), expressions=[exp.Literal.number("0.0")]
        )
    if name == "julianday" and len(values) == 1:
        return exp.maybe_parse(
            f"(EXTRACT(julian FROM CAST({values[0].sql('postgres')} AS TIMESTAMP)) - 0.5)",
            dialect="postgres",
        )
    return node


def _mode(node: exp.Mode) -> exp.Expr:
    order = exp.Order(expressions=[exp.Ordered(this=node.this.copy())])
    return exp.WithinGroup(this=exp.Anonymous(this="MODE"), expression=order)


def _is(node: exp.Is) -> exp.Expr:
    if isinstance(node.expression, (exp.Null, exp.Not)):
        return node
    return exp.NullSafeEQ(this=node.this.copy(), expression=node.expression.copy())


def _round(node: exp.Round) -> exp.Expr:
    if node.args.get("decimals") is None:
        return node
    rounded = exp.Round(
        this=exp.cast(node.this.copy(), "DECIMAL"), decimals=node.args["decimals"].copy()
    )
    return exp.cast(rounded, "DOUBLE")


def _concatenated(node: exp.GroupConcat) -> exp.Expr:
    inner = node.this
    if isinstance(inner, (exp.Column, exp.Literal)):
        inner.replace(exp.cast(inner.copy(), "TEXT"))
    return node


def _cast(node: exp.Cast) -> exp.Expr:
    wider = {exp.DataType.Type.FLOAT: "DOUBLE", exp.DataType.Type.INT: "BIGINT"}.get(node.to.this)
    if wider is not None:
        node.set("to", exp.DataType.build(wider))
    return node


_CHANGES: dict[type[exp.Expr], Callable[..., exp.Expr]] = {
    exp.Boolean: lambda node: exp.Literal.number(int(node.this)),
    exp.Cast: _cast,
    exp.Is: _is,
    exp.Like: lambda node: exp.ILike(this=node.this.copy(), expression=node.expression.copy()),
    exp.Round: _round,
    exp.GroupConcat: _concatenated,
    exp.Mode: _mode,
    exp.Anonymous: _function,
}


def _truths(tree: exp.Query) -> None:
    """Numbers where PostgreSQL wants truth values, and truth values where it wants numbers."""
    for node in list(tree.walk()):
        if isinstance(node, (exp.Where, exp.Having, exp.Not, exp.If)):
            _make_truth(node.this)
        elif isinstance(node, exp.Connector):
            _make_truth(node.this)
            _make_truth(node.expression)
        elif isinstance(node, exp.Join) and node.args.get("on") is not None:
            _make_truth(node.args["on"])
        elif isinstance(node, _ARITHMETIC):
            for value in (node.this, node.args.get("expression")):
                if isinstance(value, exp.Expr) and isinstance(value.unnest(), _PREDICATES):
                    value.replace(exp.cast(exp.paren(value.copy()), "INT"))


def _make_truth(value: exp.Expr) -> None:
    plain = value.unnest()
    simple_case = (
        isinstance(value.parent, exp.If)
        and isinstance(value.parent.parent, exp.Case)
        and value.parent.parent.this
    )
    if not isinstance(plain, _PREDICATES) and not simple_case:
        value.replace(exp.NEQ(this=exp.paren(value.copy()), expression=exp.Literal.number(0)))
