"""The choice of chunks in long documents: by nearness to the questions and columns, before the gate
(a call that sorts out chunks without values).

A column whose words stand on every page (the name of a company in its own report) does not tell
chunks apart. So each column and each question weighs as much as its best chunks stand out from the
others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sliders.documents.document import Document
from sliders.extraction.prompt import Asked
from sliders.retrieval.chunk import Chunk
from sliders.retrieval.embeddings import Embedder
from sliders.retrieval.lexical import BM25
from sliders.schema.names import spoken_name

LONG = 4
"""Documents of at most this many chunks are read whole."""
_WINDOW = 1200
"""The characters of a piece that is embedded; a chunk is as near as its nearest piece."""
_MOST_EMBEDDED = 4000
"""With more pieces than this in a run, words alone choose: two cores embed about 200 short pieces a
second.
"""
_RANK_OFFSET = 10
_SHOWN_INSIDE = 700


def left_out(
    chunks: Sequence[Chunk],
    asked: Sequence[Asked],
    questions: Sequence[str],
    most: int,
    embedder: Embedder,
    *,
    among: int = 0,
) -> dict[str, str]:
    """Returns why chunks of a document are not read, by chunk id. At most `most` chunks stay,
    always with the first, which names the document.

    Args:
        among: the number of chunks of all documents to choose from; with too many, words alone
            choose.
    """
    if len(chunks) <= max(LONG, most):
        return {}
    queries = [
        *questions,
        *(
            f"{spoken_name(c.name)}: {c.description or a.table.row}"
            for a in asked
            for c in a.columns
        ),
    ]
    scores = _by_words(chunks, queries)
    if among <= _MOST_EMBEDDED // LONG:
        scores += _by_meaning(chunks, queries, embedder)
    order = [int(n) for n in np.argsort(-scores, kind="stable") if n]
    kept = {0, *order[: most - 1]}
    names = ", ".join(spoken_name(c.name) for a in asked for c in a.columns[:4])
    why = f"other parts of the document are nearer to {names}"
    return {chunk.id: why for number, chunk in enumerate(chunks) if number not in kept}


def _by_words(chunks: Sequence[Chunk], queries: Sequence[str]) -> NDArray[np.float64]:
    """Returns the score of each chunk over all queries, by its words."""
    index = BM25(chunk.text for chunk in chunks)
    total: NDArray[np.float64] = np.sum([_ranked(index.scores(query)) for query in queries], axis=0)
    return total


def _by_meaning(
    chunks: Sequence[Chunk], queries: Sequence[str], embedder: Embedder
) -> NDArray[np.float64]:
    """Returns the score of each chunk over all queries, by the cosine of its nearest piece."""
    pieces = [
        [c.text[at : at + _WINDOW] for at in range(0, max(1, len(c.text)), _WINDOW)] for c in chunks
    ]
    cosines = (
        embedder.embed([piece for each in pieces for piece in each])
        @ embedder.embed(list(queries)).T
    )
    best = np.maximum.reduceat(cosines, np.cumsum([0, *map(len, pieces[:-1])]))
    total: NDArray[np.float64] = np.sum(
        [_ranked(best[:, place]) for place in range(len(queries))], axis=0
    )
    return total


def _ranked(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Returns reciprocal ranks, weighted by how many standard deviations the best score stands
    above the mean.
    """
    spread = float(scores.std())
    if spread == 0:
        return np.zeros(len(scores))
    weight = max(0.0, float(scores.max() - scores.mean()) / spread - 1)
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return weight / (_RANK_OFFSET + ranks)


def shown_to_gate(chunk: Chunk, document: Document) -> str:
    """Returns a chunk as the gate sees it: its headings, the headings and tables inside it, and its
    beginning.
    """
    inside = [e for e in document.elements if e.start < chunk.end and e.end > chunk.start]
    headings = [document.text[e.start : e.end].strip() for e in inside if e.kind == "heading"]
    spans = [
        (max(e.start, chunk.start), min(e.end, chunk.end)) for e in inside if e.grid is not None
    ]
    tables = [_table_line(document, start, end) for start, end in spans]
    lines = [chunk.context.header(), *(f"# {' '.join(h.split())}" for h in headings), *tables]
    told = "\n".join(line for line in lines if line)[:_SHOWN_INSIDE]
    return f"{told}\n{chunk.text.strip()[: max(200, _SHOWN_INSIDE - len(told))]}"


def _table_line(document: Document, start: int, end: int) -> str:
    """Returns the first cells of a table's rows, which name its lines."""
    labels = (
        line.strip("| ").split("|")[0].strip() for line in document.text[start:end].splitlines()
    )
    return (
        "Table: " + "; ".join(dict.fromkeys(label for label in labels if label.strip("-: ")))[:300]
    )
