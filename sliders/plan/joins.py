"""Joins as filters (QUEST, section 3.2): three plans with their costs, and which table is joined next.

Plan 1 pushes the filters of both tables down and joins what is left. Plan 2 filters the left table, reads its join values,
and gives them to the right table as one more filter, ordered with the others; plan 3 is the same from the right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sliders.plan.order import priority


@dataclass(frozen=True, slots=True)
class FilterCost:
    """A filter of a side: its selectivity and its cost in one document."""

    probability: float
    cost: float


@dataclass(frozen=True, slots=True)
class Side:
    """One table of a join. Per document: costs of its filters (ordered best) and of its join attribute, in tokens.

    `documents` holds, for each document, the (probability, cost) of its conjuncts; `join_costs` the cost of reading the join
    attribute; `matching` is the share of this table's rows that join a surviving row of the other, `printing` that of its
    documents that print a join value of such a row: the others are known not to join without a model.
    """

    documents: tuple[tuple[FilterCost, ...], ...]
    join_costs: tuple[float, ...]
    matching: float
    printing: float = 1.0

    @property
    def filter_cost(self) -> float:
        """Expected tokens of the filters over all documents, in the best order."""
        return sum(conjunction_cost(filters) for filters in self.documents)

    @property
    def pushed_down(self) -> float:
        """Filters first, then the join attribute of the documents that pass them (the first two terms of Eq. 6, 8, 9)."""
        return self.filter_cost + sum(
            pass_rate(filters) * cost for filters, cost in zip(self.documents, self.join_costs, strict=True)
        )

    @property
    def filtered(self) -> float:
        """Filters and the IN filter of the join ordered together (the third term of Eq. 8 and 9)."""
        return sum(
            conjunction_cost((*filters, FilterCost(min(self.matching, self.printing), cost * self.printing)))
            for filters, cost in zip(self.documents, self.join_costs, strict=True)
        )

    @property
    def survivors(self) -> float:
        """Expected number of documents that pass the filters."""
        return sum(pass_rate(filters) for filters in self.documents)


def pass_rate(filters: Sequence[FilterCost]) -> float:
    """Probability that all filters hold."""
    chance = 1.0
    for leaf in filters:
        chance *= leaf.probability
    return chance


def conjunction_cost(filters: Sequence[FilterCost]) -> float:
    """Expected tokens of a conjunction in its best order (Eq. 2, first term)."""
    total, chance = 0.0, 1.0
    for leaf in sorted(filters, key=lambda leaf: -priority(leaf.probability, leaf.cost, False)):
        total += chance * leaf.cost
        chance *= leaf.probability
    return total


@dataclass(frozen=True, slots=True)
class JoinCosts:
    """Expected tokens of the three plans (Eq. 6, 8 and 9)."""

    push_down: float
    left_first: float
    right_first: float

    @property
    def best(self) -> str:
        """The cheaper of the two transformed plans: "left first" (2) or "right first" (3)."""
        return "left first" if self.left_first <= self.right_first else "right first"

    @property
    def cost(self) -> float:
        """Tokens of the chosen plan."""
        return min(self.left_first, self.right_first)


def join_costs(left: Side, right: Side) -> JoinCosts:
    """Expected tokens of plans 1, 2 and 3."""
    return JoinCosts(
        push_down=left.pushed_down + right.pushed_down,
        left_first=left.pushed_down + right.filtered,
        right_first=right.pushed_down + left.filtered,
    )


@dataclass(frozen=True, slots=True)
class NextJoin:
    """The table to read next, the one whose values it is filtered by (empty for the very first), and the expected tokens."""

    table: str
    given: str
    tokens: float


def first_join(edges: Sequence[tuple[str, str]], sides: Mapping[tuple[str, str], Side]) -> NextJoin:
    """The table to start with: over all joins and both directions, the cheapest transformed plan.

    Args:
        edges: pairs of tables that join.
        sides: by (table, the table that it joins): costs depend on the attribute of that join.
    """
    options = []
    for one, two in edges:
        costs = join_costs(sides[one, two], sides[two, one])
        options.append((costs.left_first, one, two))
        options.append((costs.right_first, two, one))
    tokens, start, _ = min(options)
    return NextJoin(start, "", tokens)


def next_join(joined: frozenset[str], edges: Sequence[tuple[str, str]], sides: Mapping[tuple[str, str], Side]) -> NextJoin:
    """The table that extends the join most cheaply, given that the joined ones are known (left-deep, section 3.2.2)."""
    options = [
        (sides[new, old].filtered, new, old)
        for one, two in edges
        for old, new in ((one, two), (two, one))
        if old in joined and new not in joined
    ]
    tokens, table, given = min(options)
    return NextJoin(table, given, tokens)
