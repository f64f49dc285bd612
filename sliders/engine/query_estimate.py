"""EXPLAIN: the plan and the cost of a query, from what is known now; no model is called."""

from __future__ import annotations

from sliders.engine.query_candidates import FEWEST, SHARE, sample_size
from sliders.engine.running_query import Running
from sliders.engine.table_run import TableRun
from sliders.query.cost import TokenEstimate
from sliders.query.explain import PlanNode, QueryExplanation
from sliders.query.filter_order import Ordered
from sliders.query.filters import leaves
from sliders.query.parsing import TableUse

_NOTHING = TokenEstimate(0.0, 0.0, 0.0)
_UNCERTAIN = 2.0
"""The factor by which the interval is wider when an estimate comes from the attribute's name
alone.
"""


def plan_before(running: Running) -> QueryExplanation:
    """Returns the plan of a query, with estimates."""
    nodes = [_table(running, use) for use in running.query.tables]
    if notes := running.contradictions():
        return QueryExplanation(PlanNode("result", "", "", _NOTHING), (), tuple(notes))
    total = sum((node.estimate or _NOTHING for node in nodes), _NOTHING)
    inputs = tuple(nodes)
    if running.query.joins:
        on = ", ".join(str(edge) for edge in running.query.joins)
        inputs = (PlanNode("join", on, "the order is chosen while running", total, inputs=inputs),)
    return QueryExplanation(PlanNode("result", "", "", total, inputs=inputs))


def _table(running: Running, use: TableUse) -> PlanNode:
    run = running.runs[use.table]
    new = run.learned.seed(run.index.embedder, run.table, run.attributes)
    run.conditions(use.where)
    documents = list(run.index.entries)
    sampled = documents[: sample_size(len(documents))] if new else []
    sample_tokens = float(sum(sum(run.index.sizes(d)) for d in sampled))
    sample = TokenEstimate(sample_tokens, sample_tokens * 0.5, sample_tokens * 1.5)
    work = TokenEstimate(0.0, 0.0, 0.0)
    first = ""
    for document_id in documents[len(sampled) :]:
        estimate, ordered = _document(run, document_id, use, bool(new))
        work += estimate
        if ordered is not None and not first:
            first = " > ".join(str(leaf) for leaf in ordered.filters())
    inputs = []
    if sampled:
        detail = (
            f"{len(sampled)} of {len(documents)} documents read for all attributes ({SHARE:.0%}, "
            f"at least {FEWEST})"
        )
        inputs.append(PlanNode("sample", use.alias, detail, sample, rows=len(sampled)))
    inputs.append(PlanNode("documents", use.table, "", rows=len(documents)))
    detail = f"first document: {first}" if first else "every document"
    return PlanNode("filter", use.alias, detail, work + sample, inputs=tuple(inputs))


def _document(
    run: TableRun, document_id: str, use: TableUse, new: bool
) -> tuple[TokenEstimate, Ordered | None]:
    known = run.values(document_id)
    selected = [n for n in use.select if n not in known]
    ordered = (
        run.ordered(use.where, document_id, frozenset(selected)) if use.where is not None else None
    )
    output = sum(run.cost(document_id, name) for name in selected)
    chance = ordered.probability if ordered is not None else 1.0
    tokens = (ordered.cost if ordered is not None else 0.0) + chance * output
    bounds = [run.statistics.selectivity_interval(leaf) for leaf in leaves(use.where)]
    spread = max((high - low for low, high in bounds), default=0.3)
    factor = _UNCERTAIN if new else 1 + spread
    most = sum(run.cost(document_id, n) for n in run.attributes if n not in known)
    return TokenEstimate(tokens, tokens / factor, min(max(most, tokens), tokens * factor)), ordered
