"""Assembled retrieval finds by word and by meaning, weighs them, and cuts the tail."""

from __future__ import annotations

import numpy as np
import pytest

from sliders.documents import Document
from sliders.retrieval import HashEmbedder, RetrievalIndex, index_document, min_max


def words(text: str) -> int:
    return len(text.split())


def doc(name: str, text: str) -> Document:
    return Document(name, name, text, name, ())


def index_of(*documents: Document) -> RetrievalIndex:
    embedder = HashEmbedder()
    return RetrievalIndex(
        embedder, [(d, index_document(d, embedder, words, max_tokens=8)) for d in documents]
    )


@pytest.fixture
def index() -> RetrievalIndex:
    return index_of(
        doc(
            "apple",
            "Apple paid dividends of 1,577 million. The weather was mild. Staff "
            "grew by ten percent.",
        ),
        doc(
            "pear",
            "Pear paid no dividend at all. The managers resigned in May. Sales of "
            "pears fell again.",
        ),
    )


def test_the_segment_with_the_words_comes_first(index) -> None:
    best, *_ = index.retrieve("Which dividends did Apple pay?")
    assert best.document_id == "apple"
    assert best.text == "Apple paid dividends of 1,577 million."
    assert best.tokens == 6
    assert best.score == pytest.approx(1.0)
    assert best.exact > 0


def test_segments_without_a_common_word_are_found_by_meaning(index) -> None:
    hits = index.retrieve("resignation manager", weights=(0, 1))
    assert hits[0].text == "The managers resigned in May."


def test_the_threshold_and_top_cut_the_tail(index) -> None:
    everything = index.retrieve("dividends of Apple", threshold=0.0)
    cut = index.retrieve("dividends of Apple", threshold=0.6)
    assert len(everything) == 6
    assert 0 < len(cut) < 6
    assert all(hit.score >= 0.6 * cut[0].score for hit in cut)
    assert len(index.retrieve("dividends of Apple", top=2)) <= 2
    scores = [hit.score for hit in everything]
    assert scores == sorted(scores, reverse=True)


def test_weights_decide_between_words_and_meaning(index) -> None:
    by_words = index.retrieve("dividend", weights=(1, 0), threshold=0.0)
    assert {hit.exact > 0 for hit in by_words[:2]} == {True}
    mixed = {
        (hit.document_id, hit.start): hit
        for hit in index.retrieve("dividend", weights=(3, 2), threshold=0.0)
    }
    exact = min_max(np.array([hit.exact for hit in mixed.values()]))
    semantic = min_max(np.array([hit.semantic for hit in mixed.values()]))
    for hit, words_score, meaning_score in zip(mixed.values(), exact, semantic, strict=True):
        assert hit.score == pytest.approx((3 * words_score + 2 * meaning_score) / 5)


def test_an_empty_index_finds_nothing() -> None:
    assert index_of(doc("blank", " ")).retrieve("anything") == ()
    assert index_of().retrieve("anything") == ()


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1, 3, 2], [0, 1, 0.5]), ([2, 2], [1, 1]), ([0, 0], [0, 0]), ([-1, -1], [0, 0])],
)
def test_min_max(values, expected) -> None:
    assert min_max(np.array(values, dtype=float)).tolist() == expected
