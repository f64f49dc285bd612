"""The similarity of two records: weighted tokens, learned abbreviations and misspellings, acronyms.

The tokens of a record are its folded words, its segments (the parts between commas), its words
joined with neighbouring digits ("mark 2" and "mark2"), and the acronyms that the column uses. A
token weighs its squared inverse document frequency: a shared rare word makes two records alike, a
shared common one does not. Everything is learned from the column; the only word list is that of
articles.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import DamerauLevenshtein

from sliders.reconcile.column_codes import Codes
from sliders.values.folding import fold
from sliders.values.vocabulary import STOPWORDS

Floats = npt.NDArray[np.float64]
_SEGMENT = re.compile(r"[,;()/:]|\s[-–—]+\s|-{2,}|—")
_ABBREVIATED = re.compile(r"\b([^\W\d_]{1,8})(?=\.)", re.UNICODE)
_PAIR_BUDGET = 4_000_000
_ACRONYM_LENGTHS = (3, 4, 5)


def segments(text: str) -> list[str]:
    """Returns the folded parts of a text between commas, brackets and dashes."""
    return [folded for part in _SEGMENT.split(text) if (folded := fold(part))]


class Rewriting:
    """Replaces words by the frequent word of the column that they stand for: dotted abbreviations
    and rare misspellings.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = Counter(word for text in texts for word in set(fold(text).split()))
        dotted = {
            fold(match) for text in texts if "." in text for match in _ABBREVIATED.findall(text)
        }
        frequent: dict[str, list[str]] = defaultdict(list)
        for word, count in counts.items():
            if len(word) >= 5 and count >= 3 and word.isalpha():
                frequent[word[0]].append(word)
        self.table: dict[str, str] = {}
        if not frequent:
            return
        for word, count in counts.items():
            if word.isalpha() and (
                target := _stands_for(word, count, word in dotted, frequent[word[0]], counts)
            ):
                self.table[word] = target

    def __call__(self, folded: str) -> str:
        """Returns the folded text with its words replaced."""
        return " ".join(self.table.get(word, word) for word in folded.split())


def _stands_for(
    word: str, count: int, dotted: bool, frequent: Sequence[str], counts: Counter[str]
) -> str | None:
    allowed = 0 if len(word) < 6 else 1 if len(word) < 9 else 2
    found = []
    for other in frequent:
        if other == word or (not dotted and abs(len(other) - len(word)) > allowed):
            continue
        rare = counts[other] >= 5 * count
        if (
            dotted and len(word) >= 2 and len(other) > len(word) and _abbreviates(word, other, rare)
        ) or (
            rare
            and allowed
            and DamerauLevenshtein.distance(word, other, score_cutoff=allowed) <= allowed
        ):
            found.append((counts[other], other))
    found.sort(reverse=True)
    if found and (len(found) == 1 or found[0][0] >= 3 * found[1][0]):
        return found[0][1]
    return None


def _abbreviates(word: str, full: str, rare: bool) -> bool:
    if full.startswith(word):
        return True
    letters = iter(full)
    return (
        rare
        and len(word) >= 3
        and full[-1] == word[-1]
        and all(letter in letters for letter in word)
    )


def token_sets(columns: Sequence[Sequence[str]]) -> list[set[str]]:
    """Returns the tokens of each record over all text columns."""
    tokens: list[set[str]] = [set() for _ in (columns[0] if columns else ())]
    for column in columns:
        rewrite = Rewriting(column)
        parts = [[rewrite(s) for s in segments(text)] for text in column]
        for record, pieces in zip(tokens, parts, strict=True):
            for piece in pieces:
                words = [w for w in piece.split() if w not in STOPWORDS]
                record.update(words)
                if 1 < len(words) <= 6:
                    record.add("|" + " ".join(words))
                record.update(a + b for a, b in pairwise(words) if not (a + b).isalpha())
        _add_acronyms(tokens, parts)
    return tokens


def _add_acronyms(tokens: list[set[str]], parts: Sequence[Sequence[str]]) -> None:
    vocabulary = {
        t for record in tokens for t in record if t.isalpha() and len(t) in _ACRONYM_LENGTHS
    }
    for record, pieces in zip(tokens, parts, strict=True):
        for piece in pieces:
            initials = "".join(w[0] for w in piece.split() if w not in STOPWORDS)
            for size in _ACRONYM_LENGTHS:
                for start in range(len(initials) - size + 1):
                    if (acronym := initials[start : start + size]) in vocabulary:
                        record.add(acronym)


