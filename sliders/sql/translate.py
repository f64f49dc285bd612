"""Translation of SQL between dialects: other dialects into SQLite's, and SQLite's, which agents and
users write, into PostgreSQL's. The meaning stays the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable

from sqlglot import exp

from sliders.errors import QueryError, UnsafeStatement
from sliders.sql.identifiers import fold
from sliders.sql.statement import DIALECT, parse_part, parse_select, with_apostrophes

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


_OTHERS = ("postgres", "mysql")
_PARTS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d"}
_PARTED = {exp.Year: "YEAR", exp.Month: "MONTH", exp.Day: "DAY"}
_DATED = (*_PARTED, exp.Extract, exp.Anonymous, exp.TimeToStr)
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)


def to_sqlite(sql: str) -> tuple[exp.Query, bool]:
    """Returns the tree of a statement of any dialect, and True when a part of it was translated:
    parts of dates, days and years between two dates, an apostrophe inside a string.

    Raises QueryError: the text is no single SELECT in any dialect.
    """
    tree, changed = _parsed(sql)
    for node in list(tree.find_all(*_DATED)):
        said = _of_date(node)
        if said is not None:
            node.replace(said)
            changed = True
    return tree, changed


def _parsed(sql: str) -> tuple[exp.Query, bool]:
    try:
        return parse_select(sql), False
    except QueryError:
        tries = [*((sql, other) for other in _OTHERS), (with_apostrophes(sql), DIALECT)]
        for text, dialect in tries:
            with contextlib.suppress(QueryError):
                return parse_select(text, dialect), True
        raise


def _of_date(node: exp.Expr) -> exp.Expr | None:
    """Returns a function of dates that SQLite lacks, written with SQLite's functions; None for a
    function that it has.
    """
    for kind, part in _PARTED.items():
        if isinstance(node, kind):
            return _part(_bare(node.this), part)
    if isinstance(node, exp.Extract) and node.name.upper() in _PARTS:
        return _part(_bare(node.expression), node.name.upper())
    if isinstance(node, exp.TimeToStr) and isinstance(node.parent, _COMPARED):
        parts = {form: part for part, form in _PARTS.items()}
        beside = [*node.parent.args.values(), *node.parent.expressions]
        numbered = any(isinstance(side, exp.Literal) and not side.is_string for side in beside)
        form = node.args["format"].name
        return _part(_bare(node.this), parts[form]) if numbered and form in parts else None
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 2:
        first, last = (side.sql(DIALECT) for side in node.expressions)
        spans = {
            "days_between": f"CAST(JULIANDAY({last}) - JULIANDAY({first}) AS INTEGER)",
            "years_between": (
                f"(CAST(SUBSTR({last}, 1, 4) AS INTEGER) - CAST(SUBSTR({first}, 1, 4) AS INTEGER) "
                f"- (SUBSTR({last}, 6) < SUBSTR({first}, 6)))"
            ),
        }
        said = spans.get(node.name.lower())
        return parse_part(said) if said else None
    return None


def _part(date: exp.Expr, part: str) -> exp.Expr:
    """Year, month or day of ISO text as an integer (`strftime` reads a bare
    year as a day number).
    """
    start, length = {"YEAR": (1, 4), "MONTH": (6, 2), "DAY": (9, 2)}[part]
    return parse_part(f"CAST(SUBSTR({date.sql(DIALECT)}, {start}, {length}) AS INTEGER)")


def _bare(node: exp.Expr) -> exp.Expr:
    """A date without a function that only marks it as a date; "now" becomes a date only by its
    function, which stays.
    """
    while isinstance(
        node, exp.TsOrDsToTimestamp | exp.TsOrDsToDate | exp.Date | exp.Paren | exp.Cast
    ):
        if isinstance(node.this, exp.Literal):
            break
        node = node.this
    return node


def to_postgres(tree: exp.Query, names: Iterable[str]) -> str:
    """Returns a statement over tables and columns of these names for PostgreSQL.

    The result keeps SQLite's rules: names in any case, numbers as truth values and the reverse,
    sums over mixed types, NULLs as the smallest values, and LIKE without regard to the case of
    ASCII letters.
    """
    _name_results(tree)
    result = tree.copy()
    _spell(result, names)
    for kind, change in _CHANGES.items():
        for node in reversed(list(result.find_all(kind))):  # the inner ones first
            new = change(node)
            if new is not node:
                node.replace(new)
    _truths(result)
    return result.sql("postgres")


def _name_results(tree: exp.Query) -> None:
    """Names the columns of the result as SQLite does: an expression by its text."""
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
    if name == "stdev_pop" and len(values) == 1:
        return exp.StddevPop(this=values[0].copy())
    if name == "percentile" and len(values) == 2:
        share = exp.Div(this=values[1].copy(), expression=exp.Literal.number("100.0"))
        return exp.PercentileCont(this=values[0].copy(), expression=share)
    if name == "total" and len(values) == 1:
        return exp.Coalesce(
            this=exp.Sum(this=values[0].copy()), expressions=[exp.Literal.number("0.0")]
        )
    if name == "julianday" and len(values) == 1:
        return parse_part(
            f"(EXTRACT(julian FROM CAST({values[0].sql('postgres')} AS TIMESTAMP)) - 0.5)",
            "postgres",
        )
    return node


def _mode(node: exp.Mode) -> exp.Expr:
    if node.this is None:
        raise UnsafeStatement("mode() needs one value")
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


def _joined(node: exp.Expr) -> exp.Expr:
    """Joins texts through the function that limits their length; see `cage_server`."""
    return exp.Anonymous(this="pg_temp.sl_bounded", expressions=[node.copy()])


_CHANGES: dict[type[exp.Expr], Callable[..., exp.Expr]] = {
    exp.Boolean: lambda node: exp.Literal.number(int(node.this)),
    exp.Cast: _cast,
    exp.Is: _is,
    exp.Like: lambda node: exp.ILike(this=node.this.copy(), expression=node.expression.copy()),
    exp.Round: _round,
    exp.GroupConcat: _concatenated,
    exp.Mode: _mode,
    exp.DPipe: _joined,
    exp.Concat: _joined,
    exp.ConcatWs: _joined,
    exp.Anonymous: _function,
}


def _truths(tree: exp.Query) -> None:
    """Puts numbers where PostgreSQL needs numbers and the statement has truth values, and the
    reverse.
    """
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
