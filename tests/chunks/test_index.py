"""The index finds what brute force finds, through any sequence of additions and removals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def brute(entries: dict[str, SegmentVectors], queries: np.ndarray) -> list[tuple[str, int, float]]:
    found = []
    for name, item in entries.items():
        for row, vector in enumerate(item.vectors):
            distance = min(float(np.linalg.norm(vector - query)) for query in queries)
            found.append((name, int(item.spans[row][0]), distance))
    return sorted(found, key=lambda hit: hit[2])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "remove"]), st.sampled_from("abcdefg"), st.integers(0, 300)), max_size=25
    ),
    st.integers(1, 3),
    st.booleans(),
)
def test_search_agrees_with_brute_force_after_any_changes(changes, count, by_distance) -> None:
    index, entries = TwoLevelIndex(D), {}
    for seed, (action, name, size) in enumerate(changes):
        if action == "add":
            entries[name] = entry(name, size, seed)
            index.add(entries[name])
        else:
            entries.pop(name, None)
            index.remove(name)
    queries = unit_rows(np.random.default_rng(99).normal(size=(count, D)))
    expected = brute(entries, queries)
    if by_distance:
        hits = index.search_segments(None, queries, gamma=1.2)
        expected = [hit for hit in expected if hit[2] <= 1.2]
    else:
        hits = index.search_segments(None, queries, top_k=10)
        expected = expected[:10]
    assert len(index) == sum(len(item.codes) for item in entries.values())
    assert set(index.document_ids) == set(entries)
    # Rows of int8 are not exactly of length 1: distances agree to the quantization.
    assert len(hits) == pytest.approx(len(expected), abs=1 + len(expected) // 20)
    assert [hit.distance for hit in hits][:5] == pytest.approx([hit[2] for hit in expected][:5], abs=0.02)


def test_one_document_is_searched_alone_and_segments_are_found_once() -> None:
    index = TwoLevelIndex(D)
    index.add(entry("a", 30, 1))
    index.add(entry("b", 30, 2))
    vectors = index.entry("b").vectors
    hits = index.search_segments("b", vectors[[4, 4, 9]], gamma=0.1)
    assert {(hit.document_id, hit.start, hit.end, hit.tokens) for hit in hits} == {("b", 40, 49, 5), ("b", 90, 99, 10)}


def test_documents_within_tau_come_nearest_first() -> None:
    index = TwoLevelIndex(D)
    items = [entry(name, 2, seed) for seed, name in enumerate("abcdef")]
    for item in items:
        index.add(item)
    query = items[3].document
    hits = index.search_documents(query)
    assert hits[0].document_id == "d"
    assert len(hits) == 6
    distances = {item.document_id: float(np.linalg.norm(item.document - query)) for item in items}
    near = {name for name, distance in distances.items() if distance < 1.35}
    assert {hit.document_id for hit in index.search_documents(query, tau=1.35)} == near
    for hit in hits:
        assert hit.distance == pytest.approx(distances[hit.document_id], abs=0.05)


def test_an_entry_survives_bytes() -> None:
    item = entry("näme/doc.pdf", 7, 3)
    back = SegmentVectors.from_bytes(item.to_bytes())
    assert (back.document_id, back.embedder) == ("näme/doc.pdf", "test")
    assert np.array_equal(back.spans, item.spans)
    assert np.array_equal(back.vectors, item.vectors)
    assert np.array_equal(back.document, item.document)


def test_quantization_keeps_cosines() -> None:
    vectors = unit_rows(np.random.default_rng(0).normal(size=(200, 384)))
    item = SegmentVectors.build("a", "test", vectors[0], np.zeros((200, 3), dtype=np.int64), vectors)
    assert np.abs(item.vectors @ vectors.T - vectors @ vectors.T).max() < 0.01


def test_unknown_documents_and_other_dimensions_are_reported() -> None:
    index = TwoLevelIndex(D)
    with pytest.raises(SlidersError, match="'x' is not in the index"):
        index.search_segments("x", np.zeros((1, D), dtype=np.float32))
    with pytest.raises(SlidersError, match="rebuild its entry"):
        index.add(entry("a", 3, 1, dimensions=8))
    index.remove("x")
    assert index.search_segments(None, np.zeros((1, D), dtype=np.float32), top_k=3) == ()
    assert index.search_documents(np.zeros(D, dtype=np.float32)) == ()


def test_beyond_the_limit_an_approximate_index_finds_nearly_the_same_and_follows_changes() -> None:
    pytest.importorskip("faiss")
    exact, approximate = TwoLevelIndex(D), TwoLevelIndex(D, exact_limit=100)
    for number in range(30):
        for index in (exact, approximate):
            index.add(entry(f"d{number}", 40, number))
    queries = unit_rows(np.random.default_rng(5).normal(size=(20, D)))

    def overlap() -> float:
        shares = []
        for query in queries:
            wanted = {(hit.document_id, hit.start) for hit in exact.search_segments(None, query, top_k=10)}
            found = {(hit.document_id, hit.start) for hit in approximate.search_segments(None, query, top_k=10)}
            shares.append(len(wanted & found) / 10)
        return float(np.mean(shares))

    assert overlap() > 0.95
    for index in (exact, approximate):
        index.add(entry("late", 200, 77))
        index.remove("d3")
    assert overlap() > 0.95
    (best, *_) = approximate.search_segments(None, approximate.entry("late").vectors[0], top_k=1)
    assert best.document_id == "late"
    stored = approximate.approximate_bytes()
    assert stored is not None
    again = TwoLevelIndex(D, exact_limit=100)
    for number in [*range(3), *range(4, 29)]:
        again.add(entry(f"d{number}", 40, number))
    again.add(entry("later", 50, 78))
    again.load_approximate(stored)
    (best, *_) = again.search_segments(None, again.entry("later").vectors[7], top_k=1)
    assert (best.document_id, best.start) == ("later", 70)
    found = {hit.document_id for hit in again.search_segments(None, queries, top_k=50)}
    assert found <= set(again.document_ids)
    for number in range(4, 30):
        approximate.remove(f"d{number}")
    hits = approximate.search_segments(None, queries, top_k=500)
    assert {hit.document_id for hit in hits} <= {"d0", "d1", "d2", "late"}
    assert approximate.nbytes > 0
