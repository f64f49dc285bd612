"""Files to documents to chunks in the workspace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sliders.chunks.chunking import chunk_document
from sliders.documents.document import Document
from sliders.documents.loaders import LoadFailure, load_many, load_text
from sliders.errors import DocumentError
from sliders.executor.session import Session

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

_SHARE_OF_WINDOW = 0.125
_LARGEST_CHUNK = 1200
"""Tokens. Long chunks blur a small model's sight of which number belongs where."""


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


def chunk_tokens(session: Session) -> int:
    """Size of a chunk in tokens of the model that extracts."""
    return min(_LARGEST_CHUNK, int(session.models.model_for("extract").context_tokens * _SHARE_OF_WINDOW))


def add_paths(session: Session, paths: Paths) -> AddReport:
    """Read files, folders and globs into the workspace; a file that fails costs only itself.

    Raises:
        DocumentError: nothing was found, or no file could be read.
    """
    documents, failures = load_many(paths)
    for failure in failures:
        session.decide("documents", f"document:{failure.path}", "refused", failure.message)
    if not documents:
        raise DocumentError("no document could be read: " + "; ".join(f.message for f in failures[:3]))
    return _add(session, documents, tuple(failures))


def add_text(session: Session, text: str, name: str) -> AddReport:
    """Add a text that is in memory under a name.

    Raises:
        DocumentError: the text is empty.
    """
    return _add(session, [load_text(text, name)], ())


def _add(session: Session, documents: Sequence[Document], failures: tuple[LoadFailure, ...]) -> AddReport:
    outcomes: dict[str, list[str]] = {"new": [], "same": [], "changed": []}
    warnings: list[str] = []
    size, count = chunk_tokens(session), session.models.model_for("extract").count_tokens
    for number, document in enumerate(documents, 1):
        with session.catalog.database.transaction():
            added = session.catalog.documents.add(document)
            if added.outcome != "same":
                chunks = chunk_document(document, max_tokens=size, count_tokens=count)
                session.catalog.chunks.save(added.document_id, chunks)
                session.decide("documents", f"document:{document.name}", added.outcome, f"{len(chunks)} chunks")
        outcomes[added.outcome].append(added.document_id)
        warnings.extend(f"{document.name}: {w}" if document.name not in w else w for w in document.warnings)
        session.progress("documents", number, len(documents))
    return AddReport(
        tuple(outcomes["new"]), tuple(outcomes["same"]), tuple(outcomes["changed"]), failures, tuple(warnings)
    )
