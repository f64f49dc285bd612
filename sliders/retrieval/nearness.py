"""The nearness of texts to queries, by their words and by their meaning.

Words that stand in every text (the name of a company in its own report) do not tell texts apart. So
the weight of a query grows with the distance between its best texts and the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sliders.retrieval.embeddings import Embedder
from sliders.retrieval.lexical import BM25, stems

_RANK_OFFSET = 10


def nearness(
    texts: Sequence[str],
    queries: Sequence[str],
    embedder: Embedder | None = None,
    gists: Sequence[str] = (),
) -> NDArray[np.float64]:
    """Returns the nearness of each text to each query, shape (texts, queries): the reciprocal ranks
    by words and by meaning, added up.

    Args:
        embedder: None compares words alone.
        gists: the part of each text that is embedded; the whole text when left out.
    """
    index = BM25(texts, stems)
    compared = [[index.scores(query) for query in queries]]
    if embedder is not None:
        vectors = embedder.embed(list(gists or texts))
        compared.append(list(embedder.embed(list(queries)) @ vectors.T))
    stacked = [np.stack([ranked(scores) for scores in each], axis=1) for each in compared]
    ranks: NDArray[np.float64] = np.sum(stacked, axis=0)
    return ranks


def ranked(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Returns reciprocal ranks, weighted by how many standard deviations the best score stands
    above the mean; 0 for scores that are not above it.
    """
    spread = float(scores.std()) if len(scores) else 0.0
    if spread == 0:
        return np.zeros(len(scores))
    mean = float(scores.mean())
    weight = max(0.0, (float(scores.max()) - mean) / spread - 1)
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return np.where(scores > mean, weight / (_RANK_OFFSET + ranks), 0.0)
