"""Guidelines by type of question and of document (SLIDERS, schema induction: question and document taxonomy).

The types are told by code from form alone, so that they cost no call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_ORDERING = re.compile(
    r"\b(order|rank|sort|chronolog|first to last|highest first|lowest first|sequence)", re.IGNORECASE
)
_CHOICE = re.compile(r"(?:^|\n)\s*\(?[A-Da-d][).:]\s+\S.*(?:\n|\s)\(?[B-Eb-e][).:]\s", re.DOTALL)
_PERIOD = re.compile(r"\b(fiscal|year|quarter|month|annual|20\d\d|19\d\d)\b", re.IGNORECASE)


def guidelines_for(question: str, samples: Sequence[str]) -> tuple[str, ...]:
    """Short lines that are added to the induction prompt."""
    lines = []
    if _ORDERING.search(question):
        lines.append("The order comes from a fact that is read (a date, an amount): no position or rank column.")
    if _CHOICE.search(question):
        lines.append("One row for each option: the option, and the words of the document for or against it.")
    if _PERIOD.search(question) and any(" | " in sample for sample in samples):
        lines.append(
            "Figures of several years stand in one document: one row for each year, with the year as a column."
        )
    return tuple(lines)
