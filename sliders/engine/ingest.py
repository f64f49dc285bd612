"""The way of files into a workspace: from files to documents to chunks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sliders.documents.discovery import Source, discover, with_ocr
from sliders.documents.document import Document
from sliders.documents.loaders import LoadFailure, load_text, same_content
from sliders.documents.remote import is_address
from sliders.engine.remove import remove_documents
from sliders.engine.runner import ParsedDocument, cut_later
from sliders.engine.session import Session
from sliders.engine.unread_files import REFUSED, record_passed_over
from sliders.errors import DocumentError
from sliders.progress import counted
from sliders.store.records import Added, StoredDocument

Paths = Source | Iterable[Source]

_SHARE_OF_WINDOW = 0.25


@dataclass(frozen=True, slots=True)
class AddReport:
    """The result of adding files.

    Args:
        new: ids of documents that are new.
        same: ids of documents that were in the workspace already.
        changed: ids of documents that replace an earlier version.
        failures: files that could not be read.
        warnings: lines for the user.
        passed_over: names of files in folders that no reader can read.
        renamed: lines about documents whose file has another name now.
        gone: names of documents whose file is no longer in a folder that was given; they are
            removed if that was asked for.
    """

    new: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    failures: tuple[LoadFailure, ...] = ()
    warnings: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{len(self.new)} new"]
        parts += [f"{len(self.changed)} changed"] if self.changed else []
        parts += [f"{len(self.renamed)} renamed"] if self.renamed else []
        parts += [f"{len(self.same)} known"] if self.same else []
        parts += [f"{len(self.gone)} gone"] if self.gone else []
        parts += [f"{len(self.failures)} failed"] if self.failures else []
        parts += [f"{len(self.passed_over)} passed over"] if self.passed_over else []
        return ", ".join(parts)


_NAMED_FAILURES = 3


def chunk_tokens(session: Session) -> int:
    """Returns the size of a chunk, in tokens of the model that extracts."""
    model = session.models.model_for("extract")
    return min(model.dialect.chunk_tokens, int(model.context_tokens * _SHARE_OF_WINDOW))


def add_paths(session: Session, paths: Paths, *, prune: bool = False) -> AddReport:
    """Reads files, folders, globs and addresses into the workspace. A file that fails does not stop
    the others.

    Args:
        prune: True removes the documents whose file is no longer in a folder that is given.

    Raises:
        DocumentError: there is no file, or no file could be read.
    """
    every = list(with_ocr(discover(paths, every=True), session.settings.ocr))
    sources = [source for source in every if not source.passed_over]
    passed_over = record_passed_over(session, [s for s in every if s.passed_over])
    limit, model = session.settings.max_file_mb << 20, session.models.model_for("extract")

    def on_page(name: str, done: int, total: int) -> None:
        session.progress("pages", done, total, detail=name)

    found = session.runner.parse(sources, limit, chunk_tokens(session), model, on_page)
    report = _add(session, found, len(sources))
    if not (report.new or report.same or report.changed or report.renamed):
        more = len(report.failures) - _NAMED_FAILURES
        named = "; ".join(f.message for f in report.failures[:_NAMED_FAILURES])
        raise DocumentError(
            f"no document could be read: {named}" + (f"; and {more} more" if more > 0 else "")
        )
    closed = (f"skipped {source.name}: {source.why}" for source in every if source.why)
    gone = _gone(session, {source.root for source in sources if source.root is not None})
    if prune and gone:
        remove_documents(session, [one.id for one in gone])
    told = f"is no longer there and was {'taken out' if prune else 'kept'}"
    after = "" if prune else "; take it out with: sliders remove, or add --prune"
    lost = (f"{one.name} {told}{after}" for one in gone)
    return replace(
        report,
        passed_over=passed_over,
        gone=tuple(one.name for one in gone),
        warnings=(*report.warnings, *closed, *lost),
    )


def _gone(session: Session, roots: Iterable[Path]) -> list[StoredDocument]:
    """Returns the documents that were read from a folder and whose file is gone."""
    below = tuple(f"{root.absolute()}{os.sep}" for root in roots)
    return [
        one
        for one in session.catalog.documents.all()
        if below and one.source.startswith(below) and not _is_there(one.source)
    ]


def add_text(session: Session, text: str, name: str) -> AddReport:
    """Adds a text in memory under a name.

    Raises:
        DocumentError: the text is empty.
    """
    parsed = cut_later(
        load_text(text, name), chunk_tokens(session), session.models.model_for("extract")
    )
    return _add(session, [parsed], 1)


def _add(session: Session, found: Iterable[ParsedDocument | LoadFailure], total: int) -> AddReport:
    """Stores one document after the other; each is dropped before the next is read."""
    outcomes: dict[str, list[str]] = {"new": [], "same": [], "changed": [], "renamed": []}
    failures: list[LoadFailure] = []
    warnings: list[str] = []
    seen: dict[str, Document] = {}
    for number, parsed in enumerate(found, 1):
        if isinstance(parsed, LoadFailure):
            told = parsed.message
            session.decide("documents", "document", REFUSED, told, document=parsed.name)
            failures.append(parsed)
        elif (document := parsed.document).id in seen:
            # Its place may have had another text before.
            session.catalog.documents.add(document, _is_there)
            warnings.append(f"{seen[document.id].name}: {same_content(document.name)}")
        else:
            seen[document.id] = replace(document, text="", elements=(), pages=())
            added = _store(session, parsed)
            outcomes[added.outcome].append(document.id)
            if added.outcome == "renamed":
                warnings.append(f"{added.replaced} is now {document.name}")
            warnings.extend(
                f"{document.name}: {w}" if document.name not in w else w for w in document.warnings
            )
        session.progress("documents", number, total)
    if len(seen) > 1:  # a text may have moved while its old place got another one
        standing = {d.id for d in session.catalog.documents.all()}
        for document in seen.values():
            if document.id not in standing:
                session.catalog.documents.add(document, _is_there)
    return AddReport(
        tuple(outcomes["new"]),
        tuple(outcomes["same"]),
        tuple(outcomes["changed"]),
        tuple(failures),
        tuple(warnings),
        renamed=tuple(outcomes["renamed"]),
    )


def _is_there(source: str) -> bool:
    """Says whether a document's file, or the message that carries it, still exists; an address, and
    a file in a folder that cannot be read, always count as existing.
    """
    try:
        return is_address(source) or Path(source).is_file() or Path(source).parent.is_file()
    except PermissionError:
        return True


def _store(session: Session, parsed: ParsedDocument) -> Added:
    """Stores a document with its chunks, all or nothing."""
    document = parsed.document
    with session.catalog.database.transaction():
        added = session.catalog.documents.add(document, _is_there)
        if added.outcome not in ("same", "renamed"):
            chunks = parsed.chunks()
            session.catalog.chunks.save(added.document_id, chunks)
            session.decide(
                "documents",
                "document",
                added.outcome,
                counted(len(chunks), "chunk"),
                document=document.name,
            )
    return added
