"""Copies of a statement in which canonical names stand in the place of printed forms, to measure
the effect of the forms.
"""

from __future__ import annotations

from sqlglot import exp

from sliders.answer.profile import ColumnProfile, TableProfile
from sliders.answer.references import References

TESTS = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike, exp.Glob)


def over_names(
    tree: exp.Query, names: References, table: TableProfile, column: str, canonical: str
) -> exp.Query:
    """Returns a copy in which the printed column holds the canonical names. A name passes a test
    when one of its forms passes it. In a copy that selects all columns, only the tests are changed.
    """
    copy = tree.copy()
    known = References(copy, names.profiles)
    whole = any(not isinstance(star.parent, exp.Count) for star in copy.find_all(exp.Star))
    tests = [test for test in copy.find_all(*TESTS) if _of_forms(test, known, table, column)]
    sources = [
        s for s in copy.find_all(exp.Table) if known.aliases.get(s.alias_or_name.lower()) is table
    ]
    for source in () if whole else sources:
        source.replace(_named(source, copy, table, column, canonical))
    for test in tests:
        test.replace(_passing(test, table, column, canonical, whole))
    return copy


def owner_of(node: exp.Column, names: References) -> tuple[TableProfile, ColumnProfile] | None:
    """Returns the table and column that a name means, also behind an alias; None for other
    expressions.
    """
    if (own := names.of(node)) is not None:
        return own
    aliases = (
        alias
        for alias in names.tree.find_all(exp.Alias)
        if alias.alias.lower() == node.name.lower()
    )
    behind = (names.of(one) for alias in aliases for one in alias.this.find_all(exp.Column))
    return next((one for one in behind if one is not None), None)


def _of_forms(test: exp.Expr, names: References, table: TableProfile, column: str) -> bool:
    """Says whether a test is about single forms of a column alone, so that the printed form decides
    it.
    """
    columns = {(node.table, node.name): node for node in test.find_all(exp.Column)}
    if len(columns) != 1 or test.find(exp.AggFunc, exp.Query, exp.Window, exp.Exists) is not None:
        return False
    owner = owner_of(next(iter(columns.values())), names)
    return owner is not None and owner[0] is table and owner[1].column.name == column


def _named(
    source: exp.Table, tree: exp.Query, table: TableProfile, column: str, canonical: str
) -> exp.Subquery:
    """Returns a table whose printed column holds the names, with the columns that a statement
    reads.
    """
    read = {node.name.lower() for node in tree.find_all(exp.Column)}
    read |= {
        node.name.lower()
        for join in tree.find_all(exp.Join)
        for node in join.args.get("using") or ()
    }
    known = [c.column.name for c in table.columns] + [table.view.row_id] * bool(table.view.row_id)
    kept: list[exp.Expr] = [
        exp.column(name, quoted=True) for name in known if name.lower() in read and name != column
    ]
    name = exp.alias_(exp.column(canonical, quoted=True), column, quoted=True)
    return exp.select(*kept, name).from_(_bare(table)).subquery(source.alias_or_name)


def _passing(
    test: exp.Expr, table: TableProfile, column: str, canonical: str, whole: bool
) -> exp.Expr:
    """Returns the test whether any form of the row's name passes; for a negated test, whether none
    does.
    """
    node = next(test.find_all(exp.Column)).copy()
    inner: exp.Expr = test.copy()
    if denied := isinstance(test, exp.NEQ):
        inner = exp.EQ(this=inner.this, expression=inner.expression)
    for own in list(inner.find_all(exp.Column)):
        own.replace(exp.column(column, quoted=True))
    forms = exp.select(exp.column(canonical, quoted=True)).from_(_bare(table)).where(inner)
    of_row = exp.column(canonical, table=node.table or None, quoted=True) if whole else node
    passing = of_row.isin(query=forms)
    return exp.Not(this=passing) if denied else passing


def _bare(table: TableProfile) -> exp.Table:
    return exp.table_(table.view.name, quoted=True)
