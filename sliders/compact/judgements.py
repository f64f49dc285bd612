"""Judgements from odds. A small model orders documents reliably; only its threshold is wrong.

A judgement starts from the log-probabilities of the choices for one question over one document.
When many documents were judged, the *cut* (the log-odds from which on yes counts) comes from the
collection: Otsu, 1979, the split that separates the values best, or halfway to it when there are no
two clear groups. The options of a category are corrected by their mean over the collection (batch
calibration, Zhou et al. 2024). For few documents the model's own choice is kept, with a doubt.
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
"""The natural log-odds of a value over null below which the mean of the lower group must lie. A
model that is sure of every value shows two groups by chance alone.
"""
FEWEST = 9
"""The number of judgements from which on the collection decides where the cut is."""
BAND = 0.08
"""Half the width of the uncertain band around the cut, as a share of the distance between the
means of both sides.
"""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The choice for one document; its distance from the second choice, in natural log-odds after
    the correction by the collection; and its doubt, "" for none.
    """

    choice: str
    margin: float
    doubt: str = ""


def judge(odds: Sequence[Mapping[str, float]]) -> tuple[list[Judgement], str]:
    """Returns a judgement for each document, and in words how the cut was found.

    Args:
        odds: one mapping from choice to natural log-probability for each document, all with the
            same choices.
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
    """Returns the natural log-odds of a value over null below which a document does not state the
    value, None for no such cut; and in words how it was found.

    A small model gives a value each time it is asked for one, but with much lower odds when the
    document has none.
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
    """Returns the share (0 to 1) of the variance that the best split of that many values must
    explain to count as two groups.

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
    """Log-probabilities whose probabilities sum to one over the choices."""
    top = max(each.values())
    total = top + math.log(math.fsum(math.exp(v - top) for v in each.values()))
    return {c: v - total for c, v in each.items()}


def _own(each: Mapping[str, float], doubt: str) -> Judgement:
    ranked = sorted(each.items(), key=lambda item: -item[1])
    return Judgement(ranked[0][0], ranked[0][1] - ranked[1][1], doubt)


def best_split(values: Sequence[float]) -> tuple[float, float, float]:
    """Finds Otsu's cut: the place between two values at which the means of both sides differ most,
    weighted by their sizes.

    Returns the cut, the share of the variance that it explains (0 to 1), and the distance of the
    two means.
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
