"""A finding about a statement, and the words that findings and prompts share for
columns, values and cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sliders.answer.doubts import Doubt
from sliders.answer.figures import Number
from sliders.answer.profile import ColumnProfile
from sliders.sentences import Sentences
from sliders.sql.quoting import quote_literal
from sliders.values.expected import DATED, NUMERIC

say = Sentences("answer")

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
        return say(
            "range_of_column",
            column=column.column.name,
            lowest=column.lowest,
            highest=column.highest,
            nulls=column.nulls,
            rows=column.rows,
        )
    said: list[str] = []
    for value, count in column.values[:LISTED]:
        shown = quote_literal(value[:60]) if isinstance(value, str) else str(value)
        if sum(map(len, said)) > LISTED_CHARACTERS:
            break
        said.append(f"{shown} ({count} rows)")
    more = (
        say("more_values", count=column.distinct - len(said)) if column.distinct > len(said) else ""
    )
    return say(
        "values_of_column",
        column=column.column.name,
        values=", ".join(said) or "NULL alone",
        more=more,
        nulls=column.nulls,
    )


def cell_text(value: object) -> str:
    """A cell as the model reads it in a result."""
    return (
        "NULL" if value is None else quote_literal(value) if isinstance(value, str) else str(value)
    )
