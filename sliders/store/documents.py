"""Documents in the workspace: their text (stored once), structure and versions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import Select, bindparam, func, select, update

from sliders.documents.document import GIVEN, Document, Element, Page
from sliders.errors import StoreError
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.layout import documents, elements, pages, rows, tables
from sliders.store.layout_columns import among
from sliders.store.records import Added, StoredDocument

_CURRENT = documents.c.superseded_by.is_(None)
_READ = documents.c.media_type != GIVEN
_newer = documents.alias()
_ALL: Select[Any] = (
    select(
        *(
            func.coalesce(_newer.c.id, "") if f.name == "superseded_by" else documents.c[f.name]
            for f in fields(StoredDocument)
        )
    )
    .outerjoin_from(documents, _newer, _newer.c.key == documents.c.superseded_by)
    .order_by(documents.c.key)
)
_ALL_CURRENT = _ALL.where(_CURRENT, _READ)
_HOW_MANY = select(func.count()).select_from(documents).where(_CURRENT, _READ)
_KNOWN = select(documents.c.key, documents.c.superseded_by).where(documents.c.id == bindparam("id"))
_STANDING = select(*(documents.c[name] for name in "key id version source".split())).where(_CURRENT)
_NAMED = _STANDING.where(documents.c.name == bindparam("name"))
# By the names that a path can have got: sources stand behind the texts, and no
# index begins with them.
_FROM = _STANDING.where(among(documents.c.name, "names"), documents.c.source == bindparam("source"))
_GIVEN_AS = _STANDING.where(~_READ, documents.c.source == bindparam("source"))
_WHOLE = select(
    *(
        documents.c[name]
        for name in "key name text title media_type source modified warnings".split()
    )
).where(documents.c.id == bindparam("id"))
_TEXT = select(documents.c.text).where(documents.c.id == bindparam("id"))
_PAGES = (
    select(pages.c.number, pages.c.start, pages.c.stop, pages.c.scores)
    .where(pages.c.document_key == bindparam("key"))
    .order_by(pages.c.position)
)
_ELEMENTS = (
    select(*list(elements.c)[2:])
    .where(elements.c.document_key == bindparam("key"))
    .order_by(elements.c.position)
)
TOUCH = (
    update(tables)
    .values(revision=tables.c.revision + 1)
    .where(
        tables.c.key.in_(
            select(rows.c.table_key).where(rows.c.document_key == bindparam("document"))
        )
    )
)
"""The update that marks tables with rows from a document as changed."""


def _tails(source: str) -> list[str]:
    """The ends of a path or address, from the shortest to the whole."""
    parts = re.split(r"[\\/]+", source)
    return ["/".join(parts[-n:]) for n in range(1, len(parts) + 1)]


def _line(e: Element, text: str) -> tuple[Any, ...]:
    """An element as a stored line."""
    starts = codec.dump(e.row_starts) if e.row_starts else None
    return e.kind, e.start, e.end, e.level, e.page, codec.encode_grid(e.grid, text), starts


class Documents:
    """The documents of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, document: Document, there: Callable[[str], bool] = lambda _source: False
    ) -> Added:
        """Stores a document.

        Equal content is one document, whatever its name. Other content from a known source, or
        under a known name, is a new version; the old version is superseded: kept for lineage, but
        in no table. When another source has the name, the document gets more of its path as its
        name.

        Args:
            there: returns True for a source (a path or an address) that still exists, so that a
                document of the same name from another source is a new document.
        """
        with self._database.transaction():
            self._database.exclusive("documents")
            known = self._database.one(_KNOWN, {"id": document.id})
            old = self._earlier(document, there)
            if known is not None and known[1] is None and (old is None or old[1] == document.id):
                return self._again(document, there)
            version = old[2] + 1 if old else 1
            document = replace(document, name=self._free_name(document, old))
            if known is None:
                key = self._insert(document, version)
            else:
                key, superseded_by = known
                if superseded_by is not None:
                    self._bring_back(key, document, version)
            if old is not None:
                replaced = update(documents).where(documents.c.key == old[0])
                self._database.execute(replaced.values(superseded_by=key))
                self._database.execute(TOUCH, {"document": old[0]})
            self._database.execute(TOUCH, {"document": key})
        return Added("changed", document.id, old[1]) if old else Added("new", document.id)

    def _again(self, document: Document, there: Callable[[str], bool]) -> Added:
        """Returns the outcome of adding a current document again. When the file of the stored one
        is gone, the document was renamed.
        """
        key, name, *_, source, _, _ = self._found(_WHOLE, document.id)
        moved = document.source and source and document.source != source and not there(source)
        if not moved:
            return Added("same", document.id)
        called = self._free_name(document, None)
        one = update(documents).where(documents.c.key == key)
        self._database.execute(one.values(name=called, source=document.source))
        self._database.execute(TOUCH, {"document": key})
        return Added("renamed", document.id, name)

    def _bring_back(self, key: int, document: Document, version: int) -> None:
        """Makes a superseded document, whose content came back, the current version of its
        source.
        """
        again = {"version": version, "name": document.name, "source": document.source}
        one = update(documents).where(documents.c.key == key)
        self._database.execute(one.values(superseded_by=None, **again))

    def _earlier(self, document: Document, there: Callable[[str], bool]) -> tuple[Any, ...] | None:
        """Returns the current document of which this is a new version: the document of its source,
        else the document of its name unless that is another file.
        """
        if document.media_type == GIVEN:
            return self._database.one(_GIVEN_AS, {"source": document.source})
        names = codec.dump([document.name, *_tails(document.source)])
        if document.source and (
            of_source := self._database.one(_FROM, {"names": names, "source": document.source})
        ):
            return of_source
        of_name = self._database.one(_NAMED, {"name": document.name})
        another_file = of_name is not None and document.source and of_name[3] and there(of_name[3])
        return None if another_file else of_name

    def _free_name(self, document: Document, old: tuple[Any, ...] | None) -> str:
        """Returns the document's name, with more of its path when another current document has the
        name.
        """
        longer = (name for name in _tails(document.source) if len(name) > len(document.name))
        for name in (document.name, *longer, f"{document.name} ({document.id[:8]})"):
            holder = self._database.one(_NAMED, {"name": name})
            if holder is None or holder == old or holder[1] == document.id:
                return name
        return document.id

    def _insert(self, document: Document, version: int) -> int:
        text = document.text
        key = self._database.add(
            documents,
            id=document.id,
            name=document.name,
            title=document.title,
            description="",
            text=text,
            sha256=codec.digest(text),
            media_type=document.media_type,
            source=document.source,
            modified=document.modified,
            warnings=codec.dump(document.warnings),
            version=version,
            added=codec.now(),
            characters=len(text),
        )
        self._database.add_many(
            pages,
            (
                (key, i, p.number, p.start, p.end, codec.dump(p.scores) if p.scores else None)
                for i, p in enumerate(document.pages)
            ),
        )
        self._database.add_many(
            elements,
            ((key, i, *_line(element, text)) for i, element in enumerate(document.elements)),
        )
        return key

    def get(self, document_id: str) -> Document:
        """Returns a whole document, equal to the one that was added.

        Raises:
            StoreError: there is no document with that id.
        """
        key, name, text, title, *source, warnings = self._found(_WHOLE, document_id)
        lines = self._database.query(_ELEMENTS, {"key": key})
        parts = tuple(
            Element(
                kind,
                start,
                stop,
                level,
                page,
                codec.decode_grid(grid, text),
                tuple(codec.load(starts) or ()),
            )
            for kind, start, stop, level, page, grid, starts in lines
        )
        leaves = tuple(
            Page(number, start, stop, tuple((w, score) for w, score in codec.load(scores) or ()))
            for number, start, stop, scores in self._database.query(_PAGES, {"key": key})
        )
        return Document(
            document_id, name, text, title, parts, leaves, *[*source, tuple(codec.load(warnings))]
        )

    def text(self, document_id: str) -> str:
        """Returns the text of a document.

        Raises:
            StoreError: there is no document with that id.
        """
        return str(self._found(_TEXT, document_id)[0])

    def _found(self, statement: Select[Any], document_id: str) -> tuple[Any, ...]:
        row = self._database.one(statement, {"id": document_id})
        if row is None:
            raise StoreError(
                f"the workspace has no document {document_id!r}; list them with: sliders tables"
            )
        return row

    def all(self, *, superseded: bool = False) -> list[StoredDocument]:
        """Returns the documents in the order of adding, without their text. With `superseded`, also
        old versions and tables that the user gave.
        """
        lines = self._database.query(_ALL if superseded else _ALL_CURRENT)
        return [StoredDocument(*[*line, tuple(codec.load(warnings))]) for *line, warnings in lines]

    def count(self) -> int:
        """Returns the number of current documents, without tables that the user gave."""
        return int(self._database.value(_HOW_MANY))
