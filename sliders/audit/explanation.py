"""Explanations from the records: why a row is in a table, and why a document is not in the answer
(contract 11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sliders.engine.session import Session
from sliders.engine.unread_files import unread_files
from sliders.errors import StoreError
from sliders.extraction.cell import Grounding
from sliders.markup import preformatted
from sliders.progress import counted
from sliders.retrieval.chunk import Chunk
from sliders.store.lineage import Evidence, doubt_of, lineage_of, lineages, words_of_odds
from sliders.store.records import Decision, StoredDocument, Task


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a row, document, chunk or table: `lines` are sentences, `evidence` the
    words on the page, `decisions` the recorded decisions.
    """

    subject: str
    kind: Literal["row", "document", "chunk", "table"]
    lines: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()
    decisions: tuple[Decision, ...] = ()

    def __str__(self) -> str:
        out = [f"{self.kind} {self.subject}", *(f"  {line}" for line in self.lines)]
        for item in self.evidence:
            page = f", page {item.page}" if item.page is not None else ""
            words = (
                " ... ".join(f'"{quote}"' for quote in (item.quote, *item.parts) if quote)
                or "no words of the text"
            )
            found = "" if item.grounding is Grounding.NONE else f", {item.grounding.value}"
            out.append(
                f"  {item.column} = {item.value!r}: {item.document}{page}: {words} "
                f"({item.how.value}{found})"
            )
            told = (
                ("", item.rationale),
                ("the model's odds: ", words_of_odds(item.odds)),
                ("unverified: ", item.doubt),
            )
            out += [f"    {about}{line}" for about, line in told if line]
        out += [f"  {d.stage}: {d.verdict}. {d.reason}" for d in self.decisions]
        return "\n".join(out)

    def _repr_html_(self) -> str:
        return preformatted(self)


def why(session: Session, subject: str) -> Explanation:
    """Explains a row (its id), a document (its name or id), a chunk (its id) or a table (its name).

    Raises:
        StoreError: nothing in the workspace has this name, or several documents have it.
    """
    rows = session.catalog.extractions.get([subject])
    if subject in rows:
        return _row(session, subject)
    documents = session.catalog.documents.all(superseded=True)
    # Of versions that share a name the one that stands.
    documents.sort(key=lambda d: bool(d.superseded_by))
    document = next((d for d in documents if subject in (d.id, d.name)), None)
    ending = [d for d in documents if d.name.endswith(f"/{subject}")]
    names = dict.fromkeys(d.name for d in ending if not d.superseded_by)
    if document is None and len(names) > 1:
        raise StoreError(
            f"several documents are called {subject!r}: {', '.join(names)}; write "
            "one of these names"
        )
    if (document := document or next(iter(ending), None)) is not None:
        return _document(session, document)
    decisions = session.catalog.journal.decisions(kind="table", table=subject)
    if decisions or any(r.name == subject for r in session.catalog.schemas.relations()):
        return Explanation(subject, "table", _versions(session, subject), (), tuple(decisions))
    decisions = session.catalog.journal.decisions(chunk=subject)
    chunk = session.catalog.chunks.find(subject)
    if decisions or chunk is not None:
        lines = _chunk(session, chunk, documents) if chunk is not None else ()
        return Explanation(subject, "chunk", lines, (), tuple(decisions))
    files = [file.name for file in unread_files(session)]
    for name in (n for n in files if n == subject or n.endswith(f"/{subject}")):
        decisions = session.catalog.journal.decisions(document=name)
        return Explanation(name, "document", ("it was not read",), (), tuple(decisions))
    raise StoreError(
        f"the workspace knows no row, document, chunk or table {subject!r}; row ids stand in the "
        "column row_id, documents and tables are listed by: sliders tables"
    )


