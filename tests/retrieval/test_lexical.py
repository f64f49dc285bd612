"""BM25 agrees with the formula written out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.retrieval import BM25, terms

WORDS = st.lists(st.sampled_from(["cat", "dogs", "tree", "1,577", "profit"]), max_size=8).map(
    " ".join
)


def reference(texts: list[str], query: str, number: int, k1: float = 1.2, b: float = 0.75) -> float:
    """Okapi BM25 as in Robertson and Zaragoza, term by term."""
    average = sum(len(terms(text)) for text in texts) / len(texts)
    words = terms(texts[number])
    score = 0.0
    for term in terms(query):
        holders = sum(term in terms(text) for text in texts)
        idf = math.log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
        count = words.count(term)
        norm = k1 * (1 - b + b * len(words) / average) if average else k1
        score += idf * count * (k1 + 1) / (count + norm)
    return score


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=12), WORDS)
def test_scores_follow_the_formula(texts, query) -> None:
    expected = [reference(texts, query, number) for number in range(len(texts))]
    assert BM25(texts).scores(query).tolist() == pytest.approx(expected, abs=1e-9)


def test_texts_with_more_of_the_words_score_higher() -> None:
    best, some, none = BM25(["net income of 1,577", "income", "weather"]).scores(
        "net incomes 1,577"
    )
    assert best > some > none == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Companies' Taxes and glass buses", ["company", "tax", "and", "glass", "buse"]),
        ("10-K in Q3 2022: $1,577.5", ["10", "k", "in", "q3", "2022", "1,577.5"]),
        ("売上は", ["売", "上", "は"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected
