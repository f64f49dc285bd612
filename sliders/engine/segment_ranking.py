"""In which order the segments of a document are sent for an attribute, and the chance that
the next ones hold it.
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
    """Segments of one document for one attribute: numbers nearest first, how many lie within
    gamma, tokens by number.
    """

    sequence: tuple[int, ...]
    within: int
    sizes: tuple[int, ...]
    evidence: AttributeEvidence
    weights: tuple[float, float]

    def only(self, rows: frozenset[int]) -> SegmentOrder:
        """The same order of these segments and the nearest one, which says whether they
        only mention the value.
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
    """The order in which segments are sent: by their distance to the evidence, less for
    those at the usual place.

    Args:
        weights: of the usual place, and of the distance to what the attribute is
            called, see `WEIGHTS`.
        spoken: the vector of the attribute's name and description (1, d): the segment nearest to it
            comes second, since evidence of few documents may have missed what the name says. Before
            there is evidence, the order is that of the name, and the head of the document comes
            second: it says what the document is.
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
    """The chance that a value stands in the next segments, when those that hold it
    with `before` did not.

    Args:
        stated: chance that the document states it.
        before, after: share of stated values that the segments so far, and those with
            the next ones, hold.
    """
    return stated * (after - before) / max(1e-9, 1 - stated * before)
