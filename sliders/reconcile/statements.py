"""The SQL of code's own repairs. It runs over `data`, the table before the repairs, and copies
values that stand there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sliders.extraction.cell import Scalar
from sliders.sql.quoting import quote_identifier, quote_literal

_PAIRS = 2_000  # pairs of rows in one statement


def listed(rows: Sequence[str]) -> str:
    """Returns row ids as a list for IN."""
    return "(" + ", ".join(map(quote_literal, rows)) + ")"


def copy_sql(column: str, source: str, rows: Sequence[str], table: str = "data") -> str:
    """Returns SQL that copies the value of one row to other rows."""
    value = (
        f"(SELECT {quote_identifier(column)} FROM {table} WHERE row_id = {quote_literal(source)})"
    )
    return f"UPDATE {table} SET {quote_identifier(column)} = {value} WHERE row_id IN {listed(rows)}"


def set_sql(column: str, value: Scalar, rows: Sequence[str]) -> str:
    """Returns SQL that sets a value that a person decided."""
    return (
        f"UPDATE data SET {quote_identifier(column)} = {quote_literal(value)} WHERE row_id IN "
        f"{listed(rows)}"
    )


def printed_sql(canonical: str, column: str) -> str:
    """Returns SQL that fills the canonical column with the printed values, before forms
    are joined.
    """
    return f"UPDATE data SET {quote_identifier(canonical)} = {quote_identifier(column)}"


def canonical_sql(canonical: str, column: str, forms: Sequence[Scalar], name: Scalar) -> str:
    """Returns SQL that gives one canonical name to the rows that print any of the forms."""
    listing = ", ".join(map(quote_literal, forms))
    return (
        f"UPDATE data SET {quote_identifier(canonical)} = {quote_literal(name)} WHERE "
        f"{quote_identifier(column)} IN ({listing})"
    )


def merge_sql(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yields SQL that merges each pair's first row into the second."""
    for pair in _pairs(pairs):
        yield (
            f"{pair} UPDATE data SET merged_into = pair.other FROM pair WHERE "
            "data.row_id = pair.own"
        )


def complete_sql(column: str) -> str:
    """Returns SQL that fills the empty cells of a column with the first value of the rows that were
    merged into the row.
    """
    name = quote_identifier(column)
    given = (
        f"SELECT s.{name} FROM data AS s WHERE s.merged_into = data.row_id AND s.{name} IS NOT "
        "NULL ORDER BY s.rowid LIMIT 1"
    )
    return (
        f"UPDATE data SET {name} = ({given}) WHERE {name} IS NULL AND row_id IN (SELECT "
        "merged_into FROM data)"
    )


def _pairs(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    for start in range(0, len(pairs), _PAIRS):
        values = ", ".join(
            f"({quote_literal(own)}, {quote_literal(other)})"
            for own, other in pairs[start : start + _PAIRS]
        )
        yield f"WITH pair(own, other) AS (VALUES {values})"
