"""Profiles of columns: counts, distinct values and range, read by SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.answer.turns import RunSql, TableView
from sliders.extraction.cell import Scalar
from sliders.schema.types import Column
from sliders.sql.quoting import quote_identifier
from sliders.store.records import RelationColumn

MAX_VALUES = 2000
"""The most distinct values that a profile keeps: enough to look a literal up, few enough to keep
for every column.
"""
MAX_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """The profile of one column of a table.

    Args:
        column: the column, under its SQL name.
        rows: the number of rows in the table.
        nulls: the number of rows with NULL.
        distinct: the number of distinct values.
        values: pairs (value, number of rows), the most frequent first; at most `MAX_VALUES`.
        lowest: the least value; None when all are NULL.
        highest: the greatest value; None when all are NULL.
        companion: set for a companion column, which belongs to another column.
        doubt: the SQL name of the column with the doubts of the values; "" for none.
        doubted: the number of values with a doubt.
        judged: the number of values that a reader judged.
    """

    column: Column
    rows: int
    nulls: int
    distinct: int
    values: tuple[tuple[Scalar, int], ...]
    lowest: Scalar = None
    highest: Scalar = None
    companion: RelationColumn | None = None
    doubt: str = ""
    doubted: int = 0
    judged: int = 0

    @property
    def complete(self) -> bool:
        """True when `values` holds every distinct value."""
        return len(self.values) == self.distinct

    @property
    def texts(self) -> tuple[str, ...]:
        """The distinct values as strings, most frequent first."""
        return tuple(str(value) for value, _ in self.values)


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The profile of a table: its columns in the order of the view (companions last), and as
    examples the rows with fewest gaps, without companion columns.
    """

    view: TableView
    rows: int
    columns: tuple[ColumnProfile, ...]
    examples: tuple[tuple[Scalar, ...], ...] = ()

    def column(self, name: str) -> ColumnProfile | None:
        """Returns the profile of a column, ignoring the case of its name; None for none."""
        return next((p for p in self.columns if p.column.name.lower() == name.lower()), None)


def profile_table(view: TableView, run_sql: RunSql) -> TableProfile:
    """Profiles every visible column of a table, with two statements for each.

    Raises:
        QueryError: the table or a column of the view is not in the database.
    """
    table = quote_identifier(view.name)
    rows = int(run_sql(f"SELECT COUNT(*) FROM {table}").rows[0][0])
    beside = [
        replace(_profile_column(Column(c.sql_name), table, rows, run_sql), companion=c)
        for c in view.companions
    ]
    doubts = {
        p.companion.companion_of: p for p in beside if p.companion and p.companion.role == "doubt"
    }
    own = tuple(
        _profile_column(column, table, rows, run_sql, view, doubts.get(column.name))
        for column in view.columns
    )
    columns = (*own, *beside)
    names = [quote_identifier(column.name) for column in view.columns]
    gaps = " + ".join(f"({name} IS NULL)" for name in names) or "0"
    shown = (
        run_sql(f"SELECT {', '.join(names)} FROM {table} ORDER BY {gaps} LIMIT {MAX_EXAMPLES}").rows
        if names
        else ()
    )
    return TableProfile(view, rows, columns, tuple(tuple(row) for row in shown))


def profile_tables(views: Sequence[TableView], run_sql: RunSql) -> tuple[TableProfile, ...]:
    """Profiles all tables.

    Raises:
        QueryError: a table or column of a view is not in the database.
    """
    return tuple(profile_table(view, run_sql) for view in views)


def _profile_column(
    column: Column,
    table: str,
    rows: int,
    run_sql: RunSql,
    view: TableView | None = None,
    doubt: ColumnProfile | None = None,
) -> ColumnProfile:
    name = quote_identifier(column.name)
    facts = run_sql(
        f"SELECT COUNT({name}), COUNT(DISTINCT {name}), MIN({name}), MAX({name}) FROM {table}"
    ).rows[0]
    values = run_sql(
        f"SELECT {name}, COUNT(*) FROM {table} WHERE {name} IS NOT NULL GROUP BY {name} "
        f"ORDER BY COUNT(*) DESC, {name} LIMIT {MAX_VALUES}"
    ).rows
    return ColumnProfile(
        column=column,
        rows=rows,
        nulls=rows - int(facts[0]),
        distinct=int(facts[1]),
        values=tuple((value, int(count)) for value, count in values),
        lowest=facts[2],
        highest=facts[3],
        doubt=doubt.column.name if doubt else "",
        doubted=doubt.rows - doubt.nulls if doubt else 0,
        judged=dict(view.judged).get(column.name, 0) if view else 0,
    )
