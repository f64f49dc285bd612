"""EXPLAIN and EXPLAIN ANALYZE: the plan of a query, and what was done, as values that can be
printed without running it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sliders.progress import counted
from sliders.query.cost import TokenEstimate

_SHOWN_DOCUMENTS = 20
Kind = Literal["result", "join", "filter", "retrieve", "sample", "documents"]
Verdict = Literal["accepted", "rejected", "excluded", "sampled", "not read"]


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One operator over its inputs.

    `estimate` is in tokens; `actual` is filled in after the run (EXPLAIN ANALYZE).
    """

    kind: Kind
    subject: str
    detail: str = ""
    estimate: TokenEstimate | None = None
    actual: int | None = None
    rows: int | None = None
    inputs: tuple[PlanNode, ...] = ()


@dataclass(frozen=True, slots=True)
class CallTrace:
    """One call about one document: the attributes asked for, the tokens sent, and the attributes
    found.
    """

    attributes: tuple[str, ...]
    tokens: int
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentTrace:
    """The calls about one document of a table in order, the verdict, the tokens sent, and the
    tokens of the whole document.
    """

    table: str
    document: str
    steps: tuple[CallTrace, ...]
    verdict: Verdict
    tokens: int
    whole: int

    @property
    def saved(self) -> int:
        """The tokens saved, compared with sending the whole document once."""
        return self.whole - self.tokens

    @property
    def order(self) -> str:
        """The attributes in the order in which they were asked for, as "a > b+c": b and c in one
        call after a.
        """
        return " > ".join("+".join(step.attributes) for step in self.steps)


@dataclass(frozen=True, slots=True)
class QueryExplanation:
    """A plan; after a run also the cost of each document. `str()` is the text for the terminal."""

    root: PlanNode
    traces: tuple[DocumentTrace, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [*tree_lines(self.root), *(f"note: {note}" for note in self.notes)]
        if self.traces:
            lines += ["", *trace_lines(self.traces)]
        return "\n".join(lines)


def tree_lines(node: PlanNode, prefix: str = "", last: bool = True, top: bool = True) -> list[str]:
    """The plan as an indented tree."""
    mark = "" if top else "└─ " if last else "├─ "
    words = [f"{node.kind} {node.subject}".strip()]
    if node.detail:
        words.append(node.detail)
    if node.estimate is not None:
        words.append(f"estimated {node.estimate}")
    if node.actual is not None:
        words.append(f"spent {counted(node.actual, 'token')}")
    if node.rows is not None:
        words.append(counted(node.rows, "row"))
    lines = [prefix + mark + "; ".join(words)]
    below = prefix if top else prefix + ("   " if last else "│  ")
    for number, child in enumerate(node.inputs):
        lines += tree_lines(child, below, number == len(node.inputs) - 1, False)
    return lines


def trace_lines(traces: Sequence[DocumentTrace]) -> list[str]:
    """The documents with the order of their attributes and the tokens spent and saved, the most
    expensive first.
    """
    chosen = sorted(traces, key=lambda t: (-t.tokens, t.document))[:_SHOWN_DOCUMENTS]
    width = max(len(t.document) for t in chosen)
    lines = [
        f"{t.document:{width}}  {t.verdict:9} {t.tokens:>7,} tokens  {t.saved:>7,} saved  {t.order}"
        for t in chosen
    ]
    spent, whole = sum(t.tokens for t in traces), sum(t.whole for t in traces)
    if len(traces) > len(chosen):
        lines.append(f"... and {len(traces) - len(chosen):,} more")
    share = f", {spent / whole:.0%} of reading them whole" if whole else ""
    return [
        *lines,
        f"in all {counted(len(traces), 'document')}: {counted(spent, 'token')} sent{share}",
    ]
