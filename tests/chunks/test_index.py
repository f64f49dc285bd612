"""Documents come by their distance; segments keep their vectors."""

from __future__ import annotations

import numpy as np
import pytest

from sliders.chunks.embeddings import unit_rows
from sliders.chunks.index import SegmentVectors, TwoLevelIndex
from sliders.errors import SlidersError

D = 16


def entry(document_id: str, count: int, seed: int, dimensions: int = D) -> SegmentVectors:
    random = np.random.default_rng(seed)
    vectors = unit_rows(random.normal(size=(count, dimensions)))
    spans = np.array([(n * 10, n * 10 + 9, n + 1) for n in range(count)], dtype=np.int64).reshape(-1, 3)
    return SegmentVectors.build(
        document_id, "test", unit_rows(random.normal(size=(1, dimensions)))[0], spans, vectors
    )


def test_documents_come_nearest_first() -> None:
    index = TwoLevelIndex(D)
    items = [entry(name, 2, seed) for seed, name in enumerate("abcdef")]
    for item in items:
        index.add(item)
    items[3] = entry("d", 3, 33)
    index.add(items[3])
    query = items[3].document
    hits = index.search_documents(query)
    distances = {item.document_id: float(np.linalg.norm(item.document - query)) for item in items}
    assert [hit.document_id for hit in hits] == sorted(distances, key=distances.__getitem__)
    for hit in hits:
        assert hit.distance == pytest.approx(distances[hit.document_id], abs=0.001)
    index.remove("d")
    assert "d" not in {hit.document_id for hit in index.search_documents(query)}
    assert set(index.document_ids) == set("abcef")


def test_quantization_keeps_cosines() -> None:
    vectors = unit_rows(np.random.default_rng(0).normal(size=(200, 384)))
    item = SegmentVectors.build("a", "test", vectors[0], np.zeros((200, 3), dtype=np.int64), vectors)
    assert np.abs(item.vectors @ vectors.T - vectors @ vectors.T).max() < 0.01


def test_unknown_documents_and_other_dimensions_are_reported() -> None:
    index = TwoLevelIndex(D)
    with pytest.raises(SlidersError, match="'x' is not in the index"):
        index.entry("x")
    with pytest.raises(SlidersError, match="rebuild its entry"):
        index.add(entry("a", 3, 1, dimensions=8))
    index.remove("x")
    assert index.search_documents(np.zeros(D, dtype=np.float32)) == ()
