"""Rewritings of a statement that the review finds odd; each is taken only where the review finds less in what it gives."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sliders.answer.profile import NUMERIC
from sliders.answer.question import NamedValue
from sliders.answer.review import invented_filters, is_zero, unread_numbers
from sliders.answer.scope import DIALECT, Names, drop_condition, stated_tests
from sliders.answer.shape import empty
from sliders.answer.values import QueryResult
from sliders.schema.names import spoken_name


def without_invented_sql(
    question: str, tree: exp.Query, result: QueryResult, names: Names, named: Sequence[NamedValue]
) -> str | None:
    """A statement that gives nothing, without its filters on names that the question does not say; it must say others."""
    if not empty(result.rows) and not is_zero(result):
        return None
    tree = tree.copy()
    said = {value.value for value in named}
    if not any(node.expression.name in said for node in tree.find_all(exp.EQ) if isinstance(node.expression, exp.Literal)):
        return None
    dropped = [drop_condition(node) for node in invented_filters(question, tree, Names(tree, names.profiles), named)]
    return tree.sql(DIALECT) if dropped and all(dropped) else None


def without_unstated_sql(tree: exp.Query, result: QueryResult, names: Names) -> str | None:
    """A statement that gives nothing, without its tests that a column has a value where no row has any: other columns may."""
    if not empty(result.rows):
        return None
    tree = tree.copy()
    tests = stated_tests(tree)
    bare = [node for node in tests if (found := names.resolve(node.this.this)) is not None and not found[1].distinct]
    return tree.sql(DIALECT) if bare and all([drop_condition(node) for node in bare]) else None


def with_spoken_sql(question: str, tree: exp.Query, names: Names) -> str | None:
    """The statement with the one number that the question speaks of in place of the one that it reads, of which the
    question says no word."""
    found = {id(node): at for node in tree.find_all(exp.Column) if (at := names.resolve(node)) and at[1].column.type in NUMERIC}
    read = {at[1].column.name: at[0] for at in found.values()}
    spoken = unread_numbers(question, tree, names.profiles)
    if len(read) != 1 or len(spoken) != 1:
        return None
    (own, table), said = next(iter(read.items())), set(re.findall(r"[a-z]+", question.lower()))
    if said & set(spoken_name(own).split()) or table.column(spoken[0]) is None:
        return None
    tree = tree.copy()
    for node in tree.find_all(exp.Column):
        if node.name.lower() == own.lower():
            node.set("this", exp.to_identifier(spoken[0]))
    return tree.sql(DIALECT)
