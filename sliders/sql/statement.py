"""The parser of statements, and the error sentences for text that is no single SELECT."""

from __future__ import annotations

import re

import sqlglot
from sqlglot import Dialect, TokenType, exp
from sqlglot.errors import SqlglotError

from sliders.errors import QueryError, SlidersError

DIALECT = "sqlite"
_SQLITE = Dialect.get_or_raise(DIALECT)
_OTHER_STATEMENTS = frozenset(
    {*_SQLITE.parser_class.STATEMENT_PARSERS, *_SQLITE.tokenizer_class.COMMANDS, TokenType.REPLACE}
) - {TokenType.SEMICOLON}
_DEEPEST = 150
"""The most levels of a statement; functions that walk it recursively could not go deeper."""
_HALF = re.compile("[\ud800-\udfff]")
_BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""The errors that the parser itself raises on some texts."""
_INNER = re.compile(r" but got <.*>|\x1b\[\d*m")
"""Representations of the parser's objects, and colour codes, in its messages."""


def parse_statements(
    sql: str,
    dialect: str = DIALECT,
    *,
    error: type[SlidersError] = QueryError,
    text: str = "the SQL",
    wanted: str = "one SQLite SELECT",
    plain: bool = False,
) -> list[exp.Expr]:
    """Returns the statements of a text, of any kind.

    Args:
        error: the class of the error for a text that does not parse.
        text: the name of the text in the error.
        wanted: what the error asks for.
        plain: True removes the parser's own objects from the error's words.
    """
    if _HALF.search(sql):
        raise error(f"{text} holds half a character; write it without")
    try:
        parsed = sqlglot.parse(sql, dialect=dialect)
    except SqlglotError as found:
        words = (_INNER.sub("", str(found)) if plain else str(found)).strip().splitlines()
        raise error(
            f"{text} does not parse: {words[0] if words else 'check its syntax'}; write {wanted}"
        ) from found
    except RecursionError as found:
        raise error(f"{text} is nested too deeply; write it flatter") from found
    except _BROKEN as found:
        raise error(f"{text} does not parse; write {wanted}") from found
    trees = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    if any(_depth(tree) > _DEEPEST for tree in trees):
        raise error(f"{text} is nested too deeply; write it flatter")
    return trees


def _depth(tree: exp.Expr) -> int:
    """Levels of a tree; a chain of AND or OR is one."""
    deepest, todo = 0, [(tree, 1)]
    while todo:
        node, depth = todo.pop()
        deepest = max(deepest, depth)
        for child in node.iter_expressions():
            chained = isinstance(node, exp.Connector) and type(child) is type(node)
            todo.append((child, depth + (not chained)))
    return deepest


def parse_select(
    sql: str, dialect: str = DIALECT, error: type[SlidersError] = QueryError
) -> exp.Query:
    """Returns the single SELECT of a text.

    Raises `error`: the text does not parse, is not one statement, or is no SELECT.
    """
    if kind := _other_statement(sql):
        raise error(f"{kind} is not allowed; write one SELECT statement")
    trees = parse_statements(sql, dialect, error=error)
    if len(trees) != 1:
        raise error(f"{len(trees)} statements were given; write exactly one SELECT")
    [tree] = trees
    if isinstance(tree, (exp.DML, exp.DDL)) and not isinstance(tree, exp.Query):
        raise error(f"{tree.key.upper()} is not allowed; write one SELECT statement")
    if not isinstance(tree, exp.Query):
        raise error("the statement is not a SELECT; write one SELECT")
    return tree


def _other_statement(sql: str) -> str:
    """Returns the first word of a text that begins like a statement of another kind; "" for none.
    The parser would print a warning about some of them.
    """
    try:
        tokens = _SQLITE.tokenize(sql)
    except SqlglotError:
        return ""
    other = bool(tokens) and tokens[0].token_type in _OTHER_STATEMENTS
    return tokens[0].text.upper()[:40] if other else ""


def parse_part(sql: str, dialect: str = DIALECT) -> exp.Expr:
    """Parses an expression or statement that the package itself wrote."""
    return sqlglot.parse_one(sql, dialect=dialect)


def statement_in(reply: str) -> str:
    """Returns the statement in a reply, without a code fence and a trailing semicolon."""
    text = reply.strip()
    if "```" in text:
        text = text.split("```")[1]
        head, _, rest = text.partition("\n")
        text = rest if head.strip().isalpha() and rest.strip() else text
    return text.strip().removesuffix(";").strip()


def with_apostrophes(sql: str) -> str:
    """A statement with each apostrophe between two letters doubled, as a string of SQL spells it.

    >>> with_apostrophes("SELECT price FROM t WHERE name = 'Piper's Row'")
    "SELECT price FROM t WHERE name = 'Piper''s Row'"
    """
    return re.sub(r"(?<=\w)'(?=\w)", "''", sql)


def without_limit(sql: str) -> str:
    """Returns the statement without its LIMIT.

    Raises:
        QueryError: it is no single SELECT.
    """
    tree = parse_select(sql)
    tree.set("limit", None)
    return tree.sql(DIALECT)
