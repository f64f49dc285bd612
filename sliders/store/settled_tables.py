"""Memory of reconciliation between runs: the inputs from which a table was settled, and the
decisions of models.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, select

from sliders.store import codec
from sliders.store.database import Database
from sliders.store.fact_tables import settled, settlements
from sliders.store.facts import Program, Settled, Settlement, Terms

_SETTLED = select(
    settled.c.version,
    settled.c.corrections,
    settled.c.terms,
    settled.c.by_model,
    settled.c.documents,
).where(settled.c.table_name == bindparam("of"))
_SETTLEMENTS = select(
    settlements.c.signature,
    settlements.c.verdict,
    settlements.c.reason,
    settlements.c.programs,
    settlements.c.key_columns,
).where(settlements.c.table_name == bindparam("of"))


class SettledTables:
    """The inputs from which each table was settled, and the decisions of models on its groups."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, table: str) -> Settled | None:
        """Returns the state in which a table was settled last; None when it never was."""
        line = self._database.one(_SETTLED, {"of": table})
        if line is None:
            return None
        version, decided, applied, by_model, documents = line
        terms = Terms(version, tuple(codec.load(decided)), applied)
        return Settled(terms, bool(by_model), frozenset(codec.load(documents)))

    def settlements(self, table: str) -> tuple[Settlement, ...]:
        """Returns the decisions of models on groups of a table, in all runs."""
        return tuple(
            Settlement(
                signature,
                verdict,
                reason,
                tuple(Program(o, c, tuple(s), r) for o, c, s, r in codec.load(programs)),
                tuple(codec.load(key)),
            )
            for signature, verdict, reason, programs, key in self._database.query(
                _SETTLEMENTS, {"of": table}
            )
        )

    def keep(self, table: str, now: Settled, decided: Iterable[Settlement]) -> None:
        """Stores the inputs from which a table is settled now, and adds new decisions to the
        earlier ones.
        """
        terms = now.terms
        line = (
            table,
            terms.version,
            codec.dump(terms.corrections),
            terms.applied,
            int(now.by_model),
            codec.dump(sorted(now.documents)),
        )
        self._database.add_many(settled, [line], there="replace")
        self._database.add_many(
            settlements,
            (
                (
                    table,
                    one.signature,
                    one.verdict,
                    one.reason,
                    codec.dump(one.key),
                    codec.dump(
                        [[p.operation, p.column, p.statements, p.reason] for p in one.programs]
                    ),
                )
                for one in decided
            ),
            there="replace",
        )
