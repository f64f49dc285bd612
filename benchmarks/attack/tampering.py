"""Workspaces and exports that somebody changed past `sliders`, and legal changes."""

# ruff: noqa: E501
from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.attack.tries import Try
from benchmarks.reconcile import FirstChoice
from sliders import Workspace
from sliders.audit import check_audit
from sliders.documents import Document, Page
from sliders.errors import AuditError
from sliders.extraction import Absence, Cell, Grounding, Row, Span
from sliders.llm import Call
from sliders.retrieval import Chunk, ChunkContext, HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.store import Decision, SqlAttempt, Task
from sliders.values import ColumnType

WORKSPACE, EXPORT = "workspace.db", "audit.db"
TABLE = Table(
    "firms",
    (Column("name"), Column("city"), Column("people", ColumnType.INTEGER)),
    row="a firm",
    key=("name",),
    key_scope="collection",
)
_FACTS = (("Orla", "Cork", 12), ("Orla", None, 12), ("Bree", "Sligo", 7), ("Bree", "Sligo", 9))
_WHERE = {"name": "Bree"}


def _document(number: int, name: str, city: str | None, people: int) -> Document:
    first = f"The firm {name}.\n"
    text = f"{first}It sits in {city or 'some place'} and has {people} people.\n"
    pages = (Page(1, 0, len(first)), Page(2, len(first), len(text)))
    return Document(f"doc-{number}", f"{number}.pdf", text, name, (), pages)


def _cell(document: Document, column: str, value: Any) -> Cell:
    if value is None:
        return Cell(column, absence=Absence.NOT_STATED)
    start = document.text.index(str(value))
    span = Span(document.id, start, start + len(str(value)), document.page_at(start))
    said = {"call_id": f"call-{document.id}", "model": "double", "prompt_hash": "h"}
    return Cell(column, value, str(value), Grounding.EXACT, span, **said)


def _opened(path: Path) -> Workspace:
    return Workspace(path, model=FirstChoice(), embedder=HashEmbedder())


def fill(path: Path) -> Path:
    """A workspace of four documents with rows, repairs, decisions, calls and an answer."""
    with _opened(path) as ws:
        ws.pin_schema(Schema((TABLE,)))
        catalog = ws.session.catalog
        run = catalog.journal.start_run("ask", "How many people?", {"model": "double"})
        for number, facts in enumerate(_FACTS):
            document = _document(number, *facts)
            catalog.documents.add(document)
            chunk = f"{document.id}/0"
            around = ChunkContext(document.title)
            catalog.chunks.save(
                document.id,
                [Chunk(chunk, document.id, 0, 0, len(document.text), document.text, 9, around)],
            )
            call = Call(
                f"call-{document.id}",
                f"key-{number}",
                "extract",
                "double",
                "h",
                "a prompt",
                "a reply",
            )
            catalog.calls.record(call)
            cells = (_cell(document, *one) for one in zip(TABLE.column_names, facts, strict=True))
            catalog.extractions.save(
                [Row(f"r{number}", TABLE.name, document.id, chunk, 0, tuple(cells))],
                [Task(TABLE.name, TABLE.column_names, chunk)],
                [
                    Decision(
                        "extract",
                        "chunk",
                        "read",
                        "it names a firm",
                        chunk=chunk,
                        rows=(f"r{number}",),
                    )
                ],
            )
            catalog.collection.keep_card(document.id, "a card")
        catalog.tables.materialise(TABLE.name)
        catalog.collection.set_criteria(["newer_document"])
        catalog.journal.record_attempt(SqlAttempt("answer", "How many?", "SELECT 1", "answered"))
        catalog.journal.finish_run(run, "done", {"answers": []})
        ws.reconcile()
        ws.set_value(TABLE.name, "city", "Galway", {"name": "Orla"}, author="ida")
        ws.export(path.with_name(EXPORT))
    return path


