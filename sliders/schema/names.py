"""Names of tables and columns: SQL-safe, readable, the same for the same words."""

from __future__ import annotations

import re
import unicodedata

_RESERVED = frozenset(
    [
        "row_id",
        "document",
        "document_id",
        "rowid",
        "index",
        "table",
        "select",
        "from",
        "where",
        "group",
        "order",
        "by",
        "values",
        "value",
        "column",
        "primary",
        "key",
        "references",
        "default",
        "check",
        "limit",
        "join",
        "on",
        "as",
        "in",
    ]
)


def snake_name(words: str, fallback: str = "item") -> str:
    """Lower-case words joined by underscores, starting with a letter, never a reserved word.

    >>> snake_name("Net income (USD)"), snake_name("2022 capex"), snake_name("order")
    ('net_income_usd', 'n_2022_capex', 'order_value')
    """
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    plain = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", plain)
    name = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_") or fallback
    if name[0].isdigit():
        name = "n_" + name
    return name + "_value" if name in _RESERVED else name[:60].rstrip("_")


def spoken_name(name: str) -> str:
    """The words of a name, for prompts and embeddings.

    >>> spoken_name("eventDate"), spoken_name("new_cases")
    ('event date', 'new cases')
    """
    return re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).replace("_", " ").strip().lower()
