"""The closed types of a schema: tables, columns, and what one row is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sliders.errors import SchemaError
from sliders.schema.checks import Check
from sliders.values.expected import ColumnType as ColumnType

Grain = Literal["document", "many"]


KeyScope = Literal["document", "collection"]


Reading = Literal["stated", "judged"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: what to read from a document, as what, and how.

    `description` can be decided from one document alone: what to look for, when a boolean is true
    and when false, when a number is 0 and when it is not stated; the compact dialect keeps it as
    one plain question; `meaning` says in a few words what the column holds, for whoever writes SQL
    ("" leaves that to the description). Values are stored in `unit`, `scale` ("millions") and
    `currency` (ISO code). `values` are those of a category. A `judged` column asks for a reader's
    judgement, a `stated` one for what the words print. `additive` allows sums over sources in
    reconciliation.
    """

    name: str
    type: ColumnType = ColumnType.TEXT
    description: str = ""
    unit: str = ""
    scale: str = ""
    currency: str = ""
    values: tuple[str, ...] = ()
    reading: Reading = "stated"
    required: bool = False
    additive: bool = False
    pinned: bool = False
    meaning: str = ""

    @property
    def measured_in(self) -> str:
        """Currency, scale and unit of the stored values, each word of an earlier one said once;
        "" where they have none.
        """
        said: list[str] = []
        for part in (self.currency, self.scale, self.unit):
            said += [word for word in part.split() if word not in said]
        return " ".join(said)


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `row` says what one row is; `grain` whether a document holds one row or many.

    `key` names the columns that identify the thing a row is about, when it is known: within its
    document, or, with the `key_scope` "collection", over all documents. `documents` says which kind
    of document fills it ("" for every kind). `checks` are conditions that all its rows must meet.
    A `given` table came with its rows: it is not read from documents.
    """

    name: str
    columns: tuple[Column, ...]
    row: str = ""
    description: str = ""
    grain: Grain = "many"
    key: tuple[str, ...] = ()
    documents: str = ""
    pinned: bool = False
    key_scope: KeyScope = "document"
    checks: tuple[Check, ...] = ()
    given: bool = False

    def column(self, name: str) -> Column:
        """The column of that name. Raises SchemaError: there is none."""
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
        """The table of that name. Raises SchemaError: there is none."""
        for table in self.tables:
            if table.name == name:
                return table
        known = ", ".join(t.name for t in self.tables) or "none"
        raise SchemaError(f"the schema has no table {name!r}; its tables are: {known}")

    def with_table(self, table: Table) -> Schema:
        """The schema with this table in the place of the one that has its name."""
        return Schema(tuple(table if t.name == table.name else t for t in self.tables))
