"""The expectation about a value: its type, unit, scale, currency and, for a category, its
values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

Scalar = str | int | float | bool | None
"""A typed value as it is stored; dates are ISO text."""


class ColumnType(str, Enum):
    """The types that a column can have; code parses printed words into them."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    CATEGORY = "category"

    @property
    def sql(self) -> str:
        """The SQLite type that stores it; dates are ISO text, booleans 0 or 1."""
        return {"integer": "INTEGER", "number": "REAL", "boolean": "INTEGER"}.get(
            self.value, "TEXT"
        )


NUMERIC = (ColumnType.INTEGER, ColumnType.NUMBER)
DATED = (ColumnType.DATE, ColumnType.DATETIME)
TEXTUAL = (ColumnType.TEXT, ColumnType.CATEGORY)
"""The types whose values are compared as text."""


class Described(Protocol):
    """Anything that has the attributes of an `Expected`, as a schema's column."""

    @property
    def type(self) -> ColumnType: ...
    @property
    def unit(self) -> str: ...
    @property
    def scale(self) -> str: ...
    @property
    def currency(self) -> str: ...
    @property
    def values(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Expected:
    """A value's type, the unit, scale ("millions") and currency (ISO code) it is stored in, and
    a category's values.
    """

    type: ColumnType
    unit: str = ""
    scale: str = ""
    currency: str = ""
    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, described: Described) -> Expected:
        """Returns the expectation that a column describes."""
        return cls(
            described.type, described.unit, described.scale, described.currency, described.values
        )
