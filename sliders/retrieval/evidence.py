"""What the sample teaches retrieval: per attribute, the centres of the segments that held
values, and the thresholds.

QUEST, section 4.2. All functions are pure; distances are Euclidean between unit
vectors, from 0 to 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sliders.retrieval.embeddings import Vectors, unit_rows

MARGIN = 0.1
CENTRES = 3
# Cosine 0.2: what the shipped model gives to texts that have little in common.
# Used until the sample says more.
WIDE = 1.265
_ITERATIONS = 50


@dataclass(frozen=True, slots=True, eq=False)
class AttributeEvidence:
    """What retrieval knows of one attribute: query vectors `centres` (k, d), unit rows, and
    the distance `gamma`.

    `sources` counts the segments behind it.
    """

    attribute: str
    centres: Vectors
    gamma: float
    sources: int


def query_vector(vectors: Vectors) -> Vectors:
    """e(Q): the mean of the vectors of the attributes' names and descriptions (n, d),
    as a unit vector (d,).
    """
    mean: Vectors = unit_rows(vectors.mean(axis=0, keepdims=True))[0]
    return mean


def kmeans(vectors: Vectors, k: int, *, seed: int = 0) -> Vectors:
    """At most k cluster centres of the rows, as unit rows (Lloyd's algorithm,
    k-means++ start, fixed seed).
    """
    distinct = np.unique(vectors, axis=0)
    if len(distinct) <= k:
        return unit_rows(distinct)
    centres = _spread(vectors, k, np.random.default_rng(seed))
    labels = np.full(len(vectors), -1)
    for _ in range(_ITERATIONS):
        nearest = _squared(vectors, centres).argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        for number in range(k):
            members = vectors[labels == number]
            if len(members):
                centres[number] = members.mean(axis=0)
    return unit_rows(centres)


def _spread(vectors: Vectors, k: int, random: np.random.Generator) -> Vectors:
    """Starting centres far from each other (k-means++)."""
    chosen = [int(random.integers(len(vectors)))]
    while len(chosen) < k:
        gaps = _squared(vectors, vectors[chosen]).min(axis=1).astype(np.float64)
        gaps[chosen] = 0.0
        chosen.append(int(random.choice(len(vectors), p=gaps / gaps.sum())))
    return vectors[chosen].copy()


def _squared(left: Vectors, right: Vectors) -> Vectors:
    """Squared distances, shape (n, m)."""
    sums = (left * left).sum(axis=1)[:, None] + (right * right).sum(axis=1)[None, :]
    squares: Vectors = np.maximum(0.0, sums - 2.0 * (left @ right.T))
    return squares


def segment_threshold(vectors: Vectors) -> float:
    """Gamma: the largest distance between two segments that held the attribute, plus the margin.

    A single segment says nothing of the spread; then, and for none, it is wide.
    """
    if len(vectors) < 2:
        return WIDE
    return float(np.sqrt(_squared(vectors, vectors).max())) + MARGIN


def build_evidence(attribute: str, vectors: Vectors, *, k: int = CENTRES) -> AttributeEvidence:
    """Evidence of an attribute from the vectors (n, d) of segments that held its values."""
    return AttributeEvidence(
        attribute, kmeans(vectors, k), segment_threshold(vectors), len(vectors)
    )


def seed_evidence(attribute: str, vector: Vectors) -> AttributeEvidence:
    """Evidence before there is a sample: the attribute's name and description (d,),
    with a wide threshold.
    """
    return AttributeEvidence(attribute, unit_rows(np.atleast_2d(vector)), WIDE, 0)
