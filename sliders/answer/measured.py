"""The columns whose values a statement adds up, averages, ranks, counts or takes the extreme of,
and the literals that it compares columns with.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sliders.answer.resolving import named

_MEASURES = (exp.AggFunc, exp.Window)
_BOUNDS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.NEQ)
_DENIED = (exp.EQ, exp.In, exp.Like)
_TESTS = (exp.Predicate, exp.And, exp.Or, exp.Not)


def measured_columns(tree: exp.Query) -> frozenset[str]:
    """Returns the names, in lower case, of the columns that an aggregate or a ranking works on, or
    that the statement compares by order.

    Columns that are only tested by a condition inside an aggregate are left out, and so are columns
    that the statement tests for NULL: it says itself what happens to rows without a value.
    """
    tested = {
        test.this.name.lower()
        for test in tree.find_all(exp.Is)
        if isinstance(test.this, exp.Column)
    }
    behind, names = _behind_names(tree), {column.name.lower() for column in _measured(tree)}
    while more := {below for name in names for below in behind.get(name, ())} - names:
        names |= more
    return frozenset(names - tested)


def _behind_names(tree: exp.Query) -> dict[str, set[str]]:
    """Returns the columns behind each name that an inner SELECT gives."""
    behind: dict[str, set[str]] = {}
    for select in tree.find_all(exp.Select):
        outer = select.find_ancestor(exp.CTE, exp.Subquery)
        given = (
            []
            if outer is None or outer.args.get("alias") is None
            else outer.args["alias"].args.get("columns") or []
        )
        for place, item in enumerate(select.expressions):
            name = given[place].name if place < len(given) else item.alias
            for column in item.unalias().find_all(exp.Column) if name else ():
                if _is_value(column, item):
                    behind.setdefault(name.lower(), set()).add(column.name.lower())
    return behind


def _measured(tree: exp.Query) -> Iterator[exp.Column]:
    for node in tree.find_all(*_MEASURES):
        yield from (column for column in node.find_all(exp.Column) if _is_value(column, node))
    for select in tree.find_all(exp.Select):
        order = select.args.get("order")
        if order is not None and select.args.get("limit") is not None:
            for item in order.expressions:
                yield from (
                    column
                    for column in named(select, item.this).find_all(exp.Column)
                    if _is_value(column, item)
                )
        where = select.args.get("where")
        if where is not None and any(item.find(exp.AggFunc) for item in select.expressions):
            yield from _bounded(where)


def _bounded(where: exp.Expr) -> Iterator[exp.Column]:
    """Yields the columns that conditions compare by order, or of which they deny a value. Such
    conditions always leave out a row without a value.
    """
    denied = (test.this.unnest() for test in where.find_all(exp.Not))
    for test in (
        *where.find_all(*_BOUNDS),
        *(inner for inner in denied if isinstance(inner, _DENIED)),
    ):
        yield from (side for side in test.iter_expressions() if isinstance(side, exp.Column))


def compared_with(tree: exp.Query, name: str) -> list[str | float]:
    """Returns the literals that a statement compares a column with; for numbers also a little below
    and above.
    """
    found: list[str | float] = []
    for test in tree.find_all(*_BOUNDS, exp.EQ):
        sides = list(test.iter_expressions())
        if any(
            isinstance(side, exp.Column) and side.name.lower() == name.lower() for side in sides
        ):
            for literal in (side for side in sides if isinstance(side, exp.Literal)):
                number = None if literal.is_string else float(literal.name)
                found += [literal.name] if number is None else [number, number - 1, number + 1]
    return list(dict.fromkeys(found))


def _is_value(column: exp.Column, top: exp.Expr) -> bool:
    """Says whether the value of a column is used: it is not in a test, and does not only partition
    a window.
    """
    node: exp.Expr | None = column
    while node is not None and node is not top:
        if isinstance(node, _TESTS) or node.arg_key == "partition_by":
            return False
        node = node.parent
    return True
