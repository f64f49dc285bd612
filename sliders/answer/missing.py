"""Columns and values that stand in a table which the statement does not read: switch to it, join it, or ask it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sliders.answer import match
from sliders.answer.profile import TEXTUAL, ColumnProfile, TableProfile
from sliders.answer.scope import Names, near_name


def bring_in(tree: exp.Query, profiles: Sequence[TableProfile]) -> list[str]:
    """Read missing columns from the one table that has them, in place; returns what was done.

    One table that holds every column takes the place of the table that was read; else the tables are joined over a
    column of the same name. Nothing happens when the way is not clear.
    """
    names = Names(tree, profiles)
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) > 1 or not names.used():
        return []
    columns = [column for column in tree.find_all(exp.Column) if not isinstance(column.this, exp.Star)]
    missing = [column for column in columns if names.is_missing(column)]
    if not missing or any(column.find_ancestor(exp.Or) or near_name(column.name, names.used()) for column in missing):
        return []
    read = names.used()
    others = [one for one in profiles if one not in read and all(one.column(column.name) for column in missing)]
    whole = [one for one in others if all(one.column(c.name) or names.is_derived(c) for c in columns)]
    if len(read) == 1 and len(whole) == 1:
        next(iter(tree.find_all(exp.Table))).replace(exp.to_table(whole[0].view.name))
        for column in columns:
            column.set("table", None)
        return [f"{whole[0].view.name} holds every column: read instead of {read[0].view.name}"]
    links = [(one, mine, shared) for one in others for mine in read for shared in shared_columns(mine, one)[:1]]
    if len(links) != 1:
        return []
    other, mine, shared = links[0]
    for column in columns:
        if column.table and not names.is_missing(column):
            continue
        if not names.is_derived(column):
            column.set(
                "table", exp.to_identifier(other.view.name if names.is_missing(column) else names.alias_at(column))
            )
    here, there = exp.column(shared, table=names.alias_of(mine)), exp.column(shared, table=other.view.name)
    tree.join(exp.to_table(other.view.name), on=exp.EQ(this=here, expression=there), copy=False)
    return [f"{other.view.name} joined over {shared}"]


def shared_columns(left: TableProfile, right: TableProfile) -> list[str]:
    """Columns of the same name with values in common, the document's name last."""
    found = [
        column.column.name
        for column in left.columns
        if (twin := right.column(column.column.name)) and set(column.texts) & set(twin.texts)
    ]
    return sorted(found, key=lambda name: (name in {left.view.document, "document"}, "name" in name))


def ask_other(column: exp.Expr, text: str, owner: TableProfile, profile: ColumnProfile, names: Names) -> str:
    """A test of a value that stands in one column of a linked table becomes a test over that table."""
    places = [
        (table, other, values[0], links[0])
        for table in names.profiles
        if table is not owner and (links := shared_columns(owner, table))
        for other in table.columns
        if other.column.type in TEXTUAL and (values := match.same(text, other.texts))
    ]
    test = column.parent
    if len(places) != 1 or not isinstance(test, exp.EQ):
        return ""
    table, other, value, link = places[0]
    inner = exp.select(link).from_(table.view.name)
    inner = inner.where(exp.EQ(this=exp.column(other.column.name), expression=exp.Literal.string(value)))
    linked = column.copy()
    linked.set("this", exp.to_identifier(link))
    test.replace(exp.In(this=linked, query=exp.Subquery(this=inner)))
    return f"{text!r} is a value of {table.view.name}.{other.column.name}, not of {profile.column.name}: asked there"
