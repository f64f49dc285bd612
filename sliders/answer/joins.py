"""A join that gives nothing, of tables of which one holds every column, is asked of that one alone."""

from __future__ import annotations

from sqlglot import exp

from sliders.answer.scope import DIALECT, Names


def single_table_sql(tree: exp.Query, names: Names) -> str | None:
    """The same statement over the one joined table that has every column it reads; None when there is no such table.

    Joins of a table with itself, and statements with subqueries, stay as they are.
    """
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) > 1 or not tree.args.get("joins"):
        return None
    joined = [table.name.lower() for table in tree.find_all(exp.Table)]
    if len(set(joined)) < len(joined):
        return None
    alone = tree.copy()
    alone.set("joins", None)
    read = {column.name.lower() for column in alone.find_all(exp.Column)}
    named = {alias.alias.lower() for alias in alone.find_all(exp.Alias)}
    holders = [profile for profile in names.used() if all(profile.column(name) for name in read - named)]
    if not holders:
        return None
    table = next(iter(alone.find_all(exp.Table)))
    table.replace(exp.to_table(holders[-1].view.name))
    for column in alone.find_all(exp.Column):
        column.set("table", None)
    return alone.sql(DIALECT)
