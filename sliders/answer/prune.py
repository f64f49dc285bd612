"""A result that shows more columns than were asked for keeps those that answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sliders.answer.question import asks_number, items_asked, normal


def asked_columns(question: str, tree: exp.Query, rows: Sequence[Sequence[object]]) -> tuple[int, ...] | None:
    """Places of the columns to keep, None to keep all.

    A question for one number keeps the aggregate; a question for one thing drops what the rows were only ordered by.
    """
    if not isinstance(tree, exp.Select) or len(tree.expressions) < 2 or len(tree.expressions) <= items_asked(question):
        return None
    if tree.find(exp.Star) and any(isinstance(item, exp.Star) for item in tree.expressions):
        return None
    measured = [place for place, item in enumerate(tree.expressions) if _is_measure(tree, item)]
    others = [place for place in range(len(tree.expressions)) if place not in measured]
    if asks_number(question) and not re.search(r"\b(?:each|every|per)\b", question, re.I):
        numeric = [place for place in measured if rows and isinstance(rows[0][place], int | float)]
        return (numeric[-1],) if numeric else None
    given = _given(question, tree, measured)
    if given is not None:
        return given
    if items_asked(question) == 1 and measured and others:
        return tuple(others)
    return None


def _given(question: str, tree: exp.Select, measured: Sequence[int]) -> tuple[int, ...] | None:
    """The columns that "Give a, b and c" names, where they are as many as it asks for."""
    clause = re.search(r"(?:^|[.?!]\s+)(?:give|state|report|return)\s+(.*)", question, re.I)
    if not clause:
        return None
    words = normal(clause.group(1))
    places = [place for place, item in enumerate(tree.expressions) if place in measured or _in(item, words)]
    return tuple(places) if len(places) == items_asked(question) else None


def _in(item: exp.Expr, words: str) -> bool:
    return any(f" {word} " in f" {words} " for word in normal(item.alias_or_name.replace("_", " ")).split())


def keep(tree: exp.Select, places: Sequence[int]) -> exp.Select:
    """The statement with only the columns at `places`; what it groups and orders by stays the same."""
    kept = resolved(tree)
    kept.set("expressions", [tree.expressions[place].copy() for place in places])
    return kept


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


def _is_measure(tree: exp.Select, item: exp.Expr) -> bool:
    """An aggregate, or what the rows are ordered by."""
    bare = item.unalias()
    if bare.find(exp.AggFunc) and not bare.find(exp.GroupConcat):
        return True
    order = tree.args.get("order")
    keys = [key.this for key in order.expressions] if order else []
    if any(isinstance(key, exp.Literal) and key.name == str(tree.expressions.index(item) + 1) for key in keys):
        return True
    return any(
        key == bare or (isinstance(key, exp.Column) and key.name.lower() == item.alias_or_name.lower()) for key in keys
    )
