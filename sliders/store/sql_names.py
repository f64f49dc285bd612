"""SQL names for the user's tables and columns: unchanged, unless SQLite or the package reserves the
name.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from sliders.schema.names import free_name
from sliders.sql.identifiers import RESERVED_PREFIXES, RESERVED_TABLES, fold

_VERSION = re.compile(r"__v\d+$")
# The columns that every data table has beside the user's, and SQLite's names for the row number.
SYSTEM_COLUMNS = ("document", "document_id", "row_id", "_sources")
_RESERVED_COLUMNS = frozenset({*SYSTEM_COLUMNS, "rowid", "oid", "_rowid_"})


def _free(name: str, taken: Collection[str]) -> str:
    return name + free_name(fold(name), taken)[len(name) :]


def _printable(name: str, fallback: str, longest: int) -> str:
    cleaned = "".join(letter if letter.isprintable() else " " for letter in name).strip()
    # A lone surrogate is not printable for SQLite: it has no UTF-8 form.
    return (
        cleaned.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore").strip() or fallback
    )


def relation_name(name: str, taken: Collection[str], longest: int) -> str:
    """The SQL name of table `name`: at most `longest` bytes, free among `taken` (folded names),
    of no reserved form.
    """
    candidate = _printable(name, "table", longest)
    folded = fold(candidate)
    if folded.startswith(RESERVED_PREFIXES) or folded in RESERVED_TABLES or _VERSION.search(folded):
        candidate = f"data_{candidate}" if not _VERSION.search(folded) else f"{candidate}_"
    return _free(candidate, taken)


def column_name(name: str, taken: Collection[str], longest: int) -> str:
    """The SQL name of column `name`: at most `longest` bytes, free among `taken` (folded names),
    not a system column.
    """
    candidate = _printable(name, "column", longest)
    if fold(candidate) in _RESERVED_COLUMNS:
        candidate = f"{candidate}_value"
    return _free(candidate, taken)


def companion_name(column: str, role: str, taken: Collection[str], longest: int) -> str:
    """The SQL name of a companion of the column with this SQL name; the role stays whole where
    the name has to be cut.
    """
    base = _printable(column, "column", longest - len(role) - len("__99"))
    return column_name(f"{base}_{role}", taken, longest)


def version_name(relation: str, version: int) -> str:
    """The physical table that holds one version of a data table."""
    return f"{relation}__v{version}"
