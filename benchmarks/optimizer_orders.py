"""Other ways to choose the next filter of a document, to compare the optimizer's with."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from unittest.mock import patch

from benchmarks.optimizer_queries import GoldTable
from sliders.engine import TableRun
from sliders.query import And, Expression, Filter, Or, leaves, order, parse_query

OrderPolicy = Callable[[Expression, str, TableRun, frozenset[str]], Filter]
"""Which filter is evaluated next: of what is left to decide, for a document of a run, with
what is selected of it.
"""


@contextmanager
def ordered(policy: OrderPolicy | None, one_by_one: bool) -> Iterator[None]:
    """Queries choose filters by the policy, the optimizer's when it is None; `one_by_one`:
    one attribute a call.
    """
    with ExitStack() as patches:
        if policy is not None:
            chosen = lambda run, _, rest, document_id, selected: policy(  # noqa: E731
                rest, document_id, run, selected
            )
            patches.enter_context(patch.object(TableRun, "next_filter", chosen))
        if one_by_one:
            patches.enter_context(
                patch.object(
                    TableRun, "_companions", lambda _run, _id, name, rows, _needs: ([name], rows)
                )
            )
        yield


def true_selectivities(gold: GoldTable, sql: str) -> dict[str, float]:
    """The share of gold rows for which each filter holds."""
    found = {}
    for use in parse_query(sql, [gold.table]).tables:
        for leaf in leaves(use.where):
            found[leaf.key] = sum(leaf.truth(row) is True for row in gold.rows.values()) / len(
                gold.rows
            )
    return found


def by_selectivity(
    rest: Expression, document_id: str, run: TableRun, selected: frozenset[str]
) -> Filter:
    """The most selective filter first, whatever it costs."""
    return next(order(rest, run.statistics.selectivity, lambda _: 1.0).filters())


def by_average_cost(
    rest: Expression, document_id: str, run: TableRun, selected: frozenset[str]
) -> Filter:
    """Selectivity and the mean cost of an attribute: one order for all documents."""

    def cost(leaf: Filter) -> float:
        return sum(mean_cost(run, name) for name in leaf.attributes)

    return next(order(rest, run.statistics.selectivity, cost, selected).filters())


def mean_cost(run: TableRun, attribute: str) -> float:
    """Mean tokens of an attribute over the documents so far."""
    spent = [
        sum(s.tokens for s in steps if attribute in s.attributes) for steps in run.steps.values()
    ]
    paid = [tokens for tokens in spent if tokens]
    return sum(paid) / len(paid) if paid else 100.0


def shuffled(seed: int) -> OrderPolicy:
    """Any order."""
    chance = random.Random(seed)
    return lambda rest, _document, _run, _selected: chance.choice(list(leaves(rest)))


def exhaustive(shares: Mapping[str, float]) -> OrderPolicy:
    """The best policy there is under the cost model when the true selectivities are known,
    by trying everything.
    """

    def first(
        rest: Expression, document_id: str, run: TableRun, selected: frozenset[str]
    ) -> Filter:
        costs = {
            name: run.cost(document_id, name) for leaf in leaves(rest) for name in leaf.attributes
        }
        known = run.values(document_id)
        output = {n: costs.get(n) or run.cost(document_id, n) for n in selected if n not in known}
        return best_first(rest, shares, costs, output)[1]

    return first


def best_first(
    rest: Expression,
    shares: Mapping[str, float],
    costs: Mapping[str, float],
    output: Mapping[str, float],
) -> tuple[float, Filter]:
    """Least expected cost of deciding an expression (and reading the output of accepted rows), and
    the filter to start with.
    """

    @cache
    def value(node: Expression | bool, read: frozenset[str]) -> tuple[float, Filter | None]:
        if isinstance(node, bool):
            return (sum(c for n, c in output.items() if n not in read) if node else 0.0), None
        best: tuple[float, Filter | None] = (float("inf"), None)
        for leaf in dict.fromkeys(leaves(node)):
            paid = sum(costs[n] for n in leaf.attributes if n not in read)
            after = read.union(leaf.attributes)
            p = shares[leaf.key]
            total = paid + p * value(decided(node, leaf, True), after)[0]
            total += (1 - p) * value(decided(node, leaf, False), after)[0]
            if total < best[0]:
                best = (total, leaf)
        return best

    cost, leaf = value(rest, frozenset())
    assert leaf is not None
    return cost, leaf


def decided(node: Expression, leaf: Filter, outcome: bool) -> Expression | bool:
    """What is left of an expression when one filter is decided."""
    if isinstance(node, Filter):
        return outcome if node == leaf else node
    absorbing = isinstance(node, Or)
    children: list[Expression] = []
    for child in node.children:
        part = decided(child, leaf, outcome)
        if part is absorbing:
            return absorbing
        if not isinstance(part, bool):
            children.append(part)
    if not children:
        return not absorbing
    return children[0] if len(children) == 1 else (Or if absorbing else And)(tuple(children))
