"""The types of a schema: tables, columns, and the description of one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sliders.errors import SchemaError
from sliders.schema.checks import Check, CheckValue
from sliders.values.expected import ColumnType as ColumnType

Grain = Literal["document", "many"]


KeyScope = Literal["document", "collection"]


Reading = Literal["stated", "judged"]


@dataclass(frozen=True, slots=True)
class Example:
    """Words and the value that they give. They are shown to a reader of other documents, never of
    one that holds them. `document` names the document of this workspace that they were taken from
    ("" for one that is not here).
    """

    words: str
    value: CheckValue
    document: str = ""

    def stands_in(self, text: str) -> bool:
        """Whether a text holds the words, white space and capitals aside."""
        return " ".join(self.words.split()).casefold() in " ".join(text.split()).casefold()


@dataclass(frozen=True, slots=True)
class Column:
    """One column: what to read from a document, its type, and how it is read.

    `description` can be decided from one document alone: what to look for, when a boolean is true
    and when false, when a number is 0 and when it is not stated; the compact dialect keeps it as
    one plain question; `meaning` says in a few words what the column holds, for the model that
    writes SQL ("" uses the description). Values are stored in `unit`, `scale` ("millions") and
    `currency` (ISO code). `values` are the values of a category. A `judged` column asks for a
    judgement of the reader, a `stated` column for a value that the words print. `additive` allows
    sums over sources in reconciliation. `examples` are shown to the reader, in the full dialect
    alone.
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
    examples: tuple[Example, ...] = ()

    @property
    def measured_in(self) -> str:
        """The currency, scale and unit of the stored values, without repeated words; "" when there
        is none.
        """
        said: list[str] = []
        for part in (self.currency, self.scale, self.unit):
            said += [word for word in part.split() if word not in said]
        return " ".join(said)


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `row` says what one row is; `grain` whether a document holds one row or many.

    `key` names the columns that identify the thing a row is about, () when unknown: within its
    document, or, with the `key_scope` "collection", over all documents. `documents` says which kind
    of document fills it ("" for every kind). `checks` are conditions that all its rows must meet. A
    `given` table came with its rows: it is not read from documents.
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
        """Returns the column of that name. Raises SchemaError: the table has no such column."""
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
        """Returns the table of that name. Raises SchemaError: the schema has no such table."""
        for table in self.tables:
            if table.name == name:
                return table
        known = ", ".join(t.name for t in self.tables) or "none"
        raise SchemaError(f"the schema has no table {name!r}; its tables are: {known}")

    def with_table(self, table: Table) -> Schema:
        """Returns the schema with this table; it replaces a table of its name."""
        return Schema(tuple(table if t.name == table.name else t for t in self.tables))
