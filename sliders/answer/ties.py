"""`ORDER BY ... LIMIT 1` keeps one of several equal rows; the rewrite keeps them all."""

from __future__ import annotations

from sqlglot import exp

from sliders.answer.scope import DIALECT


def with_ties_sql(tree: exp.Query) -> str | None:
    """The statement that returns every row equal to the first, None when it has no single-key LIMIT 1 to widen."""
    if not isinstance(tree, exp.Select) or tree.args.get("offset") or tree.args.get("distinct"):
        return None
    order, limit = tree.args.get("order"), tree.args.get("limit")
    if not order or not limit or len(order.expressions) != 1 or limit.expression.name != "1":
        return None
    key = _named(tree, order.expressions[0].this)
    if key is None:
        return None
    best = tree.copy()
    best.set("expressions", [key.copy()])
    best.args["order"].expressions[0].set("this", key.copy())
    wide = tree.copy()
    wide.set("order", None)
    wide.set("limit", None)
    test = exp.EQ(this=key.copy(), expression=exp.Subquery(this=best))
    if key.find(exp.AggFunc):
        wide.having(test, copy=False)
    else:
        wide.where(test, copy=False)
    return wide.sql(DIALECT)


def _named(tree: exp.Select, key: exp.Expression) -> exp.Expression | None:
    """The expression behind an alias or position in ORDER BY."""
    if isinstance(key, exp.Literal):
        place = int(key.name) - 1 if key.name.isdigit() else -1
        return tree.expressions[place].unalias() if 0 <= place < len(tree.expressions) else None
    if isinstance(key, exp.Column) and not key.table:
        for item in tree.expressions:
            if isinstance(item, exp.Alias) and item.alias.lower() == key.name.lower():
                return item.this
    return key
