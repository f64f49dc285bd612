"""The order in which a document's filters are evaluated (QUEST, section 3.1).

A filter has a probability p of being true and a cost c, the tokens that this document would send for it. Under AND the
filter most likely to be false for its cost comes first, (1 - p) / c; under OR the one most likely to be true, p / c.
Nested expressions are ordered inside out: a subtree has the probability and the expected cost of its own best order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf

from sliders.plan.filters import Expression, Filter, Or

Probability = Callable[[Filter], float]
Cost = Callable[[Filter], float]


@dataclass(frozen=True, slots=True)
class Ordered:
    """An expression with its children in the order of evaluation, the chance that it is true, and the expected cost.

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
    expression: Expression, probability: Probability, cost: Cost, selected: frozenset[str] = frozenset()
) -> Ordered:
    """The best order of a document's filters, in O(n log n).

    Args:
        selected: attributes that an accepted row must have. At an OR they come first (section 3.1.3): if one filter is
            true they are needed for the output, and if none is, every filter had to be evaluated anyway.
    """
    if isinstance(expression, Filter):
        return Ordered(probability(expression), cost(expression), expression)
    either = isinstance(expression, Or)
    children = [order(child, probability, cost) for child in expression.children]
    children.sort(key=lambda child: -priority(child.probability, child.cost, either))
    if either and selected:
        children.sort(key=lambda child: not (child.filter and selected.issuperset(child.filter.attributes)))
    total, chance = 0.0, 1.0
    for child in children:
        total += chance * child.cost
        chance *= (1 - child.probability) if either else child.probability
    return Ordered(1 - chance if either else chance, total, None, tuple(children), either)


def priority(probability: float, cost: float, either: bool) -> float:
    """The score by which filters are sorted, descending: (1 - p) / c under AND, p / c under OR (equations 3 and 5)."""
    gain = probability if either else 1 - probability
    if cost <= 0:
        return inf
    return gain / cost


def with_selected(ordered: Ordered | None, costs: dict[str, float], selected: frozenset[str]) -> float:
    """Expected cost of a query on a document, the attributes of accepted rows included (equations 2 and 4).

    Args:
        costs: by attribute, for `selected` attributes.
    """
    if ordered is None:
        return sum(costs[name] for name in selected)
    total = ordered.cost
    sure = {name for leaf, chance in ordered.reached() if chance >= 1.0 for name in leaf.attributes}
    return total + ordered.probability * sum(costs[name] for name in selected - sure)
