"""Names of tables and columns: SQL-safe, readable, the same for the same words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

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


@lru_cache(maxsize=4096)
def spoken_name(name: str) -> str:
    """The words of a name, for prompts and embeddings.

    >>> spoken_name("eventDate"), spoken_name("new_cases")
    ('event date', 'new cases')
    """
    return re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).replace("_", " ").strip().lower()


def kind_of(words: str) -> str:
    """What a row is, without the name of one particular thing: extraction would copy the name into every row.

    >>> kind_of("Cinder Lock Bridge"), kind_of("a sailing"), kind_of("Report on Anchor")
    ('a bridge', 'a sailing', 'a report')
    """
    plain = re.sub(r"^(?:an?|the|each|one)\s+", "", words.strip(), flags=re.IGNORECASE)
    named = [word for word in plain.split() if word[:1].isupper() or any(c.isdigit() for c in word)]
    if not named or (len(plain.split()) == 1 and plain.isupper()):
        return words.strip()
    head = re.split(r"\s+(?:of|on|for|in|at|by|from|to|with)\s+", plain)[0].split()
    noun = re.sub(r"[^\w-]", "", head[-1]).lower() if head else ""
    if not noun or any(c.isdigit() for c in noun):
        return words.strip()
    return with_article(noun)


def with_article(noun: str) -> str:
    """One of what a noun names.

    >>> with_article("ferry"), with_article("entry")
    ('a ferry', 'an entry')
    """
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def plural(noun: str) -> str:
    """The name of a table whose rows a noun names.

    >>> plural("sailing"), plural("points")
    ('sailings', 'points')
    """
    return noun if noun.endswith("s") else noun + "s"
