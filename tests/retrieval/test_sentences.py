"""Sentence boundaries: exact cover, guarded abbreviations, and agreement with a full segmenter."""

from __future__ import annotations

import pysbd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.retrieval import sentence_spans


def split(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text)]


@given(st.text(st.sampled_from(list("aB.!?\n \"')1é。"))))
def test_sentences_cover_the_text(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@pytest.mark.parametrize(
    "sentence",
    [
        "Mr. Smith paid Dr. Jones $5.5 million on Jan. 3 in Washington, D.C. for No. 7.",
        "The U.S. Treasury and J. P. Morgan & Co. International agreed.",
        "1. First item of a list.",
        "It rose, i.e. doubled, vs. Inc. Magazine's guess of approx. 3.5 mg.",
        "He left at 5 p.m. EST and returned.",
        "See Fig. 3 and Sec. 4 of 17 C.F.R. Part 240.",
        "What is meant by e.g. Apples is unclear.",
    ],
)
def test_abbreviations_do_not_end_a_sentence(sentence: str) -> None:
    assert split(sentence + " Then more.") == [sentence, "Then more."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We sold it to Apple Inc. The price was $3.",
            ["We sold it to Apple Inc.", "The price was $3."],
        ),
        ("It ended in 2022. Sales rose.", ["It ended in 2022.", "Sales rose."]),
        (
            '"Stop!" He ran. Why?  Nobody knew…  Then',
            ['"Stop!"', "He ran.", "Why?", "Nobody knew…", "Then"],
        ),
        ("売上は増えた。利益は減った。", ["売上は増えた。", "利益は減った。"]),
        ("Heading\n\nText goes on\nhere", ["Heading", "Text goes on\nhere"]),
    ],
)
def test_boundaries(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_agrees_with_a_full_segmenter_on_plain_prose() -> None:
    text = (
        "The airplane departed at 9:15 a.m. from runway 27. The pilot, Capt. R. Lee, reported a "
        'loss of power. Was the tank empty? Inspectors found 3.5 gallons of fuel. "We could not '
        'land," she said. The company (Sky Co.) paid $2.4 million in damages. Nobody was hurt! The '
        "report was filed on Feb. 3, 2021."
    )
    oracle = [part.strip() for part in pysbd.Segmenter(language="en", clean=False).segment(text)]
    assert split(text) == oracle
