"""The ledger of an answer: what is missing under it, and what in it is not printed words (contract 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add

from sliders.answer.doubts import Gap, command_of
from sliders.answer.result import Completeness
from sliders.executor.session import Session
from sliders.store.records import Reliability

_LONGEST_REASON = 300


def completeness(session: Session, columns: Mapping[str, Sequence[str]], uncovered: str = "") -> Completeness:
    """The ledger of the tables and columns that an answer rests on.

    Args:
        uncovered: the part of the question that no column holds, in words.
    """
    extractions = session.catalog.extractions
    tasks = [task for table in columns for task in extractions.tasks(table)]
    left, done = ({task.chunk_id for task in tasks if task.state in states} for states in (("gated", "pruned"), ("done",)))
    failed = _failed(session, columns)
    rests = reduce(add, (extractions.reliability(table, names) for table, names in columns.items()), Reliability())
    return Completeness(
        documents=session.catalog.documents.count(),
        documents_with_rows=len({d for table in columns for d in extractions.documents_with_rows(table)}),
        chunks=len({task.chunk_id for task in tasks}),
        failed_chunks=len(failed),
        gated_chunks=len(left - done),
        ungrounded_cells=rests.ungrounded,
        unparsed_cells=rests.unparsed,
        open_conflicts=sum(len(session.catalog.knowledge.statistic(f"conflicts:{table}", [])) for table in columns),
        judged_cells=rests.judged,
        unverified_cells=rests.unverified,
        missing=(*_failures(session, failed), *([Gap("uncovered", f"no column holds {uncovered}")] if uncovered else [])),
    )


def _failed(session: Session, columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Why chunks could not be read for these columns, by chunk id; what failed once may have been read since."""
    extractions = session.catalog.extractions
    failed: dict[str, str] = {}
    for table, names in columns.items():
        known = extractions.settled(session.schema.table(table))
        for task in extractions.tasks(table, "failed"):
            if not set(names).isdisjoint(task.columns) and not known.get(task.chunk_id, frozenset()).issuperset(names):
                failed[task.chunk_id] = task.reason
    return failed


def _failures(session: Session, failed: Mapping[str, str]) -> Iterator[Gap]:
    """The parts that could not be read, as one gap that names their documents."""
    if failed:
        names = {document.id: document.name for document in session.catalog.documents.all()}
        places = session.catalog.chunks.places()
        documents = sorted({names.get(document, document) for chunk, document in places if chunk in failed})
        count = "1 chunk failed" if len(failed) == 1 else f"{len(failed)} chunks failed"
        reasons = Counter(reason for reason in failed.values() if reason)
        cause = f": {reasons.most_common(1)[0][0][:_LONGEST_REASON]}" if reasons else ""
        yield Gap("failed", count + cause, tuple(documents), command_of("why", documents[0]) if documents else "")
