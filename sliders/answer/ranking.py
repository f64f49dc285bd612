"""The ranking of different answers to one question: by the user's constraints, or by the model's
confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import pstdev

from sliders.retrieval.embeddings import Embedder

LOW_SPREAD = 0.02
"""Below this standard deviation of the scores (cosines of the shipped model), constraints do not
tell candidates apart.
"""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The positions of candidates, the best first. `by` is "verify", "confidence" or "retrieval";
    `scores` are of that kind.
    """

    order: tuple[int, ...]
    scores: tuple[float, ...]
    by: str
    spread: float = 0.0


def verify_scores(
    texts: Sequence[str], positive: Sequence[str], negative: Sequence[str], embedder: Embedder
) -> tuple[float, ...]:
    """Returns for each text the sum of its cosines with the positive constraints, minus the sum of
    its cosines with the negative constraints.
    """
    if not texts:
        return ()
    constraints = [*positive, *negative]
    if not constraints:
        return (0.0,) * len(texts)
    vectors = embedder.embed([*texts, *constraints])
    cosines = vectors[: len(texts)] @ vectors[len(texts) :].T
    signs = [1.0] * len(positive) + [-1.0] * len(negative)
    return tuple(
        float(sum(s * c for s, c in zip(signs, row, strict=True))) for row in cosines.tolist()
    )


def rank(
    texts: Sequence[str],
    positive: Sequence[str],
    negative: Sequence[str],
    embedder: Embedder,
    confidences: Sequence[float | None] = (),
) -> Ranking:
    """Ranks candidates by constraints; by the model's confidence when constraints do not tell them
    apart; otherwise as given.

    Args:
        texts: each candidate with the words behind it, in the order of retrieval.
        confidences: the mean log-probability of each candidate's tokens.
    """
    scores = verify_scores(texts, positive, negative, embedder)
    spread = pstdev(scores) if len(scores) > 1 else 0.0
    if len(texts) <= 1 or ((positive or negative) and spread >= LOW_SPREAD):
        by = "verify" if positive or negative else "retrieval"
        return Ranking(_order(scores), scores, by, spread)
    known = [c for c in confidences if c is not None]
    if len(known) == len(texts) and len(set(known)) > 1:
        return Ranking(_order(known), tuple(known), "confidence", spread)
    return Ranking(tuple(range(len(texts))), tuple(0.0 for _ in texts), "retrieval", spread)


def _order(scores: Sequence[float]) -> tuple[int, ...]:
    return tuple(sorted(range(len(scores)), key=lambda n: (-scores[n], n)))
