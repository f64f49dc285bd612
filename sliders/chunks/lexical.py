"""Exact BM25 over texts in memory, one text added or removed at a time."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Collection, Hashable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)

# Numbers with their separators are one term; scripts without spaces count character by character.
_TERM = re.compile(r"\d+(?:[.,]\d+)+|[぀-ヿ㐀-鿿가-힯]|[^\W぀-ヿ㐀-鿿가-힯]+")


def terms(text: str) -> list[str]:
    """The words of a text for matching: lower case, plural endings removed."""
    return [_singular(term) for term in _TERM.findall(text.lower())]


def _singular(term: str) -> str:
    if len(term) < 4 or not term.endswith("s") or term.endswith(("ss", "us", "is")):
        return term
    if term.endswith("ies") and len(term) > 4:
        return term[:-3] + "y"
    if term.endswith(("sses", "xes", "ches", "shes")):
        return term[:-2]
    return term[:-1]


class BM25(Generic[Key]):
    """Okapi BM25 (Robertson and Zaragoza 2009); idf is ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative."""

    def __init__(self, *, k1: float = 1.2, b: float = 0.75) -> None:
        self._k1, self._b = k1, b
        self._numbers: dict[Key, int] = {}
        self._keys: list[Key | None] = []
        self._lengths = array("q")
        self._total = 0
        self._vocabulary: dict[str, int] = {}
        # Posting lists: text number and count, alternating; texts that were removed stay until the list is compacted.
        self._postings: list[array[int]] = []
        self._frequency = array("q")
        self._own_terms: list[array[int]] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def add(self, key: Key, text: str) -> None:
        """Adds a text, or replaces the one with this key."""
        self.remove(key)
        number = len(self._keys)
        counts = Counter(terms(text))
        self._keys.append(key)
        self._numbers[key] = number
        length = sum(counts.values())
        self._lengths.append(length)
        self._total += length
        own = array("q")
        for term, count in counts.items():
            place = self._vocabulary.setdefault(term, len(self._postings))
            if place == len(self._postings):
                self._postings.append(array("q"))
                self._frequency.append(0)
            self._postings[place].extend((number, count))
            self._frequency[place] += 1
            own.append(place)
        self._own_terms.append(own)

    def remove(self, key: Key) -> None:
        """Removes a text; an unknown key is not an error."""
        number = self._numbers.pop(key, None)
        if number is None:
            return
        self._keys[number] = None
        self._total -= self._lengths[number]
        self._lengths[number] = -1
        for place in self._own_terms[number]:
            self._frequency[place] -= 1
        self._own_terms[number] = array("q")
        if len(self._keys) > 1000 and len(self._numbers) * 2 < len(self._keys):
            self._compact()

    def _compact(self) -> None:
        """Renumbers the texts that are left and drops the postings of the others."""
        lengths = np.array(self._lengths, dtype=np.int64)
        renumber = np.cumsum(lengths >= 0) - 1
        for place, posting in enumerate(self._postings):
            pairs = np.array(posting, dtype=np.int64).reshape(-1, 2)
            pairs = pairs[lengths[pairs[:, 0]] >= 0]
            pairs[:, 0] = renumber[pairs[:, 0]]
            self._postings[place] = array("q", pairs.ravel().tobytes())
        alive = [number for number, length in enumerate(self._lengths) if length >= 0]
        self._keys = [self._keys[number] for number in alive]
        self._own_terms = [self._own_terms[number] for number in alive]
        self._lengths = array("q", (self._lengths[number] for number in alive))
        self._numbers = {key: number for number, key in enumerate(self._keys) if key is not None}

    def _scores(self, query: str) -> NDArray[np.float64]:
        """The score of every text number; removed ones score 0."""
        scores = np.zeros(len(self._keys))
        if not self._numbers:
            return scores
        lengths = np.array(self._lengths, dtype=np.float64)
        average = self._total / len(self._numbers) or 1.0  # all texts empty: nothing will match
        norms = self._k1 * (1 - self._b + self._b * lengths / average)
        for term, repeats in Counter(terms(query)).items():
            place = self._vocabulary.get(term)
            if place is None or not self._frequency[place]:
                continue
            found = self._frequency[place]
            idf = math.log(1 + (len(self._numbers) - found + 0.5) / (found + 0.5))
            pairs = np.array(self._postings[place], dtype=np.int64).reshape(-1, 2)
            numbers, counts = pairs[:, 0], pairs[:, 1]
            scores[numbers] += repeats * idf * counts * (self._k1 + 1) / (counts + norms[numbers])
        scores[lengths < 0] = 0.0
        return scores

    def search(self, query: str, top: int, *, within: Collection[Key] | None = None) -> list[tuple[Key, float]]:
        """The best `top` texts with a score above zero, best first; `within` limits the search to these keys."""
        scores = self._scores(query)
        if within is None:
            numbers = np.flatnonzero(scores > 0)
        else:
            listed = [self._numbers[key] for key in within if key in self._numbers]
            numbers = np.array([number for number in listed if scores[number] > 0], dtype=np.intp)
        if len(numbers) > top:
            numbers = numbers[np.argsort(-scores[numbers], kind="stable")[:top]]
        ranked = sorted(numbers.tolist(), key=lambda number: (-scores[number], number))
        return [(key, float(scores[number])) for number in ranked if (key := self._keys[number]) is not None]

    def scores(self, query: str, keys: Collection[Key]) -> list[float]:
        """Scores of the given texts in their order, 0 for unknown ones."""
        scores = self._scores(query)
        return [float(scores[self._numbers[key]]) if key in self._numbers else 0.0 for key in keys]
