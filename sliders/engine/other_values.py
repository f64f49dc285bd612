"""The values that an empty cell, or the missing row of a document, could have, as far as they make
a difference to a statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from sliders.engine.tables_read import TableRead
from sliders.extraction.cell import Scalar
from sliders.schema.types import ColumnType
from sliders.sql.statement import parse_select
from sliders.values.expected import TEXTUAL

_COMPARED = (exp.EQ, exp.NEQ, exp.In, exp.Like)
_Values = Mapping[str, Scalar]


def other_values(
    read: TableRead, shown: Mapping[str, _Values], sql: str
) -> dict[str, list[Scalar]]:
    """Returns possible values for each column that the statement names: true and false of a
    boolean, the texts that the statement compares with, the least and the greatest number or date.
    The least and greatest come from rows that hold the texts of the statement's comparisons, if
    such rows have values: an amount in another currency would be a wrong example.

    Args:
        shown: the current values by row id and SQL column name.
    """
    names = {column.name: read.relation.sql_name(column.name) for column in read.columns}
    texts = {c.name: list(_literals(sql, names[c.name])) for c in read.columns if c.type in TEXTUAL}
    rows = [
        row
        for row in shown.values()
        if all(row[names[name]] in said for name, said in texts.items() if said)
    ]
    found: dict[str, list[Scalar]] = {}
    for column in read.columns:
        if column.type is ColumnType.BOOLEAN:
            found[column.name] = [True, False]
        elif column.type in TEXTUAL:
            found[column.name] = list(texts[column.name])
        else:
            name = names[column.name]
            found[column.name] = _extremes(row[name] for row in rows) or _extremes(
                row[name] for row in shown.values()
            )
    return found


def _extremes(values: Iterable[Scalar]) -> list[Scalar]:
    """Returns the least and the greatest number; of texts when there are no numbers."""
    known = list(values)
    numbers = [value for value in known if isinstance(value, int | float)]
    texts = [value for value in known if isinstance(value, str)]
    if not numbers and not texts:
        return []
    ends: list[Scalar] = [min(numbers), max(numbers)] if numbers else [min(texts), max(texts)]
    return list(dict.fromkeys(ends))


def _literals(sql: str, column: str) -> Iterator[str]:
    """Yields the texts that a statement compares a column with."""
    for node in parse_select(sql).find_all(*_COMPARED):
        sides = [node.this, *(node.expressions if isinstance(node, exp.In) else [node.expression])]
        if any(
            c.name.lower() == column.lower()
            for side in sides
            if side is not None
            for c in side.find_all(exp.Column)
        ):
            yield from (
                side.name.strip("%")
                for side in sides
                if isinstance(side, exp.Literal) and side.is_string
            )
