"""Building blocks of the system tables: types and kinds of columns, for either engine."""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import Column, ForeignKey, MetaData
from sqlalchemy.sql import ColumnElement, bindparam
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import REAL, BigInteger, Double, Integer, Text, UserDefinedType

METADATA = MetaData()
INTEGER = Integer().with_variant(BigInteger, "postgresql")
# The rows of a table are compared and sorted by their characters, whatever the
# language of the server.
TYPES: dict[str, Any] = {
    "TEXT": Text().with_variant(Text(collation="C"), "postgresql"),
    "INTEGER": INTEGER,
    "REAL": Double().with_variant(REAL(), "sqlite"),
}
"""The types of columns of data tables, by `ColumnType.sql`."""
NAME = Text().with_variant(Text(collation="NOCASE"), "sqlite")


class TypedValue(UserDefinedType[Any]):
    """A column of values of any type: stored as they are in SQLite, which types each value; as JSON
    in PostgreSQL.
    """

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """The column's type in PostgreSQL."""
        return "JSONB"


@compiles(TypedValue, "sqlite")
def _untyped(*_: object, **__: object) -> str:
    return ""


class _Listed(FunctionElement[Any]):
    inherit_cache = True


@compiles(_Listed, "sqlite")
def _listed_sqlite(element: _Listed, compiler: Any, **more: Any) -> str:
    return f"(SELECT value FROM json_each({compiler.process(element.clauses, **more)}))"


@compiles(_Listed, "postgresql")
def _listed_postgresql(element: _Listed, compiler: Any, **more: Any) -> str:
    return (
        "(SELECT json_array_elements_text(CAST("
        f"{compiler.process(element.clauses, **more)} AS JSON)))"
    )


def among(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """A condition: a text column's value is in the JSON list that is bound to `name`. One statement
    serves any number of values.
    """
    return column.op("IN", is_comparison=True)(_Listed(bindparam(name, type_=Text)))


def texts(names: str, default: str | None = None) -> list[Column[Any]]:
    """Texts, one column for each word of `names`; never NULL."""
    return [Column(name, Text, nullable=False, server_default=default) for name in names.split()]


def numbers(names: str, default: str | None = None) -> list[Column[Any]]:
    """Whole numbers, one column for each word of `names`; never NULL."""
    return [Column(name, INTEGER, nullable=False, server_default=default) for name in names.split()]


def maybe(names: str, kind: Any = Text) -> list[Column[Any]]:
    """Columns that may be NULL, one for each word of `names`."""
    return [Column(name, kind) for name in names.split()]


def key(name: str = "key") -> Column[Any]:
    """The integer key of a table."""
    return Column(name, INTEGER, primary_key=True)


def to(
    name: str, target: str, *, primary: bool = False, cascade: bool = False, null: bool = False
) -> Column[Any]:
    """A reference to another table's integer key."""
    reference = ForeignKey(target, ondelete="CASCADE" if cascade else None)
    return Column(name, INTEGER, reference, primary_key=primary, autoincrement=False, nullable=null)


def part(name: str, kind: Any = INTEGER) -> Column[Any]:
    """A column that is a part of a primary key of several columns."""
    return Column(name, kind, primary_key=True, autoincrement=False)
