"""Joins of a running query: one table is filtered first, its join values become a filter on the
next table, and the order of the rest is chosen again after each join (QUEST, section 3.2.2).

A document is read when its join value may be the same name as a value of the other table: the case,
the accents or the order ("Last, First") may differ. The SQL that runs over the rows then compares
the exact values, and `unequal_names` reports pairs that are not equal. Joins on documents need the
same document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from sliders.engine.join_values import JoinNames, NameWords, join_words
from sliders.engine.running_query import Running
from sliders.engine.table_run import TableRun
from sliders.extraction.cell import Scalar
from sliders.progress import counted
from sliders.query.cost import TokenEstimate
from sliders.query.explain import Kind, PlanNode
from sliders.query.filter_order import JoinSide, NextJoin, first_join, next_join
from sliders.query.filters import And, Expression, Filter, conjuncts, joined
from sliders.query.parsing import JoinEdge
from sliders.reconcile.canonical import Links, pairs_by_words


async def join_all(running: Running) -> None:
    """Filters and joins all tables. Afterwards `accepted` holds the rows that join, with their
    selected attributes.
    """
    await _adaptive(running)
    _reduce(running, list(running.query.joins))
    for use in running.query.tables:
        await running.complete(use.alias, running.accepted[use.alias], use.select)


def unequal_names(running: Running) -> list[str]:
    """Returns notes on pairs of join values that have the same words but do not join in SQL."""
    told = []
    for edge in running.query.joins:
        left, right = (_distinct(running, *end) for end in edge.ends)
        forms = canonical_forms([*left, *right])
        pairs = [f"{a!r} and {b!r}" for a in left for b in right if a != b and forms[a] == forms[b]]
        if pairs:
            more = (
                f" and {counted(len(pairs) - _NAMED, 'more pair')}" if len(pairs) > _NAMED else ""
            )
            told.append(f"{edge} joins equal values, so not {'; '.join(pairs[:_NAMED])}{more}")
    return told


_NAMED = 3


async def _adaptive(running: Running) -> None:
    """Reads the tables one after the other. The first table is the cheapest to filter alone; each
    next table is the cheapest to read with the join values that are known by then.
    """
    joins = running.query.joins
    pairs = list(dict.fromkeys((edge.left, edge.right) for edge in joins))
    done: set[str] = set()
    while len(done) < len(running.query.tables):
        sides = {(a, b): side(running, a, b) for p in pairs for a, b in (p, p[::-1])}
        chosen = next_join(frozenset(done), pairs, sides) if done else first_join(pairs, sides)
        new = chosen.table
        edges = [e for e in joins if new in (e.left, e.right) and e.other(new) in done]
        for edge in edges:
            other = edge.other(new)
            await running.complete(other, running.accepted[other], [edge.attribute(other)])
        await _read(running, chosen, edges)
        done.add(new)
        _reduce(running, [e for e in joins if {e.left, e.right} <= done])


async def _read(running: Running, chosen: NextJoin, edges: Sequence[JoinEdge]) -> None:
    """Filters the chosen table by its own conditions and by the join values of the tables read
    before.
    """
    alias, run = chosen.table, running.run(chosen.table)
    before = run.tokens
    joining = [join_filter(running, edge, alias) for edge in edges]
    where: Expression | None = joined(And, running.query.use(alias).where, *joining)
    running.accepted[alias] = []
    # When the other side has no value, nothing can join, and nothing is read.
    if all(leaf.values for leaf in joining):
        run.join_names = JoinNames(_names(running, alias, edges))
        running.accepted[alias] = await running.filter_all(alias, where)
        _tell(run)
        run.join_names = JoinNames()
    keys = running.query.keys(alias)
    if not edges and len(keys) == 1:
        await running.complete(alias, running.accepted[alias], keys)
    estimate = TokenEstimate(chosen.tokens, chosen.tokens / 2, chosen.tokens * 2)
    kind: Kind = "join" if edges else "filter"
    spent, rows = run.tokens - before, len(running.accepted[alias])
    node = PlanNode(kind, alias, str(where or ""), estimate, spent, rows, tuple(running.joins))
    running.joins[:] = [node]


def _names(running: Running, alias: str, edges: Sequence[JoinEdge]) -> dict[str, NameWords]:
    """Returns, by attribute of the table, the words by which its join values are searched in
    documents.
    """
    run, found = running.run(alias), dict[str, NameWords]()
    for edge in (edge for edge in edges if not edge.exact):
        name, other = edge.attribute(alias), edge.other(alias)
        values = _distinct(running, other, edge.attribute(other))
        stated = ((d, known[name]) for d, known in run.known.items() if known.get(name) is not None)
        printed = ((run.document(document_id).text, value) for document_id, value in stated)
        words = join_words(run.table.column(name), printed, values)
        if words is not None:
            found.setdefault(name, words)
    return found


def _tell(run: TableRun) -> None:
    """Records how many documents were left out because they print no join value."""
    without = sum(not rows for rows in run.join_names.printed.values())
    if without:
        reason = (
            f"{counted(without, 'document')} without any of the join values that "
            f"{', '.join(run.join_names.names)} must have"
        )
        run.session.decide("optimize", "table", "not read", reason, table=run.table.name)


def join_filter(running: Running, edge: JoinEdge, alias: str) -> Filter:
    """Returns the join as an IN filter on one of its tables. The filter matches names by canonical
    form, and documents by id.
    """
    other = edge.other(alias)
    values = _distinct(running, other, edge.attribute(other))
    name = edge.attribute(alias)
    return Filter(
        f"{name} matches {other} ({counted(len(values), 'value')})",
        (name,),
        kind="matches",
        values=tuple(values),
        matcher=frozenset(values).__contains__ if edge.exact else matcher(values),
    )


def side(running: Running, alias: str, other: str) -> JoinSide:
    """Returns one side of a join: the cost of each document of the table that is not decided yet,
    and the share of the other table's rows that are left to join.
    """
    run, use = running.run(alias), running.query.use(alias)
    edge = next(e for e in running.query.joins if {e.left, e.right} == {alias, other})
    attribute, parts = edge.attribute(alias), conjuncts(use.where)
    documents, join_costs = [], []
    for document_id in run.candidates.to_read:
        documents.append(tuple(run.ordered(part, document_id) for part in parts))
        known = run.values(document_id)
        join_costs.append(0.0 if attribute in known else run.cost(document_id, attribute))
    return JoinSide(tuple(documents), tuple(join_costs), _share_that_joins(running, other))


def _share_that_joins(running: Running, other: str) -> float:
    """Returns the share (0 to 1) of the other table's rows that are left to join: counted when the
    table was filtered, else estimated from its filters.
    """
    documents = running.run(other).candidates.to_read
    if other in running.accepted:
        return min(1.0, len(running.accepted[other]) / max(1, len(documents)))
    run, where = running.run(other), running.query.use(other).where
    if where is None or not documents:
        return 0.95
    return run.ordered(where, documents[0]).probability


def _distinct(running: Running, alias: str, name: str) -> list[Scalar]:
    """Returns the distinct values of an attribute in the accepted rows of a table."""
    run = running.run(alias)
    values = (run.values(document_id).get(name) for document_id in running.accepted.get(alias, ()))
    return [value for value in dict.fromkeys(values) if value is not None]


def _reduce(running: Running, edges: Sequence[JoinEdge]) -> None:
    """Drops rows without a partner until nothing changes, so that nothing more is read for them."""
    changed = True
    while changed:
        changed = False
        for edge in edges:
            values = [_distinct(running, *end) for end in edge.ends]
            every = [*values[0], *values[1]]
            forms = dict(zip(every, every, strict=True)) if edge.exact else canonical_forms(every)
            common = {forms[v] for v in values[0]} & {forms[v] for v in values[1]}
            for alias, name in edge.ends:
                run, rows = running.run(alias), running.accepted[alias]
                kept = [d for d in rows if forms.get(run.values(d).get(name), _NO_FORM) in common]
                changed = changed or len(kept) < len(rows)
                running.accepted[alias] = kept


_NO_FORM = object()


def canonical_forms(values: Sequence[Scalar]) -> dict[Scalar, Scalar]:
    """Returns the form that stands for each value. Values with one form may be one name. None has
    no form: it joins nothing.
    """
    distinct = [value for value in dict.fromkeys(values) if value is not None]
    links = Links(len(distinct))
    for left, right in pairs_by_words(distinct):
        links.join(left, right, "")
    return {
        value: distinct[root] for value, root in zip(distinct, links.roots().tolist(), strict=True)
    }


def matcher(values: Sequence[Scalar]) -> Callable[[Scalar], bool]:
    """Returns a test whether a value may be the same name as any of these values."""
    known = {value for value in values if value is not None}

    @cache
    def matches(value: Scalar) -> bool:
        if value is None or value in known:
            return value is not None
        forms = canonical_forms([*known, value])
        return any(forms[value] == forms[other] for other in known)

    return matches
