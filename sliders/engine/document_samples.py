"""Samples of documents of different kinds, for the model call that makes the schema; and what their
layout says about the number of rows per document.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sliders.compact.grain import listed_rows
from sliders.engine.session import Session
from sliders.extraction.list_entries import records_of
from sliders.retrieval.chunk import Chunk
from sliders.retrieval.excerpt import excerpt
from sliders.schema.sample import Sample
from sliders.schema.types import Grain, Table
from sliders.store.records import StoredDocument

_LOOKED_AT = 200
_RECORD_SHARE = 0.5
_CANDIDATES = 40
_COMPARED_CHARACTERS = 800
_LISTED = 3
_LISTED_CHARACTERS = 4_000
_CHARACTERS = 8
"""The most characters of a token; a sample that is too long is then cut by the model's own count of
tokens.
"""


def samples(session: Session, questions: Sequence[str] = (), *, keep: bool = False) -> list[Sample]:
    """Returns samples of the documents that differ most from each other, as many and as long as the
    model's dialect takes. A sample is a document's beginning, or the parts that a search finds for
    the questions.

    Args:
        keep: True stores the choice of documents in the workspace; it is made again only when the
            collection has changed.
    """
    model = session.models.model_for("schema")
    number, tokens = model.dialect.samples, model.dialect.sample_tokens
    stored = session.catalog.documents.all()
    spread = stored[:: max(1, len(stored) // _CANDIDATES)][:_CANDIDATES]
    chosen = spread if len(spread) <= number else _chosen(session, spread, number, keep)
    if not (characters := model.dialect.sample_characters):
        texts = session.catalog.documents.text
        return [Sample(d.name, texts(d.id)[: tokens * _CHARACTERS]) for d in chosen]
    room, shown = characters, list[Sample]()
    for left, document in zip(
        range(len(chosen), 0, -1), sorted(chosen, key=lambda d: d.characters), strict=True
    ):
        text = excerpt(session.catalog.documents.get(document.id), questions, room // left)
        shown.append(Sample(document.name, text))
        room -= len(text)
    names = [document.name for document in chosen]
    return sorted(shown, key=lambda sample: names.index(sample.name))


def _chosen(
    session: Session, spread: Sequence[StoredDocument], number: int, keep: bool
) -> list[StoredDocument]:
    known = {document.id: document for document in spread}
    kept = session.catalog.collection.samples(list(known), number)
    if kept is not None:
        return [known[identifier] for identifier in kept]
    chosen = _different(session, spread, number)
    if keep:
        session.catalog.collection.keep_samples(list(known), [document.id for document in chosen])
    return chosen


def _different(
    session: Session, documents: Sequence[StoredDocument], number: int
) -> list[StoredDocument]:
    """Returns documents: first the one nearest to the middle of all, then each time the one
    farthest from the documents chosen so far.
    """
    vectors = session.embedder.embed(
        [session.catalog.documents.text(d.id)[:_COMPARED_CHARACTERS] for d in documents]
    )
    chosen = [int(np.argmax(vectors @ vectors.mean(axis=0)))]
    while len(chosen) < number:
        nearest = (vectors @ vectors[chosen].T).max(axis=1)
        nearest[chosen] = np.inf
        chosen.append(int(np.argmin(nearest)))
    return [documents[place] for place in chosen]


def grain_of(session: Session) -> Grain | None:
    """Returns "many" when most chunks are lists of records, None when the layout does not say."""
    chunks: list[Chunk] = []
    for document in session.catalog.documents.all():
        chunks.extend(session.catalog.chunks.of(document.id)[: _LOOKED_AT - len(chunks)])
        if len(chunks) >= _LOOKED_AT:
            break
    listed = sum(1 for chunk in chunks if records_of(chunk))
    return "many" if chunks and listed / len(chunks) >= _RECORD_SHARE else None


async def rows_told(session: Session, tables: Sequence[Table]) -> list[list[frozenset[str]]]:
    """Returns the rows of each table in some documents, by their printed names. The model is asked
    to list all rows of a few documents, spread over the collection. Each document is asked about
    all tables in turn, so that a server's prefix cache reads it once.
    """
    stored, model = session.catalog.documents.all(), session.models.model_for("extract")
    told: list[list[frozenset[str]]] = [[] for _ in tables]
    for document in stored[len(stored) // (2 * _LISTED) :: max(1, -(-len(stored) // _LISTED))]:
        text = session.catalog.documents.text(document.id)[:_LISTED_CHARACTERS].strip()
        for table, names in zip(tables, told, strict=True):
            names.append(await listed_rows(table, text, model))
    for table, names in zip(tables, told, strict=True):
        seen = f"{table.row}: {', '.join(str(len(n)) for n in names)} rows in as many documents"
        session.decide("schema", "table", "listed", seen, table=table.name)
    return told
