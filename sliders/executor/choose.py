"""Which chunks of long documents are worth asking: nearness to what discriminates, then the gate.

A column whose words stand on every page (the name of a company in its own report) tells no chunk apart: each column and
each question weighs as much as its best chunks stand out from the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sliders.chunks.chunk import Chunk
from sliders.chunks.lexical import BM25
from sliders.documents.document import Document
from sliders.executor.session import Session
from sliders.extraction.prompt import Asked
from sliders.schema.names import spoken_name

LONG = 4
"""Documents of up to this many chunks are read whole."""
_WINDOW = 1200
"""Characters of a piece that is embedded by itself: a chunk is as near as its nearest piece."""
_MOST_EMBEDDED = 4000
"""Pieces of one run beyond which words alone choose: two cores embed some 200 short pieces a second."""
_RANK_OFFSET = 10
_SHOWN_INSIDE = 700


class Chooser:
    """Chooses the chunks of one document after the other, for the columns of one fill."""

    def __init__(self, session: Session, questions: Sequence[str], chunks: int) -> None:
        """`chunks` is the number of chunks of all documents that are to be asked."""
        self._session, self._questions = session, tuple(questions)
        self._by_words = chunks > _MOST_EMBEDDED // LONG
        self._queries: dict[str, NDArray[np.float32]] = {}

    async def choose(self, chunks: Sequence[Chunk], asked: Sequence[Asked], most: int) -> dict[str, str]:
        """Why chunks of a document are left out, by chunk id; at most `most` stay."""
        if len(chunks) <= max(LONG, most):
            return {}
        queries = [*self._questions, *_column_queries(asked)]
        # In a thread: the calls that are under way go on meanwhile.
        scores = await asyncio.to_thread(self._scores, chunks, queries)
        order = [int(n) for n in np.argsort(-scores, kind="stable") if n]
        kept = {0, *order[: most - 1]}  # the first one names the document
        names = ", ".join(spoken_name(c.name) for a in asked for c in a.columns[:4])
        why = f"other parts of the document are nearer to {names}"
        return {chunk.id: why for number, chunk in enumerate(chunks) if number not in kept}

    def _scores(self, chunks: Sequence[Chunk], queries: Sequence[str]) -> NDArray[np.float64]:
        """Reciprocal ranks of the chunks over all queries, by words and by meaning, weighted by how far the best stand out."""
        total = np.zeros(len(chunks))
        index = BM25(chunk.text for chunk in chunks)
        similar = None if self._by_words else self._similar(chunks, queries)
        for place, query in enumerate(queries):
            total += _ranked(index.scores(query))
            if similar is not None:
                total += _ranked(similar[:, place])
        return total

    def _similar(self, chunks: Sequence[Chunk], queries: Sequence[str]) -> NDArray[np.float32]:
        """Shape (chunks, queries): the cosine of each chunk's nearest piece."""
        pieces = [c.text[at : at + _WINDOW] for c in chunks for at in range(0, max(1, len(c.text)), _WINDOW)]
        counts = [max(1, -(-len(c.text) // _WINDOW)) for c in chunks]
        embed = self._session.embedder.embed
        vectors = embed(pieces)
        for query in queries:
            if query not in self._queries:
                self._queries[query] = embed([query])[0]
        scores = vectors @ np.stack([self._queries[q] for q in queries]).T
        edges = np.cumsum([0, *counts])
        best: NDArray[np.float32] = np.stack([scores[low:high].max(axis=0) for low, high in pairwise(edges)])
        return best


def _ranked(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Reciprocal ranks, weighted by how many standard deviations the best score stands above the mean."""
    spread = float(scores.std())
    if spread == 0:
        return np.zeros(len(scores))
    weight = max(0.0, float(scores.max() - scores.mean()) / spread - 1)
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return weight / (_RANK_OFFSET + ranks)


def _column_queries(asked: Sequence[Asked]) -> list[str]:
    return [f"{spoken_name(c.name)}: {c.description or a.table.row}" for a in asked for c in a.columns]


def shown_to_gate(chunk: Chunk, document: Document) -> str:
    """A chunk as the gate sees it: its own headings, the headings and tables inside it, and how it begins."""
    inside = [e for e in document.elements if chunk.start <= e.start < chunk.end]
    headings = [document.text[e.start : e.end].strip() for e in inside if e.kind == "heading"]
    tables = [_table_line(document, e.start, e.end) for e in inside if e.grid is not None]
    lines = [chunk.context.header(), *(f"# {' '.join(h.split())}" for h in headings), *tables]
    told = "\n".join(line for line in lines if line)[:_SHOWN_INSIDE]
    return f"{told}\n{chunk.text.strip()[: max(200, _SHOWN_INSIDE - len(told))]}"


def _table_line(document: Document, start: int, end: int) -> str:
    """The first cells of a table's rows, which name its lines."""
    labels = (line.strip("| ").split("|")[0].strip() for line in document.text[start:end].splitlines())
    return "Table: " + "; ".join(dict.fromkeys(label for label in labels if label.strip("-: ")))[:300]
