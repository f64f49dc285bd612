"""What stands in each column: counts, distinct values, range; read by SQL, shown to the model in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sliders.answer.values import RunSql, TableView
from sliders.extraction.cell import Scalar
from sliders.schema.types import Column, ColumnType

MAX_VALUES = 2000
"""Distinct values kept per column: enough to look a literal up, small enough to hold for every column."""
SHOWN_VALUES = 12
SHOWN_CHARACTERS = 200

TEXTUAL = (ColumnType.TEXT, ColumnType.CATEGORY)
DATED = (ColumnType.DATE, ColumnType.DATETIME)
NUMERIC = (ColumnType.INTEGER, ColumnType.NUMBER)


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """`rows` in the table, `nulls` among them, `distinct` values, the most frequent `values` with their counts.

    `complete` says that `values` holds every distinct value; `lowest` and `highest` are None when all is NULL.
    """

    column: Column
    rows: int
    nulls: int
    distinct: int
    values: tuple[tuple[Scalar, int], ...]
    lowest: Scalar = None
    highest: Scalar = None

    @property
    def complete(self) -> bool:
        """Whether every distinct value is known."""
        return len(self.values) == self.distinct

    @property
    def texts(self) -> tuple[str, ...]:
        """The distinct values as strings, most frequent first."""
        return tuple(str(value) for value, _ in self.values)

    def summary(self) -> str:
        """A few words for the prompt: range of numbers and dates, the values of a short list, how many are NULL."""
        parts = []
        if self.distinct == 0:
            return "always NULL"
        if self.column.type in NUMERIC:
            parts.append(f"{_brief(self.lowest)} to {_brief(self.highest)}")
        elif self.column.type in DATED:
            parts.append(f"'YYYY-MM-DD', {self.lowest} to {self.highest}")
        elif self.column.type is ColumnType.BOOLEAN:
            parts.append("1 = yes, 0 = no")
        else:
            parts.append(self._listed())
        if self.nulls:
            parts.append(f"{self.nulls} NULL")
        return "; ".join(parts)

    def _listed(self) -> str:
        quoted = [quote(text) for text in self.texts]
        if self.complete and self.distinct <= SHOWN_VALUES and sum(map(len, quoted)) <= SHOWN_CHARACTERS:
            return "values " + ", ".join(quoted)
        shortest = [text for text in quoted[:20] if len(text) <= 60] or [quoted[0][:60]]
        return f"{self.distinct} different, like {shortest[0]}"


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The profiles of a table's columns, in the order of the view."""

    view: TableView
    rows: int
    columns: tuple[ColumnProfile, ...]

    def column(self, name: str) -> ColumnProfile | None:
        """The profile of that column, whatever the case of its name."""
        for profile in self.columns:
            if profile.column.name.lower() == name.lower():
                return profile
        return None


def quote(text: str) -> str:
    """`text` as a SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """`name` as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def profile_table(view: TableView, run_sql: RunSql) -> TableProfile:
    """Profile every visible column of a table; two statements a column.

    Raises:
        QueryError: the table or a column of the view is not in the database.
    """
    table = identifier(view.name)
    rows = int(run_sql(f"SELECT COUNT(*) FROM {table}").rows[0][0])
    return TableProfile(view, rows, tuple(_profile_column(column, table, rows, run_sql) for column in view.columns))


def profile_tables(views: Sequence[TableView], run_sql: RunSql) -> tuple[TableProfile, ...]:
    """Profile all tables.

    Raises:
        QueryError: a table or column of a view is not in the database.
    """
    return tuple(profile_table(view, run_sql) for view in views)


def _profile_column(column: Column, table: str, rows: int, run_sql: RunSql) -> ColumnProfile:
    name = identifier(column.name)
    facts = run_sql(f"SELECT COUNT({name}), COUNT(DISTINCT {name}), MIN({name}), MAX({name}) FROM {table}").rows[0]
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
    )


def schema_sql(profiles: Sequence[TableProfile]) -> str:
    """The tables as commented CREATE TABLE statements, as the prompt shows them."""
    return "\n".join(_table_sql(profile) for profile in profiles)


def _table_sql(profile: TableProfile) -> str:
    table = profile.view.table
    about = "; ".join(part for part in (table.description, f"one row: {table.row}" if table.row else "") if part)
    lines = [f"CREATE TABLE {table.name} ( -- {profile.rows} rows{'; ' + about if about else ''}"]
    for column in profile.columns:
        notes = [_meaning(column.column), column.summary()]
        lines.append(
            f"  {column.column.name} {column.column.type.sql}, -- " + "; ".join(note for note in notes if note)
        )
    return "\n".join([*lines, ");"])


def _meaning(column: Column) -> str:
    unit = " ".join(part for part in (column.currency, column.scale, column.unit) if part)
    words = column.description.strip().rstrip(".")
    if column.percent_range == "0_1":
        unit = f"{unit} fraction 0 to 1".strip()
    return f"{words} ({unit})" if unit and words else words or unit


def _brief(value: Scalar) -> str:
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)
