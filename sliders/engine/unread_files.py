"""Files that were given and did not become documents: a reader refused them, or they were passed
over in a folder. The recorded decisions name them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from sliders.documents.discovery import SourceFile
from sliders.engine.session import Session

REFUSED, PASSED_OVER = "refused", "passed over"
_MOST_RECORDED = 1000


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that did not become a document. `kind` is "refused" or "passed over"."""

    name: str
    kind: str
    reason: str


def record_passed_over(session: Session, files: Sequence[SourceFile]) -> tuple[str, ...]:
    """Records the files of folders that were passed over, each once. Returns their names."""
    known = {file.name for file in unread_files(session)} if files else set()
    for file in files[:_MOST_RECORDED]:
        if file.name not in known:
            kind = PurePath(file.name).suffix or "without an extension"
            unread = f"nothing reads such files ({kind}); name the file to have it read as text"
            reason = file.why or unread
            session.decide("documents", "document", PASSED_OVER, reason, document=file.name)
    return tuple(file.name for file in files)


def unread_files(session: Session) -> list[UnreadFile]:
    """Returns the files that are not read at present, by name. A file that was read later is left
    out.
    """
    names = {document.name for document in session.catalog.documents.all()}
    last = {
        decision.document: decision
        for verdict in (PASSED_OVER, REFUSED)
        for decision in session.catalog.journal.decisions(stage="documents", verdict=verdict)
        if not _is_read(decision.document, names)
    }
    return [
        UnreadFile(name, decision.verdict, decision.reason.removeprefix(f"{name}: "))
        for name, decision in sorted(last.items())
    ]


def _is_read(name: str, documents: set[str]) -> bool:
    """Says whether a file is a document now. Earlier workspaces stored its whole path."""
    parts = PurePath(name).parts
    return any("/".join(parts[start:]) in documents for start in range(len(parts)))
