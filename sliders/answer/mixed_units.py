"""Amounts in several currencies or units that a statement adds up, averages, ranks or compares as
if they had one unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote as shell_quote

from sqlglot import exp

from sliders.answer.doubts import Doubt, result_words
from sliders.answer.finding import Finding
from sliders.answer.probes import counting, number
from sliders.answer.profile import ColumnProfile, TableProfile
from sliders.answer.references import References
from sliders.answer.resolving import resolved
from sliders.answer.turns import RunSql
from sliders.errors import QueryError, StoreError
from sliders.progress import counted
from sliders.schema.types import ColumnType
from sliders.sentences import Sentences
from sliders.sql.quoting import quote_literal
from sliders.sql.statement import DIALECT
from sliders.values.currencies import currency_code
from sliders.values.expected import NUMERIC, TEXTUAL
from sliders.values.notes import scale_in
from sliders.values.units import dimension

say = Sentences("answer")

_MEASURES = (exp.Sum, exp.Avg, exp.Min, exp.Max)
_COMPARISONS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NEQ, exp.Between)
_MOST_FIGURES = 4


def taken_together(tree: exp.Query) -> list[exp.Expr]:
    """Returns the expressions that a statement adds up, averages, takes the extreme of, compares or
    ranks by.
    """
    ranked = [
        n
        for select in tree.find_all(exp.Select)
        if select.args.get("limit")
        for n in _order_of(select)
    ]
    return [n.this for n in (*tree.find_all(*_MEASURES, *_COMPARISONS), *ranked)]


def mixed_units(tree: exp.Query, names: References, run_sql: RunSql) -> Iterator[Finding]:
    """Yields a finding for each column whose amounts in several currencies or units are combined,
    with the doubt that is shown when the model keeps its statement.
    """
    for node in taken_together(tree):
        owner, select = names.of(node), node.find_ancestor(exp.Select)
        if owner is None or select is None or owner[1].column.type not in NUMERIC:
            continue
        for other in owner[0].columns:
            unit = exp.column(other.column.name, table=node.text("table") or None)
            if _measures(other, owner[1], owner[0]) and _together(select, node, unit, run_sql):
                yield _finding(
                    tree,
                    owner[1].column.name,
                    unit,
                    _units_of(select, node, unit, other, run_sql),
                    run_sql,
                )


def _order_of(select: exp.Select) -> Sequence[exp.Ordered]:
    order = select.args.get("order")
    return (
        [item for item in order.expressions if isinstance(item, exp.Ordered)]
        if order is not None
        else []
    )


def _measures(unit: ColumnProfile, amount: ColumnProfile, table: TableProfile) -> bool:
    """True when a column holds the currencies or units of another column that has no fixed one.

    Whole numbers beside amounts with a fraction count as counts, which have no currency.
    """
    if unit.distinct < 2 or not _holds_units(unit) or amount.column.unit or amount.column.currency:
        return False
    free = [
        c.column
        for c in table.columns
        if c.column.type in NUMERIC and not (c.column.unit or c.column.currency)
    ]
    fractions = any(column.type is ColumnType.NUMBER for column in free)
    return amount.column.type is ColumnType.NUMBER or not fractions


def _holds_units(column: ColumnProfile) -> bool:
    """True when all values of a column are currencies, units or scales; single letters may be sizes
    or classes.
    """
    known = all(currency_code(text) or dimension(text) or scale_in(text) for text in column.texts)
    return column.column.type in TEXTUAL and known and any(len(text) > 1 for text in column.texts)


def _together(select: exp.Select, node: exp.Expr, unit: exp.Column, run_sql: RunSql) -> bool:
    """True when one figure of a statement combines several units: a group, or a part of a window,
    has more than one.
    """
    window = node.find_ancestor(exp.Window)
    keys = list(window.args.get("partition_by") or []) if window is not None else []
    group = resolved(select).args.get("group") if window is None else None
    keys = [key.copy() for key in (*keys, *(group.expressions if group is not None else []))]
    each = counting(
        select, exp.alias_(exp.Count(this=exp.Distinct(expressions=[unit.copy()])), "units")
    )
    each = each.where(
        exp.Not(this=exp.Is(this=node.copy(), expression=exp.Null())), copy=False
    ).group_by(*keys, copy=False)
    return (number(exp.select("MAX(units)").from_(each.subquery("each_figure")), run_sql) or 0) > 1


def _units_of(
    select: exp.Select, node: exp.Expr, unit: exp.Column, profile: ColumnProfile, run_sql: RunSql
) -> list[tuple[str, int]]:
    """Returns the units of the combined rows, with the number of rows of each."""
    found = []
    for text in profile.texts:
        rows = counting(select).where(
            exp.EQ(this=unit.copy(), expression=exp.Literal.string(text)), copy=False
        )
        count = number(
            rows.where(exp.Not(this=exp.Is(this=node.copy(), expression=exp.Null())), copy=False),
            run_sql,
        )
        if count:
            found.append((text, count))
    return found


def _finding(
    tree: exp.Query, name: str, unit: exp.Column, units: Sequence[tuple[str, int]], run_sql: RunSql
) -> Finding:
    told = ", ".join(f"{quote_literal(text)} ({counted(count, 'row')})" for text, count in units)
    text = say("mixed_units", column=name, unit=unit.name, values=told)
    apart = _grouped(tree, unit)
    command = f"sliders query {shell_quote(apart)}" if apart else ""
    figures = _figures(apart, run_sql) or told
    thing = say("one_figure", column=name, values=told)
    return Finding(
        "units",
        name,
        text,
        doubt=Doubt("units", thing, unit.name, say("each_alone", figures=figures), command),
    )


def _grouped(tree: exp.Query, unit: exp.Column) -> str:
    """The statement with a figure for each unit; "" when it is no plain aggregate."""
    plain = isinstance(tree, exp.Select) and all(item.find(*_MEASURES) for item in tree.expressions)
    if (
        not isinstance(tree, exp.Select)
        or not plain
        or tree.args.get("limit")
        or tree.find(exp.Subquery)
    ):
        return ""
    apart = tree.copy()
    apart.set("expressions", [unit.copy(), *apart.expressions])
    return apart.group_by(unit.copy(), copy=False).sql(DIALECT)


def _figures(sql: str, run_sql: RunSql) -> str:
    """The figures of a statement that groups by unit."""
    try:
        return result_words(run_sql(sql).rows, _MOST_FIGURES) if sql else ""
    except (StoreError, QueryError):
        return ""
