"""The order in which a document's filters are evaluated (QUEST, section 3.1) and in which joined
tables are read (3.2).

A filter has a probability p of being true and a cost c, the tokens that this document would send
for it. Under AND the filter most likely to be false for its cost comes first, (1 - p) / c; under OR
the one most likely to be true, p / c. Nested expressions are ordered inside out: a subtree has the
probability and the expected cost of its own best order.

A join is a filter, too: one table is filtered and its join values read, and they filter the
other table, ordered with its own filters (plans 2 and 3), which never costs more than filtering
both first (plan 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from sliders.query.filters import Expression, Filter, Or

Probability = Callable[[Filter], float]
Cost = Callable[[Filter], float]


@dataclass(frozen=True, slots=True)
class Ordered:
    """An expression with its children in the order of evaluation, the chance that it is true,
    and the expected cost.

    `filter` is set for a single filter, `either` for OR.
    """

    probability: float
    cost: float
    filter: Filter | None = None
    children: tuple[Ordered, ...] = ()
    either: bool = False

    def filters(self) -> Iterator[Filter]:
        """The filters in the order of evaluation."""
        if self.filter is not None:
            yield self.filter
        for child in self.children:
            yield from child.filters()

    def reached(self, chance: float = 1.0) -> Iterator[tuple[Filter, float]]:
        """Each filter with the probability that it must be evaluated."""
        if self.filter is not None:
            yield self.filter, chance
        for child in self.children:
            yield from child.reached(chance)
            chance *= (1 - child.probability) if self.either else child.probability


def order(
    expression: Expression,
    probability: Probability,
    cost: Cost,
    selected: frozenset[str] = frozenset(),
) -> Ordered:
    """The best order of a document's filters, in O(n log n).

    Args:
        selected: attributes that an accepted row must have. At an OR they come first (section
            3.1.3): if one filter is true they are needed for the output, and if none is, every
            filter had to be evaluated anyway.
    """
    if isinstance(expression, Filter):
        return Ordered(probability(expression), cost(expression), expression)
    either = isinstance(expression, Or)
    children = [order(child, probability, cost) for child in expression.children]
    children.sort(key=lambda child: -priority(child.probability, child.cost, either))
    if either and selected:
        children.sort(
            key=lambda child: not (child.filter and selected.issuperset(child.filter.attributes))
        )
    chance, total = _in_turn(children, either)
    return Ordered(1 - chance if either else chance, total, None, tuple(children), either)


def _in_turn(children: Sequence[Ordered], either: bool) -> tuple[float, float]:
    """The chance that none of the children decides, and their expected cost in this order
    (equation 2, first term).
    """
    chance, total = 1.0, 0.0
    for child in children:
        total += chance * child.cost
        chance *= (1 - child.probability) if either else child.probability
    return chance, total


def priority(probability: float, cost: float, either: bool) -> float:
    """The score by which filters are sorted, descending: (1 - p) / c under AND, p / c under OR
    (equations 3 and 5).
    """
    gain = probability if either else 1 - probability
    if cost <= 0:
        return inf
    return gain / cost


@dataclass(frozen=True, slots=True)
class JoinSide:
    """One table of a join: for each document its conjuncts, and the tokens of
    reading its join attribute.

    `matching` is the share of this table's rows that join a surviving row of the other.
    """

    documents: tuple[tuple[Ordered, ...], ...]
    join_costs: tuple[float, ...]
    matching: float

    @property
    def pushed_down(self) -> float:
        """Filters first, then the join attribute of the documents that pass them (the first two
        terms of Eq. 6, 8, 9).
        """
        found = [conjunction(filters) for filters in self.documents]
        return sum(
            cost + chance * join
            for (chance, cost), join in zip(found, self.join_costs, strict=True)
        )

    @property
    def filtered(self) -> float:
        """Filters and the IN filter of the join ordered together (the third
        term of Eq. 8 and 9).
        """
        return sum(
            conjunction((*filters, Ordered(self.matching, cost)))[1]
            for filters, cost in zip(self.documents, self.join_costs, strict=True)
        )


def conjunction(filters: Sequence[Ordered]) -> tuple[float, float]:
    """The chance that all filters hold, and their expected tokens in the best order."""
    return _in_turn(
        sorted(filters, key=lambda leaf: -priority(leaf.probability, leaf.cost, False)), False
    )


@dataclass(frozen=True, slots=True)
class NextJoin:
    """The table to read next, the table whose values filter it ("" for the very first), and the
    expected tokens.
    """

    table: str
    given: str
    tokens: float


def first_join(
    edges: Sequence[tuple[str, str]], sides: Mapping[tuple[str, str], JoinSide]
) -> NextJoin:
    """The table to start with: over all joins and both directions, the cheapest of plans 2
    and 3 (Eq. 8 and 9).

    Args:
        edges: pairs of tables that join.
        sides: by (table, the table that it joins): costs depend on the attribute of that join.
    """
    pairs = [pair for edge in edges for pair in (edge, edge[::-1])]
    tokens, start = min(
        (sides[one, two].pushed_down + sides[two, one].filtered, one) for one, two in pairs
    )
    return NextJoin(start, "", tokens)


def next_join(
    joined: frozenset[str],
    edges: Sequence[tuple[str, str]],
    sides: Mapping[tuple[str, str], JoinSide],
) -> NextJoin:
    """The table that extends the join most cheaply, given that the joined ones are known
    (left-deep, section 3.2.2).
    """
    pairs = [pair for edge in edges for pair in (edge, edge[::-1])]
    tokens, table, given = min(
        (sides[new, old].filtered, new, old)
        for old, new in pairs
        if old in joined and new not in joined
    )
    return NextJoin(table, given, tokens)
