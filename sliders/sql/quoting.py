"""Names and values as SQL text."""

from __future__ import annotations

from sliders.errors import StoreError


def quote_identifier(name: str) -> str:
    """`name` as an SQL identifier in double quotes: any character is allowed but NUL.

    Raises:
        StoreError: the name holds a NUL character, which SQL cannot name.
    """
    if "\x00" in name:
        raise StoreError(f"the name {name!r} holds a NUL character; take it out")
    return '"' + name.replace('"', '""') + '"'


def plain_identifier(name: str) -> str:
    """`name` as an SQL identifier, in double quotes only where it needs them."""
    return name if name.isidentifier() else quote_identifier(name)


def quote_literal(value: str | int | float | bool | None) -> str:
    """A value as an SQL literal."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    return "'" + value.replace("'", "''") + "'"
