"""Entity resolution without labels: links between two sources, and clusters inside one source.

Two clean sources are matched one to one, from the most alike pair down: a pair counts when neither
side is taken and its score is clearly above chance. When the scores of mutual best pairs fall into
two separate groups, the cut lies between them (a two-component mixture, as in ZeroER, Wu et al.
2020) and no pair is open. Otherwise the cut is set against the second-best candidates, which are
wrong by construction. One source is clustered by average linkage, so that one wrong pair cannot
join two clusters; the cut is where the clusters separate best (mean silhouette; Rousseeuw 1987).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from sliders.reconcile.column_codes import Codes
from sliders.reconcile.similarity import Floats, Scores, score_pairs, token_sets

_CUTS = np.arange(0.2, 0.75, 0.05)
_CLEARLY_TWO = (
    3.0  # separation in standard deviations; 2 is where a mixture starts to show two modes
)
_BAND = 0.1  # width of the open band below a threshold


@dataclass(frozen=True, slots=True)
class Match:
    """Two records that are taken for one thing, with their score (0 to 1)."""

    left: int
    right: int
    score: float


@dataclass(frozen=True, slots=True)
class Resolved:
    """The matches (for one source, all pairs of its clusters), the learned threshold, and the open
    pairs, which lie little below it and may be confirmed by a second opinion.
    """

    matches: tuple[Match, ...]
    threshold: float
    open: tuple[Match, ...]
    clusters: tuple[tuple[int, ...], ...] = ()


def link(columns: Sequence[Sequence[str]], boundary: int) -> Resolved:
    """Matches the records before `boundary` with the records from it on, one to one.

    Args:
        columns: the text of each record by column, both sources one after the other.
        boundary: the number of records in the first source.
    """
    scores = score_pairs(token_sets(columns), boundary)
    best, second = _best_two(scores.left, scores), _best_two(scores.right, scores)
    mutual = [k for k, _ in best.values() if second[int(scores.right[k])][0] == k]
    runners_up = np.array([s for side in (best, second) for _, s in side.values()])
    values = scores.score[mutual] if mutual else np.empty(0)
    valley = mixture_valley(values, runners_up)
    threshold = null_threshold(values, runners_up) if valley is None else valley
    lowest = threshold - _BAND if valley is None else threshold
    matched: list[Match] = []
    close: list[Match] = []
    taken: set[int] = set()
    for k in np.argsort(-scores.score, kind="stable").tolist():
        match = Match(int(scores.left[k]), int(scores.right[k]), float(scores.score[k]))
        if match.score < lowest:
            break
        if match.left not in taken and match.right not in taken:
            taken |= {match.left, match.right}
            (matched if match.score >= threshold else close).append(match)
    return Resolved(tuple(matched), threshold, tuple(close))


def _best_two(side: Codes, scores: Scores) -> dict[int, tuple[int, float]]:
    """Returns, for each record, its best pair (the place in `scores`) and the score of its
    second-best pair.
    """
    order = np.lexsort((np.arange(len(side)), -scores.score, side))
    found: dict[int, tuple[int, float]] = {}
    previous = -1
    for k in order.tolist():
        record = int(side[k])
        if record not in found:
            found[record] = (k, 0.0)
        elif previous == record:
            found[record] = (found[record][0], float(scores.score[k]))
            record = -1
        previous = record
    return found


def mixture_valley(values: Floats, null: Floats, rounds: int = 60) -> float | None:
    """Returns the value at which two normal components of the values are equally likely; None
    unless the components are clearly apart (Ashman's D > 3). The lower component starts at the
    null, the upper one at the top of the values.
    """
    if len(values) < 10 or not len(null):
        return None
    means = np.array([float(np.median(null)), float(np.quantile(values, 0.9))])
    spreads = np.full(2, float(values.std()) / 2 + 1e-3)
    shares = np.full(2, 0.5)
    for _ in range(rounds):
        densities = (
            shares * np.exp(-0.5 * ((values[:, None] - means) / spreads) ** 2) / spreads + 1e-300
        )
        belongs = densities / densities.sum(axis=1, keepdims=True)
        mass = belongs.sum(axis=0) + 1e-9
        shares, means = mass / mass.sum(), (belongs * values[:, None]).sum(axis=0) / mass
        spreads = np.sqrt((belongs * (values[:, None] - means) ** 2).sum(axis=0) / mass) + 1e-2
    separation = float(np.sqrt(2) * (means[1] - means[0]) / np.hypot(*spreads))
    if separation <= _CLEARLY_TWO or shares.min() < 0.02:
        return None
    grid = np.linspace(means[0], means[1], 200)[:, None]
    upper = shares * np.exp(-0.5 * ((grid - means) / spreads) ** 2) / spreads
    return float(grid[int(np.argmax(upper[:, 1] >= upper[:, 0])), 0])


def null_threshold(values: Floats, null: Floats) -> float:
    """Returns the cut of `values` with the best expected F1, when wrong values are distributed as
    `null`. The share of wrong values is estimated from the values in the lower half of the null
    (Storey 2002).
    """
    if not len(values) or not len(null):
        return 0.0
    ordered_null = np.sort(null)
    middle = float(np.median(null))
    wrong = min(float(len(values)), 2.0 * float((values <= middle).sum()))
    right = max(1.0, len(values) - wrong)
    best, cut = -1.0, 0.0
    for threshold in np.unique(values):
        kept = float((values >= threshold).sum())
        tail = 1.0 - np.searchsorted(ordered_null, threshold, side="left") / len(null)
        true = max(0.0, kept - wrong * tail)
        expected = 2 * true / (kept + right)
        if expected > best:
            best, cut = expected, float(threshold)
    return cut


def cluster(columns: Sequence[Sequence[str]]) -> Resolved:
    """Returns the clusters of the records of one source."""
    tokens = token_sets(columns)
    scores = score_pairs(tokens)
    merges = average_linkage(scores, len(tokens), float(_CUTS[0]))
    best, cut, labels = -2.0, 1.0, np.arange(len(tokens), dtype=np.int64)
    for threshold in _CUTS:
        found = cut_at(merges, len(tokens), float(threshold))
        quality = silhouette(scores, found)
        if quality > best:
            best, cut, labels = quality, float(threshold), found
    members: dict[int, list[int]] = defaultdict(list)
    for index, label in enumerate(labels.tolist()):
        members[label].append(index)
    groups = tuple(tuple(m) for m in members.values())
    known = {
        (int(a), int(b)): float(s)
        for a, b, s in zip(scores.left, scores.right, scores.score, strict=True)
    }
    pairs = tuple(
        Match(a, b, known.get((a, b), 0.0))
        for group in groups
        for n, a in enumerate(group)
        for b in group[n + 1 :]
    )
    heads = _heads(merges, len(tokens))
    close = tuple(
        Match(min(heads[a], heads[b]), max(heads[a], heads[b]), s)
        for a, b, s in merges
        if cut - _BAND < s < cut
    )
    return Resolved(pairs, cut, close, groups)


def _heads(merges: Sequence[tuple[int, int, float]], size: int) -> list[int]:
    """Returns one record for each node of the merge tree."""
    heads = list(range(size))
    for left, _, _ in merges:
        heads.append(heads[left])
    return heads


def average_linkage(scores: Scores, size: int, lowest: float) -> list[tuple[int, int, float]]:
    """Returns merges from the most alike down to `lowest`: a record of each side, and the mean
    similarity of all their pairs. Pairs that were not compared count as 0.
    """
    neighbours: dict[int, dict[int, float]] = defaultdict(dict)
    columns = (scores.left.tolist(), scores.right.tolist(), scores.score.tolist())
    for a, b, s in zip(*columns, strict=True):
        neighbours[a][b] = neighbours[b][a] = s
    weight = [1] * size
    alive = [True] * size
    heap = [
        (-s, a, b) for a, row in neighbours.items() for b, s in row.items() if a < b and s >= lowest
    ]
    heapify(heap)
    merges = []
    while heap:
        negative, a, b = heappop(heap)
        if not (alive[a] and alive[b]):
            continue
        new = len(weight)
        merges.append((a, b, -negative))
        alive[a] = alive[b] = False
        total = weight[a] + weight[b]
        left, right = neighbours.pop(a), neighbours.pop(b)
        joined: dict[int, float] = {}
        for other in (left.keys() | right.keys()) - {a, b}:
            mean = (left.get(other, 0.0) * weight[a] + right.get(other, 0.0) * weight[b]) / total
            row = neighbours[other]
            row.pop(a, None)
            row.pop(b, None)
            if mean >= lowest / 4:
                joined[other] = row[new] = mean
                if mean >= lowest:
                    heappush(heap, (-mean, other, new))
        neighbours[new] = joined
        weight.append(total)
        alive.append(True)
    return merges


def cut_at(merges: Sequence[tuple[int, int, float]], size: int, threshold: float) -> Codes:
    """Returns cluster labels when only merges of at least `threshold` are made."""
    parent = list(range(size + len(merges)))
    for place, (a, b, score) in enumerate(merges):
        if score >= threshold:
            parent[a] = parent[b] = size + place
    for node in range(len(parent) - 1, -1, -1):
        parent[node] = parent[parent[node]]
    labels: dict[int, int] = {}
    return np.fromiter(
        (labels.setdefault(parent[i], len(labels)) for i in range(size)), np.int64, size
    )


def silhouette(scores: Scores, labels: Codes) -> float:
    """Returns the mean silhouette, with 1 - similarity as distance. Single records count 0; pairs
    that were not compared have distance 1.
    """
    size = len(labels)
    counts = np.bincount(labels)
    record = np.r_[scores.left, scores.right]
    other = np.r_[labels[scores.right], labels[scores.left]]
    keys, inverse = np.unique(record * len(counts) + other, return_inverse=True)
    sums = np.bincount(inverse.reshape(-1), weights=np.r_[scores.score, scores.score])
    who, whom = keys // len(counts), keys % len(counts)
    own = np.zeros(size)
    rival = np.zeros(size)
    inside = labels[who] == whom
    own[who[inside]] = sums[inside] / np.maximum(1, counts[whom[inside]] - 1)
    np.maximum.at(rival, who[~inside], sums[~inside] / counts[whom[~inside]])
    a, b = 1 - own, 1 - rival
    values = np.where(counts[labels] > 1, (b - a) / np.maximum(np.maximum(a, b), 1e-9), 0.0)
    return float(values.mean()) if size else 0.0
