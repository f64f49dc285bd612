"""Assembled retrieval finds by word and by meaning, weighs them, and cuts the tail."""

from __future__ import annotations

import numpy as np
import pytest

from sliders.chunks.embeddings import HashEmbedder
from sliders.chunks.retrieval import RetrievalIndex, min_max, retrieve
from sliders.chunks.segments import index_document
from sliders.documents.document import Document
from sliders.errors import SlidersError


def words(text: str) -> int:
    return len(text.split())


def doc(name: str, text: str) -> Document:
    return Document(name, name, text, name, ())


@pytest.fixture
def index() -> RetrievalIndex:
    index = RetrievalIndex(HashEmbedder(), words, segment_tokens=8)
    index.add(doc("apple", "Apple paid dividends of 1,577 million. The weather was mild. Staff grew by ten percent."))
    index.add(doc("pear", "Pear paid no dividend at all. The managers resigned in May. Sales of pears fell again."))
    return index


def test_the_segment_with_the_words_comes_first(index) -> None:
    best, *_ = retrieve("Which dividends did Apple pay?", index)
    assert best.document_id == "apple"
    assert best.text == "Apple paid dividends of 1,577 million."
    assert best.tokens == 6
    assert best.score == pytest.approx(1.0)
    assert best.exact > 0


def test_segments_without_a_common_word_are_found_by_meaning(index) -> None:
    hits = retrieve("resignation manager", index, weights=(0, 1))
    assert hits[0].text == "The managers resigned in May."


def test_the_threshold_and_top_cut_the_tail(index) -> None:
    everything = retrieve("dividends of Apple", index, threshold=0.0)
    cut = retrieve("dividends of Apple", index, threshold=0.6)
    assert len(everything) == 6
    assert 0 < len(cut) < 6
    assert all(hit.score >= 0.6 * cut[0].score for hit in cut)
    assert len(retrieve("dividends of Apple", index, top=2)) <= 2
    scores = [hit.score for hit in everything]
    assert scores == sorted(scores, reverse=True)


def test_weights_decide_between_words_and_meaning(index) -> None:
    by_words = retrieve("dividend", index, weights=(1, 0), threshold=0.0)
    assert {hit.exact > 0 for hit in by_words[:2]} == {True}
    mixed = {hit.start: hit for hit in retrieve("dividend", index, weights=(3, 2), threshold=0.0, documents=["pear"])}
    exact = min_max(np.array([hit.exact for hit in mixed.values()]))
    semantic = min_max(np.array([hit.semantic for hit in mixed.values()]))
    for hit, words_score, meaning_score in zip(mixed.values(), exact, semantic, strict=True):
        assert hit.score == pytest.approx((3 * words_score + 2 * meaning_score) / 5)


def test_the_search_can_be_limited_to_documents(index) -> None:
    assert {hit.document_id for hit in retrieve("dividends of Apple", index, documents=["pear", "unknown"])} == {"pear"}
    assert retrieve("dividends", index, documents=[]) == ()


def test_removed_and_replaced_documents_are_gone(index) -> None:
    index.remove("apple")
    index.add(doc("pear", "Nothing but kiwis."))
    assert {hit.text for hit in retrieve("dividends of Apple, kiwis", index, threshold=0.0)} == {"Nothing but kiwis."}
    assert [document.name for document in index.documents] == ["pear"]


def test_a_stored_entry_is_used_again_unless_its_embedder_differs(index) -> None:
    new = doc("kiwi", "Kiwis are green.")
    entry = index_document(new, HashEmbedder(), words)
    assert index.add(new, entry) is entry
    with pytest.raises(SlidersError, match="was made with hash-64, not hash-384"):
        index.add(new, index_document(new, HashEmbedder(64), words))


def test_an_empty_index_finds_nothing() -> None:
    assert retrieve("anything", RetrievalIndex(HashEmbedder(), words)) == ()


@pytest.mark.parametrize(
    ("values", "expected"), [([1, 3, 2], [0, 1, 0.5]), ([2, 2], [1, 1]), ([0, 0], [0, 0]), ([-1, -1], [0, 0])]
)
def test_min_max(values, expected) -> None:
    assert min_max(np.array(values, dtype=float)).tolist() == expected