class Scores:
    """The similarities of candidate pairs: `left[k] < right[k]`, `score[k]` in [0, 1]."""

    def __init__(self, left: Codes, right: Codes, score: Floats) -> None:
        self.left, self.right, self.score = left, right, score

    def __len__(self) -> int:
        return len(self.score)


def score_pairs(tokens: Sequence[set[str]], boundary: int | None = None, keep: int = 30) -> Scores:
    """Returns the `keep` best candidates of each record, by shared token weight. Tokens are used
    from the rarest on, within a budget of pairs, so that the cost stays near linear in the records.

    Args:
        tokens: the tokens of each record.
        boundary: the number of records of the first source; the others are the second. None
            compares all
            with all.
        keep: the candidates that are kept for each record.
    """
    size = len(tokens)
    frequency = Counter(t for record in tokens for t in record)
    weight = {t: math.log(1 + size / f) ** 2 for t, f in frequency.items()}
    norm = np.array([sum(weight[t] for t in record) or 1.0 for record in tokens])
    keys, weights, complete = _blocked(tokens, frequency, weight, boundary)
    if not keys:
        empty = np.empty(0, np.int64)
        return Scores(empty, empty, np.empty(0))
    unique, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    dot: Floats = np.bincount(inverse.reshape(-1), weights=np.concatenate(weights)).astype(
        np.float64
    )
    left: Codes = unique // size
    right: Codes = unique % size
    scores = Scores(left, right, _blend(dot, norm[left], norm[right]))
    if complete:
        return _top(scores, keep) if boundary is not None else scores
    kept = _top(scores, keep)
    return Scores(
        kept.left,
        kept.right,
        _blend(_exact(kept, tokens, weight), norm[kept.left], norm[kept.right]),
    )


def _blocked(
    tokens: Sequence[set[str]],
    frequency: Counter[str],
    weight: dict[str, float],
    boundary: int | None,
) -> tuple[list[Codes], list[Floats], bool]:
    """Returns the pairs (each as one number) that share a token, with its weight, from the rarest
    token on, and True when all tokens were used.
    """
    size = len(tokens)
    posting: dict[str, list[int]] = defaultdict(list)
    for index, record in enumerate(tokens):
        for token in record:
            if frequency[token] > 1:
                posting[token].append(index)
    keys: list[Codes] = []
    weights: list[Floats] = []
    budget = max(_PAIR_BUDGET, 30 * size)
    for token in sorted(posting, key=lambda t: (frequency[t], t)):
        members = np.array(posting[token], dtype=np.int64)
        budget -= _pair_count(members, boundary)
        if budget < 0:
            break
        pairs = _pairs(members, boundary)
        keys.append(pairs[0] * size + pairs[1])
        weights.append(np.full(len(pairs[0]), weight[token]))
    return keys, weights, budget >= 0


def _blend(dot: Floats, a: Floats, b: Floats) -> Floats:
    """Returns the mean of cosine and containment: a short name inside a long one is alike, but less
    than an equal name.
    """
    return np.minimum(1.0, 0.5 * dot / np.sqrt(a * b) + 0.5 * dot / np.minimum(a, b))


def _pair_count(members: Codes, boundary: int | None) -> int:
    if boundary is None:
        return len(members) * (len(members) - 1) // 2
    low = int((members < boundary).sum())
    return low * (len(members) - low)


def _pairs(members: Codes, boundary: int | None) -> tuple[Codes, Codes]:
    if boundary is None:
        upper = np.triu_indices(len(members), 1)
        return members[upper[0]], members[upper[1]]
    low, high = members[members < boundary], members[members >= boundary]
    return np.repeat(low, len(high)), np.tile(high, len(low))


def _exact(scores: Scores, tokens: Sequence[set[str]], weight: dict[str, float]) -> Floats:
    pairs = zip(scores.left.tolist(), scores.right.tolist(), strict=True)
    return np.fromiter(
        (sum(weight[t] for t in tokens[a] & tokens[b]) for a, b in pairs), float, len(scores)
    )


def _top(scores: Scores, keep: int) -> Scores:
    kept = np.zeros(len(scores), dtype=bool)
    for side in (scores.left, scores.right):
        order = np.lexsort((-scores.score, side))
        ordered = side[order]
        first = np.r_[True, ordered[1:] != ordered[:-1]] if len(ordered) else np.empty(0, bool)
        start = np.maximum.accumulate(np.where(first, np.arange(len(ordered)), 0))
        kept[order[np.arange(len(ordered)) - start < keep]] = True
    return Scores(scores.left[kept], scores.right[kept], scores.score[kept])
