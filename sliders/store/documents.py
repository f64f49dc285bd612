"""Documents in the workspace: their text once, their structure, their versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from sliders.documents.document import Document, Element, Page
from sliders.errors import StoreError
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.migrations import now
from sliders.store.records import Added, StoredDocument

_LINE = """SELECT d.id, d.name, d.title, d.description, d.media_type, d.source, d.modified, d.characters, d.version,
    coalesce(n.id, ''), d.added, d.warnings FROM sl_documents d INDEXED BY sl_documents_listed
    LEFT JOIN sl_documents n ON n.key = d.superseded_by"""

_FIELDS = tuple(field.name for field in fields(StoredDocument))


class Documents:
    """The documents of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, document: Document) -> Added:
        """Store a document.

        The same content is one document under whatever name; other content under a known name is its new version, and
        the old one is superseded: kept for lineage, out of every table from now on.
        """
        with self._database.transaction():
            known = self._database.one("SELECT key, superseded_by FROM sl_documents WHERE id = ?", (document.id,))
            if known is not None and known[1] is None:
                return Added("same", document.id)
            old = self._database.one(
                "SELECT key, id, version FROM sl_documents WHERE name = ? AND superseded_by IS NULL", (document.name,)
            )
            version = old[2] + 1 if old else 1
            if known is not None:  # an earlier version came back: it is the current one again
                key = known[0]
                self._database.execute(
                    "UPDATE sl_documents SET superseded_by = NULL, version = ?, name = ? WHERE key = ?",
                    (version, document.name, key),
                )
            else:
                key = self._insert(document, version)
            if old is not None:
                self._database.execute("UPDATE sl_documents SET superseded_by = ? WHERE key = ?", (key, old[0]))
            self._touch_tables([key, *([old[0]] if old else [])])
        return Added("changed", document.id, old[1]) if old else Added("new", document.id)

    def _insert(self, document: Document, version: int) -> int:
        key = self._database.insert(
            """INSERT INTO sl_documents (id, name, title, description, text, sha256, media_type, source, modified,
                warnings, version, added, characters) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)""",
            (
                document.id, document.name, document.title, document.description, document.text,
                codec.digest(document.text), document.media_type, document.source, document.modified,
                codec.dump(document.warnings), version, now(), len(document.text),
            ),
        )  # fmt: skip
        self._database.insert_many(
            "INSERT INTO sl_pages VALUES (?,?,?,?,?)",
            ((key, i, page.number, page.start, page.end) for i, page in enumerate(document.pages)),
        )
        self._database.insert_many(
            "INSERT INTO sl_elements VALUES (?,?,?,?,?,?,?,?,?)",
            (
                (
                    key, i, e.kind, e.start, e.end, e.level, e.page, codec.encode_grid(e.grid, document.text),
                    codec.dump(e.row_starts) if e.row_starts else None,
                )
                for i, e in enumerate(document.elements)
            ),
        )  # fmt: skip
        return key

    def _touch_tables(self, keys: Iterable[int]) -> None:
        """Tables with rows from these documents have changed."""
        for key in keys:
            self._database.execute(
                """UPDATE sl_tables SET revision = revision + 1
                WHERE key IN (SELECT DISTINCT table_key FROM sl_rows WHERE document_key = ?)""",
                (key,),
            )

    def describe(self, document_id: str, *, title: str, description: str) -> None:
        """Set the title and description that were found after loading."""
        self._database.execute(
            "UPDATE sl_documents SET title = ?, description = ? WHERE id = ?", (title, description, document_id)
        )

    def get(self, document_id: str) -> Document:
        """A whole document, equal to the one that was added.

        Raises:
            StoreError: there is none with that id.
        """
        row = self._database.one(
            """SELECT key, id, name, text, title, description, media_type, source, modified, warnings
            FROM sl_documents WHERE id = ?""",
            (document_id,),
        )
        if row is None:
            raise StoreError(f"the workspace has no document {document_id!r}; list them with: sliders documents")
        key, identifier, name, text, title, description, media_type, source, modified, warnings = row
        pages = self._database.query(
            "SELECT number, start, stop FROM sl_pages WHERE document_key = ? ORDER BY position", (key,)
        )
        elements = self._database.query(
            """SELECT kind, start, stop, level, page, grid, row_starts FROM sl_elements
            WHERE document_key = ? ORDER BY position""",
            (key,),
        )
        return Document(
            id=identifier,
            name=name,
            text=text,
            title=title,
            elements=tuple(
                Element(kind, start, stop, level, page, codec.decode_grid(grid, text), tuple(codec.load(starts) or ()))
                for kind, start, stop, level, page, grid, starts in elements
            ),
            pages=tuple(Page(*page) for page in pages),
            description=description,
            media_type=media_type,
            source=source,
            modified=modified,
            warnings=tuple(codec.load(warnings)),
        )

    def text(self, document_id: str) -> str:
        """The text of a document.

        Raises:
            StoreError: there is none with that id.
        """
        row = self._database.one("SELECT text FROM sl_documents WHERE id = ?", (document_id,))
        if row is None:
            raise StoreError(f"the workspace has no document {document_id!r}; list them with: sliders documents")
        return str(row[0])

    def all(self, *, superseded: bool = False) -> list[StoredDocument]:
        """The documents in the order in which they were added, without their text; old versions only on demand."""
        where = "" if superseded else " WHERE d.superseded_by IS NULL"
        return [_stored(row) for row in self._database.query(f"{_LINE}{where} ORDER BY d.key")]

    def count(self) -> int:
        """How many documents are current."""
        return int(self._database.value("SELECT count(*) FROM sl_documents WHERE superseded_by IS NULL"))

    def find(self, name: str) -> StoredDocument | None:
        """The current document of that name, None when there is none."""
        row = self._database.one(f"{_LINE} WHERE d.name = ? AND d.superseded_by IS NULL", (name,))
        return _stored(row) if row else None


def _stored(row: tuple[Any, ...]) -> StoredDocument:
    values: dict[str, Any] = dict(zip(_FIELDS, row, strict=True))
    return StoredDocument(**{**values, "warnings": tuple(codec.load(values["warnings"]))})
