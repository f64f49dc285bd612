"""The ledger of an answer (`Completeness`): the counts of what its tables lack, and of values that
are not verified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add

from sliders.answer.doubts import Gap, command_of
from sliders.answer.result import Completeness
from sliders.engine.session import Session
from sliders.engine.unread_files import unread_files
from sliders.progress import counted
from sliders.schema.types import Table
from sliders.store.records import Reliability

_LONGEST_REASON = 300


def completeness(
    session: Session, columns: Mapping[str, Sequence[str]], uncovered: str = "", stopped: str = ""
) -> Completeness:
    """Returns the ledger of the tables and columns that an answer rests on.

    Args:
        uncovered: the part of the question that no column holds, in words.
        stopped: why filling the tables stopped early; "" when it did not.
    """
    extractions, documents = session.catalog.extractions, _FillingDocuments(session, tuple(columns))
    tasks = [task for table in columns for task in extractions.tasks(table)]
    left = {task.chunk_id for task in tasks if task.state in ("gated", "pruned")}
    done, failed = {t.chunk_id for t in tasks if t.state == "done"}, _failed(session, columns)
    each = (extractions.reliability(table, names) for table, names in columns.items())
    rests = reduce(add, each, Reliability())
    missing: list[Gap] = []
    if stopped:
        unread = documents.named(documents.silent - documents.of(done))
        missing.append(Gap("stopped", stopped, unread))
    missing += _failures(documents, failed)
    if uncovered:
        missing.append(Gap("uncovered", f"no column holds {uncovered}"))
    missing += documents.rowless(left)
    conflicts = map(len, map(session.catalog.open_questions.conflicts, columns))
    return Completeness(
        documents=len(documents.filling | documents.silent),
        documents_with_rows=len(documents.filling - documents.empty),
        silent=documents.named(documents.silent | documents.empty),
        chunks=len({task.chunk_id for task in tasks}),
        failed_chunks=len(failed),
        gated_chunks=len(left - done),
        ungrounded_cells=rests.ungrounded,
        unparsed_cells=rests.unparsed,
        open_conflicts=sum(conflicts),
        judged_cells=rests.judged,
        unverified_cells=rests.unverified,
        missing=tuple(missing),
        not_read=tuple(file.name for file in unread_files(session)),
        not_whole=documents.warned,
    )


class _FillingDocuments:
    """The current documents, grouped by what they give to some tables: `filling` documents have a
    row (`empty` ones have rows without values), `silent` documents are of the right kind and have
    no row.

    A document that fills only other tables is of another kind and in no group, unless the same kind
    of document fills one of these tables too.
    """

    def __init__(self, session: Session, tables: Sequence[str]) -> None:
        standing = session.catalog.documents.all()
        self._names = {document.id: document.name for document in standing}
        self.warned = tuple(sorted(d.name for d in standing if d.warnings))
        self._home = dict(session.catalog.chunks.places())
        every, extractions = session.schema.tables, session.catalog.extractions
        self._giving = {table.name: extractions.documents_with_rows(table.name) for table in every}
        self._tables = [t for t in every if t.name in tables and not t.given]
        self._kin = {table.name: self._alike(table, every) for table in self._tables}
        self.filling = frozenset[str]().union(*(self._giving[table.name] for table in self._tables))
        said = (extractions.documents_with_values(table.name) for table in self._tables)
        self.empty = self.filling - frozenset[str]().union(*said)
        elsewhere = frozenset[str]().union(*self._giving.values())
        kin = frozenset[str]().union(*self._kin.values())
        able = frozenset(self._names) - elsewhere | kin if self._tables else frozenset()
        self.silent = able - self.filling

    def _alike(self, table: Table, every: Sequence[Table]) -> frozenset[str]:
        """Returns the documents of the kind that fills a table, by the rows that they gave of other
        tables.
        """
        same = (
            other.name for other in every if table.documents and other.documents == table.documents
        )
        return frozenset[str]().union(*(self._giving[name] for name in same))

    def of(self, chunks: Iterable[str]) -> frozenset[str]:
        """Returns the ids of the documents of chunks."""
        return frozenset(self._home[chunk] for chunk in chunks if chunk in self._home)

    def named(self, documents: frozenset[str]) -> tuple[str, ...]:
        """Returns the names of documents, in order."""
        return tuple(
            sorted(self._names[document] for document in documents if document in self._names)
        )

    def rowless(self, left: set[str]) -> Iterator[Gap]:
        """Yields gaps for documents that should have the one row of a table and have none: because
        the table is for every kind of document, because they are of its kind, or because parts of
        them were left unread and the other parts gave nothing.
        """
        for table in self._tables:
            without = self.silent & self.of(left) if table.documents else self.silent
            lacking = self.named((without | self._kin[table.name]) - self._giving[table.name])
            if lacking and table.grain == "document":
                count = counted(len(lacking), "document")
                yield Gap(
                    "document",
                    f"{table.name} has no row of {count}",
                    lacking,
                    command_of("why", lacking[0]),
                )


def _failed(session: Session, columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Returns why chunks could not be read for these columns, by chunk id; chunks that were read
    later are left out.
    """
    extractions = session.catalog.extractions
    failed: dict[str, str] = {}
    for table, names in columns.items():
        known = extractions.settled(session.schema.table(table))
        for task in extractions.tasks(table, "failed"):
            if not set(names).isdisjoint(task.columns) and not known.get(
                task.chunk_id, frozenset()
            ).issuperset(names):
                failed[task.chunk_id] = task.reason
    return failed


def _failures(documents: _FillingDocuments, failed: Mapping[str, str]) -> Iterator[Gap]:
    """Yields one gap that names the documents with chunks that could not be read."""
    if failed:
        names = documents.named(documents.of(set(failed)))
        count = counted(len(failed), "chunk failed", "chunks failed")
        reasons = Counter(reason for reason in failed.values() if reason)
        cause = f": {reasons.most_common(1)[0][0][:_LONGEST_REASON]}" if reasons else ""
        yield Gap("failed", count + cause, names, command_of("why", names[0]) if names else "")
