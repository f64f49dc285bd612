"""The parser's wall: it accepts one SELECT over known tables; its errors name the place of the
fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sliders.errors import UnsafeStatement
from sliders.sql.identifiers import fold
from sliders.sql.limits import MAX_SQL_CHARACTERS
from sliders.sql.names import did_you_mean
from sliders.sql.statement import DIALECT, parse_select

MAX_EXPANSION = 50_000
_TYPES = frozenset(
    exp.DataType.Type[name]
    for name in (
        "TEXT VARCHAR CHAR INT BIGINT SMALLINT TINYINT FLOAT DOUBLE DECIMAL BOOLEAN DATE DATETIME "
        "TIMESTAMP TIMESTAMPTZ TIMESTAMPNTZ TIME INTERVAL BLOB VARBINARY NCHAR NVARCHAR BIGDECIMAL"
    ).split()
)


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A statement that passed: the tables that it reads, and its syntax tree."""

    tables: frozenset[str]
    tree: exp.Query


def check_statement(
    sql: str, tables: frozenset[str], known: frozenset[str] = frozenset()
) -> CheckedStatement:
    """Checks that a text is one SELECT over these tables and views, and returns it parsed; `known`
    are all tables, for the error's words.

    Raises:
        UnsafeStatement: it is not; the message names the place.
    """
    if len(sql) > MAX_SQL_CHARACTERS:
        raise UnsafeStatement(
            f"the statement has {len(sql)} characters; shorten it to {MAX_SQL_CHARACTERS}"
        )
    tree = parse_select(sql, error=UnsafeStatement)
    for node in tree.walk():
        if isinstance(
            node, (exp.DML, exp.DDL, exp.Command, exp.Pragma, exp.Attach)
        ) and not isinstance(node, exp.Query):
            raise UnsafeStatement(f"{node.key.upper()} is not allowed; write one SELECT statement")
        if isinstance(node, exp.Into):
            raise UnsafeStatement("SELECT INTO is not allowed; write a plain SELECT")
    _check_types(tree)
    _check_expansion(tree)
    return CheckedStatement(_tables(tree, tables, known), tree)


