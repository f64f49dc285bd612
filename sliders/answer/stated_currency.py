"""The currency of a statement's amounts, when a column of the same rows states it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sliders.answer.probes import counting
from sliders.answer.profile import TableProfile
from sliders.answer.turns import RunSql
from sliders.errors import QueryError, StoreError
from sliders.schema.types import Column, ColumnType, Table
from sliders.sql.statement import DIALECT
from sliders.values.currencies import currency_code
from sliders.values.expected import TEXTUAL


def with_currencies(tree: exp.Expr, known: Sequence[TableProfile], run_sql: RunSql) -> list[Table]:
    """Returns the tables, with the currency of their amounts where all rows that the statement uses
    state the same one. This holds only when the table has one column of currencies and one of
    amounts without a unit, and the statement reads that table alone.
    """
    read = {table.name.lower() for table in tree.find_all(exp.Table)}
    plain = isinstance(tree, exp.Select) and not tree.find(exp.Subquery, exp.Join, exp.CTE)
    return [
        _with_currency(tree, profile, run_sql)
        if isinstance(tree, exp.Select) and plain and read == {profile.view.name.lower()}
        else profile.view.table
        for profile in known
    ]


def _with_currency(select: exp.Select, profile: TableProfile, run_sql: RunSql) -> Table:
    table, columns = profile.view.table, [c for c in profile.columns if c.companion is None]
    held = [
        c.column
        for c in columns
        if c.column.type in TEXTUAL and c.texts and all(map(currency_code, c.texts))
    ]
    amounts = [c.column for c in columns if _is_bare_amount(c.column)]
    if len(held) != 1 or len(amounts) != 1:
        return table
    each = _units(select, exp.column(held[0].name), exp.column(amounts[0].name))
    try:
        found = {row[0] for row in run_sql(each.sql(DIALECT)).rows}
    except (StoreError, QueryError):  # a probe that does not run, or is too slow, is no evidence
        return table
    currency = next(iter(found), None)
    if len(found) != 1 or not isinstance(currency, str):
        return table
    stated = replace(amounts[0], currency=currency)
    return replace(table, columns=tuple(stated if c == amounts[0] else c for c in table.columns))


def _units(select: exp.Select, unit: exp.Column, amount: exp.Column) -> exp.Select:
    """Returns a statement for the units of the rows that a statement shows; when it combines
    amounts, for the first two units of the amounts that it keeps.
    """
    grouped = select.args.get("group") or select.args.get("distinct")
    if not grouped and not any(item.find(exp.AggFunc) for item in select.expressions):
        shown = select.copy()
        shown.set("expressions", [unit])
        return shown
    stated = exp.Not(this=exp.Is(this=amount, expression=exp.Null()))
    return (
        counting(select, unit).where(stated, copy=False).distinct(copy=False).limit(2, copy=False)
    )


def _is_bare_amount(column: Column) -> bool:
    return column.type is ColumnType.NUMBER and not (column.unit or column.currency)
