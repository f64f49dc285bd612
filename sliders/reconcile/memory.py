"""What a model decided on earlier groups, by their content: asked once, paid once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sliders.errors import RepairError
from sliders.llm.model import Model
from sliders.reconcile.agent import Outcome, repaired
from sliders.reconcile.values import Case, Settlement


class Memory:
    """Settlements of earlier runs, and those of this one.

    Args:
        table: name of the table.
        settled: of earlier runs.
        additive: columns whose values may be summed.
    """

    def __init__(self, table: str, settled: Sequence[Settlement], additive: frozenset[str]) -> None:
        self._table, self._additive = table, additive
        self._known = {one.signature: one for one in settled}
        self.kept: list[Settlement] = []

    def recall(self, case: Case, model: Model | None) -> Outcome | None:
        """What was decided on this very group; its programs run again, as they stand."""
        signature = self._signature(case)
        known = self._known.get(signature)
        if known is None and model is not None:
            known = self._known.get(f"{signature}:{model.name}")
        if known is None:
            return None
        outcome = Outcome(known.verdict, known.reason)
        if known.verdict == "repaired":
            try:
                outcome = repaired(case, known.programs, self._additive)
            except RepairError:
                return None  # rows of other ids print the same
        self.kept.append(known)
        return outcome

    def keep(self, case: Case, outcome: Outcome, model: Model) -> None:
        """Remember an outcome; another model is asked again about what this one left open."""
        if not outcome.answered:
            return
        signature = self._signature(case) + (f":{model.name}" if outcome.verdict == "open" else "")
        programs = tuple(step.program for step in outcome.steps)
        self.kept.append(Settlement(signature, outcome.verdict, outcome.reason, programs))

    def key(self, before: Sequence[str]) -> tuple[str, ...] | None:
        """The key that a model named in the place of another, None when none was asked."""
        known = self._known.get(f"key:{','.join(before)}")
        return None if known is None else tuple(filter(None, known.reason.split(",")))

    def keep_key(self, before: Sequence[str], key: Sequence[str] | None) -> None:
        """Remember the key that a model named."""
        if key is not None:
            self.kept.append(Settlement(f"key:{','.join(before)}", "repaired", ",".join(key)))

    def _signature(self, case: Case) -> str:
        places = [case.group.columns.index(name) for name in case.open]
        if case.kind == "names":
            parts = sorted({repr(values[p]) for values in case.group.rows.values() for p in places})
        else:
            parts = [repr((row, values, case.notes.get(row))) for row, values in sorted(case.group.rows.items())]
        return hashlib.sha256("\x1f".join((case.kind, self._table, *case.open, *parts)).encode()).hexdigest()[:24]
