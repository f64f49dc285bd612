"""The estimates of the optimizer: how often filters hold, how often attributes are stated, and at
which rank of the segments values are found.

The estimates start from the sample, and are updated while a query runs.
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
"""The share (0 to 1) of rows that pass a filter, before any row was seen (in the tradition of
System R's constants).
"""
_PRIOR_WEIGHT = 1.0
_RECENT_RANKS = 400


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Expected tokens, with an interval that holds the true number about nine times out of ten."""

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
        """Adds one trial."""
        self.hits += hit
        self.trials += 1

    def value(self, prior: float, weight: float = _PRIOR_WEIGHT) -> float:
        """The estimate (0 to 1)."""
        return (self.hits + weight * prior) / (self.trials + weight)

    def interval(self, prior: float) -> tuple[float, float]:
        """The least and the greatest share (0 to 1) of Wilson's interval at 90%."""
        n, p, z = self.trials + _PRIOR_WEIGHT, self.value(prior), 1.645
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(slots=True)
class Depths:
    """The rank of the segment, 0 for the nearest, in which each value of an attribute was found."""

    ranks: list[int] = field(default_factory=list)

    def add(self, rank: int) -> None:
        """Adds a value that was found in the segment of this rank."""
        self.ranks.append(rank)
        del self.ranks[:-_RECENT_RANKS]

    def within(self, count: int) -> float:
        """The share (0 to 1) of values that are found in the nearest `count` segments. It comes
        near to 1 and never reaches it.
        """
        found = sum(1 for rank in self.ranks if rank < count)
        # A heavy tail: a value that is always stated and was not found yet is worth
        # looking for further down.
        prior = count / (1 + count)
        return (found + prior) / (len(self.ranks) + 1)


@dataclass(slots=True)
class Statistics:
    """The estimates of one table while a query runs."""

    filters: dict[str, Share] = field(default_factory=dict)
    stated: dict[str, Share] = field(default_factory=dict)
    depths: dict[str, Depths] = field(default_factory=dict)

    def observe(self, filters: Iterable[Filter], values: Mapping[str, Any], fresh: str) -> None:
        """Counts the outcome of the filters that are decided now.

        Args:
            filters: the filters of the query.
            values: the known values of a document.
            fresh: the attribute that became known last.
        """
        for leaf in filters:
            if fresh in leaf.attributes and all(name in values for name in leaf.attributes):
                self.filters.setdefault(leaf.key, Share()).add(leaf.truth(values) is True)

    def selectivity(self, leaf: Filter) -> float:
        """Share of documents for which the filter is true."""
        return self.filters.get(leaf.key, _NOTHING).value(self._prior(leaf))

    def selectivity_interval(self, leaf: Filter) -> tuple[float, float]:
        """The least and the greatest selectivity (0 to 1) at 90%."""
        return self.filters.get(leaf.key, _NOTHING).interval(self._prior(leaf))

    def _prior(self, leaf: Filter) -> float:
        prior = _PRIOR.get(leaf.kind, 1 / 3)
        return 1 - prior if leaf.negated else prior

    def share_stated(self, attribute: str) -> float:
        """Share of documents that state the attribute."""
        return self.stated.get(attribute, _NOTHING).value(0.7)

    def found_within(self, attribute: str, count: int) -> float:
        """The share (0 to 1) of the stated values that is found in the nearest `count` segments."""
        return self.depths.setdefault(attribute, Depths()).within(count)


_NOTHING = Share()


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds in which the segments of a document are sent for an attribute: round i sends the
    segments up to `upto[i]`, with `tokens[i]` tokens.

    The nearest segments go first; another round follows only when the value was not found.
    """

    upto: tuple[int, ...]
    tokens: tuple[int, ...]


def rounds(sizes: Sequence[int], first_tokens: float) -> Rounds:
    """Returns the rounds: the first has at least one segment and `first_tokens` tokens, each
    further round is twice as large.
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
    """Returns the expected tokens of reading in rounds: a round costs only if the earlier ones did
    not find the value.

    Args:
        stated: the share (0 to 1) of documents that state the attribute.
        within: share of stated values found up to each of `plan.upto`, ascending.
        overhead: prompt tokens of a call beside its segments.
    """
    total, missing = 0.0, 1.0
    for tokens, share in zip(plan.tokens, within, strict=True):
        total += missing * (tokens + overhead)
        missing = 1.0 - stated * share
    return total
