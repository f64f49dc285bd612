"""The SQL of each repair, for the record: what was done can be read, and done again by hand."""

from __future__ import annotations

from collections.abc import Sequence

from sliders.extraction.cell import Scalar

_SHOWN = 20


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


def _ids(rows: Sequence[str]) -> str:
    shown = ", ".join(literal(r) for r in rows[:_SHOWN])
    return shown + (f" /* and {len(rows) - _SHOWN} more */" if len(rows) > _SHOWN else "")


def group_sql(table: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """Merging of clear groups: first filled value of every column by group."""
    picked = ", ".join(f"max({quoted(c)}) AS {quoted(c)}" for c in columns)
    by = ", ".join(quoted(k) for k in key) or "document_id"
    return f"SELECT group_concat(row_id) AS sources, {picked} FROM {quoted(table)} GROUP BY {by}"


def set_sql(table: str, column: str, value: Scalar, rows: Sequence[str]) -> str:
    """One value for the rows of a group."""
    return f"UPDATE {quoted(table)} SET {quoted(column)} = {literal(value)} WHERE row_id IN ({_ids(rows)})"
