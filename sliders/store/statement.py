"""The parser's wall: one SELECT over known tables, with an error that says where it goes wrong."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from sqlglot import Dialect, TokenType, exp
from sqlglot.errors import SqlglotError

from sliders.errors import UnsafeStatement
from sliders.store.sql_names import fold

MAX_SQL_CHARACTERS = 50_000
MAX_EXPANSION = 2_000
_FIRST = {TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN}


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
    tree = _parse(sql)
    if not isinstance(tree, exp.Query):
        kind = tree.key.upper() if not isinstance(tree, exp.Command) else str(tree.this).upper()
        raise UnsafeStatement(f"{kind} is not allowed; write one SELECT statement")
    for node in tree.walk():
        if isinstance(
            node, (exp.DML, exp.DDL, exp.Command, exp.Pragma, exp.Attach)
        ) and not isinstance(node, exp.Query):
            raise UnsafeStatement(f"{node.key.upper()} is not allowed; write one SELECT statement")
        if isinstance(node, exp.Into):
            raise UnsafeStatement("SELECT INTO is not allowed; write a plain SELECT")
    _check_expansion(tree)
    return CheckedStatement(_tables(tree, tables, known), tree)


def _parse(sql: str) -> exp.Expr:
    dialect = Dialect.get_or_raise("sqlite")
    try:
        tokens = dialect.tokenize(sql)
        # Other kinds are refused before the parser warns on the terminal that
        # it does not know them.
        if tokens and tokens[0].token_type not in _FIRST:
            raise UnsafeStatement(
                f"{tokens[0].text.upper()[:40]} is not allowed; write one SELECT statement"
            )
        parsed = dialect.parser().parse(tokens, sql)
    except SqlglotError as error:
        raise UnsafeStatement(_syntax_message(error)) from error
    except RecursionError as error:
        raise UnsafeStatement("the statement is nested too deeply; write it flatter") from error
    statements = [
        tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)
    ]
    if not statements:
        raise UnsafeStatement("there is no statement; write one SELECT statement")
    if len(statements) > 1:
        raise UnsafeStatement(
            f"there are {len(statements)} statements; write only one SELECT statement"
        )
    return statements[0]


def _syntax_message(error: SqlglotError) -> str:
    details = getattr(error, "errors", None)
    if not details:
        return f"the statement does not parse: {error}; correct it and try again"
    first = details[0]
    near = (
        f"{first.get('start_context', '')[-30:]}>>{first.get('highlight', '')}<<"
        f"{first.get('end_context', '')[:30]}"
    )
    return (
        f"the statement does not parse at line {first.get('line')}, column {first.get('col')}: "
        f"{first.get('description')} near {near!r}; correct it and try again"
    )


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
    close = difflib.get_close_matches(name, visible, n=1)
    listed = ", ".join(sorted(visible)) or "none"
    what = "may not be read" if name in known else "does not exist"
    hint = f"; did you mean {close[0]!r}?" if close else "."
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