def _tables(tree: exp.Query, visible: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    permitted = {fold(name): name for name in visible}
    local = {fold(cte.alias) for cte in tree.find_all(exp.CTE)}
    found = set()
    for table in tree.find_all(exp.Table):
        name = table.name
        if not isinstance(table.this, exp.Identifier):
            raise UnsafeStatement(
                f"the table function {table.sql('sqlite')} is not allowed; read tables only"
            )
        qualified = table.args.get("db") is not None
        if qualified and (table.args.get("catalog") is not None or fold(table.db) != "main"):
            raise UnsafeStatement(
                f"{table.sql('sqlite')} names another database; write the table's name alone"
            )
        if fold(name) in permitted:
            found.add(permitted[fold(name)])
        elif qualified or fold(name) not in local:
            raise UnsafeStatement(_unknown_table(name, visible, known))
    return frozenset(found)


def _unknown_table(name: str, visible: frozenset[str], known: frozenset[str]) -> str:
    close = did_you_mean(name, visible)
    listed = ", ".join(sorted(visible)) or "none"
    what = "may not be read" if name in known else "does not exist"
    hint = f"; {close}" if close else "."
    return f"table {name!r} {what}{hint} The tables are: {listed}"


def _check_types(tree: exp.Query) -> None:
    """Refuses casts to anything but plain types: for some types the server would read its
    catalogs.
    """
    for cast in tree.find_all(exp.Cast):
        kind = cast.to
        if kind.this not in _TYPES or (kind.expressions and kind.this in exp.DataType.NESTED_TYPES):
            raise UnsafeStatement(
                f"a cast to {kind.sql(DIALECT)} is not allowed; cast to TEXT, INTEGER, REAL, "
                "NUMERIC, BOOLEAN, DATE or TIMESTAMP"
            )


@dataclass(frozen=True, slots=True)
class _Size:
    """The number of nodes of a query when every named subquery is written out, and the nodes of
    each of its columns.
    """

    nodes: int
    columns: Mapping[str, int]


def _check_expansion(tree: exp.Query) -> None:
    """Limits what an engine writes out before it can be interrupted: copies of named subqueries,
    and expressions of inner queries in the place of their columns.
    """
    if _sized(tree, {}).nodes > MAX_EXPANSION:
        raise UnsafeStatement(
            "the statement names its subqueries, or the columns of inner ones, too many times "
            "over; write it flatter"
        )


def _sized(query: exp.Expr, named: Mapping[str, _Size]) -> _Size:
    """The size of a query; `named` are the sizes of the named subqueries around it."""
    inside = dict(named)
    clause = query.args.get("with_") or query.args.get("with")
    for cte in clause.expressions if clause is not None else ():
        # A definition that names itself is recursive: there it is no copy.
        body = _sized(cte.this, inside | {fold(cte.alias): _Size(1, {})})
        inside[fold(cte.alias)] = body
    if isinstance(query, exp.SetOperation):
        left, right = _sized(query.this, inside), _sized(query.expression, inside)
        return _Size(_bounded(left.nodes + right.nodes), _larger(left.columns, right.columns))
    if isinstance(query, exp.Subquery):
        return _sized(query.this, inside)
    sources, nodes = {}, 1
    for source in [query.args.get("from_") or query.args.get("from"), *query.args.get("joins", ())]:
        relation = source.this if source is not None else None
        if isinstance(relation, exp.Table):
            known = inside.get(fold(relation.name)) if not relation.db else None
            size = known or _Size(1, {})
        elif isinstance(relation, exp.Subquery):
            size = _sized(relation, inside)
        else:
            continue
        sources[fold(relation.alias_or_name)] = size
        nodes += size.nodes
    return _with_expressions(query, inside, sources, nodes)


def _with_expressions(
    query: exp.Expr, named: Mapping[str, _Size], sources: Mapping[str, _Size], nodes: int
) -> _Size:
    """The size of a SELECT over sources of known sizes."""
    columns: dict[str, int] = {}
    for column in query.expressions if isinstance(query, exp.Select) else ():
        size = _written_out(column, named, sources)
        nodes += size
        if column.is_star:
            for source in sources.values():
                columns |= source.columns
        else:
            columns[fold(column.alias_or_name)] = _bounded(size)
    for name in ("where", "group", "having", "order", "qualify", "windows"):
        part = query.args.get(name)
        for one in part if isinstance(part, list) else [part]:
            nodes += _written_out(one, named, sources) if one is not None else 0
    for join in query.args.get("joins", ()):
        condition = join.args.get("on")
        nodes += _written_out(condition, named, sources) if condition is not None else 0
    return _Size(_bounded(nodes), columns)


def _written_out(
    expression: exp.Expr, named: Mapping[str, _Size], sources: Mapping[str, _Size]
) -> int:
    """The nodes of an expression when its columns and subqueries are written out."""
    nodes, todo = 0, [expression]
    while todo:
        node = todo.pop()
        if isinstance(node, (exp.Query, exp.Subquery)):
            nodes += _sized(node, named).nodes
        elif isinstance(node, exp.Column):
            nodes += _of_column(node, sources)
        else:
            nodes += 1
            todo += node.iter_expressions()
    return nodes


def _of_column(column: exp.Column, sources: Mapping[str, _Size]) -> int:
    name = fold(column.name)
    holders = [sources[fold(column.table)]] if fold(column.table) in sources else sources.values()
    return max((source.columns.get(name, 1) for source in holders), default=1)


def _larger(left: Mapping[str, int], right: Mapping[str, int]) -> Mapping[str, int]:
    """The larger size of each column of two queries of a union, under the names of the first."""
    beside = [*right.values(), *([1] * len(left))]
    return {name: max(size, beside[place]) for place, (name, size) in enumerate(left.items())}


def _bounded(size: int) -> int:
    return min(size, MAX_EXPANSION + 1)