# What another program does to the file, by the words that say it.
TAMPERED = {
    "a document's title": "UPDATE sl_documents SET title = 'x' WHERE key = 1",
    "a document's source": "UPDATE sl_documents SET source = '/etc/other.pdf'",
    "a document's name": "UPDATE sl_documents SET name = 'other.pdf' WHERE key = 2",
    "a warning taken out": "UPDATE sl_documents SET warnings = '[\"x\"]'",
    "when it was added": "UPDATE sl_documents SET added = '2001-01-01'",
    "pages moved": "UPDATE sl_pages SET number = number + 1",
    "pages deleted": "DELETE FROM sl_pages WHERE document_key = 3",
    "a page of a value": "UPDATE sl_cells SET page = 7 WHERE page = 2",
    "no page of a value": "UPDATE sl_cells SET page = NULL",
    "a heading of a chunk": "UPDATE sl_chunks SET heading_path = '[\"x\"]'",
    "tokens of a chunk": "UPDATE sl_chunks SET tokens = 1",
    "how words were found": "UPDATE sl_cells SET grounding = 'fuzzy'",
    "why a cell is empty": "UPDATE sl_cells SET absence = 'does not apply' WHERE absence IS NOT NULL",
    "a reason": "UPDATE sl_cells SET rationale = 'because' WHERE value = 12",
    "a unit": "UPDATE sl_cells SET unit = 'thousand' WHERE value = 12",
    "a model": "UPDATE sl_origins SET model = 'another'",
    "a value taken out": "UPDATE firms__v2 SET people = NULL",
    "a document of a row": "UPDATE firms__v1 SET document_id = 'doc-3'",
    "a name of a document in a row": "UPDATE firms__v1 SET document = 'x.pdf'",
    "an earlier version": "UPDATE firms__v1 SET people = 99",
    "a row of an earlier version": "DELETE FROM firms__v1 WHERE row_id = 'r0'",
    "the SQL of a repair": "UPDATE sl_table_versions SET sql = '-- nothing' WHERE version > 1",
    "the reason of a repair": "UPDATE sl_table_versions SET reason = 'x'",
    "a decision's reason": "UPDATE sl_decisions SET reason = 'x'",
    "decisions deleted": "DELETE FROM sl_decision_rows; DELETE FROM sl_decisions",
    "a decision more": "INSERT INTO sl_decisions (stage, kind, verdict, reason, tokens, at) VALUES ('extract', '', 'x', 'x', 0, 'x')",
    "a person's author": "UPDATE sl_corrections SET author = 'x'",
    "a contradiction deleted": "DELETE FROM sl_conflicts; DELETE FROM sl_settlements; DELETE FROM sl_row_groups",
    "a contradiction more": "INSERT INTO sl_conflicts VALUES ('firms', 9, 0, 'people', '[]', 'x', 1, NULL, '0.pdf', 'x', 1)",
    "a call's reply": "UPDATE sl_calls SET reply = 'x'",
    "a call's price": "UPDATE sl_calls SET cost = 100",
    "calls deleted": "DELETE FROM sl_calls",
    "an answer of a run": "UPDATE sl_runs SET outcome = '{\"answers\": []}', question = 'x'",
    "a statement tried": "UPDATE sl_sql_attempts SET sql = 'SELECT 2'",
    "a schema's reason": "UPDATE sl_schemas SET reason = 'x'",
    "a card": "UPDATE sl_document_facts SET card = 'x'",
    "criteria": "UPDATE sl_collection SET criteria = '[]'",
    "a view swapped": "DROP VIEW firms; CREATE VIEW firms AS SELECT name, city, people + 1 AS people, document, document_id, row_id FROM firms__v1",
    "a view filtered": "DROP VIEW cell_absence; CREATE VIEW cell_absence AS SELECT NULL AS table_name, NULL AS row_id, NULL AS document, NULL AS column_name, NULL AS why, NULL AS detail, NULL AS how, NULL AS said",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON sl_calls BEGIN DELETE FROM sl_runs; END",
    "words of the index": "DELETE FROM sl_chunk_search_docsize",
    "a table dropped": "DROP TABLE sl_batches",
}  # fmt: skip
# The same for an export.
EXPORTED = {
    "exported: a decision": "UPDATE audit_decisions SET verdict = 'x'",
    "exported: a call": "UPDATE audit_calls SET reply = 'x'",
    "exported: a value taken out": "UPDATE firms SET people = NULL",
}


