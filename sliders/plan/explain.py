"""EXPLAIN and EXPLAIN ANALYZE: a plan as a tree for the terminal and as rows for a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sliders.plan.operators import DocumentTrace, PlanNode

_SHOWN_DOCUMENTS = 20


@dataclass(frozen=True, slots=True)
class Explanation:
    """A plan, and after a run what each document cost. `str()` is the text for the terminal."""

    root: PlanNode
    traces: tuple[DocumentTrace, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [*tree_lines(self.root), *(f"note: {note}" for note in self.notes)]
        if self.traces:
            lines += ["", *trace_lines(self.traces)]
        return "\n".join(lines)

    def rows(self) -> list[tuple[object, ...]]:
        """One row a plan node: depth, operator, subject, detail, estimated tokens, low, high, actual tokens, rows."""
        return list(_rows(self.root, 0))


NODE_COLUMNS = ("depth", "operator", "subject", "detail", "tokens", "low", "high", "actual", "rows")
TRACE_COLUMNS = ("table_name", "document", "verdict", "order_taken", "calls", "tokens", "whole", "saved")


def _rows(node: PlanNode, depth: int) -> Iterator[tuple[object, ...]]:
    e = node.estimate
    bounds = (e.tokens, e.low, e.high) if e is not None else (None, None, None)
    yield (depth, node.kind, node.subject, node.detail, *bounds, node.actual, node.rows)
    for child in node.inputs:
        yield from _rows(child, depth + 1)


def trace_rows(traces: Sequence[DocumentTrace]) -> list[tuple[object, ...]]:
    """One row a document, in the order of `TRACE_COLUMNS`."""
    return [(t.table, t.document, t.verdict, t.order, len(t.steps), t.tokens, t.whole, t.saved) for t in traces]


def tree_lines(node: PlanNode, prefix: str = "", last: bool = True, top: bool = True) -> list[str]:
    """The plan as an indented tree."""
    mark = "" if top else "└─ " if last else "├─ "
    words = [f"{node.kind} {node.subject}".strip()]
    if node.detail:
        words.append(node.detail)
    if node.estimate is not None:
        words.append(f"estimated {node.estimate}")
    if node.actual is not None:
        words.append(f"spent {node.actual:,} tokens")
    if node.rows is not None:
        words.append(f"{node.rows:,} rows")
    lines = [prefix + mark + "; ".join(words)]
    below = prefix if top else prefix + ("   " if last else "│  ")
    for number, child in enumerate(node.inputs):
        lines += tree_lines(child, below, number == len(node.inputs) - 1, False)
    return lines


def trace_lines(traces: Sequence[DocumentTrace]) -> list[str]:
    """Documents with the order taken, tokens spent and saved: the dearest first."""
    chosen = sorted(traces, key=lambda t: (-t.tokens, t.document))[:_SHOWN_DOCUMENTS]
    width = max(len(t.document) for t in chosen)
    lines = [
        f"{t.document:{width}}  {t.verdict:9} {t.tokens:>7,} tokens  {t.saved:>7,} saved  {t.order}" for t in chosen
    ]
    spent, whole = sum(t.tokens for t in traces), sum(t.whole for t in traces)
    if len(traces) > len(chosen):
        lines.append(f"... and {len(traces) - len(chosen)} more documents")
    share = f", {spent / whole:.0%} of reading them whole" if whole else ""
    return [*lines, f"all {len(traces)} documents: {spent:,} tokens sent{share}"]
