"""Names of tables and columns: SQL-safe, readable, the same for the same words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

_RESERVED = frozenset(
    (
        "row_id document document_id rowid index table select from where group order by values "
        "value column primary key references default check limit join on as in and or not null is "
        "case when then else end distinct having union all create drop insert update delete set "
        "into with exists between like transaction"
    ).split()
)
_LONGEST = 80


def snake_name(words: str, fallback: str = "item") -> str:
    """Lower-case words joined by underscores, starting with a letter, never a reserved word;
    at most 80 characters.

    >>> snake_name("Net income (USD)"), snake_name("2022 capex"), snake_name("order")
    ('net_income_usd', 'n_2022_capex', 'order_value')
    """
    plain = unicodedata.normalize("NFKC", words)
    latin = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    kept = latin if re.search(r"[A-Za-z]", latin) or not re.search(r"[^\W\d_]", plain) else plain
    kept = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", kept)
    name = re.sub(r"\W+|_+", "_", kept.lower()).strip("_") or fallback
    if name[0].isdigit():
        name = "n_" + name
    return name + "_value" if name in _RESERVED else name[:_LONGEST].rstrip("_")


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number behind it where it is taken.

    >>> free_name("roof", ["roof", "roof_2"])
    'roof_3'
    """
    if name not in taken:
        return name
    number = next(n for n in range(2, len(taken) + 3) if f"{name}_{n}" not in taken)
    return f"{name}_{number}"


@lru_cache(maxsize=4096)
def spoken_name(name: str) -> str:
    """The words of a name, for prompts and embeddings.

    >>> spoken_name("eventDate"), spoken_name("new_cases")
    ('event date', 'new cases')
    """
    return re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).replace("_", " ").strip().lower()
