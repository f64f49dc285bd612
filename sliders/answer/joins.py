"""Joins that are not needed: those that give nothing where one table holds all, and those that only repeat rows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sliders.answer.profile import TEXTUAL, ColumnProfile, TableProfile
from sliders.answer.prune import resolved
from sliders.answer.scope import DIALECT, Names, drop_condition, stated_tests
from sliders.answer.values import RunSql
from sliders.schema.opponents import side_columns
from sliders.schema.types import ColumnType


def repair_conditions(tree: exp.Query, names: Names) -> Iterator[str]:
    """A join on a column of one table alone is made on what both tables have: their text columns of one name. So is a join
    of the rows of two lists on their document alone, which pairs every row of one with every row of the other, and one of
    the sides of results on their names alone, which pairs a row with the results of all documents."""
    for join in list(tree.find_all(exp.Join)):
        on = _one_test(join.args.get("on"))
        if on is None or not isinstance(join.this, exp.Table):
            continue
        own, joined, other = names.resolve(on.this), names.of_alias(join.this.alias_or_name), names.resolve(on.expression)
        if own is None or joined is None:
            continue
        if own == other and own[0] is joined and (read := _read_table(join, names)) is not None:
            own = other = (read, own[1])
        if other is not None and own[0] is joined:
            own, other = other, own
        lists = other is not None and own[0] is not other[0] and (_pairs_lists(own, other) or _pairs_sides(own, other))
        if own[0] is joined or not (own == other or lists):
            continue
        shared = [c.column.name for c in joined.columns if c.column.type in TEXTUAL and own[0].column(c.column.name)]
        pairs = [(name, name) for name in shared]
        if lists and shared == [own[0].view.document]:
            pairs += _same_things(own[0], joined)
        if not pairs or (lists and len(pairs) == 1):
            continue
        sides = names.alias_of(own[0]), join.this.alias_or_name
        tests = [exp.EQ(this=exp.column(a, table=sides[0]), expression=exp.column(b, table=sides[1])) for a, b in pairs]
        join.set("on", exp.and_(*tests))
        yield f"joined on {' and '.join(a if a == b else f'{a} = {b}' for a, b in pairs)}, which both tables have"


def _one_test(on: exp.Expr | None) -> exp.EQ | None:
    """The condition where it is one equality, or several that each compare a column with itself."""
    tests = list(on.flatten()) if isinstance(on, exp.And) else [on]
    equal = [test for test in tests if isinstance(test, exp.EQ)]
    void = [test for test in equal if test.this.sql(DIALECT).lower() == test.expression.sql(DIALECT).lower()]
    return equal[0] if len(equal) == len(tests) and (len(tests) == 1 or len(void) == len(tests)) else None


def _read_table(join: exp.Join, names: Names) -> TableProfile | None:
    """The table that a join is made to."""
    select = join.parent
    read = (select.args.get("from_") or select.args.get("from")) if isinstance(select, exp.Select) else None
    return names.of_alias(read.this.alias_or_name) if read is not None else None


def _same_things(one: TableProfile, other: TableProfile) -> list[tuple[str, str]]:
    """The first pair of text columns that hold names of the same things: most values of one stand in the other, too."""
    files = (one.view.document, other.view.document)
    for a in one.columns:
        for b in other.columns:
            texts = [c for c in (a, b) if c.column.type is ColumnType.TEXT and c.column.name not in files and c.texts]
            if len(texts) == _PAIR and _share_names(a, b):
                return [(a.column.name, b.column.name)]
    return []


_MOST = 0.5


def _pairs_lists(one: tuple[TableProfile, ColumnProfile], other: tuple[TableProfile, ColumnProfile]) -> bool:
    """Whether both are the file names of tables with many rows a document."""
    views = (one[0].view, other[0].view)
    files = one[1].column.name == views[0].document and other[1].column.name == views[1].document
    return bool(views[0].document) and files and all(view.table.grain == "many" for view in views)


def repair_sides(tree: exp.Query, names: Names) -> Iterator[str]:
    """A test that a joined row names something at all, of a table that is read for nothing else, asks whether it is what
    the row of the list belongs to: "rowers of a crew that lost", with `loser IS NOT NULL`."""
    joins = list(tree.find_all(exp.Join))
    on = _one_test(joins[0].args.get("on")) if len(joins) == 1 else None
    lists = [table for table in names.used() if table.view.table.grain == "many"]
    if on is None or len(lists) != 1 or len(names.used()) != _PAIR:
        return
    for test in stated_tests(tree):
        found = names.resolve(test.this.this)
        if found is None or found[0] is lists[0] or not _only_read(tree, test, on, names, found[0]):
            continue
        own = next((c for c in lists[0].columns if c.column.type in TEXTUAL and _share_names(c, found[1])), None)
        if own is not None:
            side = exp.column(own.column.name, table=names.alias_of(lists[0]))
            test.replace(exp.EQ(this=side, expression=test.this.this.copy()))
            yield f"{found[1].column.name} is the {own.column.name} of the row"


_PAIR = 2


def _only_read(tree: exp.Query, test: exp.Expr, on: exp.Expr, names: Names, table: TableProfile) -> bool:
    """Whether a statement reads a table nowhere but in one test and in the condition that joins it."""
    own = [node for node in tree.find_all(exp.Column) if (read := names.resolve(node)) is not None and read[0] is table]
    return all(any(part in (test, on) for part in _above(node)) for node in own)


def _above(node: exp.Expr) -> Iterator[exp.Expr]:
    while (parent := node.parent) is not None:
        yield parent
        node = parent


def _share_names(one: ColumnProfile, other: ColumnProfile) -> bool:
    """Whether most names of one column stand in the other, too."""
    known = min(len(one.texts), len(other.texts))
    return known > 0 and len(set(one.texts) & set(other.texts)) > _MOST * known


def _pairs_sides(one: tuple[TableProfile, ColumnProfile], other: tuple[TableProfile, ColumnProfile]) -> bool:
    """Whether two lists of documents are paired by the name of a side, which one of them has once for each of its results."""
    views = (one[0].view, other[0].view)
    lists = all(view.document and view.table.grain == "many" for view in views)
    named = one[1].column.name == other[1].column.name != views[0].document
    sides = [side_columns(view.table) for view in views]
    return lists and named and any(s is not None and s.own == one[1].column.name for s in sides)


def values_of_one_sql(tree: exp.Query, names: Names) -> str | None:
    """The statement over the one table that it selects from, which holds the values that it tests in joined ones.

    "The game that A won against B": `games.winner = A AND sides.opponent = B` is `winner = A AND loser = B`.
    """
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) > 1 or not tree.args.get("joins"):
        return None
    selected = [names.resolve(column) for item in tree.expressions for column in item.find_all(exp.Column)]
    owners = {found[0].view.name: found[0] for found in selected if found}
    if len(owners) != 1 or any(found is None for found in selected):
        return None
    owner = next(iter(owners.values()))
    alone = tree.copy()
    meant = [names.resolve(node.this) for node in alone.find_all(exp.EQ)]
    tested = {found[1].column.name for found in meant if found and found[0] is owner}
    for node in list(alone.find_all(exp.EQ)):
        found = names.resolve(node.this)
        literal = node.expression
        if found is None or found[0] is owner or not isinstance(literal, exp.Literal) or node.find_ancestor(exp.Join):
            continue
        holders = [c for c in owner.columns if c.column.name not in tested and literal.name in c.texts]
        if len(holders) != 1:
            return None
        node.set("this", exp.column(holders[0].column.name))
    alone.set("joins", None)
    if any(found[0] is not owner for column in alone.find_all(exp.Column) if (found := names.resolve(column))):
        return None
    return _over(alone, owner)


def single_table_sql(tree: exp.Query, names: Names) -> str | None:
    """The same statement over the one joined table that has every column it reads; None when there is no such table.

    A column of another table that is only tested to be there is not read. Joins of a table with itself, and statements
    with subqueries, stay as they are.
    """
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) > 1 or not tree.args.get("joins"):
        return None
    joined = [table.name.lower() for table in tree.find_all(exp.Table)]
    if len(set(joined)) < len(joined):
        return None
    alone = tree.copy()
    alone.set("joins", None)
    named = {alias.alias.lower() for alias in alone.find_all(exp.Alias)}
    tests = stated_tests(alone)
    tested = {id(column) for test in tests for column in test.find_all(exp.Column)}
    for loose in (set[int](), tested):
        read = {column.name.lower() for column in alone.find_all(exp.Column) if id(column) not in loose} - named
        holders = [profile for profile in names.used() if all(profile.column(name) for name in read)]
        if holders and (read or not loose):
            other = [test for test in tests if not all(holders[-1].column(c.name) for c in test.find_all(exp.Column))]
            return _over(alone, holders[-1]) if all([drop_condition(test) for test in other]) else None
    return None


def _over(alone: exp.Select, table: TableProfile) -> str:
    """A statement whose joins were taken away, over this table."""
    next(iter(alone.find_all(exp.Table))).replace(exp.to_table(table.view.name))
    for column in alone.find_all(exp.Column):
        column.set("table", None)
    return alone.sql(DIALECT)


def both_sql(tree: exp.Query, names: Names) -> str | None:
    """Two values of one column of a joined table that no row can hold together, asked of the rows that it belongs to.

    "The contract between A and B": `party = A AND party = B` becomes one group per contract that has a row of each.
    """
    if not isinstance(tree, exp.Select) or tree.args.get("group") or len(list(tree.find_all(exp.Select))) > 1:
        return None
    where, tables = tree.args.get("where"), list(tree.find_all(exp.Table))
    if where is None or len(tables) != 2 or any(item.find(exp.AggFunc) for item in tree.expressions):
        return None
    tests = [node for node in where.find_all(exp.EQ, exp.Like, exp.In) if isinstance(node.parent, exp.And)]
    by_column: dict[str, list[exp.Expr]] = {}
    for test in tests:
        by_column.setdefault(test.this.sql(DIALECT), []).append(test)
    clash = next((same for same in by_column.values() if len(same) > 1 and len(set(same)) > 1), None)
    found = names.resolve(clash[0].this) if clash else None
    if clash is None or found is None:
        return None
    keeper = next((table for table in tables if table.name.lower() != found[0].view.name.lower()), None)
    view = next((one.view for one in names.used() if keeper is not None and one.view.name == keeper.name), None)
    if keeper is None or view is None or not view.row_id:
        return None
    for test in clash:
        test.replace(exp.true())
    whole = tree.group_by(exp.column(view.row_id, table=keeper.alias_or_name))
    for test in clash:
        whole = whole.having(exp.GT(this=exp.Sum(this=exp.Paren(this=test.copy())), expression=exp.Literal.number(0)))
    return whole.sql(DIALECT)


def without_repetition_sql(tree: exp.Query, names: Names, run_sql: RunSql) -> str | None:
    """The statement without joined tables that it reads nothing from, when they only repeat the rows of the other.

    A join that filters keeps its place, and so does one whose rows are what is counted.
    """
    if not isinstance(tree, exp.Select) or not tree.args.get("joins") or len(list(tree.find_all(exp.Select))) > 1:
        return None
    if any(isinstance(count.this, exp.Star) for count in tree.find_all(exp.Count)):
        return None
    alone = resolved(tree)
    alone.set("joins", None)
    meant = [names.resolve(column) for column in alone.find_all(exp.Column)]
    owners = {found[0].view.name: found[0].view for found in meant if found}
    if len(owners) != 1:
        return None
    view = next(iter(owners.values()))
    tables = [table for table in tree.find_all(exp.Table) if table.name.lower() == view.name.lower()]
    if len(tables) != 1 or not view.row_id:
        return None
    row_id = f"{tables[0].alias_or_name}.{view.row_id}"
    next(iter(alone.find_all(exp.Table))).replace(tables[0].copy())
    joined, single = _counts(tree, row_id), _counts(alone, row_id)
    all_rows, its_rows = run_sql(joined).rows[0]
    if all_rows == its_rows or its_rows != run_sql(single).rows[0][1]:
        return None
    return alone.sql(DIALECT)


def _counts(tree: exp.Select, row_id: str) -> str:
    """The same rows, counted: all, and those of the table with that row id."""
    bare = tree.copy()
    for part in ("group", "having", "order", "limit", "distinct"):
        bare.set(part, None)
    return bare.select("COUNT(*)", f"COUNT(DISTINCT {row_id})", append=False, dialect=DIALECT).sql(DIALECT)
