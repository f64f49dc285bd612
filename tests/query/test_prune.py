"""Locate and Ignore without a model."""

import numpy as np

from sliders.documents import load_text
from sliders.engine import ignored, locate, merge, tags_of
from sliders.retrieval import HashEmbedder
from sliders.schema import Ignore, Locate

TEXT = """# Annual report

## Risk factors

Our business may suffer from storms.

## Income statement

| Item | 2019 | 2020 |
|---|---|---|
| Revenue | 10 | 12 |
| Net income | 1 | 2 |

## Outlook

We expect growth.
"""


def located(*directives):
    document = load_text(TEXT, "report.md")
    found = locate(document, directives, HashEmbedder())
    return document, found, " ".join(document.text[a:b] for a, b in found.spans)


def test_a_section_by_its_name():
    _, found, text = located(Locate(("risk factors section",)))
    assert "storms" in text and "growth" not in text
    assert found.matched == ("risk factors section",)


def test_a_table_by_name_and_by_kind():
    for hint in (Locate(("income statement table",)), Locate((), ("table",))):
        _, found, text = located(hint)
        assert "Net income" in text and "storms" not in text and found.pruned


def test_unmatched_hints_are_skipped_and_none_matched_is_the_whole_document():
    document, found, _ = located(Locate(("martial arts chapter",), ("code",), ((7, 9),)))
    assert found.spans == ((0, len(document.text)),) and not found.pruned
    assert set(found.skipped) == {"martial arts chapter", "code", "pages 7 to 9"}
    _, found, text = located(Locate(("martial arts chapter", "outlook section")))
    assert "growth" in text and "storms" not in text and found.skipped == ("martial arts chapter",)


def test_tags_reach_to_the_next_heading_of_their_level():
    document = load_text(TEXT, "report.md")
    risk = next(tag for tag in tags_of(document) if tag.name == "Risk factors")
    assert (
        "storms" in document.text[risk.start : risk.end]
        and "Income" not in document.text[risk.start : risk.end]
    )


def test_merge_joins_what_overlaps():
    assert merge([(5, 9), (0, 2), (8, 12), (3, 3)]) == ((0, 2), (5, 12))


def test_ignore_drops_by_heading_but_never_what_is_nearest_to_the_question():
    embedder = HashEmbedder()
    texts = ["storms may hurt the harvest", "net income was two million", "legal disclaimers apply"]
    headings = ["Risk factors", "Income", "Legal disclaimers"]
    vectors = embedder.embed(texts)
    out = ignored(
        texts,
        headings,
        vectors,
        "what was the net income",
        [Ignore(("legal disclaimers",))],
        embedder,
    )
    assert out == [False, False, True]
    nearest = ignored(
        texts,
        headings,
        vectors,
        "legal disclaimers apply",
        [Ignore(("legal disclaimers",))],
        embedder,
    )
    assert nearest == [False, False, False]
    assert ignored([], [], np.zeros((0, 384), np.float32), "x", [Ignore(("y",))], embedder) == []
