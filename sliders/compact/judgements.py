"""Judgements read from odds: what a small model prefers between documents is sound, only
its threshold is off.

Each judgement is the log-probability of the choices for one question over one document. Where many
documents were judged, the cut between yes and no comes from the collection (Otsu, 1979: the split
that parts the values best; halfway there where it shows no two groups), and the options of a
category are corrected by their mean over the collection (batch calibration, Zhou et al. 2024). Over
few documents the model's own word stands, marked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

TOLD, NOT_TOLD = "told", "not told"
"""What the odds of a stated cell are about: a value against null, where the
reply gives the value.
"""
LIKELY_NULL = 2.5
"""Log-odds of a value over null under which the mean of the lower group must lie:
a model that is sure of all has two groups by chance alone.
"""
FEWEST = 9
"""Judgements from which on the collection decides where the cut is."""
BAND = 0.08
"""Half the width of the uncertain band around the cut, as a share of the distance between the
means of both sides.
"""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A choice, how far it is from the next one (natural log-odds after the cut), and why
    it is doubtful, or "".
    """

    choice: str
    margin: float
    doubt: str = ""


def judge(odds: Sequence[Mapping[str, float]]) -> tuple[list[Judgement], str]:
    """A choice for each document's log-probabilities of the same choices, and how the cut
    was found, in words.

    Args:
        odds: one mapping from choice to natural log-probability for each document, all
            with the same choices.
    """
    if not odds:
        return [], "nothing was judged"
    if len(odds) < FEWEST:
        own = [
            _own(each, f"one of {len(odds)} judgements: too few to set the cut by") for each in odds
        ]
        return own, f"the model's own word: {len(odds)} judgements are too few to set a cut by"
    choices = list(odds[0])
    return _two(odds, choices) if len(choices) == 2 else _several(odds, choices)


def _two(
    odds: Sequence[Mapping[str, float]], choices: Sequence[str]
) -> tuple[list[Judgement], str]:
    first, second = choices
    values = [each[first] - each[second] for each in odds]
    cut, share, distance = best_split(values)
    if share < least_share(
        len(odds)
    ):  # halfway between the model's own threshold and where the values part best
        cut /= 2
        found = [
            Judgement(
                first if v > cut else second, abs(v - cut), "the collection shows no two groups"
            )
            for v in values
        ]
        return (
            found,
            (
                f"cut at log-odds {cut:.2f} of {first} over {second}: the best split explains "
                f"only {share:.0%}"
            ),
        )
    band = BAND * distance
    near = [
        f"its odds lie {abs(v - cut):.1f} from the cut" if abs(v - cut) < band else ""
        for v in values
    ]
    found = [
        Judgement(first if v > cut else second, abs(v - cut), doubt)
        for v, doubt in zip(values, near, strict=True)
    ]
    return (
        found,
        (
            f"cut at log-odds {cut:.2f} of {first} over {second}: it explains "
            f"{share:.0%} of the spread"
        ),
    )


def told_cut(odds: Sequence[float]) -> tuple[float | None, str]:
    """Under which log-odds of a value over null a document does not tell it, None for no such
    cut; and how, in words.

    A small model gives a value each time it is asked for one, and yet prefers it far less
    where there is none.
    """
    if len(odds) < FEWEST:
        return None, f"{len(odds)} readings are too few to set a cut by"
    cut, share, _ = best_split(odds)
    low = [value for value in odds if value < cut]
    mean = math.fsum(low) / len(low) if low else math.inf
    if share < least_share(len(odds)) or mean > LIKELY_NULL:
        return (
            None,
            (
                f"no cut: the best split explains {share:.0%} of the spread, its lower side has "
                f"the mean {mean:.1f}"
            ),
        )
    return (
        cut,
        f"cut at log-odds {cut:.2f} of a value over null: it explains {share:.0%} of the spread",
    )


def least_share(number: int) -> float:
    """Share of the variance that the best split of so many values must explain for
    it to part anything.

    One group whose odds are spread normally reaches it in one of twenty collections (2,000
    simulated for each of 9 to 60).
    """
    return 0.695 + 1.7 / number


def _several(
    odds: Sequence[Mapping[str, float]], choices: Sequence[str]
) -> tuple[list[Judgement], str]:
    means = {c: math.fsum(_normal(each)[c] for each in odds) / len(odds) for c in choices}
    found = []
    for each in odds:
        scored = sorted(((_normal(each)[c] - means[c], c) for c in choices), reverse=True)
        margin = scored[0][0] - scored[1][0]
        found.append(
            Judgement(
                scored[0][1],
                margin,
                "two options are about equally likely" if margin < math.log(1.5) else "",
            )
        )
    return found, "options corrected by their mean over the collection"


def _normal(each: Mapping[str, float]) -> dict[str, float]:
    """Log-probabilities that sum to one over the choices."""
    top = max(each.values())
    total = top + math.log(math.fsum(math.exp(v - top) for v in each.values()))
    return {c: v - total for c, v in each.items()}


def _own(each: Mapping[str, float], doubt: str) -> Judgement:
    ranked = sorted(each.items(), key=lambda item: -item[1])
    return Judgement(ranked[0][0], ranked[0][1] - ranked[1][1], doubt)


def best_split(values: Sequence[float]) -> tuple[float, float, float]:
    """Otsu's cut: between which values the two sides' means differ most for their sizes.

    Returns the cut, the share of the variance that it explains (0 to 1), and the
    distance of the two means.
    """
    ordered = sorted(values)
    number, total = len(ordered), math.fsum(ordered)
    mean = total / number
    variance = math.fsum((v - mean) ** 2 for v in ordered) / number
    best, cut, distance = 0.0, ordered[-1], 0.0
    below = 0.0
    for count, (value, following) in enumerate(pairwise(ordered), 1):
        below += value
        if following == value:
            continue
        low, high = below / count, (total - below) / (number - count)
        between = count / number * (1 - count / number) * (high - low) ** 2
        if between > best:
            best, cut, distance = between, (value + following) / 2, high - low
    return cut, min(best / variance, 1.0) if variance else 0.0, distance
