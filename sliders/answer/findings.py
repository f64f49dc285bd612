"""Findings: sentences about oddities in a statement or its result. They are sent back to the model;
code changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sliders.answer.expression_types import is_truth, is_whole
from sliders.answer.finding import Finding, listed
from sliders.answer.literals import EQUAL, unheld_literals
from sliders.answer.mixed_units import mixed_units
from sliders.answer.names_compared import printed_names
from sliders.answer.probes import counting, distinct, number
from sliders.answer.profile import TableProfile
from sliders.answer.references import References
from sliders.answer.resolving import resolved
from sliders.answer.result_shape import empty, yes_or_no
from sliders.answer.turns import Asks, QueryResult, RunSql
from sliders.errors import QueryError, StoreError
from sliders.progress import counted
from sliders.sentences import Sentences
from sliders.sql.names import read_by
from sliders.sql.statement import DIALECT
from sliders.values.expected import DATED, NUMERIC

say = Sentences("answer")

_ORDERED = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NEQ, exp.Between)


def findings_of(
    tree: exp.Query, profiles: Sequence[TableProfile], result: QueryResult, run_sql: RunSql
) -> tuple[Finding, ...]:
    """Returns the findings about a statement that ran, the gravest first."""
    names = References(tree, profiles)
    found = [
        *unheld_literals(tree, names),
        *_nothing(tree, names, result, run_sql),
        *_several(tree, run_sql),
    ]
    found += [
        *_divisions(tree, names),
        *_idle(tree, names),
        *_counted(tree, names),
        *_same(tree, run_sql),
    ]
    found += [*_repeated(tree, names, run_sql), *printed_names(tree, names, result, run_sql)]
    found += [
        *mixed_units(tree, names, run_sql),
        *_ties(tree, result, run_sql),
        *_nulls(tree, names, run_sql),
    ]
    return tuple(dict.fromkeys(found))


def misshapen(asks: Asks, tree: exp.Query, result: QueryResult) -> tuple[Finding, ...]:
    """Returns a finding when a result does not have the shape (number, list, yes or no) that the
    model says the question asks for. Rows that a statement keeps because all of them hold the most
    or the least are ties, and no finding.
    """
    rows = len(result.rows)
    if asks in ("one", "number") and rows > 1 and not (asks == "one" and _keeps_extremes(tree)):
        kind = "one thing" if asks == "one" else "one number"
        text = say("too_many_rows", asked=kind, rows=rows)
        return (Finding("shape", asks, text),)
    if asks == "yes_no" and rows and yes_or_no(result.columns, result.rows) is None:
        return (Finding("shape", asks, say("yes_or_no")),)
    return ()


def _keeps_extremes(tree: exp.Query) -> bool:
    """Says whether a statement keeps only rows whose value equals the largest or smallest one. A
    subquery that compares columns may have another largest value for each row.
    """
    return any(
        isinstance(side, exp.Subquery)
        and len(side.this.selects) == 1
        and isinstance(side.this.selects[0].unalias(), exp.Max | exp.Min)
        and not any(_compares_columns(test) for test in side.find_all(exp.Binary))
        for equal in _tests(tree)
        if isinstance(equal, exp.EQ)
        for side in (equal.this, equal.expression)
    )


def _compares_columns(test: exp.Binary) -> bool:
    return isinstance(test.this, exp.Column) and isinstance(test.expression, exp.Column)


def _tests(tree: exp.Query) -> list[exp.Expr]:
    """Returns the conditions of a statement that must all hold; none when it has no condition."""
    where = tree.args.get("where")
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def _found_nothing(tree: exp.Query, names: References, result: QueryResult) -> bool:
    """Says whether a result is empty, all NULL, or a single 0 that was counted or computed. A 0 in
    a cell is a value, and the 0 of a comparison means no.
    """
    rows = [tuple(row) for row in result.rows]
    looked_up = isinstance(tree, exp.Select) and all(
        _is_looked_up(item.unalias(), names) for item in tree.expressions
    )
    zero = len(rows) == 1 and all(
        cell in (0, None) and not isinstance(cell, str) for cell in rows[0]
    )
    return empty(rows) or (zero and not looked_up)


def _is_looked_up(item: exp.Expr, names: References) -> bool:
    """Says whether an expression shows a cell, or compares without counting."""
    return isinstance(item, exp.Column) or (
        is_truth(item, names) and item.find(exp.Count, exp.Exists, exp.Sum) is None
    )


def _nothing(
    tree: exp.Query, names: References, result: QueryResult, run_sql: RunSql
) -> Iterator[Finding]:
    """Yields findings about an empty result: how many rows each condition keeps alone, and which
    values the tested columns have.
    """
    if not _found_nothing(tree, names, result):
        return
    rows = [tuple(row) for row in result.rows]
    if (
        rows
        and empty(rows)
        and isinstance(tree, exp.Select)
        and not any(item.find(exp.AggFunc) for item in tree.expressions)
    ):
        held, what = tree.expressions, say("all_null", rows=len(rows))
    else:
        held, what = (
            list(tree.find_all(exp.Predicate)),
            say("zero") if rows and not empty(rows) else say("empty"),
        )
    named = {id(o[1]): o[1] for n in held for c in n.find_all(exp.Column) if (o := names.of(c))}
    yield Finding(
        "nothing",
        "",
        "; ".join([what, *_kept(tree, run_sql), *(listed(column) for column in named.values())]),
    )


def _kept(tree: exp.Query, run_sql: RunSql) -> Iterator[str]:
    """Yields how many rows each of several conditions keeps alone."""
    where = tree.args.get("where")
    if not isinstance(tree, exp.Select) or where is None or not isinstance(where.this, exp.And):
        return
    for test in where.this.flatten():
        alone = counting(tree)
        alone.set("where", exp.Where(this=test.copy()))
        count = number(alone, run_sql)
        if count is not None:
            yield say("kept_alone", condition=test.sql(DIALECT), rows=counted(count, "row"))


def _several(tree: exp.Query, run_sql: RunSql) -> Iterator[Finding]:
    """Yields a finding for a subquery that stands for one value and gives several rows. SQLite
    takes the first of them without a warning.
    """
    for subquery in tree.find_all(exp.Subquery):
        if isinstance(
            subquery.parent, exp.From | exp.Join | exp.In | exp.Exists | exp.SetOperation
        ):
            continue
        rows = number(exp.select("COUNT(*)").from_(subquery.this.copy().subquery("alone")), run_sql)
        if rows is not None and rows > 1:
            text = subquery.this.sql(DIALECT)
            yield Finding(
                "several",
                text,
                say("several", query=text, rows=rows),
            )


def _divisions(tree: exp.Query, names: References) -> Iterator[Finding]:
    """Yields a finding for whole numbers divided by whole numbers, which drops the decimals."""
    for node in tree.find_all(exp.Div):
        if is_whole(node.this, names) and is_whole(node.expression, names):
            text = node.sql(DIALECT)
            yield Finding(
                "division",
                text,
                say("division", expression=text),
            )


def _same(tree: exp.Query, run_sql: RunSql) -> Iterator[Finding]:
    """Yields a finding for a sum of several rows with one equal value: one fact that several rows
    state, or a missing condition.
    """
    if not isinstance(tree, exp.Select) or tree.args.get("group"):
        return
    for total in tree.find_all(exp.Sum):
        if not isinstance(total.this, exp.Column) or total.find_ancestor(exp.Select) is not tree:
            continue
        rows = number(counting(tree, exp.Count(this=total.this.copy())), run_sql) or 0
        values = number(counting(tree, distinct(total.this)), run_sql)
        if rows > 1 and values == 1:
            name = total.this.sql(DIALECT)
            yield Finding(
                "same",
                name,
                say("same", column=name, rows=rows),
            )


def _idle(tree: exp.Query, names: References) -> Iterator[Finding]:
    """Yields findings for useless tests for NULL: of a column that is never NULL, or of a yes or
    no.
    """
    for node in tree.find_all(exp.Is):
        owner = names.of(node.this)
        if owner is None or not isinstance(node.expression, exp.Null):
            continue
        column, name, negated = owner[1], owner[1].column.name, isinstance(node.parent, exp.Not)
        if negated and not column.nulls:
            yield Finding(
                "idle",
                name,
                say("never_null", column=name, values=listed(column)),
            )
        elif (
            not negated
            and column.distinct == _YES_AND_NO
            and column.column.type not in (*NUMERIC, *DATED)
        ):
            yield Finding(
                "unstated",
                name,
                say("unstated", column=name, values=listed(column)),
            )


_YES_AND_NO = 2


def _counted(tree: exp.Query, names: References) -> Iterator[Finding]:
    """Yields a finding for a count of rows with one value, in a column in which every row has
    another value.
    """
    where = tree.args.get("where")
    if (
        not isinstance(tree, exp.Select)
        or where is None
        or tree.args.get("joins")
        or tree.args.get("group")
    ):
        return
    if len(tree.expressions) != 1 or not isinstance(tree.expressions[0].unalias(), exp.Count):
        return
    for test in _tests(tree):
        owner = names.of(test.this) if isinstance(test, exp.EQ) else None
        if owner is None or owner[1].distinct < max(_LEAST_KEY, owner[1].rows - owner[1].nulls):
            continue
        name = owner[1].column.name
        numbers = [
            c.column.name
            for c in owner[0].columns
            if c.column.type in NUMERIC and c.column.name != name
        ]
        held = say("numbers_of_row", numbers=", ".join(numbers)) if numbers else ""
        yield Finding(
            "counted",
            name,
            say("counted", column=name, numbers=held),
        )


_LEAST_KEY = 3


def _nulls(tree: exp.Query, names: References, run_sql: RunSql) -> Iterator[Finding]:
    """Yields findings for rows that are left out because a column that is compared, added up or
    ordered by is NULL.
    """
    denied = [n.this.unnest() for n in tree.find_all(exp.Not)]
    nodes = [
        n.this for n in (*tree.find_all(*_ORDERED), *(d for d in denied if isinstance(d, EQUAL)))
    ]
    nodes += [n.this for n in tree.find_all(exp.Sum, exp.Avg)]
    if tree.args.get(
        "limit"
    ):  # the largest value answers the question; in rising order NULL comes first
        nodes += [n.this for n in tree.find_all(exp.Ordered) if not n.args.get("desc")]
    for node in nodes:
        owner = names.of(node)
        select = node.find_ancestor(exp.Select)
        if (
            owner is None
            or owner[1].companion
            or not owner[1].nulls
            or select is None
            or _tested_for_null(tree, node)
        ):
            continue
        count, name = number(_rows_without(select, node), run_sql), owner[1].column.name
        if count:
            yield Finding(
                "nulls",
                name,
                say("nulls", column=name, rows=counted(count, "row")),
            )


def _rows_without(select: exp.Select, node: exp.Expr) -> exp.Select:
    """Returns a statement that counts the rows with NULL in a column, among those that the other
    conditions keep.
    """
    bare = counting(select)
    bare.set("where", None)
    for test in _tests(select):
        kept = test.unnest().copy()
        if any(
            part is node for part in test.walk()
        ):  # a row that another part of an OR keeps is not left out
            unknown = exp.func("COALESCE", kept, exp.Literal.number(0), dialect=DIALECT)
            kept = exp.EQ(this=unknown, expression=exp.Literal.number(0))
        bare = bare.where(kept, copy=False)
    return bare.where(exp.Is(this=node.copy(), expression=exp.Null()), copy=False)


def _tested_for_null(tree: exp.Query, node: exp.Expr) -> bool:
    return any(test.this == node for test in tree.find_all(exp.Is))


def _ties(tree: exp.Query, result: QueryResult, run_sql: RunSql) -> Iterator[Finding]:
    """Yields a finding for rows beyond a LIMIT that are tied with the last row shown."""
    tied = tied_rows(tree, result.rows, run_sql)
    if tied:
        by, shown = (
            ", ".join(item.this.sql(DIALECT) for item in tree.args["order"].expressions),
            len(result.rows),
        )
        yield Finding("ties", by, say("ties", count=len(tied), order=by, shown=shown))


def tied_rows(
    tree: exp.Query, shown: Sequence[Sequence[object]], run_sql: RunSql
) -> list[tuple[object, ...]]:
    """Returns all rows that are tied with the last row shown, that row and other shown ones too,
    when a LIMIT cuts some of them off; [] when it cuts none off, or that cannot be told.
    """
    order, limit = tree.args.get("order"), tree.args.get("limit")
    if not isinstance(tree, exp.Select) or tree.args.get("distinct") or tree.args.get("offset"):
        return []
    if order is None or limit is None or not shown or not limit.expression.name.isdigit():
        return []
    wider = resolved(tree)
    keys = [
        exp.alias_(item.this.copy(), f"key_{n}")
        for n, item in enumerate(wider.args["order"].expressions)
    ]
    wider.set("expressions", [*(item.copy() for item in tree.expressions), *keys])
    wider.set("limit", None)
    try:
        rows = [
            (tuple(row)[: -len(keys)], tuple(row)[-len(keys) :])
            for row in run_sql(wider.sql(DIALECT)).rows
        ]
    except (StoreError, QueryError):
        return []
    last = len(shown) - 1
    if last + 1 >= len(rows) or rows[last + 1][1] != rows[last][1] or None in rows[last][1]:
        return []
    return [row for row, key in rows if key == rows[last][1]]


def _repeated(tree: exp.Query, names: References, run_sql: RunSql) -> Iterator[Finding]:
    """Yields a finding for a join that adds up one row of a table several times."""
    joins = tree.args.get("joins")
    if not isinstance(tree, exp.Select) or not joins or tree.args.get("distinct"):
        return
    owners = {
        t.alias_or_name: owner
        for t in read_by(tree)
        if (owner := names.aliases.get(t.alias_or_name.lower())) and owner.view.row_id
    }
    for measure in tree.find_all(exp.Sum, exp.Avg, exp.Count):
        found, column = names.of(measure.this), measure.this
        star = isinstance(column, exp.Star)
        if measure.find_ancestor(exp.Select) is not tree or not (found or star):
            continue
        for alias, owner in owners.items():
            if found and (owner is not found[0] or column.table not in ("", alias)):
                continue
            row = exp.column(owner.view.row_id, table=alias)
            every = number(counting(tree, exp.Count(this=row)), run_sql) or 0
            single = number(counting(tree, distinct(row)), run_sql) or 0
            if every > single:
                name = owner.view.name
                yield Finding(
                    "repeated",
                    name,
                    say("repeated", table=name, single=single, every=every),
                )
