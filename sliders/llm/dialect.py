"""How a model is asked: a dialect is data, chosen once in `connect`, and no other code
asks which model it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DialectName = Literal["full", "compact"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """Sizes (tokens, counts) and reply shapes of one way of asking.

    `sample_tokens` is the size of one sample document for schema induction and `samples` their
    number, `chunk_tokens` the size of a chunk, `question_batch` the questions of one schema call.
    `row_shape` says whether a row is cells with words or bare values, `judged` whether a judgement
    stands in the row or is one question and its log-odds, `card` and `hints` who makes a
    document's card and reads hints, `sql` how a statement comes, `repair` whether what contradicts
    itself is repaired by a program or by choosing a row, `tables` whether passages show values in
    a grid or beside their names.
    """

    name: DialectName
    sample_tokens: int
    samples: int
    chunk_tokens: int
    question_batch: int
    row_shape: Literal["cells", "values"]
    judged: Literal["inline", "odds"]
    card: Literal["model", "code"]
    hints: Literal["model", "patterns"]
    sql: Literal["json", "text"]
    repair: Literal["program", "choice"]
    tables: Literal["grid", "lines"]


FULL = Dialect(
    name="full",
    sample_tokens=3000,
    samples=6,
    chunk_tokens=3000,
    question_batch=30,
    row_shape="cells",
    judged="inline",
    card="model",
    hints="model",
    sql="json",
    repair="program",
    tables="grid",
)
COMPACT = Dialect(
    name="compact",
    sample_tokens=350,
    samples=1,
    chunk_tokens=2400,
    question_batch=1,
    row_shape="values",
    judged="odds",
    card="code",
    hints="patterns",
    sql="text",
    repair="choice",
    tables="lines",
)
