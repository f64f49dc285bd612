"""Chunks in the workspace: spans of documents with their context, and
full-text search over them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import (
    Select,
    Text,
    bindparam,
    column,
    delete,
    desc,
    func,
    literal_column,
    select,
    table,
    update,
)

from sliders.documents.document import GIVEN
from sliders.errors import StoreError
from sliders.retrieval.chunk import Chunk, ChunkContext
from sliders.store import codec
from sliders.store.database import Database
from sliders.store.documents import TOUCH
from sliders.store.layout import CURRENT, chunks, documents, rows
from sliders.store.layout_columns import among
from sliders.store.records import SearchHit

_JOINED = chunks.join(documents, documents.c.key == chunks.c.document_key)
_SELECT: Select[Any] = (
    select(
        chunks.c.id,
        documents.c.id,
        chunks.c.position,
        chunks.c.start,
        chunks.c.stop,
        chunks.c.tokens,
        func.coalesce(chunks.c.title, documents.c.title),
        chunks.c.heading_path,
        chunks.c.page_from,
        chunks.c.page_to,
        chunks.c.captions,
        chunks.c.kinds,
        documents.c.key,
    )
    .select_from(_JOINED)
    .order_by(documents.c.key, chunks.c.position)
)
_OF_DOCUMENT = _SELECT.where(documents.c.id == bindparam("id"), chunks.c.active == 1)
_HOW_MANY = (
    select(func.count())
    .select_from(_JOINED)
    .where(documents.c.id == bindparam("id"), chunks.c.active == 1)
)
_ONE, _ALL = _SELECT.where(chunks.c.id == bindparam("id")), _SELECT.where(CURRENT)
_TEXT = select(documents.c.text).where(documents.c.key == bindparam("key"))
_OWNER = select(documents.c.key, documents.c.text, documents.c.title).where(
    documents.c.id == bindparam("id")
)
_KNOWN = select(
    chunks.c.id, chunks.c.key, chunks.c.start, chunks.c.stop, chunks.c.heading_path
).where(chunks.c.document_key == bindparam("key"))
_MOVE = (
    update(chunks)
    .where(chunks.c.id == bindparam("chunk"))
    .values(active=1, position=bindparam("place"))
)
_HIDE = update(chunks).where(chunks.c.key == bindparam("chunk")).values(active=0)
_READ = select(func.count()).select_from(rows).where(rows.c.chunk_key == bindparam("chunk"))
_DROP = delete(chunks).where(chunks.c.key == bindparam("chunk"))
# `documents` first: its index tells the current ones without walking over their texts.
_PLACES, _OUTLINES = (
    select(*listed)
    .select_from(_JOINED)
    .where(CURRENT, documents.c.media_type != GIVEN)
    .order_by(documents.c.key, chunks.c.position)
    for listed in (
        (chunks.c.id, documents.c.id),
        (chunks.c.id, chunks.c.heading_path, chunks.c.kinds),
    )
)
_WORDS = bindparam("words", type_=Text)
_IN_FILE, _ON_SERVER = (
    table("sl_chunk_search", column(name), column("words")) for name in ("rowid", "key")
)
_QUERY: Any = func.websearch_to_tsquery("english", _WORDS)
# The key of a found chunk, how well it matches (headings count double), and
# whether it does at all.
_FOUND: dict[str, tuple[Any, ...]] = {
    "sqlite": (
        _IN_FILE,
        _IN_FILE.c.rowid,
        literal_column("-bm25(sl_chunk_search, 1.0, 2.0)"),
        literal_column("sl_chunk_search").op("MATCH", is_comparison=True)(_WORDS),
    ),
    "postgresql": (
        _ON_SERVER,
        _ON_SERVER.c.key,
        func.ts_rank(literal_column("'{0.5, 0.5, 0.5, 1}'"), _ON_SERVER.c.words, _QUERY),
        _ON_SERVER.c.words.op("@@", is_comparison=True)(_QUERY),
    ),
}
_INDEX = {
    "sqlite": "INSERT INTO sl_chunk_search (rowid, text, headings) VALUES (?, ?, ?)",
    "postgresql": """INSERT INTO sl_chunk_search VALUES
        (?, setweight(to_tsvector('english', ?), 'D') || setweight(to_tsvector('english', ?),
        'A'))""",
}
_FORGET = {
    "sqlite": (
        "INSERT INTO sl_chunk_search (sl_chunk_search, rowid, text, headings) VALUES "
        "('delete', ?, ?, ?)"
    ),
    "postgresql": "DELETE FROM sl_chunk_search WHERE key = ? AND ? || ? IS NOT NULL",
}
_WORD = re.compile(r"\w+")
_HYPHENED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_IDEOGRAPH = re.compile("[぀-ヿ㐀-鿿가-힯]")
"""Signs of scripts without blanks between words. The index stores each sign as a word; a search
looks for pairs of neighbouring signs.
"""


def signs_apart(text: str) -> str:
    """The text with blanks around each sign of a script that writes none between words."""
    return _IDEOGRAPH.sub(r" \g<0> ", text) if _IDEOGRAPH.search(text) else text


def _terms(words: str) -> Iterator[str]:
    """Yields the words to search for; in scripts without blanks, each pair of neighbouring signs;
    at last those with a hyphen as one word.
    """
    for word in _WORD.findall(words):
        parts = signs_apart(word).split()
        yield from map(" ".join, pairwise(parts)) if len(parts) > 1 else parts
    yield from (word.replace("-", "") for word in _HYPHENED.findall(words))


def index_signs(database: Database) -> None:
    """Indexes chunks with such signs again, in workspaces whose index held each run of them as one
    word.
    """
    engine = database.dialect.name
    of_document = select(chunks.c.key, chunks.c.start, chunks.c.stop, chunks.c.heading_path).where(
        chunks.c.document_key == bindparam("key")
    )
    for (document,) in database.query(select(documents.c.key)):
        text = database.value(_TEXT, {"key": document})
        parts = database.query(of_document, {"key": document}) if _IDEOGRAPH.search(text) else ()
        for key, start, stop, headings in parts:
            words = (text[start:stop], headings)
            if any(map(_IDEOGRAPH.search, words)):
                database.execute(_FORGET[engine], (key, *words))
                database.execute(_INDEX[engine], (key, *map(signs_apart, words)))


class Chunks:
    """The chunks of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database
        engine = database.dialect.name
        self._index, self._forget, self._found = _INDEX[engine], _FORGET[engine], _FOUND[engine]

    def save(self, document_id: str, chunks_: Sequence[Chunk]) -> None:
        """Stores the chunks of a document.

        Earlier chunks that are not among them are deleted; those that gave rows are kept, but
        hidden.

        Raises:
            StoreError: the workspace does not have the document.
        """
        with self._database.transaction():
            owner = self._database.one(_OWNER, {"id": document_id})
            if owner is None:
                raise StoreError(
                    f"the workspace has no document {document_id!r}; add it before its chunks"
                )
            key, text, title = owner
            known = {
                identifier: line for identifier, *line in self._database.query(_KNOWN, {"key": key})
            }
            fresh = {chunk.id for chunk in chunks_}
            self._retire(
                [line for identifier, line in known.items() if identifier not in fresh], text
            )
            if not fresh >= known.keys():  # rows of retired chunks leave the data tables
                self._database.execute(TOUCH, {"document": key})
            for chunk in chunks_:
                if chunk.id in known:
                    self._database.execute(_MOVE, {"place": chunk.position, "chunk": chunk.id})
                else:
                    self._insert(chunk, key, title)

    def _insert(self, chunk: Chunk, document_key: int, title: str) -> None:
        context = chunk.context
        headings = codec.dump(context.heading_path)
        key = self._database.add(
            chunks,
            id=chunk.id,
            document_key=document_key,
            position=chunk.position,
            start=chunk.start,
            stop=chunk.end,
            tokens=chunk.tokens,
            title=None if context.title == title else context.title,
            heading_path=headings,
            page_from=context.page_from,
            page_to=context.page_to,
            captions=codec.dump(context.captions),
            kinds=codec.dump(sorted(chunk.kinds)),
        )
        self._database.execute(self._index, (key, signs_apart(chunk.text), signs_apart(headings)))

    def _retire(self, old: Iterable[Sequence[Any]], text: str) -> None:
        for key, start, stop, headings in old:
            self._database.execute(_HIDE, {"chunk": key})
            if not self._database.value(_READ, {"chunk": key}):
                words = (signs_apart(text[start:stop]), signs_apart(headings))
                self._database.execute(self._forget, (key, *words))
                self._database.execute(_DROP, {"chunk": key})

    def of(self, document_id: str) -> list[Chunk]:
        """The chunks of a document in order."""
        return self._read(_OF_DOCUMENT, {"id": document_id})

    def count(self, document_id: str) -> int:
        """Returns the number of a document's chunks, without reading any text."""
        return int(self._database.value(_HOW_MANY, {"id": document_id}))

    def all(self) -> list[Chunk]:
        """The chunks of all current documents, document by document."""
        return self._read(_ALL, {})

    def places(self) -> list[tuple[str, str]]:
        """Returns pairs (chunk id, document id) of all current documents, in order, without reading
        any text.
        """
        return self._database.query(_PLACES)

    def outlines(self) -> list[tuple[str, tuple[str, ...], frozenset[str]]]:
        """Returns (id, heading path, kinds of block) of every chunk of a current document, without
        reading any text.
        """
        lines = self._database.query(_OUTLINES)
        headings = {path: tuple(codec.load(path)) for path in {line[1] for line in lines}}
        kinds = {kind: frozenset(codec.load(kind)) for kind in {line[2] for line in lines}}
        return [(identifier, headings[path], kinds[kind]) for identifier, path, kind in lines]

    def find(self, chunk_id: str) -> Chunk | None:
        """Returns one chunk, also a hidden one; None when there is none with that id."""
        found = self._read(_ONE, {"id": chunk_id})
        return found[0] if found else None

    def _read(self, statement: Select[Any], parameters: dict[str, Any]) -> list[Chunk]:
        texts: dict[int, str] = {}
        found = []
        for line in self._database.query(statement, parameters):
            (
                identifier,
                document_id,
                position,
                start,
                stop,
                tokens,
                *context,
                captions,
                kinds,
                key,
            ) = line
            title, headings, page_from, page_to = context
            if key not in texts:
                # Sliced here, not in SQL: substr() walks from the start of a long
                # text for every chunk.
                texts = {key: self._database.value(_TEXT, {"key": key})}
            around = ChunkContext(
                title, tuple(codec.load(headings)), page_from, page_to, tuple(codec.load(captions))
            )
            text, kinds = texts[key][start:stop], frozenset(codec.load(kinds))
            found.append(
                Chunk(identifier, document_id, position, start, stop, text, tokens, around, kinds)
            )
        return found

    def search(
        self, words: str, *, limit: int = 20, document_ids: Sequence[str] | None = None
    ) -> list[SearchHit]:
        """Returns chunks of current documents that hold any of the words, best first (headings
        count double).

        Args:
            words: plain text; its punctuation is no query syntax.
            limit: largest number of chunks.
            document_ids: the documents to search; None searches all.
        """
        terms = list(dict.fromkeys(_terms(words.replace("_", " "))))
        if not terms:
            return []
        found, key, score, matches = self._found
        statement: Select[Any] = (
            select(chunks.c.id, documents.c.id, score.label("score"))
            .select_from(_JOINED.join(found, key == chunks.c.key))
            .where(matches, CURRENT)
            .order_by(desc("score"), chunks.c.key)
            .limit(limit)
        )
        values = {"words": " OR ".join(f'"{term}"' for term in terms[:64])}
        if document_ids is not None:
            statement = statement.where(among(documents.c.id, "documents"))
            values["documents"] = codec.dump(list(document_ids))
        return [SearchHit(*line) for line in self._database.query(statement, values)]
