"""The closed types of a schema: tables, columns, and what one row is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from sliders.errors import SchemaError


class ColumnType(str, Enum):
    """The types that a column can have; code parses printed words into them."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    ENUM = "enum"

    @property
    def sql(self) -> str:
        """The SQLite type that stores it; dates are ISO text, booleans 0 or 1."""
        return {"integer": "INTEGER", "number": "REAL", "boolean": "INTEGER"}.get(self.value, "TEXT")


Grain = Literal["document", "many"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `scale` multiplies printed numbers ("millions" of the user's wish: the values are stored in it).

    `description` says in words what to read from the text. `additive` allows sums over sources in reconciliation.
    """

    name: str
    type: ColumnType = ColumnType.TEXT
    description: str = ""
    unit: str = ""
    scale: str = ""
    currency: str = ""
    percent_range: Literal["", "0_1", "0_100"] = ""
    date_format: str = ""
    enum_values: tuple[str, ...] = ()
    required: bool = False
    additive: bool = False
    pinned: bool = False
    examples: tuple[str, ...] = ()
    """Words that questions used for it ("Hull pier"): shown with short texts, where a wrong copy cannot be grounded."""

    @property
    def asked(self) -> str:
        """The words beside its name that a question used for an induced column; "" where it used no others."""
        return self.description.partition("; ")[2]


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `row` says what one row is; `grain` whether a document holds one row or many.

    `key` names the columns that identify the thing a row is about, when it is known.
    """

    name: str
    columns: tuple[Column, ...]
    row: str = ""
    description: str = ""
    grain: Grain = "many"
    key: tuple[str, ...] = ()
    pinned: bool = False

    def column(self, name: str) -> Column:
        """The column of that name.

        Raises:
            SchemaError: there is none.
        """
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(c.name for c in self.columns)
        raise SchemaError(f"table {self.name!r} has no column {name!r}; its columns are {known}")

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns in order."""
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables that a workspace fills."""

    tables: tuple[Table, ...] = ()

    def table(self, name: str) -> Table:
        """The table of that name.

        Raises:
            SchemaError: there is none.
        """
        for table in self.tables:
            if table.name == name:
                return table
        known = ", ".join(t.name for t in self.tables) or "none"
        raise SchemaError(f"the schema has no table {name!r}; its tables are: {known}")

    def with_table(self, table: Table) -> Schema:
        """The schema with this table in the place of the one that has its name."""
        return Schema(tuple(table if t.name == table.name else t for t in self.tables))
