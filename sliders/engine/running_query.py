"""A running query: its tables, and the documents that were accepted so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sliders.engine.filling import Filling
from sliders.engine.session import Session
from sliders.engine.table_run import TableRun
from sliders.query.explain import PlanNode
from sliders.query.filters import Expression
from sliders.query.parsing import Query, contradiction


@dataclass(slots=True)
class Running:
    """A running query: its tables by name, the accepted documents by alias."""

    filling: Filling
    query: Query
    runs: dict[str, TableRun]
    accepted: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    joins: list[PlanNode] = field(default_factory=list)

    @property
    def session(self) -> Session:
        """The session of the query."""
        return self.filling.session

    def run(self, alias: str) -> TableRun:
        """Returns the table behind an alias."""
        return self.runs[self.query.use(alias).table]

    def contradictions(self) -> list[str]:
        """Returns the reasons why no row can pass, as far as the conditions alone show them."""
        reasons = (contradiction(use.where) for use in self.query.tables)
        return [f"the result is empty without reading: {reason}" for reason in reasons if reason]

    async def filter(
        self, alias: str, documents: Sequence[str], where: Expression | None
    ) -> list[str]:
        """Returns the documents of a table that pass the condition. In a query of one table, their
        selected attributes are read too.
        """
        run, use, enough = self.run(alias), self.query.use(alias), self.query.stop_after
        run.conditions(where)
        selected = use.select if len(self.query.tables) == 1 else ()

        passed: set[str] = set()

        async def passes(group: Sequence[str]) -> bool:
            if enough is None or len(passed) < enough:
                await run.finish(group, where, selected)
                self.session.progress("query", detail=run.table.name)
                passed.update(d for d in group if run.passes(d, where) and run.is_row(d))
            return False

        await self.filling.each(run.groups(documents, enough), passes)
        # Evidence of the last documents may show where the first documents state an attribute:
        # the first ones are searched again.
        again = [d for d in documents if d in run.given_up and run.reopen(d)]
        if again and not self.filling.stopped and (enough is None or len(passed) < enough):
            passed.difference_update(again)
            await self.filling.each(run.groups(again, enough), passes)
        return [document_id for document_id in documents if document_id in passed]

    async def filter_all(self, alias: str, where: Expression | None) -> list[str]:
        """Returns the documents of a table that pass: of the chosen ones, or of all when the audit
        shows that the index was wrong to exclude any.
        """
        run = self.run(alias)
        found = run.candidates
        passed = await self.filter(alias, found.to_read, where)
        if any(map(run.has_values, found.audited)) and not self.filling.stopped:
            # The audit found what tau excludes: the threshold was wrong, so the
            # others are read as well.
            run.doubted = frozenset()
            rest = [each for each in found.excluded if each not in found.audited]
            passed += await self.filter(alias, rest, where)
            why, name = "audited documents held values", run.table.name
            self.session.decide("optimize", "table", "threshold lifted", why, table=name)
        return passed

    async def complete(
        self, alias: str, documents: Sequence[str], attributes: Sequence[str]
    ) -> None:
        """Reads attributes of documents, several at a time."""
        run = self.run(alias)

        async def read(group: Sequence[str]) -> bool:
            await run.finish(group, None, attributes)
            return True

        await self.filling.each(run.groups(documents), read)
