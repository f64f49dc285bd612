"""Columns as integer codes, and the traits of their values. A *code* is the number of a distinct
value in its column, -1 for an empty cell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sliders.extraction.cell import Scalar
from sliders.schema.types import Column, ColumnType, Table
from sliders.values.folding import signed, spelling

Codes = npt.NDArray[np.int64]
# a text column with more characters than this on average is prose: its wording may differ
_LONG_TEXT = 60
_LONG_TOKENS = 9


@dataclass(frozen=True)
class Encoded:
    """A column as codes. Values that differ only in case, white space or Unicode form share a code.

    `examples[code]` is the most frequent printed form; `respelled` holds all forms of the codes
    that have several.
    """

    codes: Codes
    examples: tuple[Scalar, ...]
    respelled: Mapping[int, tuple[Scalar, ...]] = field(default_factory=dict)

    @cached_property
    def agreeing(self) -> Codes:
        """The codes under which values do not contradict each other: values that differ only in
        accents or punctuation are equal too.
        """
        if not any(isinstance(value, str) for value in self.examples):
            return self.codes
        first: dict[Scalar, int] = {}
        owners = [
            first.setdefault(comparison_form(value), code)
            for code, value in enumerate(self.examples)
        ]
        found: Codes = np.array([*owners, -1], dtype=np.int64)[self.codes]
        return found


@dataclass(frozen=True, slots=True)
class ColumnTraits:
    """The traits of one column.

    Args:
        name: its name.
        coverage: the share of rows with a value (all shares from 0 to 1).
        distinct: the number of distinct values.
        unique_in_chunk: the share of filled cells whose value occurs once in its chunk.
        chance: the probability that two random rows agree.
        varies: the share of documents with several values.
        prose: True when the values are sentences.
        identifying: True when the values can name a thing.
    """

    name: str
    coverage: float
    distinct: int
    unique_in_chunk: float
    chance: float
    varies: float
    prose: bool
    identifying: bool


def comparison_form(value: Scalar) -> Scalar:
    """Returns the form under which values are equal: folded text with its signs, numbers as floats;
    None for empty text and NaN.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return signed(value) or None
    number = float(value)
    return None if math.isnan(number) else number


def encode(values: Sequence[Scalar]) -> Encoded:
    """Returns the codes of values, numbered in the order of their first appearance."""
    places_of: dict[Scalar, int] = {}
    places = np.fromiter(
        (places_of.setdefault(v, len(places_of)) for v in values), np.int64, len(values)
    )
    printed, forms, spelled = list(places_of), dict[Scalar, int](), list[list[int]]()
    codes = np.full(len(printed), -1, dtype=np.int64)
    for place, value in enumerate(printed):
        form = (spelling(value) or None) if isinstance(value, str) else comparison_form(value)
        if form is not None:
            codes[place] = code = forms.setdefault(form, len(forms))
            spelled += [[]] if code == len(spelled) else []
            spelled[code].append(place)
    counts = np.bincount(places, minlength=len(printed))
    several = {
        code: tuple(printed[p] for p in own) for code, own in enumerate(spelled) if len(own) > 1
    }
    respelled = {code: own for code, own in several.items() if isinstance(own[0], str)}
    kept = (own[0] if len(own) == 1 else max(own, key=lambda p: counts[p]) for own in spelled)
    return Encoded(codes[places], tuple(printed[place] for place in kept), respelled)


def encode_ids(values: Sequence[str]) -> Codes:
    """Returns the codes of identifiers, which are equal only when they are exactly the same."""
    seen: dict[str, int] = {}
    return np.fromiter(
        (seen.setdefault(v, len(seen)) for v in values), dtype=np.int64, count=len(values)
    )


def combine(*columns: Codes) -> Codes:
    """Returns one code for each distinct combination of codes; -1 when any of them is -1."""
    result = columns[0].copy()
    for codes in columns[1:]:
        size = int(codes.max(initial=0)) + 1
        joined = np.where((result < 0) | (codes < 0), -1, result * size + codes)
        _, inverse = np.unique(joined, return_inverse=True)
        shift = 1 if (joined < 0).any() else 0
        result = inverse.astype(np.int64).reshape(-1) - shift
    return result


def unique_share(codes: Codes, within: Codes) -> float:
    """Returns the share of filled cells whose value stands once among the rows with the same
    `within` code.
    """
    filled = codes >= 0
    if not filled.any():
        return 0.0
    pairs = combine(within[filled], codes[filled])
    counts = np.bincount(pairs)
    return float((counts == 1).sum()) / float(filled.sum())


def is_prose(column: Column, encoded: Encoded) -> bool:
    """Says whether a text column holds sentences rather than names."""
    if column.type is not ColumnType.TEXT or not encoded.examples:
        return False
    sample = [str(v) for v in encoded.examples[:500]]
    mean = sum(map(len, sample)) / len(sample)
    tokens = sum(len(s.split()) for s in sample) / len(sample)
    return mean > _LONG_TEXT and tokens > _LONG_TOKENS


def is_identifying(column: Column, encoded: Encoded, prose: bool, key: bool) -> bool:
    """Says whether a column can name a thing: names, dates and years can, and a number of the key;
    measures and sentences cannot.
    """
    if prose or column.type in (ColumnType.NUMBER, ColumnType.BOOLEAN) or column.additive:
        return False
    if column.type is ColumnType.INTEGER and not key:
        measured = column.unit or column.currency or column.scale
        return not measured and all(
            isinstance(v, int | float) and 1500 <= v <= 2200 for v in encoded.examples[:500]
        )
    return True


def profile_columns(
    table: Table, encoded: Sequence[Encoded], documents: Codes, chunks: Codes
) -> tuple[ColumnTraits, ...]:
    """Returns the traits of each column."""
    profiles = []
    for column, coded in zip(table.columns, encoded, strict=True):
        filled = coded.codes >= 0
        count = int(filled.sum())
        prose = is_prose(column, coded)
        shares = np.bincount(coded.codes[filled]) / count if count else np.zeros(1)
        varies = 0.0
        if count:
            pairs = np.unique(np.stack([documents[filled], coded.codes[filled]]), axis=1)
            per_document = np.bincount(pairs[0])
            varies = float((per_document > 1).sum()) / max(1, int((per_document > 0).sum()))
        profiles.append(
            ColumnTraits(
                name=column.name,
                coverage=count / len(filled) if len(filled) else 0.0,
                distinct=int(np.count_nonzero(shares)),
                unique_in_chunk=unique_share(coded.codes, chunks),
                chance=float((shares**2).sum()),
                varies=varies,
                prose=prose,
                identifying=count > 0
                and is_identifying(column, coded, prose, column.name in table.key),
            )
        )
    return tuple(profiles)
