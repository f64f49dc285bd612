"""Evidence: centres find what the sample's segments have in common; thresholds follow the paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.retrieval import (
    WIDE,
    build_evidence,
    distances_to,
    kmeans,
    query_vector,
    seed_evidence,
    segment_threshold,
    unit_rows,
)


def around(axis: int, count: int, seed: int, spread: float = 0.05) -> np.ndarray:
    """Unit vectors near one of the axes of an 8-dimensional space."""
    random = np.random.default_rng(seed)
    return unit_rows(np.eye(8)[axis] + random.normal(size=(count, 8)) * spread)


def test_kmeans_finds_separate_clusters_whatever_the_seed() -> None:
    vectors = np.concatenate([around(axis, 20, axis) for axis in (0, 3, 5)])
    for seed in range(5):
        centres = kmeans(vectors, 3, seed=seed)
        assert sorted(centres.argmax(axis=1).tolist()) == [0, 3, 5]
        assert np.allclose(np.linalg.norm(centres, axis=1), 1, atol=1e-5)
        assert np.array_equal(centres, kmeans(vectors, 3, seed=seed))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 30), st.integers(1, 4), st.integers(0, 5), st.booleans())
def test_kmeans_gives_at_most_k_finite_centres(count, k, seed, doubled) -> None:
    vectors = around(0, count, seed, spread=1.0)
    if doubled:
        vectors = np.concatenate([vectors, vectors])
    centres = kmeans(vectors, k)
    assert len(centres) == min(k, count)
    assert np.isfinite(centres).all()


def test_gamma_is_the_largest_distance_between_two_segments_plus_the_margin() -> None:
    vectors = np.eye(8, dtype=np.float32)[[0, 0, 1]]
    assert segment_threshold(vectors) == pytest.approx(math.sqrt(2) + 0.1)
    assert segment_threshold(vectors[:2]) == pytest.approx(0.1)
    assert segment_threshold(vectors[:1]) == WIDE
    assert segment_threshold(vectors[:0]) == WIDE


def test_a_query_is_the_mean_of_its_attributes() -> None:
    assert query_vector(np.eye(8, dtype=np.float32)[:2]) == pytest.approx(
        [math.sqrt(0.5)] * 2 + [0.0] * 6
    )


def test_evidence_finds_segments_that_the_attribute_name_does_not() -> None:
    segments = np.concatenate([around(2, 2, 7), around(4, 5, 8), around(6, 2, 9)])

    def near(evidence) -> set[int]:
        return set(
            np.flatnonzero(distances_to(segments, evidence.centres) <= evidence.gamma).tolist()
        )

    assert near(seed_evidence("age", np.eye(8, dtype=np.float32)[4])) == {2, 3, 4, 5, 6}
    evidence = build_evidence("age", np.concatenate([around(2, 6, 1), around(6, 6, 2)]), k=2)
    assert (evidence.sources, len(evidence.centres)) == (12, 2)
    assert near(build_evidence("age", around(2, 6, 1))) == {0, 1}
    assert set(np.argsort(distances_to(segments, evidence.centres))[:4].tolist()) == {0, 1, 7, 8}
