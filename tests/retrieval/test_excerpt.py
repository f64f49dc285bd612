"""What a schema call sees of a long document: what questions find in it, within a limit."""

from __future__ import annotations

import pytest

from sliders.documents import Document, Element
from sliders.retrieval import excerpt

FILLER = "The committee met again and said nothing of note that day. " * 14
TOLD = "The lighthouse cost 12 crowns in the end."
PARTS = [f"# Part {n}\n\n{FILLER}" for n in range(60)]


def document(told_at: int, told: str = TOLD) -> Document:
    parts = [f"{part}{told}" if n == told_at else part for n, part in enumerate(PARTS)]
    text, at, elements = "\n\n".join(parts), 0, []
    for part in parts:
        heading = part.index("\n")
        elements.append(Element("heading", at, at + heading))
        elements.append(Element("paragraph", at + heading + 2, at + len(part)))
        at += len(part) + 2
    return Document("d", "d.md", text, "", tuple(elements))


@pytest.mark.parametrize("place", [3, 31, 58])
def test_what_a_question_finds_is_shown_wherever_it_stands(place: int) -> None:
    shown = excerpt(document(place), ["What did the lighthouse cost?", "Who met?"], 4000)
    assert TOLD in shown and len(shown) <= 4000
    assert "Part 0" in shown and "Part 20" in shown, "how it begins, and its headings"
    assert "[...]" in shown


def test_a_question_in_another_script_finds_its_characters() -> None:
    assert "灯塔费用" in excerpt(document(40, "灯塔费用十二克朗。"), ["灯塔的费用是多少?"], 4000)


def test_without_a_shared_word_parts_from_everywhere_are_shown() -> None:
    shown = excerpt(document(3), ["Wer?"], 9000)
    assert len(shown) <= 9000 and shown.count("[...]") > 3


def test_a_short_document_is_shown_as_it_is() -> None:
    short = Document("d", "d.md", TOLD, "", ())
    assert excerpt(short, ["?"], 100) == TOLD
