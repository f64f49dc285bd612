"""What reconciliation remembers of a table between runs: decisions of a model, documents seen,
the user's criteria.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import get_args

from sliders.engine.session import Session
from sliders.errors import RepairError
from sliders.reconcile.repairs import Criterion, OpenNames, Program, Reconciliation, Settlement

_CRITERIA = "criteria"
_FIELDS = 4


@dataclass(frozen=True, slots=True)
class Memory:
    """`settled` are a model's decisions by the content that they were made on;
    `documents` were reconciled before.
    """

    settled: tuple[Settlement, ...] = ()
    documents: frozenset[str] = frozenset()

    def new_among(self, documents: Iterable[str]) -> frozenset[str] | None:
        """The documents that no earlier run has seen; None on the first run, where all are new."""
        return frozenset(documents) - self.documents if self.documents else None


def recall(session: Session, table: str) -> Memory:
    """What earlier runs left."""
    kept = session.catalog.knowledge.statistic(f"reconciled:{table}")
    if kept is None:
        return Memory()
    # An older layout kept no programs.
    settled = (one for one in kept["settled"] if len(one) == _FIELDS)
    return Memory(
        tuple(
            Settlement(
                signature,
                verdict,
                reason,
                tuple(Program(o, c, tuple(s), r) for o, c, s, r in programs),
            )
            for signature, verdict, reason, programs in settled
        ),
        frozenset(kept["documents"]),
    )


def remember(
    session: Session, result: Reconciliation, memory: Memory, documents: Sequence[str]
) -> None:
    """Keep what this run decided beside what was decided before: words that come back are
    not asked about again.
    """
    settled = {s.signature: s for s in (*memory.settled, *result.settlements)}
    kept = {
        "settled": [
            [
                s.signature,
                s.verdict,
                s.reason,
                [[p.operation, p.column, p.statements, p.reason] for p in s.programs],
            ]
            for s in settled.values()
        ],
        "documents": sorted(set(documents)),
    }
    session.catalog.knowledge.set_statistic(f"reconciled:{result.table}", kept)
    new = memory.new_among(documents)
    if new:
        stands = len(
            {s.signature for s in result.settlements} & {s.signature for s in memory.settled}
        )
        reason = (
            f"{len(new)} new documents touch {result.touched_groups} groups; {stands} "
            "earlier decisions stand"
        )
        session.decide("reconcile", f"table:{result.table}", f"{result.calls} calls", reason)


def keep_open_names(session: Session, table: str, names: Sequence[OpenNames]) -> None:
    """Keep the pairs of names on which nobody decided, in the place of those before."""
    session.catalog.knowledge.set_statistic(f"names:{table}", [asdict(one) for one in names])


def open_names(session: Session, table: str) -> list[OpenNames]:
    """The names of a table on which nobody decided."""
    return [
        OpenNames(
            one["column"],
            tuple(map(tuple, one["sides"])),
            one["reason"],
            one["joined"],
            tuple(map(tuple, one["rows"])),
        )
        for one in session.catalog.knowledge.statistic(f"names:{table}", [])
    ]


def criteria_of(session: Session) -> tuple[Criterion, ...]:
    """The user's criteria for this workspace, in order."""
    kept = session.catalog.knowledge.statistic(_CRITERIA)
    return () if kept is None else tuple(kept)


def set_criteria(session: Session, criteria: Sequence[str]) -> None:
    """Choose which source wins where two contradict each other, the strongest criterion first;
    it stands from now on.

    Raises RepairError: there is no such criterion.
    """
    unknown = [c for c in criteria if c not in get_args(Criterion)]
    if unknown:
        raise RepairError(
            f"there is no criterion {unknown[0]!r}; the criteria are: "
            f"{', '.join(get_args(Criterion))}"
        )
    session.catalog.knowledge.set_statistic(_CRITERIA, list(dict.fromkeys(criteria)))
    session.decide("reconcile", "criteria", "set", ", ".join(criteria) or "none")
