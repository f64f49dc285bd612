"""`ORDER BY ... LIMIT 1` keeps one of several equal rows; the rewrite keeps them all."""

from __future__ import annotations

from sqlglot import exp

from sliders.answer.prune import resolved
from sliders.answer.scope import DIALECT


def with_ties_sql(tree: exp.Query) -> str | None:
    """The statement that returns every row equal to the first, None when it has no single-key LIMIT 1 to widen."""
    if not isinstance(tree, exp.Select) or tree.args.get("offset") or tree.args.get("distinct"):
        return None
    order, limit = tree.args.get("order"), tree.args.get("limit")
    if not order or not limit or len(order.expressions) != 1 or limit.expression.name != "1":
        return None
    tree = resolved(tree)
    key: exp.Expr = tree.args["order"].expressions[0].this
    best = tree.copy()
    best.set("expressions", [key.copy()])
    tree.set("order", None)
    tree.set("limit", None)
    test = exp.EQ(this=key.copy(), expression=exp.Subquery(this=best))
    wide = tree.having(test) if key.find(exp.AggFunc) else tree.where(test)
    return wide.sql(DIALECT)
