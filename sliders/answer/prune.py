"""A result that shows more columns than were asked for keeps those that answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sliders.answer.question import asks_number, items_asked


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
    if items_asked(question) == 1 and measured and others:
        return tuple(others)
    return None


def _is_measure(tree: exp.Select, item: exp.Expression) -> bool:
    """An aggregate, or what the rows are ordered by."""
    bare = item.unalias()
    if bare.find(exp.AggFunc) and not bare.find(exp.GroupConcat):
        return True
    order = tree.args.get("order")
    keys = [key.this for key in order.expressions] if order else []
    return any(key == bare or (isinstance(key, exp.Column) and key.name.lower() == item.alias_or_name.lower()) for key in keys)
