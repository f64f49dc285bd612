"""Files to documents to chunks in the workspace."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from sliders.chunks.chunking import chunk_document
from sliders.documents.document import Document
from sliders.documents.loaders import LoadFailure, discover, load_each, load_text, same_content
from sliders.errors import DocumentError
from sliders.executor.session import Session

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

_SHARE_OF_WINDOW = 0.25


@dataclass(frozen=True, slots=True)
class AddReport:
    """What adding files did: document ids by outcome, files that failed, lines for the user."""

    new: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    failures: tuple[LoadFailure, ...] = ()
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{len(self.new)} new"]
        parts += [f"{len(self.changed)} changed"] if self.changed else []
        parts += [f"{len(self.same)} known"] if self.same else []
        parts += [f"{len(self.failures)} failed"] if self.failures else []
        return ", ".join(parts)


_NAMED_FAILURES = 3


def chunk_tokens(session: Session) -> int:
    """Size of a chunk in tokens of the model that extracts."""
    model = session.models.model_for("extract")
    return min(model.dialect.chunk_tokens, int(model.context_tokens * _SHARE_OF_WINDOW))


def add_paths(session: Session, paths: Paths) -> AddReport:
    """Read files, folders and globs into the workspace; a file that fails costs only itself.

    Raises:
        DocumentError: nothing was found, or no file could be read.
    """
    sources = discover(paths)
    report = _add(session, load_each(sources), len(sources))
    if not (report.new or report.same or report.changed):
        more = len(report.failures) - _NAMED_FAILURES
        named = "; ".join(f.message for f in report.failures[:_NAMED_FAILURES])
        raise DocumentError(f"no document could be read: {named}" + (f"; and {more} more" if more > 0 else ""))
    return report


def add_text(session: Session, text: str, name: str) -> AddReport:
    """Add a text that is in memory under a name.

    Raises:
        DocumentError: the text is empty.
    """
    return _add(session, [load_text(text, name)], 1)


def _add(session: Session, found: Iterable[Document | LoadFailure], total: int) -> AddReport:
    """Store one document after the other; each is forgotten before the next is read."""
    outcomes: dict[str, list[str]] = {"new": [], "same": [], "changed": []}
    failures: list[LoadFailure] = []
    warnings: list[str] = []
    seen: dict[str, str] = {}
    for number, document in enumerate(found, 1):
        if isinstance(document, LoadFailure):
            session.decide("documents", f"document:{document.path}", "refused", document.message)
            failures.append(document)
        elif document.id in seen:
            warnings.append(f"{seen[document.id]}: {same_content(document.name)}")
        else:
            seen[document.id] = document.name
            outcomes[_store(session, document)].append(document.id)
            warnings.extend(f"{document.name}: {w}" if document.name not in w else w for w in document.warnings)
        session.progress("documents", number, total)
    return AddReport(
        tuple(outcomes["new"]), tuple(outcomes["same"]), tuple(outcomes["changed"]), tuple(failures), tuple(warnings)
    )


def _store(session: Session, document: Document) -> str:
    """A document with its chunks, all or nothing; whether it was new, the same or changed."""
    count = session.models.model_for("extract").count_tokens
    with session.catalog.database.transaction():
        added = session.catalog.documents.add(document)
        if added.outcome != "same":
            chunks = chunk_document(document, max_tokens=chunk_tokens(session), count_tokens=count)
            session.catalog.chunks.save(added.document_id, chunks)
            session.decide("documents", f"document:{document.name}", added.outcome, f"{len(chunks)} chunks")
    return added.outcome
