"""The way of asking a model: a dialect is data, chosen once in `connect`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DialectName = Literal["full", "compact"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The sizes (tokens, counts) of one way of asking. Its name selects the functions that ask.

    `sample_tokens` is the size of one sample document for schema induction and `samples` their
    number, `sample_characters` the characters of all of them together (0 for their beginnings
    alone), `chunk_tokens` the size of a chunk, `question_batch` the questions of one schema call,
    `documents_per_call` the most documents that share a reading call. `standing_first` says that a
    later question is asked over the tables that stand before columns are planned for it.
    """

    name: DialectName
    sample_tokens: int
    sample_characters: int
    samples: int
    chunk_tokens: int
    question_batch: int
    documents_per_call: int
    standing_first: bool


FULL = Dialect(
    name="full",
    sample_tokens=24_000,
    sample_characters=24_000,
    samples=6,
    chunk_tokens=3000,
    question_batch=30,
    documents_per_call=40,
    standing_first=True,
)
COMPACT = Dialect(
    name="compact",
    sample_tokens=350,
    sample_characters=0,
    samples=1,
    chunk_tokens=2400,
    question_batch=1,
    documents_per_call=1,
    standing_first=False,
)
