"""BM25 agrees with the formula written out, through additions, replacements and removals."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.chunks.lexical import BM25, terms

WORDS = st.lists(st.sampled_from(["cat", "dogs", "tree", "1,577", "profit"]), max_size=8).map(" ".join)


def reference(texts: dict[int, str], query: str, key: int, k1: float = 1.2, b: float = 0.75) -> float:
    """Okapi BM25 as in Robertson and Zaragoza, term by term."""
    average = sum(len(terms(text)) for text in texts.values()) / len(texts)
    words = terms(texts[key])
    score = 0.0
    for term in terms(query):
        holders = sum(term in terms(text) for text in texts.values())
        idf = math.log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
        count = words.count(term)
        norm = k1 * (1 - b + b * len(words) / average) if average else k1
        score += idf * count * (k1 + 1) / (count + norm)
    return score


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), WORDS), max_size=20), WORDS)
def test_scores_follow_the_formula_after_any_changes(changes, query) -> None:
    index, texts = BM25(), {}
    for add, key, text in changes:
        if add:
            index.add(key, text)
            texts[key] = text
        else:
            index.remove(key)
            texts.pop(key, None)
    assert len(index) == len(texts)
    found = dict(index.search(query, 10))
    for key in texts:
        expected = reference(texts, query, key)
        assert found.get(key, 0.0) == pytest.approx(expected, abs=1e-9)
        assert index.scores(query, [key, "unknown"]) == pytest.approx([expected, 0.0], abs=1e-9)


def test_scores_are_the_same_after_removed_texts_are_compacted() -> None:
    index, texts = BM25(), {}
    for number in range(1500):
        index.add(number, f"common word{number % 7} text{number}")
    for number in range(1400):
        index.remove(number)
    texts = {number: f"common word{number % 7} text{number}" for number in range(1400, 1500)}
    for key, score in index.search("common word3 text1410", 20):
        assert score == pytest.approx(reference(texts, "common word3 text1410", key))
    assert index.search("text3", 5) == []


def test_the_search_can_be_limited_and_ranks_best_first() -> None:
    index: BM25[str] = BM25()
    for key, text in {"a": "net income of 1,577", "b": "income", "c": "weather"}.items():
        index.add(key, text)
    assert [key for key, _ in index.search("net incomes 1,577", 5)] == ["a", "b"]
    assert [key for key, _ in index.search("net incomes 1,577", 5, within=["b", "c"])] == ["b"]
    assert [key for key, _ in index.search("net incomes 1,577", 1)] == ["a"]


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
