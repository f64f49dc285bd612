"""Chunks in the workspace: spans of documents with their context, and full-text search over them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sliders.chunks.chunk import Chunk, ChunkContext
from sliders.errors import StoreError
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.records import SearchHit

_SELECT = """SELECT c.key, c.id, d.id, c.position, c.start, c.stop, c.tokens, coalesce(c.title, d.title),
    coalesce(c.description, d.description), c.heading_path, c.page_from, c.page_to, c.captions, c.kinds, d.key
    FROM sl_chunks c JOIN sl_documents d ON d.key = c.document_key"""
_ORDER = " ORDER BY d.key, c.position"
_CURRENT = f"""FROM sl_documents d INDEXED BY sl_documents_listed CROSS JOIN sl_chunks c ON c.document_key = d.key
    WHERE d.superseded_by IS NULL AND c.active{_ORDER}"""
_WORD = re.compile(r"\w+")


class Chunks:
    """The chunks of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, document_id: str, chunks: Sequence[Chunk]) -> None:
        """Make these the chunks of a document.

        Earlier chunks that are not among them go, or stay out of sight when rows were read from them.
        """
        with self._database.transaction():
            row = self._database.one(
                "SELECT key, text, title, description FROM sl_documents WHERE id = ?", (document_id,)
            )
            if row is None:
                raise StoreError(f"the workspace has no document {document_id!r}; add it before its chunks")
            key, text, title, description = row
            known = {
                i: (k, start, stop, headings)
                for i, k, start, stop, headings in self._database.query(
                    "SELECT id, key, start, stop, heading_path FROM sl_chunks WHERE document_key = ?", (key,)
                )
            }
            fresh = {chunk.id for chunk in chunks}
            self._retire([line for i, line in known.items() if i not in fresh], text)
            if not fresh >= known.keys():
                self._touch_tables(key)
            for chunk in chunks:
                if chunk.id in known:
                    self._database.execute(
                        "UPDATE sl_chunks SET active = 1, position = ? WHERE id = ?", (chunk.position, chunk.id)
                    )
                else:
                    self._insert(chunk, key, title, description)

    def _insert(self, chunk: Chunk, document_key: int, title: str, description: str) -> None:
        context = chunk.context
        headings = codec.dump(context.heading_path)
        key = self._database.insert(
            """INSERT INTO sl_chunks (id, document_key, position, start, stop, tokens, title, description, heading_path,
                page_from, page_to, captions, kinds) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)""",
            (
                chunk.id, document_key, chunk.position, chunk.start, chunk.end, chunk.tokens,
                None if context.title == title else context.title,
                None if context.description == description else context.description,
                headings, context.page_from, context.page_to, codec.dump(context.captions),
                codec.dump(sorted(chunk.kinds)),
            ),
        )  # fmt: skip
        self._database.execute(
            "INSERT INTO sl_chunk_search (rowid, text, headings) VALUES (?,?,?)", (key, chunk.text, headings)
        )

    def _retire(self, old: Iterable[tuple[int, int, int, str]], text: str) -> None:
        for key, start, stop, headings in old:
            self._database.execute("UPDATE sl_chunks SET active = 0 WHERE key = ?", (key,))
            if self._database.value("SELECT count(*) FROM sl_rows WHERE chunk_key = ?", (key,)):
                continue
            self._database.execute(
                "INSERT INTO sl_chunk_search (sl_chunk_search, rowid, text, headings) VALUES ('delete',?,?,?)",
                (key, text[start:stop], headings),
            )
            self._database.execute("DELETE FROM sl_chunks WHERE key = ?", (key,))

    def _touch_tables(self, document_key: int) -> None:
        """Rows of retired chunks leave the data tables."""
        self._database.execute(
            """UPDATE sl_tables SET revision = revision + 1
            WHERE key IN (SELECT DISTINCT table_key FROM sl_rows WHERE document_key = ?)""",
            (document_key,),
        )

    def of(self, document_id: str) -> list[Chunk]:
        """The chunks of a document in order."""
        return self._read(f"{_SELECT} WHERE d.id = ? AND c.active{_ORDER}", (document_id,))

    def all(self) -> list[Chunk]:
        """The chunks of all current documents, document by document."""
        return self._read(f"{_SELECT} WHERE d.superseded_by IS NULL AND c.active{_ORDER}", ())

    def places(self) -> list[tuple[str, str]]:
        """Ids of the chunks of all current documents and of their documents, in order, without reading any text."""
        return self._database.query(f"SELECT c.id, d.id {_CURRENT}")

    def outlines(self) -> list[tuple[str, tuple[str, ...], frozenset[str]]]:
        """Id, heading path and kinds of every chunk of a current document, without reading any text."""
        rows = self._database.query(f"SELECT c.id, c.heading_path, c.kinds {_CURRENT}")
        headings: dict[str, tuple[str, ...]] = {}
        kinds: dict[str, frozenset[str]] = {}
        for _, path, kind in rows:
            if path not in headings:
                headings[path] = tuple(codec.load(path))
            if kind not in kinds:
                kinds[kind] = frozenset(codec.load(kind))
        return [(identifier, headings[path], kinds[kind]) for identifier, path, kind in rows]

    def get(self, chunk_id: str) -> Chunk:
        """One chunk, also a retired one.

        Raises:
            StoreError: there is none with that id.
        """
        found = self.find(chunk_id)
        if found is None:
            raise StoreError(f"the workspace has no chunk {chunk_id!r}; add the documents again")
        return found

    def find(self, chunk_id: str) -> Chunk | None:
        """One chunk, also a retired one; None where there is none with that id."""
        found = self._read(f"{_SELECT} WHERE c.id = ?", (chunk_id,))
        return found[0] if found else None

    def _read(self, sql: str, parameters: Sequence[Any]) -> list[Chunk]:
        texts: dict[int, str] = {}
        found = []
        for row in self._database.query(sql, parameters):
            _, identifier, document_id, position, start, stop, tokens, title, description = row[:9]
            headings, page_from, page_to, captions, kinds, document_key = row[9:]
            if document_key not in texts:
                # Sliced here, not in SQL: substr() walks from the start of a long text for every chunk.
                texts = {
                    document_key: self._database.value("SELECT text FROM sl_documents WHERE key = ?", (document_key,))
                }
            context = ChunkContext(
                title, description, tuple(codec.load(headings)), page_from, page_to, tuple(codec.load(captions))
            )
            text = texts[document_key][start:stop]
            found.append(
                Chunk(
                    identifier, document_id, position, start, stop, text, tokens, context,
                    frozenset(codec.load(kinds)),
                )
            )  # fmt: skip
        return found

    def search(self, words: str, *, limit: int = 20, document_ids: Sequence[str] | None = None) -> list[SearchHit]:
        """Chunks of current documents that hold any of the words, best first (BM25; headings count double).

        Args:
            words: plain text; its punctuation is no query syntax.
            limit: largest number of chunks.
            document_ids: look only in these.
        """
        terms = list(dict.fromkeys(_WORD.findall(words.replace("_", " "))))
        if not terms:
            return []
        match = " OR ".join(f'"{term}"' for term in terms[:64])
        only, parameters = "", [match]
        if document_ids is not None:
            only = " AND d.id IN (SELECT value FROM json_each(?))"
            parameters.append(codec.dump(list(document_ids)))
        rows = self._database.query(
            f"""SELECT c.id, d.id, -bm25(sl_chunk_search, 1.0, 2.0) AS score FROM sl_chunk_search
            JOIN sl_chunks c ON c.key = sl_chunk_search.rowid JOIN sl_documents d ON d.key = c.document_key
            WHERE sl_chunk_search MATCH ? AND c.active AND d.superseded_by IS NULL{only}
            ORDER BY score DESC, c.key LIMIT {int(limit)}""",
            parameters,
        )
        return [SearchHit(*row) for row in rows]
