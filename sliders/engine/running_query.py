"""One query on its way: what its tables, candidates and accepted documents are so far."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from sliders.engine.query_candidates import Candidates
from sliders.engine.session import Session
from sliders.engine.synchronous import together
from sliders.engine.table_run import TableRun
from sliders.errors import BudgetExceeded
from sliders.query.explain import PlanNode
from sliders.query.filters import Expression
from sliders.query.parsing import Query
from sliders.retrieval.segment_index import SegmentIndex


@dataclass(slots=True)
class Running:
    """One query on its way: its tables by name, the candidates and accepted documents by alias."""

    session: Session
    query: Query
    index: SegmentIndex
    runs: dict[str, TableRun] = field(default_factory=dict)
    candidates: dict[str, Candidates] = field(default_factory=dict)
    accepted: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    stopped: str = ""
    joins: list[PlanNode] = field(default_factory=list)

    def run(self, alias: str) -> TableRun:
        """The table behind an alias."""
        return self.runs[self.query.use(alias).table]

    async def each(
        self,
        documents: Sequence[str],
        work: Callable[[str], Awaitable[bool]],
        enough: int | None = None,
    ) -> set[str]:
        """The documents for which the work says yes, several at a time; a spent budget stops
        cleanly with those so far.
        """
        found: set[str] = set()
        queue = iter(documents)

        async def worker() -> None:
            for document_id in queue:
                if self.stopped or (enough is not None and len(found) >= enough):
                    return
                try:
                    if await work(document_id):
                        found.add(document_id)
                except BudgetExceeded as error:
                    self.stopped = str(error)

        count = min(self.session.settings.concurrency, max(1, len(documents)))
        await together(*(worker() for _ in range(count)))
        return found

    async def filter(
        self, alias: str, documents: Sequence[str], where: Expression | None
    ) -> list[str]:
        """The documents of a table that pass; in a query of one table, with their
        selected attributes.
        """
        run, use, alone = self.run(alias), self.query.use(alias), len(self.query.tables) == 1
        run.conditions(where)
        selected = frozenset(use.select) if alone else frozenset()

        async def passes(document_id: str) -> bool:
            good = await run.decide(document_id, where, selected)
            if good and alone:
                await run.complete(
                    document_id, [n for n in use.select if n in run.table.column_names]
                )
            self.session.progress("query", detail=run.table.name)
            return good and run.is_row(document_id)

        enough = self.query.stop_after
        passed = await self.each(documents, passes, enough)
        # What the last documents taught may show where the first ones state an attribute:
        # those are looked at again.
        again = [
            document_id
            for document_id in documents
            if document_id in run.given_up and run.reopen(document_id)
        ]
        if again and not self.stopped and (enough is None or len(passed) < enough):
            passed = (passed - set(again)) | await self.each(again, passes, enough)
        return [document_id for document_id in documents if document_id in passed]

    async def filter_all(self, alias: str, where: Expression | None) -> list[str]:
        """The documents of a table that pass, of the candidates, or of all when the index was
        wrong to exclude any.
        """
        run, found = self.run(alias), self.candidates[self.query.use(alias).table]
        passed = await self.filter(alias, (*found.chosen, *found.audited), where)
        if any(run.has_values(document_id) for document_id in found.audited) and not self.stopped:
            # The audit found what tau excludes: the threshold was wrong, so the
            # others are read as well.
            run.doubted = frozenset()
            rest = [each for each in found.excluded if each not in found.audited]
            passed += await self.filter(alias, rest, where)
            run.session.decide(
                "optimize",
                f"table:{run.table.name}",
                "threshold lifted",
                "audited documents held values",
            )
        return passed

    async def complete(
        self, alias: str, documents: Sequence[str], attributes: Sequence[str]
    ) -> None:
        """Reads attributes of documents, several at a time."""
        run = self.run(alias)
        wanted = [name for name in attributes if name in run.table.column_names]

        async def read(document_id: str) -> bool:
            await run.complete(document_id, wanted)
            return True

        await self.each(documents, read)
