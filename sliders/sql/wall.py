"""The parser's wall: one SELECT over known tables, with an error that says where it goes wrong."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sliders.errors import UnsafeStatement
from sliders.sql.identifiers import fold
from sliders.sql.limits import MAX_SQL_CHARACTERS
from sliders.sql.names import did_you_mean
from sliders.sql.statement import parse_select

MAX_EXPANSION = 2_000


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A statement that passed: the tables that it reads, and its syntax tree."""

    tables: frozenset[str]
    tree: exp.Query


def check_statement(
    sql: str, tables: frozenset[str], known: frozenset[str] = frozenset()
) -> CheckedStatement:
    """Parse a statement and check that it is one SELECT over these tables and views;
    `known` are all, for the error's words.

    Raises:
        UnsafeStatement: it is not, with the place where it goes wrong.
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


def _check_expansion(tree: exp.Query) -> None:
    """Bound the copies that the engine makes of subqueries with names, which
    double with every level.

    SQLite copies a common table expression for each place that names it, before
    anything can interrupt it.
    """
    definitions = [(fold(cte.alias), cte.this) for cte in tree.find_all(exp.CTE)]
    sizes = {name: 1 for name, _ in definitions}
    for _ in definitions:
        # A definition that names itself is recursive, and not copied there.
        grown = {name: 1 + _copies(body, sizes, own=name) for name, body in definitions}
        settled = grown == sizes or max(grown.values()) > MAX_EXPANSION
        sizes = grown
        if settled:
            break
    if _copies(tree, sizes) > MAX_EXPANSION:
        raise UnsafeStatement(
            "the statement names its subqueries too many times over; write it flatter"
        )


def _copies(tree: exp.Expr, sizes: dict[str, int], own: str = "") -> int:
    names = (fold(table.name) for table in tree.find_all(exp.Table))
    return sum(sizes.get(name, 1) for name in names if name != own)
