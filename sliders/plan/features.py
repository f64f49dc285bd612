"""What a question and its first retrieved segments show, as numbers for the light classifiers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sliders.chunks.embeddings import Embedder, Vectors
from sliders.chunks.lexical import terms
from sliders.chunks.retrieval import RankedSegment

Features = NDArray[np.float64]

QUESTION_CHARACTERS = 2_000
"""Only the beginning of a very long question is judged; the embedding model reads no more either."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The text that a question is asked of: its size, and which words of the question occur in it at all."""

    documents: int
    characters: int
    known: frozenset[str] = frozenset()


WORDS = 1024
"""Slots for the words and pairs of words of a question: which of them tell something is learned from examples."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b|\b(?:FY|F)['’]?\d\d\b")
_JOINED = re.compile(r"\b[A-Z][\w'’.-]*(?: [\w'’.-]+){0,4},? (?:and|or) (?:the )?[A-Z]")
_NAME = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w'’.-]*(?:\s+(?:of|the|de|and|&)?\s*[A-Z0-9][\w'’.-]*)*")
_NUMBER = re.compile(r"\d[\d,.]*")
_SHORT = 3

RETRIEVAL_FEATURES = 32


def content_terms(text: str) -> set[str]:
    """The words of a question that may carry its subject: longer ones, numbers, and those of other scripts."""
    return {t for t in terms(text) if len(t) > _SHORT or not t.isascii() or any(c.isdigit() for c in t)}


def names_in(question: str) -> tuple[str, ...]:
    """Runs of capitalised words, but not the first word of a sentence."""
    return tuple(dict.fromkeys(match.group().strip() for match in _NAME.finditer(question)))


def word_features(question: str) -> Features:
    """The words of a question and their pairs, shape (WORDS,)."""
    words = re.findall(r"\w+|[$%?]", question[:QUESTION_CHARACTERS].lower())
    slots = np.zeros(WORDS)
    for gram in (*words, *map(" ".join, pairwise(["^", *words]))):
        slots[crc32(gram.encode()) % WORDS] = 0.5
    return slots


def shape_features(question: str) -> Features:
    """Length, numbers, years and names of a question, shape (f,)."""
    text = question[:QUESTION_CHARACTERS].strip()
    years, names = set(_YEAR.findall(text)), names_in(text)
    return np.array([
        min(len(text.split()), 60) / 20, float(bool(_NUMBER.search(text))), min(len(years), 4) / 2, float(len(years) >= 2),
        min(len(names), 5) / 2, float(len(names) >= 2), min(text.count(","), 4) / 2, float(bool(_JOINED.search(text))),
    ])  # fmt: skip


def retrieval_features(question: str, passages: Sequence[RankedSegment], corpus: Corpus) -> Features:
    """What the first three segments say about the question, shape (RETRIEVAL_FEATURES,); zeros without any.

    The fourth and fifth only tell how much the search would have preferred the first ones.
    """
    if not passages:
        return np.zeros(RETRIEVAL_FEATURES)
    later = [p.score for p in passages[3:5]]
    passages = passages[:3]
    question = question[:QUESTION_CHARACTERS]
    joined = " ".join(passage.text for passage in passages)
    low = joined.lower()
    wanted = content_terms(question)
    found = wanted & set(terms(joined))
    rare = {term for term in wanted if len(term) > 6 or any(c.isdigit() for c in term)}
    names = [name.lower() for name in names_in(question)]
    held = [all(word in low for word in name.split()) for name in names]
    years = set(_YEAR.findall(question))
    cosines = _padded([p.semantic for p in passages])
    exact = _padded([p.exact for p in passages])
    scores = _padded([p.score for p in passages])
    return np.array([
        *cosines, float(np.mean(cosines)), min(exact[0], 40) / 20, min(exact[1], 40) / 20,
        exact[0] / (len(wanted) + 1), scores[1], scores[2], _share(found, wanted),
        _share(wanted & set(terms(passages[0].text)), wanted), _share(rare & found, rare),
        sum(held) / len(held) if held else 1.0, float(all(held)),
        sum(year in joined for year in years) / len(years) if years else 1.0, float(all(y in joined for y in years)),
        min(len(_NUMBER.findall(joined)), 120) / 60, min(joined.count("|"), 90) / 60,
        len({p.document_id for p in passages}) / 3, min(len(joined), 3000) / 2000,
        float(max(exact) == exact[0] and max(cosines) == cosines[0]),
        float(len(joined) >= 0.9 * corpus.characters), min(1.0, len(joined) / max(1, corpus.characters)),
        math.log10(max(10, corpus.characters)) - 3, float(corpus.documents > 1),
        _share(corpus.known - found, corpus.known) if corpus.known else 0.0, float(bool(corpus.known - found)),
        float(bool((corpus.known - found) & rare)), *[*later, 0.0, 0.0][:2], scores[0] - scores[2],
        float(bool(_NUMBER.search(passages[0].text))),
    ])  # fmt: skip


def question_vector(question: str, embedder: Embedder) -> Vectors:
    """The embedding of a question, shape (d,)."""
    vector: Vectors = embedder.embed([question[:QUESTION_CHARACTERS]])[0]
    return vector


def _padded(values: Sequence[float]) -> list[float]:
    return [*values, 0.0, 0.0, 0.0][:3]


def _share(part: AbstractSet[str], whole: AbstractSet[str]) -> float:
    return len(part) / len(whole) if whole else 1.0
