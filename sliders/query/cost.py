"""What the optimizer believes: how often filters hold, how often attributes are stated, and how
deep values are found.

All of it starts from the sample and is updated while a query runs; `to_json` keeps
it for the next query.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sliders.query.filters import Filter

_PRIOR = {
    "eq": 0.1,
    "neq": 0.9,
    "in": 0.2,
    "between": 0.25,
    "like": 0.25,
    "is": 0.3,
    "column": 0.5,
    "matches": 0.3,
}
"""Shares of rows that pass before any row was seen (in the tradition of System R's constants)."""
_PRIOR_WEIGHT = 1.0
_RECENT_RANKS = 400


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Tokens expected, with an interval that holds the true figure about nine times of ten."""

    tokens: float
    low: float
    high: float

    def __add__(self, other: TokenEstimate) -> TokenEstimate:
        return TokenEstimate(
            self.tokens + other.tokens, self.low + other.low, self.high + other.high
        )

    def __str__(self) -> str:
        return f"{self.tokens:,.0f} tokens ({self.low:,.0f} to {self.high:,.0f})"


@dataclass(slots=True)
class Share:
    """A share estimated from trials: (hits + weight * prior) / (trials + weight)."""

    hits: float = 0.0
    trials: float = 0.0

    def add(self, hit: bool) -> None:
        """One more trial."""
        self.hits += hit
        self.trials += 1

    def value(self, prior: float, weight: float = _PRIOR_WEIGHT) -> float:
        """The estimate."""
        return (self.hits + weight * prior) / (self.trials + weight)

    def interval(self, prior: float) -> tuple[float, float]:
        """Wilson's interval of the estimate at 90%."""
        n, p, z = self.trials + _PRIOR_WEIGHT, self.value(prior), 1.645
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(slots=True)
class Depths:
    """At which rank of the segments, 0 for the nearest, the values of an attribute were found."""

    ranks: list[int] = field(default_factory=list)

    def add(self, rank: int) -> None:
        """A value was found in the segment of that rank."""
        self.ranks.append(rank)
        del self.ranks[:-_RECENT_RANKS]

    def within(self, count: int) -> float:
        """Share of values that are found in the nearest `count` segments; 1 only as a limit."""
        found = sum(1 for rank in self.ranks if rank < count)
        # A heavy tail: a value that is always stated and was not found yet is worth
        # looking for further down.
        prior = count / (1 + count)
        return (found + prior) / (len(self.ranks) + 1)


@dataclass(slots=True)
class Statistics:
    """The running figures of one table."""

    filters: dict[str, Share] = field(default_factory=dict)
    stated: dict[str, Share] = field(default_factory=dict)
    depths: dict[str, Depths] = field(default_factory=dict)

    def observe(self, filters: Iterable[Filter], values: Mapping[str, Any], fresh: str) -> None:
        """Counts the filters that `fresh`, the attribute that became known last, decides."""
        for leaf in filters:
            if fresh in leaf.attributes and all(name in values for name in leaf.attributes):
                self.filters.setdefault(leaf.key, Share()).add(leaf.truth(values) is True)

    def selectivity(self, leaf: Filter) -> float:
        """Share of documents for which the filter is true."""
        return self.filters.get(leaf.key, _NOTHING).value(self._prior(leaf))

    def selectivity_interval(self, leaf: Filter) -> tuple[float, float]:
        """The interval of `selectivity` at 90%."""
        return self.filters.get(leaf.key, _NOTHING).interval(self._prior(leaf))

    def _prior(self, leaf: Filter) -> float:
        prior = _PRIOR.get(leaf.kind, 1 / 3)
        return 1 - prior if leaf.negated else prior

    def share_stated(self, attribute: str) -> float:
        """Share of documents that state the attribute."""
        return self.stated.get(attribute, _NOTHING).value(0.7)

    def found_within(self, attribute: str, count: int) -> float:
        """Of the values that are stated, the share found in the nearest `count` segments."""
        return self.depths.setdefault(attribute, Depths()).within(count)


_NOTHING = Share()


@dataclass(frozen=True, slots=True)
class Rounds:
    """In which portions the segments of a document are sent for an attribute:
    `tokens[i]` and segments up to `upto[i]`.

    The nearest segments go first; further portions are sent only while the value is not found.
    """

    upto: tuple[int, ...]
    tokens: tuple[int, ...]


def rounds(sizes: Sequence[int], first_tokens: float) -> Rounds:
    """Portions of the segments: at least one segment and `first_tokens`, then
    each twice as large.
    """
    upto, tokens = [], []
    budget, at = max(1.0, first_tokens), 0
    while at < len(sizes):
        total = 0
        while at < len(sizes) and (total == 0 or total + sizes[at] <= budget):
            total += sizes[at]
            at += 1
        upto.append(at)
        tokens.append(total)
        budget = 2.0 * max(budget, total)
    return Rounds(tuple(upto), tuple(tokens))


def expected_tokens(plan: Rounds, stated: float, within: Sequence[float], overhead: float) -> float:
    """Expected tokens of reading in rounds: each is paid only if the earlier ones
    did not find the value.

    Args:
        stated: share of documents that state the attribute.
        within: share of stated values found up to each of `plan.upto`, ascending.
        overhead: prompt tokens of a call beside its segments.
    """
    total, missing = 0.0, 1.0
    for tokens, share in zip(plan.tokens, within, strict=True):
        total += missing * (tokens + overhead)
        missing = 1.0 - stated * share
    return total
