"""What stands in each column: counts, distinct values, range; read by SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.answer.turns import RunSql, TableView
from sliders.extraction.cell import Scalar
from sliders.schema.types import Column
from sliders.sql.quoting import quote_identifier
from sliders.store.records import RelationColumn

MAX_VALUES = 2000
"""Distinct values kept per column: enough to look a literal up, small enough to
hold for every column.
"""
MAX_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """`rows` in the table, `nulls` among them, `distinct` values, the most frequent
    `values` with their counts.

    `complete` says that `values` holds every distinct value; `lowest` and `highest` are None when
    all is NULL. `doubt` is the column that says of `doubted` values why they are not verified;
    `judged` values were judged by a reader. A `companion` stands beside another column.
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
        """Whether every distinct value is known."""
        return len(self.values) == self.distinct

    @property
    def texts(self) -> tuple[str, ...]:
        """The distinct values as strings, most frequent first."""
        return tuple(str(value) for value, _ in self.values)


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The profiles of a table's columns in the order of the view, companions last, and the first
    rows with fewest gaps.

    An example row has the columns that are no companions.
    """

    view: TableView
    rows: int
    columns: tuple[ColumnProfile, ...]
    examples: tuple[tuple[Scalar, ...], ...] = ()

    def column(self, name: str) -> ColumnProfile | None:
        """The profile of that column, whatever the case of its name."""
        return next((p for p in self.columns if p.column.name.lower() == name.lower()), None)


def profile_table(view: TableView, run_sql: RunSql) -> TableProfile:
    """Profile every visible column of a table; two statements a column.

    Raises QueryError: the table or a column of the view is not in the database.
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
    """Profile all tables. Raises QueryError: a table or column of a view is not in the database."""
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
