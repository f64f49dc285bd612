"""Plan nodes: what a query will do, as frozen values that print without running."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sliders.plan.cost import Estimate

Kind = Literal["result", "join", "filter", "retrieve", "sample", "documents"]


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One operator over its inputs. `estimate` is in tokens; `actual` is filled in after the run (EXPLAIN ANALYZE)."""

    kind: Kind
    subject: str
    detail: str = ""
    estimate: Estimate | None = None
    actual: int | None = None
    rows: int | None = None
    inputs: tuple[PlanNode, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One call on one document: the attributes asked for, the tokens sent, and what was found."""

    attributes: tuple[str, ...]
    tokens: int
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentTrace:
    """What happened to one document of a table: the calls in order, the verdict, and tokens against reading all of it."""

    table: str
    document: str
    steps: tuple[Step, ...]
    verdict: Literal["accepted", "rejected", "excluded", "sampled", "not read"]
    tokens: int
    whole: int

    @property
    def saved(self) -> int:
        """Tokens saved against sending the whole document once."""
        return self.whole - self.tokens

    @property
    def order(self) -> str:
        """The attributes in the order in which they were asked for."""
        return " > ".join("+".join(step.attributes) for step in self.steps)
