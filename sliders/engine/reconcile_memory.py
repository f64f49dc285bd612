"""The memory of reconciliation about a table between runs: decisions of the model, the documents
that it has seen, and the user's criteria.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from sliders.engine.session import Session
from sliders.errors import RepairError
from sliders.progress import counted
from sliders.reconcile.repairs import Criterion, Reconciliation
from sliders.store.facts import Settled, Settlement


@dataclass(frozen=True, slots=True)
class ReconcileMemory:
    """The decisions of the model (`settled`), each with the values that it was made about, and the
    documents that were reconciled before.
    """

    settled: tuple[Settlement, ...] = ()
    documents: frozenset[str] = frozenset()

    def new_among(self, documents: Iterable[str]) -> frozenset[str] | None:
        """Returns the documents that no earlier run has seen; None on the first run, when all are
        new.
        """
        return frozenset(documents) - self.documents if self.documents else None


def recall(session: Session, table: str, before: Settled | None) -> ReconcileMemory:
    """Returns what earlier runs stored about a table; `before` is the state in which it was last
    settled, None for never.
    """
    documents = frozenset[str]() if before is None else before.documents
    return ReconcileMemory(session.catalog.settled.settlements(table), documents)


def remember(
    session: Session, result: Reconciliation, memory: ReconcileMemory, now: Settled
) -> None:
    """Stores the decisions of this run beside the earlier ones, so that the model is not asked
    again about words that come back.
    """
    session.catalog.settled.keep(result.table, now, result.settlements)
    new = memory.new_among(now.documents)
    if new:
        stands = len(
            {s.signature for s in result.settlements} & {s.signature for s in memory.settled}
        )
        reason = (
            f"{counted(len(new), 'new document')}; "
            f"{counted(result.touched_groups, 'group')} touched; "
            f"earlier decisions that stand: {stands}"
        )
        verdict = counted(result.calls, "call")
        session.decide("reconcile", "table", verdict, reason, table=result.table)


def criteria_of(session: Session) -> tuple[Criterion, ...]:
    """Returns the user's criteria for this workspace, the strongest first."""
    return cast("tuple[Criterion, ...]", session.catalog.collection.criteria)


def set_criteria(session: Session, criteria: Sequence[str]) -> None:
    """Chooses which source wins when two sources contradict each other, the strongest criterion
    first. The choice holds from now on.

    Raises:
        RepairError: there is no such criterion.
    """
    unknown = [c for c in criteria if c not in get_args(Criterion)]
    if unknown:
        raise RepairError(
            f"there is no criterion {unknown[0]!r}; the criteria are: "
            f"{', '.join(get_args(Criterion))}"
        )
    session.catalog.collection.set_criteria(list(dict.fromkeys(criteria)))
    session.decide("reconcile", "criteria", "set", ", ".join(criteria) or "none")
