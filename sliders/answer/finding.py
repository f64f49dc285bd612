"""A finding about a statement, and the words that findings and prompts share for
columns, values and cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sliders.answer.doubts import Doubt
from sliders.answer.profile import DATED, NUMERIC, ColumnProfile
from sliders.answer.range import Number
from sliders.sql.quoting import quote_literal

Kind = Literal[
    "literal",
    "nothing",
    "several",
    "shape",
    "division",
    "idle",
    "unstated",
    "counted",
    "same",
    "nulls",
    "ties",
    "units",
    "repeated",
    "names",
]
LISTED = 30
LISTED_CHARACTERS = 900


@dataclass(frozen=True, slots=True)
class Finding:
    """One oddity: its kind, what it is about (the same one is sent once), and the words for
    the model and the user.

    `near` says that they name a value that is like the one that no row has; `doubt` stands beside
    the answer where the model keeps its statement all the same, `other` the number that its
    statement would give then.
    """

    kind: Kind
    subject: str
    text: str
    near: bool = False
    doubt: Doubt | None = None
    other: Number | None = None


def listed(column: ColumnProfile) -> str:
    """The values of a column as far as they fit, most frequent first, with their counts."""
    if column.column.type in (*NUMERIC, *DATED):
        return (
            f"{column.column.name} runs from {column.lowest} to {column.highest}, {column.nulls} "
            f"of {column.rows} NULL"
        )
    said: list[str] = []
    for value, count in column.values[:LISTED]:
        shown = quote_literal(value[:60]) if isinstance(value, str) else str(value)
        if sum(map(len, said)) > LISTED_CHARACTERS:
            break
        said.append(f"{shown} ({count} rows)")
    more = f", and {column.distinct - len(said)} more" if column.distinct > len(said) else ""
    return (
        f"{column.column.name} has the values {', '.join(said) or 'NULL alone'}{more}; "
        f"{column.nulls} rows are NULL"
    )


def cell_text(value: object) -> str:
    """A cell as the model reads it in a result."""
    return (
        "NULL" if value is None else quote_literal(value) if isinstance(value, str) else str(value)
    )
