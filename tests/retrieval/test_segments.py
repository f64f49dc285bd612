"""Segments hold whole sentences or rows, stay inside sections, and cover all text."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.documents import Document
from sliders.retrieval import HashEmbedder, index_document, key_sentences, segment_spans

FUEL = ["The fuel tank was empty.", "No fuel was in the tank.", "The tank had held fuel."]
WEATHER = ["Weather in Rome was fine.", "The weather stayed fine.", "Fine weather all day."]


def words(text: str) -> int:
    return len(text.split())


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from(list("aB .\n")), max_size=300), st.integers(1, 20))
def test_segments_hold_all_words_once_in_order(text, limit) -> None:
    doc = Document("d", "d", text, "", ())
    spans = segment_spans(doc, HashEmbedder(), words, max_tokens=limit)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    kept = "".join("".join(text[start:end].split()) for start, end in spans)
    assert kept == "".join(text.split())


def test_segments_do_not_cross_sections_or_tables(document) -> None:
    doc = document(
        ("heading", "One", 1),
        ("paragraph", "First. Second."),
        ("heading", "Two", 1),
        ("paragraph", "Third."),
        ("table", "row 1\nrow 2"),
        ("paragraph", "After."),
    )
    texts = [
        doc.text[start:end]
        for start, end in segment_spans(doc, HashEmbedder(), words, max_tokens=50)
    ]
    assert texts == ["One\n\nFirst. Second.", "Two\n\nThird.", "row 1\nrow 2", "After."]


def test_a_change_of_subject_parts_segments() -> None:
    text = " ".join(FUEL * 4 + WEATHER * 4)
    spans = segment_spans(Document("d", "d", text, "", ()), HashEmbedder(), words, max_tokens=110)
    assert text.index(WEATHER[0]) in {start for start, _ in spans}


def test_long_text_without_sentences_is_cut() -> None:
    doc = Document("d", "d", "word " * 5000, "", ())
    spans = segment_spans(doc, HashEmbedder(), words, max_tokens=100)
    assert all(end - start <= 2000 for start, end in spans)


def test_an_entry_holds_spans_tokens_and_vectors_of_segments_under_their_headings(document) -> None:
    doc = document(
        ("heading", "Fuel", 1),
        ("paragraph", " ".join(FUEL)),
        ("heading", "Rome", 1),
        ("paragraph", "Sunny."),
    )
    embedder = HashEmbedder()
    entry = index_document(doc, embedder, words, max_tokens=40)
    assert entry.document_id == doc.id
    assert entry.embedder == embedder.name
    texts = [doc.text[start:end] for start, end, _ in entry.spans.tolist()]
    assert texts == ["Fuel\n\n" + " ".join(FUEL), "Rome\n\nSunny."]
    assert entry.spans[:, 2].tolist() == [17, 2]
    short = index_document(doc, embedder, words, max_tokens=6)
    row = [doc.text[start:end] for start, end, _ in short.spans.tolist()].index(FUEL[1])
    assert float(short.vectors[row] @ embedder.embed([f"Fuel\n{FUEL[1]}"])[0]) > 0.99


def test_an_empty_document_has_an_entry_without_segments() -> None:
    entry = index_document(Document("d", "d", " \n", "", ()), HashEmbedder(), words)
    assert entry.codes.shape == (0, 384)
    assert entry.spans.shape == (0, 3)


def test_key_sentences_are_the_first_and_those_with_frequent_words() -> None:
    text = (
        "An opening line of the report. "
        + " ".join(FUEL)
        + " A stray remark on nothing much at all."
    )
    doc = Document("d", "d", text, "", ())
    chosen = key_sentences(doc, count=3)
    assert chosen[0] == "An opening line of the report."
    assert set(chosen[1:]) <= set(FUEL)
    assert len(chosen) == 3