def _vacuumed(folder: Path) -> None:
    with contextlib.closing(sqlite3.connect(folder / WORKSPACE)) as plain:
        plain.execute("VACUUM")
        plain.execute("ANALYZE")


def _by(act: Callable[[Workspace], Any]) -> Callable[[Path], None]:
    def legal(folder: Path) -> None:
        with _opened(folder / WORKSPACE) as ws:
            act(ws)

    return legal


def _earlier(folder: Path) -> None:
    """A workspace without digests, which is opened for writing."""
    with contextlib.closing(sqlite3.connect(folder / WORKSPACE)) as plain:
        plain.executescript("DROP TABLE IF EXISTS sl_digests; PRAGMA user_version = 5")
    _opened(folder / WORKSPACE).close()


def _undone(ws: Workspace) -> None:
    with contextlib.suppress(ZeroDivisionError), ws.session.catalog.database.transaction():
        ws.session.catalog.collection.keep_card("doc-0", "another card")
        _ = 1 / 0


def _in_part(ws: Workspace) -> None:
    with ws.session.catalog.database.transaction():
        _undone(ws)
        ws.session.catalog.collection.keep_card("doc-1", "another card")


LEGAL: dict[str, Callable[[Path], Any]] = {
    "free pages given back": "VACUUM",
    "nothing": lambda folder: None,
    "opened and closed": _by(lambda ws: None),
    "a document added": _by(lambda ws: ws.add_text("The firm Tara.", "tara.txt")),
    "a document changed": _by(lambda ws: [ws.add_text(t, "t.txt") for t in ("Tara.", "Tara Ltd.")]),
    "a document back": _by(lambda ws: [ws.add_text(t, "t.txt") for t in ("Tara.", "Orla.", "Tara.")]),
    "a value decided": _by(lambda ws: ws.set_value("firms", "people", "8", _WHERE)),
    "a decision taken back": _by(lambda ws: ws.revoke(1)),
    "rows split": _by(lambda ws: ws.split("firms", {"document": "2.pdf"}, {"document": "3.pdf"})),
    "rows merged": _by(lambda ws: ws.merge("firms", {"name": "Orla"}, {"name": "Bree"})),
    "an undo": _by(lambda ws: ws.undo("firms")),
    "an undo of all": _by(lambda ws: ws.undo("firms", 1)),
    "repaired again": _by(lambda ws: ws.reconcile()),
    "unverified values": _by(lambda ws: ws.session.catalog.tables.materialise("firms", unverified=True)),
    "a schema more": _by(lambda ws: ws.pin_schema(Schema((TABLE, Table("other", (Column("a"),)))))),
    "a column less": _by(lambda ws: ws.pin_schema(Schema((Table("firms", TABLE.columns[:2], key=("name",)),)))),
    "a transaction undone": _by(_undone),
    "a transaction undone in part": _by(_in_part),
    "a document removed": _by(lambda ws: ws.remove("2.pdf")),
    "vacuumed": _vacuumed,
    "an earlier layout": _earlier,
    "exported again": _by(lambda ws: ws.export(Path(ws.path).with_name("again.db"))),
    "exported: nothing": lambda folder: None,
}  # fmt: skip


def tries() -> Iterator[Try]:
    """All tries, a third of them controls."""
    for kind, sql in (TAMPERED | EXPORTED).items():
        yield Try(kind, sql, "refused", seconds=20)
    for kind, act in LEGAL.items():
        yield Try(kind, act, "clean", seconds=30)


def verified(folder: Path) -> Callable[[Try], str]:
    """A function that makes the change of a try in a copy of one workspace and verifies it."""
    made = fill(folder / WORKSPACE)
    copies = iter(range(10**6))

    def act(one: Try) -> str:
        place = folder / str(next(copies))
        place.mkdir()
        for name in (WORKSPACE, EXPORT):
            shutil.copy(made.with_name(name), place / name)
        file = place / (EXPORT if one.kind.startswith("exported:") else WORKSPACE)
        if callable(one.given):
            one.given(place)
        else:
            with contextlib.closing(sqlite3.connect(file)) as plain:
                plain.executescript(one.given)
        problems = check_audit(file).problems
        shutil.rmtree(place)
        if problems:
            raise AuditError("; ".join(problems[:5]))
        return "clean"

    return act
