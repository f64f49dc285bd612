"""The way of files into a workspace: from files to documents to chunks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sliders.documents.discovery import Source, discover
from sliders.documents.document import Document
from sliders.documents.loaders import LoadFailure, load_text, same_content
from sliders.documents.remote import is_address
from sliders.engine.runner import ParsedDocument, cut_later
from sliders.engine.session import Session
from sliders.engine.unread_files import REFUSED, record_passed_over
from sliders.errors import DocumentError

Paths = Source | Iterable[Source]

_SHARE_OF_WINDOW = 0.25


@dataclass(frozen=True, slots=True)
class AddReport:
    """The result of adding files: document ids by outcome, files that failed, lines for the user,
    and the names of files in folders that no reader can read.
    """

    new: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    failures: tuple[LoadFailure, ...] = ()
    warnings: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{len(self.new)} new"]
        parts += [f"{len(self.changed)} changed"] if self.changed else []
        parts += [f"{len(self.same)} known"] if self.same else []
        parts += [f"{len(self.failures)} failed"] if self.failures else []
        parts += [f"{len(self.passed_over)} passed over"] if self.passed_over else []
        return ", ".join(parts)


_NAMED_FAILURES = 3


def chunk_tokens(session: Session) -> int:
    """Returns the size of a chunk, in tokens of the model that extracts."""
    model = session.models.model_for("extract")
    return min(model.dialect.chunk_tokens, int(model.context_tokens * _SHARE_OF_WINDOW))


def add_paths(session: Session, paths: Paths) -> AddReport:
    """Reads files, folders, globs and addresses into the workspace. A file that fails does not stop
    the others.

    Raises:
        DocumentError: nothing was found, or no file could be read.
    """
    every = discover(paths, every=True)
    sources = [source for source in every if not source.passed_over]
    passed_over = record_passed_over(session, [s for s in every if s.passed_over])
    limit, model = session.settings.max_file_mb << 20, session.models.model_for("extract")

    def on_page(name: str, done: int, total: int) -> None:
        session.progress("pages", done, total, detail=name)

    found = session.runner.parse(sources, limit, chunk_tokens(session), model, on_page)
    report = _add(session, found, len(sources))
    if not (report.new or report.same or report.changed):
        more = len(report.failures) - _NAMED_FAILURES
        named = "; ".join(f.message for f in report.failures[:_NAMED_FAILURES])
        raise DocumentError(
            f"no document could be read: {named}" + (f"; and {more} more" if more > 0 else "")
        )
    return replace(report, passed_over=passed_over)


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
    outcomes: dict[str, list[str]] = {"new": [], "same": [], "changed": []}
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
            outcomes[_store(session, parsed)].append(document.id)
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
    )


def _is_there(source: str) -> bool:
    """Says whether a document's file, or the message that carries it, still exists; an address
    always counts as existing.
    """
    return is_address(source) or Path(source).is_file() or Path(source).parent.is_file()


def _store(session: Session, parsed: ParsedDocument) -> str:
    """Stores a document with its chunks, all or nothing. Returns "new", "same" or "changed"."""
    document = parsed.document
    with session.catalog.database.transaction():
        added = session.catalog.documents.add(document, _is_there)
        if added.outcome != "same":
            chunks = parsed.chunks()
            session.catalog.chunks.save(added.document_id, chunks)
            session.decide(
                "documents",
                "document",
                added.outcome,
                f"{len(chunks)} chunks",
                document=document.name,
            )
    return added.outcome
