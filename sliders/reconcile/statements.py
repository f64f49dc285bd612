"""The SQL that code writes for its repairs. It runs over `data`, the table before, and copies
values; it writes none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sliders.extraction.cell import Scalar

_PAIRS = 2_000  # pairs of rows in one statement


def quoted(name: str) -> str:
    """An identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Scalar) -> str:
    """A value as SQL text."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    return "'" + value.replace("'", "''") + "'"


def listed(rows: Sequence[str]) -> str:
    """Row ids for IN."""
    return "(" + ", ".join(map(literal, rows)) + ")"


def copy_sql(column: str, source: str, rows: Sequence[str], table: str = "data") -> str:
    """The value of one row for others."""
    value = f"(SELECT {quoted(column)} FROM {table} WHERE row_id = {literal(source)})"
    return f"UPDATE {table} SET {quoted(column)} = {value} WHERE row_id IN {listed(rows)}"


def set_sql(column: str, value: Scalar, rows: Sequence[str]) -> str:
    """A value that a person decided."""
    return f"UPDATE data SET {quoted(column)} = {literal(value)} WHERE row_id IN {listed(rows)}"


def printed_sql(canonical: str, column: str) -> str:
    """The canonical column shows what is printed, before forms of one name are joined."""
    return f"UPDATE data SET {quoted(canonical)} = {quoted(column)}"


def canonical_sql(canonical: str, column: str, forms: Sequence[Scalar], name: Scalar) -> str:
    """Rows that print one of some forms belong to one name."""
    listing = ", ".join(map(literal, forms))
    return (
        f"UPDATE data SET {quoted(canonical)} = {literal(name)} WHERE "
        f"{quoted(column)} IN ({listing})"
    )


def merge_sql(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Each pair's first row is merged into the second."""
    for pair in _pairs(pairs):
        yield (
            f"{pair} UPDATE data SET merged_into = pair.other FROM pair WHERE "
            "data.row_id = pair.own"
        )


def complete_sql(column: str) -> str:
    """Rows that others were merged into take the first value of these where they have none."""
    name = quoted(column)
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
            f"({literal(own)}, {literal(other)})" for own, other in pairs[start : start + _PAIRS]
        )
        yield f"WITH pair(own, other) AS (VALUES {values})"
