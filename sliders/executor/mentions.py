"""A count of zero that is certain: no document says the name that the question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sliders.answer.question import normal
from sliders.answer.scope import DIALECT, parse_select
from sliders.answer.values import SqlAnswer
from sliders.executor.session import Session
from sliders.schema.names import spoken_name
from sliders.schema.types import ColumnType, Table


def none_mentioned(session: Session, found: SqlAnswer) -> SqlAnswer:
    """The answer, zero instead of "not found" where the question counts what has a name that no document mentions.

    Some rows are without a value in the tested column, so that the tables alone cannot tell; the texts can.
    """
    if found.status != "not_found" or not found.sql:
        return found
    tree = parse_select(found.sql)
    counts = isinstance(tree, exp.Select) and len(tree.expressions) == 1 and isinstance(tree.expressions[0], exp.Count)
    asked = f" {normal(found.question)} "
    names = [name for name in _tested(tree) if f" {normal(name)} " in asked and name[:1].isupper()] if counts else []
    unsaid = [name for name in names if not _mentioned(session, name)]
    if not unsaid:
        return found
    reason = f"no document mentions {unsaid[0]!r}"
    session.decide("answer", "question", "zero", f"{reason}: {tree.sql(DIALECT)}")
    return replace(found, status="answered", value=0, text="0.", columns=("count",), rows=((0,),), reason=reason)


def none_happened(session: Session, question: str, table: Table) -> str:
    """Why the count is zero where a table without rows tells one thing that may have happened; "" where it may have.

    "How many of the voyages ended in mutiny" is zero where no document mentions a mutiny.
    """
    told = [spoken_name(c.name) for c in table.columns if c.type is ColumnType.BOOLEAN]
    counts = re.match(r"how many\b", question.strip(), re.IGNORECASE)
    if not counts or len(table.columns) != 1 or not told or f" {told[0]} " not in f" {normal(question)} ":
        return ""
    return "" if _mentioned(session, told[0]) else f"no document mentions {told[0]!r}"


def _tested(tree: exp.Query) -> Iterator[str]:
    for node in tree.find_all(exp.EQ, exp.Like):
        literal = node.expression
        if isinstance(literal, exp.Literal) and literal.is_string and len(literal.name.strip("%")) >= _SHORTEST:
            yield literal.name.strip("%")


_SHORTEST = 4


def _mentioned(session: Session, name: str) -> bool:
    """Whether a document has the name, on one line or over two, in any case."""
    if not name.isascii():
        return True  # SQLite knows no capitals of other letters: what it does not find may still be there
    words = re.findall(r"\w+", name.casefold())
    holding = " AND ".join("instr(lower(text), ?) > 0" for _ in words)
    texts = session.catalog.database.query(
        f"SELECT text FROM sl_documents WHERE superseded_by IS NULL AND {holding}", tuple(words)
    )
    return any(re.search(r"\W+".join(map(re.escape, words)), str(text).casefold()) for (text,) in texts)
