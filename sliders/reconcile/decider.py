"""Decisions on cases that code leaves open: by the model, or from memory. The memory holds the
model's decisions on equal cases in earlier runs, so that each case is paid once.

A *case* is a group of rows or names that may be one thing. A *settlement* is a stored decision on a
case, found by a hash of the case's content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sliders.errors import RepairError
from sliders.llm.model import Model
from sliders.reconcile.column_codes import ColumnTraits
from sliders.reconcile.guard import Outcome, repaired
from sliders.reconcile.keying import KeyCase, KeyReply, KeyVerdict
from sliders.reconcile.repair_agent import Repairer
from sliders.reconcile.repairs import Case, Options
from sliders.schema.types import KeyScope, Table
from sliders.store.facts import Settlement, Verdict


class Memory:
    """The model with the settlements of earlier runs.

    With the model None, nobody is asked. `kept` are the settlements that hold in this run, `calls`
    counts the calls, `asked` counts the cases that they were about.
    """

    def __init__(
        self, table: Table, options: Options, model: Model | None, repairer: Repairer
    ) -> None:
        self.model, self._table, self._options = model, table, options
        self._repairer = repairer
        self._known = {one.signature: one for one in options.settled}
        self.kept: list[Settlement] = []
        self.calls = self.asked = 0

    @property
    def writes_programs(self) -> bool:
        """True when the model reads rows and writes SQL; False when it chooses among given rows."""
        return self.model is not None and self._repairer.writes_programs

    async def decide(self, cases: Sequence[Case], most: int | None = None) -> list[Outcome | None]:
        """Returns the outcome of each case: from memory, else from the model; None for a case that
        nobody was asked about.

        Args:
            cases: the open cases.
            most: the most cases that the model is asked about; None asks about all.

        Raises:
            ModelUnavailable: the model cannot be reached.
        """
        found = [self._recall(case) for case in cases]
        waiting = [n for n, outcome in enumerate(found) if outcome is None][:most]
        if self.model is None or not waiting:
            return found
        spare = max(0, self.asked - self.calls)
        outcomes, calls = await self._repairer.repair(
            self.model, self._table, [cases[n] for n in waiting], self._options, spare
        )
        self.asked += len(waiting)
        self.calls += calls
        for n, outcome in zip(waiting, outcomes, strict=True):
            found[n] = outcome
            if outcome.answered:  # another model is asked again about open cases
                signature = self._signature(cases[n]) + (
                    f":{self.model.name}" if outcome.verdict == "open" else ""
                )
                programs = tuple(step.program for step in outcome.steps)
                self.kept.append(Settlement(signature, outcome.verdict, outcome.reason, programs))
        return found

    def _recall(self, case: Case) -> Outcome | None:
        """Returns the outcome of an earlier run for a case with the same content; None when there
        is none. The SQL programs of that outcome are used again unchanged.
        """
        signature = self._signature(case)
        known = self._known.get(signature)
        if known is None and self.model is not None:
            known = self._known.get(f"{signature}:{self.model.name}")
        if known is None:
            return None
        outcome = Outcome(known.verdict, known.reason)
        if known.verdict == "repaired":
            try:
                outcome = repaired(case, known.programs, self._options.additive(self._table))
            except RepairError:
                return None  # rows of other ids print the same
        self.kept.append(known)
        return outcome

    async def key(self, profiles: Sequence[ColumnTraits], case: KeyCase) -> KeyVerdict:
        """Returns the key that the model names, and whether it holds over the whole collection, so
        that rows of several documents with one key are one thing: from memory, else by a call. A
        reply that the model is not sure of is not remembered.

        Raises:
            ModelUnavailable: the model cannot be reached.
        """
        before = ",".join(case.key)
        found = self._recalled_key(before)
        if found is None:
            if self.model is None:
                return KeyVerdict(None, "nobody was asked")
            found = await self._repairer.propose_key(self.model, self._table, profiles, case)
            self.calls += found.calls
        if (said := found.reply) is not None and said.sure:
            verdict: Verdict = "repaired" if said.scope == "collection" else "apart"
            self.kept.append(Settlement(f"key:{before}", "repaired", "", key=said.key))
            self.kept.append(Settlement(f"scope:{before}", verdict, said.reason))
        return found

    def _recalled_key(self, before: str) -> KeyVerdict | None:
        """Returns the key that the model named in an earlier run; None when it was not asked."""
        known, reach = (self._known.get(f"{kind}:{before}") for kind in ("key", "scope"))
        if known is None or reach is None:  # an earlier version did not ask how far it reaches
            return None
        whole: KeyScope = "collection" if reach.verdict == "repaired" else "document"
        return KeyVerdict(KeyReply(known.key, whole, reach.reason), "as settled before")

    def _signature(self, case: Case) -> str:
        """Returns a hash of the content of a case."""
        places = [case.group.columns.index(name) for name in case.open]
        if case.kind == "names":
            parts = sorted({repr(values[p]) for values in case.group.rows.values() for p in places})
        else:
            parts = [
                repr((row, values, case.notes.get(row)))
                for row, values in sorted(case.group.rows.items())
            ]
        return hashlib.sha256(
            "\x1f".join((case.kind, self._table.name, *case.open, *parts)).encode()
        ).hexdigest()[:24]
