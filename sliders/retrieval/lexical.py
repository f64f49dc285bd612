"""Okapi BM25 over texts in memory."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

# Numbers with their separators are one term; scripts without spaces count character by character.
_TERM = re.compile(r"\d+(?:[.,]\d+)+|[぀-ヿ㐀-鿿가-힯]|[^\W぀-ヿ㐀-鿿가-힯]+")
_K1, _B = 1.2, 0.75
_STEM = 6


def terms(text: str) -> list[str]:
    """The words of a text for matching: lower case, plural endings removed."""
    return [_singular(term) for term in _TERM.findall(text.lower())]


def stems(text: str) -> list[str]:
    """The beginnings of the words of a text, six letters each: inflected forms of a word share
    them in most languages.
    """
    return [term[:_STEM] for term in terms(text)]


def _singular(term: str) -> str:
    if len(term) < 4 or not term.endswith("s") or term.endswith(("ss", "us", "is")):
        return term
    if term.endswith("ies") and len(term) > 4:
        return term[:-3] + "y"
    if term.endswith(("sses", "xes", "ches", "shes")):
        return term[:-2]
    return term[:-1]


class BM25:
    """Okapi BM25 (Robertson and Zaragoza 2009); idf is ln(1 + (N - n + 0.5) / (n + 0.5)),
    which is never negative.
    """

    def __init__(self, texts: Iterable[str], split: Callable[[str], list[str]] = terms) -> None:
        self._split = split
        self._postings: dict[
            str, array[int]
        ] = {}  # number of a text and count of the term in it, alternating
        lengths = []
        for number, text in enumerate(texts):
            counts = Counter(split(text))
            lengths.append(sum(counts.values()))
            for term, count in counts.items():
                self._postings.setdefault(term, array("q")).extend((number, count))
        sizes = np.array(lengths, dtype=np.float64)
        average = sizes.mean() if sizes.any() else 1.0  # all texts empty: nothing will match
        self._norms = _K1 * (1 - _B + _B * sizes / average)

    def scores(self, query: str) -> NDArray[np.float64]:
        """Returns the score of every text, in their order; 0 for a text without a word of the
        query.
        """
        scores = np.zeros(len(self._norms))
        for term, repeats in Counter(self._split(query)).items():
            pairs = np.array(self._postings.get(term, ()), dtype=np.int64).reshape(-1, 2)
            numbers, counts = pairs[:, 0], pairs[:, 1]
            idf = math.log(1 + (len(scores) - len(pairs) + 0.5) / (len(pairs) + 0.5))
            scores[numbers] += repeats * idf * counts * (_K1 + 1) / (counts + self._norms[numbers])
        return scores
