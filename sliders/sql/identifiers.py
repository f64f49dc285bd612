"""Names of tables and columns as SQLite compares them, and reserved names. This module imports
nothing heavy.
"""

from __future__ import annotations

# Names that SQLite keeps for itself, that its table-valued functions answer to, or that system
# and export tables use.
RESERVED_PREFIXES = ("sl_", "sqlite_", "pragma_", "audit_", "fts5", "fts3", "fts4", "rtree")
RESERVED_TABLES = frozenset(
    {
        "cell_absence",
        "json_each",
        "json_tree",
        "dbstat",
        "generate_series",
        "bytecode",
        "tables_used",
        "sqlite_stmt",
    }
)


def fold(name: str) -> str:
    """`name` as SQLite compares identifiers: ASCII letters in lower case,
    all others as they are.
    """
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)
