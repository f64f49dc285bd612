"""A finding about a statement, and the words for columns, values and cells that findings and
prompts share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sliders.answer.doubts import Doubt
from sliders.answer.figures import Number
from sliders.answer.profile import ColumnProfile
from sliders.progress import counted
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
    """A finding: its kind, its subject (one finding about a subject is sent once), and the sentence
    for the model and the user.

    `near` is True when it names a value that is similar to the value that no row has. `doubt`
    stands beside the answer when the model keeps its statement, `other` is the number that another
    form of the statement would give.
    """

    kind: Kind
    subject: str
    text: str
    near: bool = False
    doubt: Doubt | None = None
    other: Number | None = None


def listed(column: ColumnProfile) -> str:
    """The values of a column, most frequent first, with their counts, as many as fit."""
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
        said.append(f"{shown} ({counted(count, 'row')})")
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
