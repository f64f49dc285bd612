"""Counts of an outcome come out of the sentences that tell it, by code."""

from __future__ import annotations

import pytest

from sliders.extraction.coerce import CoerceContext
from sliders.extraction.sentences import nobody_died, tells_otherwise, told_in_sentence
from sliders.schema.types import Column, ColumnType

KILLED = Column("people_killed", ColumnType.INTEGER)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The ferry left at 9. The four deckhands were killed, and the ferry sank.", 4),
        ("She sailed with 3 officers, 1 cook, and 11 passengers on board. There were no survivors.", 15),
        ("The mate and both stokers were killed.", 3),
        ("Two deckhands were injured. Nobody else was hurt.", None),
        ("The 1912 storm killed trade on the river.", None),
        ("She sailed with 3 officers on board and later with 5 officers on board. There were no survivors.", None),
    ],
)
def test_deaths(text: str, count: int | None) -> None:
    found = told_in_sentence(KILLED, text, CoerceContext())
    assert (found[2].value if found else None) == count
    if found:
        assert text[found[0] : found[1]].strip()


def test_a_number_of_another_outcome_is_refused() -> None:
    text = "Of the 40 on board, 2 passengers were injured in the fall. Later 3 deckhands were killed by the boom."
    hurt, dead = text.index("2 pass"), text.index("3 deck")
    assert tells_otherwise(KILLED, text, hurt, hurt + 1)
    assert not tells_otherwise(KILLED, text, dead, dead + 1)
    assert not tells_otherwise(Column("berths", ColumnType.INTEGER), text, hurt, hurt + 1)


def test_a_stated_cell_is_only_changed_where_code_reads_better_than_a_model() -> None:
    text = "The Otters beat the Rovers, 96-89. Vik scored just seven points and took four rebounds in 12 minutes."
    score = Column("score", ColumnType.INTEGER, "score; final score")
    assert told_in_sentence(score, text, CoerceContext(), empty=False) is None
    lost = Column("lost", ColumnType.BOOLEAN)
    assert told_in_sentence(lost, "They lost.", CoerceContext(), empty=False) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Near the pier, it is rated low and children are welcome.", True),
        ("It serves soup and does not welcome children.", False),
        ("An adult only bar by the pier.", False),
        ("A bar with a friendly atmosphere.", None),
        ("The bar is kid-friendly.", True),
        ("The bar is not child friendly.", False),
        ("It is a family friendly bar.", True),
    ],
)
def test_a_place_for_families_is_told_in_several_ways(text: str, told: bool | None) -> None:
    found = told_in_sentence(Column("family_friendly", ColumnType.BOOLEAN), text, CoerceContext())
    assert (found[2].value if found else None) is told


@pytest.mark.parametrize(
    ("text", "deaths"),
    [
        ("The boat hit the pier. Two of the nine guests sustained minor injuries.", 0),
        ("The crew was not injured.", 0),
        ("The boat hit the pier.", None),
        ("Two guests were injured; a report on the fatal voyage of 1990 follows.", None),
    ],
)
def test_a_text_of_injuries_alone_tells_of_no_deaths(text: str, deaths: int | None) -> None:
    found = nobody_died(KILLED, text)
    assert (found[2].value if found else None) == deaths
    assert nobody_died(Column("people_hurt", ColumnType.INTEGER), text) is None


def test_all_who_died_are_counted_where_one_number_stands_before_the_word_people() -> None:
    text = "The two guards on the boat (an old and a new one) and three people on the pier were killed. Four people were hurt."
    found = told_in_sentence(KILLED, text, CoerceContext())
    assert found is not None and found[2].value == 5
