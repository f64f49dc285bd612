"""The state of an extraction that is running, for questions and for SQL over documents: its calls,
their results, and why it stopped.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sliders.documents.document import Document
from sliders.engine.date_conventions import context_of, shared_habit
from sliders.engine.runner import DocumentPart, ExtractionCall
from sliders.engine.second_look import LongDocument
from sliders.engine.session import Session
from sliders.engine.synchronous import together
from sliders.errors import BudgetExceeded, ModelUnavailable
from sliders.extraction.cell import Absence, Row
from sliders.extraction.extract import Extraction
from sliders.llm.outcomes import every_call_failed
from sliders.store.facts import Habit
from sliders.store.records import Decision, Task
from sliders.values.parse import Context

_LEAST_AHEAD = 8
"""The number of parallel calls from which on further calls are prepared ahead. A server with one or
two slots keeps the prefix of the last call, which the next call should reuse.
"""
_MOST_REFUSED = 5
"""The number of unreadable documents after which a filling stops, when no document could be
read.
"""
T = TypeVar("T")


@dataclass(slots=True)
class Filling:
    """One extraction of tables.

    Args:
        questions: the questions that the tables serve.
        parts: the number of chunks of the documents to read.
        left: the number of chunks that may still be read.
        asked: the number of chunks that were asked so far.
        rows: the number of rows so far.
        stopped: why the extraction stopped; "" while it goes on.
        refused: why no part of a document could be read, by document.
        worked: True when a chunk was read for the same columns, now or in an earlier run.
        long: the documents of which only some parts are read.
    """

    session: Session
    questions: tuple[str, ...] = ()
    parts: int = 0
    left: int = field(init=False)
    asked: int = 0
    rows: int = 0
    stopped: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    worked: bool = False
    long: list[LongDocument] = field(default_factory=list)
    at_once: int = field(init=False)
    """How many parts are read at a time."""
    slots: asyncio.Semaphore = field(init=False)
    _habit: Habit | None = None
    _contexts: dict[str, Context] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left = self.parts
        slots = (
            1 if self.session.models.serves_one("extract") else self.session.settings.reading_slots
        )
        self.at_once = slots + slots // 2 if slots >= _LEAST_AHEAD else slots
        self.slots = asyncio.Semaphore(self.at_once)

    @property
    def failed(self) -> str:
        """The commonest reason why nothing was read; "" when anything was read."""
        if self.worked or not self.refused:
            return ""
        return Counter(self.refused.values()).most_common(1)[0][0]

    def check(self) -> None:
        """Raises an error when the extraction could not read everything.

        Raises:
            BudgetExceeded: a limit was reached.
            ModelUnavailable: no part of the documents could be read.
        """
        if self.stopped:
            raise BudgetExceeded(self.stopped)
        if self.failed:
            raise ModelUnavailable(every_call_failed(self.failed, self.asked))

    def rests_on_earlier(self) -> None:
        """Records that an earlier run read these columns, so that failing calls do not mean that
        every call fails.
        """
        self.worked = True
        self.session.models.outcomes.worked += 1

    async def each(
        self,
        waiting: Iterable[T],
        work: Callable[[T], Awaitable[bool]],
        enough: int | None = None,
    ) -> list[T]:
        """Does the work on items, several at a time, and returns the items for which `work`
        returned True. A spent budget stops it; the items so far are returned.

        Args:
            waiting: the items; `work` may add to it when it is a deque.
            work: processes one item.
            enough: stop after that many items; None does all.
        """
        items = waiting if isinstance(waiting, deque) else deque(waiting)
        passed: list[T] = []

        async def worker() -> None:
            while items and not self.stopped and (enough is None or len(passed) < enough):
                item = items.popleft()
                try:
                    if await work(item):
                        passed.append(item)
                except BudgetExceeded as error:
                    self.stopped = str(error)

        await together(*(worker() for _ in range(min(self.at_once, len(items)))))
        return passed

    def context(self, document: Document) -> Context:
        """Returns the conventions by which a document prints its values (see `context_of`)."""
        if document.id not in self._contexts:
            self._contexts[document.id] = context_of(self.session, document.text, self._shared)
        return self._contexts[document.id]

    def _shared(self) -> Habit:
        if self._habit is None:
            self._habit = shared_habit(self.session)
        return self._habit

    async def read(self, reading: ExtractionCall) -> list[Extraction]:
        """Makes one call, and returns the extraction from each of its parts."""
        model = self.session.models.model_for("extract")
        return await self.session.runner.read(reading, model, self.session.models.second)

    def save(
        self,
        reading: ExtractionCall,
        found: Sequence[Extraction],
        rows: Sequence[Row],
        tasks: Sequence[Task],
    ) -> None:
        """Stores the results of a call, all or nothing: its rows, the tasks, and the decisions
        about refused and changed values. Counts the call.

        Raises:
            ModelUnavailable: several documents could not be read, and none could.
        """
        read = list(zip(reading.parts, found, strict=True))
        decisions = [
            d
            for part, one in read
            for a in reading.asked
            for d in _decisions(one, a.table.name, _about(part))
        ]
        if rows or tasks or decisions:
            self.session.catalog.extractions.save(rows, tasks, decisions)
        for part, one in read:
            self._count(part, one)
        if not self.worked and len(self.refused) >= _MOST_REFUSED:
            raise ModelUnavailable(every_call_failed(self.failed, self.asked))

    def _count(self, part: DocumentPart, found: Extraction) -> None:
        self.asked += 1
        self.rows += len(found.rows)
        given = any(c.absence is not Absence.CALL_FAILED for row in found.rows for c in row.cells)
        reasons = [refusal.reason for refusal in found.refusals if refusal.fatal]
        if given or not reasons:
            self.worked = True
        else:
            self.refused[part.document.id] = reasons[0]


def _about(part: DocumentPart) -> Decision:
    """Returns a decision that names a part of a document, without a verdict."""
    if part.pieces:
        return Decision("extract", "document", "", "", document=part.document.name)
    return Decision("extract", "chunk", "", "", chunk=part.chunk.id)


def _decisions(found: Extraction, table: str, about: Decision) -> Iterable[Decision]:
    """Yields decisions about a table: values that were refused or changed, and lines that gave no
    row.

    Args:
        about: the part of a document that the decisions name.
    """
    for refusal in found.refusals:
        if refusal.table in ("", table):
            reason = f"{refusal.subject}: {refusal.reason}"
            yield replace(about, verdict="refused", reason=reason)
    for change in found.changes:
        if change.table == table:
            yield Decision(
                "extract",
                "column",
                "asked a second model" if change.value == change.before else "changed",
                change.told,
                table=table,
                column=change.column,
            )
    for line in found.missed:
        if line.table == table:
            yield replace(about, verdict="row not read", reason=line.finding)
