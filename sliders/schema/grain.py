"""How many rows a document fills: said with each question by a small model, and seen where documents list their rows.

A proposal is written from the beginning of one document; whether "a course" stands there once or nine times is seen by
asking documents for all of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from statistics import median

from sliders.schema.names import spoken_name
from sliders.schema.types import Column, ColumnType, Grain, Table

RowsTold = Callable[[Table], Awaitable[Sequence[int]]]
"""How many rows of a table some documents list, one number a document."""

SEVERAL = 3
"""Rows of a document from which on its table has several a document: of one thing a small model may list two forms."""
_LISTED_WITH = 2


def row_noun(table: Table) -> str:
    """What one row is, without its article.

    >>> row_noun(Table("barns", (), row="a barn")), row_noun(Table("mill_years", ()))
    ('barn', 'mill years')
    """
    head, _, rest = table.row.partition(" ")
    return rest if rest and len(head) <= _ARTICLE else table.row or spoken_name(table.name)


_ARTICLE = 2  # letters


async def grains(tables: Sequence[Table], rows_told: RowsTold) -> dict[str, Grain]:
    """The grain of each kind of row, by the words that say what one row is.

    Args:
        tables: the proposals of all questions; several may be of one kind of row.
    """
    kinds: dict[str, list[Table]] = {}
    for table in tables:
        kinds.setdefault(row_noun(table), []).append(table)
    return {noun: await _grain(same, rows_told) for noun, same in kinds.items()}


async def _grain(same: Sequence[Table], rows_told: RowsTold) -> Grain:
    columns = {column.name: column for table in same for column in table.columns if column.reading == "stated"}
    asked = replace(same[0], columns=(naming_column(same[0]), *list(columns.values())[:_LISTED_WITH]), grain="many")
    told = median(await rows_told(asked) or [1])
    if told == SEVERAL - 1:
        return "many" if 2 * sum(table.grain == "many" for table in same) > len(same) else "document"
    return "many" if told >= SEVERAL else "document"


def naming_column(table: Table) -> Column:
    """The column that tells the rows of a document apart."""
    return Column("name", ColumnType.TEXT, f"What is the name of the {row_noun(table)}?")


def with_naming(table: Table) -> Table:
    """A table of several rows a document with the column that tells them apart, first; any other as it is."""
    if table.grain != "many" or any(column.name == "name" for column in table.columns):
        return table
    return replace(table, columns=(naming_column(table), *table.columns))
