"""The name of a table's rows, and the column that holds it."""

from __future__ import annotations

from sliders.schema.names import snake_name, spoken_name
from sliders.schema.types import Column, ColumnType, Table
from sliders.values.folding import fold
from sliders.values.language import without_article


def row_noun(table: Table) -> str:
    """Returns the noun for one row, without its article.

    >>> row_noun(Table("barns", (), row="a barn")), row_noun(Table("mill_years", ()))
    ('barn', 'mill years')
    """
    return without_article(table.row) or spoken_name(table.name)


def naming_column(table: Table) -> Column:
    """The column that tells the rows of a document apart."""
    return Column("name", ColumnType.TEXT, f"What is the name of the {row_noun(table)}?")


def called_as_row(table: Table) -> Column | None:
    """Returns the column that holds the name of a row; None when no column is named or described as
    such.
    """
    naming = naming_column(table)
    return next((c for c in table.columns if names_row(c, table, naming)), None)


def names_row(column: Column, table: Table, naming: Column) -> bool:
    """True when a text column holds the name of a row: it is named or described as the row's name,
    or has the noun of the row as its name.
    """
    called = column.name in (
        naming.name,
        snake_name(row_noun(table)),
        f"{snake_name(row_noun(table))}_{naming.name}",
    )
    return column.type is ColumnType.TEXT and (
        called or fold(column.description) == fold(naming.description)
    )