def _row(session: Session, row_id: str) -> Explanation:
    row = session.catalog.extractions.get([row_id])[row_id]
    lineage = lineages(session.catalog, row.table, [row_id]).get(row_id)
    sources = [one.id for one in lineage.sources] if lineage else []
    lines = [f"one row of {row.table}, read from chunk {row.chunk_id}"]
    if not sources:
        lines.append(
            "it is not in the current version of the table: it was merged into "
            "another row or left out"
        )
    elif len(sources) > 1:
        lines.append(f"it stands for {len(sources)} extracted rows: {', '.join(sources)}")
    evidence = lineage_of(session.catalog, row_id)
    lines += _told_by(evidence) if len(sources) > 1 else []
    shown = {(item.row_id, item.column) for item in evidence}
    for cell in row.cells:
        if cell.absence is not None and (row_id, cell.column) not in shown:
            said = "" if cell.value is None else f"; the model said {cell.value!r}"
            lines.append(f"{cell.column} is empty: {doubt_of(cell)}{said}")
    for change in lineage.changes if lineage else ():
        made = change.made
        lines.append(f"the table shows {made.column} = {made.value!r}: {change.words}")
    journal = session.catalog.journal
    decisions = [
        *journal.decisions(chunk=row.chunk_id),
        *journal.decisions(row=row_id),
    ]
    return Explanation(row_id, "row", tuple(lines), tuple(evidence), tuple(decisions))


def _told_by(evidence: Sequence[Evidence]) -> list[str]:
    """Says for each value of a merged row which row it comes from, and what the other rows have."""
    lines = []
    for column in dict.fromkeys(item.column for item in evidence):
        told = [item for item in evidence if item.column == column]
        agreeing = [item for item in told if item.agrees]
        others = ", ".join(
            f"{item.value!r} ({item.row_id}, {item.document})" for item in told if not item.agrees
        )
        rows = ", ".join(item.row_id for item in agreeing)
        if agreeing or others:
            said = (
                f"{column} = {agreeing[0].value!r} from {rows}"
                if agreeing
                else f"{column}: as printed in none of its rows"
            )
            lines.append(said + (f"; also told: {others}" if others else ""))
    return lines


def _document(session: Session, document: StoredDocument) -> Explanation:
    chunks = {c.id for c in session.catalog.chunks.of(document.id)}
    lines = [
        f"characters: {document.characters}, chunks: {len(chunks)}, version {document.version}"
    ]
    lines += document.warnings
    if document.superseded_by:
        lines.append(f"a newer version replaced it: {document.superseded_by}")
    for relation in session.catalog.schemas.relations():
        count = len(session.catalog.extractions.rows(relation.name, document_ids=[document.id]))
        tasks = [
            task
            for task in session.catalog.extractions.tasks(relation.name)
            if task.chunk_id in chunks
        ]
        lines.append(f"{relation.name}: {counted(count, 'row')}; {_asked(tasks)}")
    journal = session.catalog.journal
    decisions = journal.decisions(document=document.name)
    decisions += [d for chunk in sorted(chunks) for d in journal.decisions(chunk=chunk)]
    return Explanation(document.name, "document", tuple(lines), (), tuple(decisions))


_ENDED = {
    "done": "read",
    "gated": "left out by the gate",
    "pruned": "left out by the choice of passages",
    "failed": "failed",
}


def _asked(tasks: Sequence[Task]) -> str:
    """Says of how many chunks a table was asked, with which outcomes, and the recorded reasons."""
    said = []
    for state, words in _ENDED.items():
        ended = [task for task in tasks if task.state == state]
        reasons = ", ".join(sorted({task.reason for task in ended} - {""}))
        if ended:
            said.append(
                f"{len({task.chunk_id for task in ended})} {words}"
                + (f" ({reasons})" if reasons else "")
            )
    return "chunks: " + ", ".join(said) if said else "never asked"


def _chunk(session: Session, chunk: Chunk, documents: Sequence[StoredDocument]) -> tuple[str, ...]:
    """Says where a chunk stands, and how many rows of each table it gave."""
    name = next((d.name for d in documents if d.id == chunk.document_id), chunk.document_id)
    lines = [f"characters {chunk.start} to {chunk.end} of {name}, {counted(chunk.tokens, 'token')}"]
    for relation in session.catalog.schemas.relations():
        rows = session.catalog.extractions.rows(relation.name, document_ids=[chunk.document_id])
        lines.append(
            f"{relation.name}: {counted(sum(row.chunk_id == chunk.id for row in rows), 'row')}"
        )
    return tuple(lines)


def _versions(session: Session, table: str) -> tuple[str, ...]:
    if not any(r.name == table for r in session.catalog.schemas.relations()):
        return ()
    current = session.catalog.tables.current(table)
    asked = _asked(session.catalog.extractions.tasks(table))
    return asked, *(
        f"version {v.version}{' (current)' if current and v.version == current.version else ''}: "
        f"{v.operation}, {counted(v.rows, 'row')}. {v.reason}"
        for v in session.catalog.tables.versions(table)
    )
