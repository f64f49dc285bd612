"""Segments keep their vectors."""

from __future__ import annotations

import numpy as np

from sliders.retrieval import SegmentVectors, unit_rows


def test_quantization_keeps_cosines() -> None:
    vectors = unit_rows(np.random.default_rng(0).normal(size=(200, 384)))
    item = SegmentVectors.build(
        "a", "test", vectors[0], np.zeros((200, 3), dtype=np.int64), vectors
    )
    assert np.abs(item.vectors @ vectors.T - vectors @ vectors.T).max() < 0.01
