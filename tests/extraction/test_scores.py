"""A printed score gives each column its own number, by name; other pairs stay ranges."""

from __future__ import annotations

import pytest

from sliders.extraction.cell import Absence
from sliders.extraction.coerce import coerce
from sliders.extraction.scores import told_score
from sliders.schema.types import Column, ColumnType


@pytest.mark.parametrize(
    ("name", "words", "value"),
    [
        ("winner_goals", "3-1", 3),
        ("winner_goals", "1:3", 3),
        ("loser_goals", "beat the visitors 3–1 on Sunday", 1),
        ("winning_margin", "3-1", 2),
        ("total_goals", "3-1", 4),
        ("wins_after", "(5-2)", 5),
        ("losses_after", "(5-2)", 2),
        ("winner_goals", "3", 3),
    ],
)
def test_the_name_says_which_number(name: str, words: str, value: int) -> None:
    assert coerce(words, Column(name, ColumnType.INTEGER)).value == value


@pytest.mark.parametrize(
    ("name", "words"), [("goals", "3-1"), ("winner_goals", "3-1 and 2-2"), ("price", "3-1"), ("winner_goals", "2003-2004")]
)
def test_other_pairs_are_not_guessed(name: str, words: str) -> None:
    assert coerce(words, Column(name, ColumnType.INTEGER)).absence is Absence.NOT_PARSED


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("The Sea Otters (5-2) beat the Rovers 31-28 at home.", "31-28"),
        ("The Otters beat the Rovers, 31 - 28. Later the Otters met the Rovers and lost 3-4.", None),
        ("The Otters shot 9-12. The Otters beat the Rovers.", None),
        ("The Otters beat the Rovers. They won 31-28.", None),
    ],
)
def test_a_score_is_told_by_the_sentence_that_names_both_sides(text: str, score: str | None) -> None:
    place = told_score(text, ["Sea Otters", "Rovers"])
    assert (text[slice(*place)] if place else None) == score
    assert told_score(text, ["Sea Otters"]) is None
