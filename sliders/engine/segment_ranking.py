"""The order in which a document's segments are sent to the model for an attribute (a column that a
query reads), and the chance that the next segments hold the attribute's value.
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
    """The segments of one document in the order in which they are sent for one attribute.

    Args:
        sequence: the numbers of the segments, the nearest first.
        within: the number of segments whose distance to the evidence is at most the threshold
            gamma.
        sizes: the tokens of each segment, by number.
        evidence: the vectors that the distances were measured to.
        weights: see `WEIGHTS`.
    """

    sequence: tuple[int, ...]
    within: int
    sizes: tuple[int, ...]
    evidence: AttributeEvidence
    weights: tuple[float, float]

    def only(self, rows: frozenset[int]) -> SegmentOrder:
        """Returns the order of some segments, with the nearest segment of the whole order added: it
        shows whether the other segments state the value or only mention it.

        Args:
            rows: the numbers of the segments to keep; an empty set gives an empty order.
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
    """Returns the order of a document's segments by their distance to the evidence; the distance is
    reduced at the place in the document where values were found before. Before there is evidence,
    the attribute's name decides, and the first segment comes second: it says what the document is
    about.

    Args:
        weights: the weight of the place, and of the distance to the attribute's name (`WEIGHTS`).
        spoken: the vector of the attribute's name and description, shape (1, d). The segment
            nearest to it comes second, since evidence from few documents may miss it.
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
    """Returns the chance (0 to 1) that the next segments hold a value that the segments read so far
    do not hold.

    Args:
        stated: the chance (0 to 1) that the document states the value.
        before: the share (0 to 1) of stated values that the segments read so far hold.
        after: that share when the next segments are read too.
    """
    return stated * (after - before) / max(1e-9, 1 - stated * before)
