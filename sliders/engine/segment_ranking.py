"""The order in which a document's segments are sent for an attribute (a column that a query reads),
and the chance that the next segments hold its value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sliders.engine.query_evidence import Layout
from sliders.retrieval.embeddings import Vectors
from sliders.retrieval.evidence import AttributeEvidence
from sliders.retrieval.index import distances_to
from sliders.retrieval.segment_index import SegmentIndex


@dataclass(frozen=True, slots=True)
class SegmentOrder:
    """The segments of one document in the order for one attribute.

    Args:
        sequence: the numbers of the segments, the nearest first.
        within: how many of them lie within the threshold gamma.
        sizes: the tokens of each segment, by number.
        evidence: the vectors that the order comes from.
        weights: see `WEIGHTS`.
    """

    sequence: tuple[int, ...]
    within: int
    sizes: tuple[int, ...]
    evidence: AttributeEvidence
    weights: tuple[float, float]

    def only(self, rows: frozenset[int]) -> SegmentOrder:
        """Returns the order of these segments alone, and of the nearest segment, which shows
        whether the others only mention the value.
        """
        kept = rows | set(self.sequence[:1]) if rows else rows
        near = sum(row in kept for row in self.sequence[: self.within])
        return replace(
            self, sequence=tuple(row for row in self.sequence if row in kept), within=near
        )


def rank_segments(
    index: SegmentIndex,
    document_id: str,
    evidence: AttributeEvidence,
    layout: Layout,
    weights: tuple[float, float],
    spoken: Vectors | None = None,
) -> SegmentOrder:
    """Returns the order of a document's segments: by their distance to the evidence, reduced for
    segments at the usual place.

    Before there is evidence, the order follows the attribute's name, and the head of the document
    comes second, since it says what the document is.

    Args:
        weights: of the usual place, and of the distance to the attribute's name; see `WEIGHTS`.
        spoken: the vector of the attribute's name and description, shape (1, d). The segment
            nearest to
            it comes second, since evidence from few documents may miss it.
    """
    vectors, sizes = index.vectors(document_id), tuple(index.sizes(document_id))
    if len(vectors) == 0:
        return SegmentOrder((), 0, sizes, evidence, weights)
    place, name = weights
    distances = distances_to(vectors, evidence.centres)
    scores = distances - place * layout.closeness(len(vectors)) if place else distances
    if spoken is not None and name:
        scores = scores + name * distances_to(vectors, spoken)
    sequence = np.argsort(scores, kind="stable").tolist()
    second = sequence[0]
    if evidence.sources == 0:
        second = 0
    elif spoken is not None:
        second = int((vectors @ spoken[0]).argmax())
    if len(sequence) > 2 and second != sequence[0]:
        sequence.remove(second)
        sequence.insert(1, second)
    within = int((distances <= evidence.gamma).sum())
    return SegmentOrder(tuple(sequence), within, sizes, evidence, weights)


def chance_between(stated: float, before: float, after: float) -> float:
    """Returns the chance (0 to 1) that the next segments hold a value which the segments so far did
    not.

    Args:
        stated: the chance that the document states the value.
        before: the share of stated values that the segments so far hold.
        after: that share with the next segments.
    """
    return stated * (after - before) / max(1e-9, 1 - stated * before)
