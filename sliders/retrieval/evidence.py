"""The evidence that a sample of documents gives the search (QUEST, section 4.2): for each
attribute, the centres of the segments that held its values, and a distance threshold.

A *segment* is the part of a document that a search returns. All vectors are unit vectors (length
1). Distances are Euclidean, from 0 to 2. All functions are pure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sliders.retrieval.embeddings import Vectors, unit_rows

MARGIN = 0.1
CENTRES = 3
# Cosine 0.2, which the shipped model gives to texts that have little in common. It is used until
# there is a sample.
WIDE = 1.265
_ITERATIONS = 50


@dataclass(frozen=True, slots=True, eq=False)
class AttributeEvidence:
    """The vectors by which the search finds the segments of one attribute.

    Args:
        attribute: its name.
        centres: query vectors, shape (k, d), each of length 1.
        gamma: the distance threshold: a segment is likely to hold the attribute when its distance
            to the nearest centre is at most `gamma`.
        sources: the number of segments that the centres come from; 0 before there is a sample.
    """

    attribute: str
    centres: Vectors
    gamma: float
    sources: int


def query_vector(vectors: Vectors) -> Vectors:
    """Returns the query vector e(Q), shape (d,): the mean of the vectors of the attributes' names
    and descriptions (n, d), scaled to length 1.
    """
    mean: Vectors = unit_rows(vectors.mean(axis=0, keepdims=True))[0]
    return mean


def kmeans(vectors: Vectors, k: int, *, seed: int = 0) -> Vectors:
    """Returns at most k cluster centres of the rows, each of length 1 (Lloyd's algorithm, k-means++
    start, fixed seed).
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
    """Returns k starting centres far from each other (k-means++)."""
    chosen = [int(random.integers(len(vectors)))]
    while len(chosen) < k:
        gaps = _squared(vectors, vectors[chosen]).min(axis=1).astype(np.float64)
        gaps[chosen] = 0.0
        chosen.append(int(random.choice(len(vectors), p=gaps / gaps.sum())))
    return vectors[chosen].copy()


def _squared(left: Vectors, right: Vectors) -> Vectors:
    """Returns the squared distances between all rows, shape (n, m)."""
    sums = (left * left).sum(axis=1)[:, None] + (right * right).sum(axis=1)[None, :]
    squares: Vectors = np.maximum(0.0, sums - 2.0 * (left @ right.T))
    return squares


def segment_threshold(vectors: Vectors) -> float:
    """Returns gamma: the largest distance between two segments that held the attribute, plus
    `MARGIN`. With fewer than two segments the spread is unknown, and gamma is `WIDE`.
    """
    if len(vectors) < 2:
        return WIDE
    return float(np.sqrt(_squared(vectors, vectors).max())) + MARGIN


def build_evidence(attribute: str, vectors: Vectors, *, k: int = CENTRES) -> AttributeEvidence:
    """Returns the evidence of an attribute from the vectors (n, d) of the segments that held its
    values.
    """
    return AttributeEvidence(
        attribute, kmeans(vectors, k), segment_threshold(vectors), len(vectors)
    )


def seed_evidence(attribute: str, vector: Vectors) -> AttributeEvidence:
    """Returns the evidence before there is a sample: the vector (d,) of the attribute's name and
    description, with the threshold `WIDE`.
    """
    return AttributeEvidence(attribute, unit_rows(np.atleast_2d(vector)), WIDE, 0)
