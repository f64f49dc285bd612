"""The shape of an answer: yes or no with the figures compared, one thing for "which
one", one full stop.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.answer.test_agent import full


def asking(asks: str, sql: str) -> dict[str, Any]:
    return {"action": "answer", "asks": asks, "sql": sql, "reason": ""}


LONGER = """SELECT (SELECT length FROM ships WHERE name = 'Northern Star') > (SELECT length
FROM ships WHERE name = 'Grey Gull')
AS longer, (SELECT length FROM ships WHERE name = 'Northern Star') AS star, 80 AS gull"""


async def test_a_yes_or_no_question_is_answered_with_the_figures_compared() -> None:
    answer, _ = await full("Is the Star longer than the Gull?", asking("yes_no", LONGER))
    assert (answer.value, answer.text) == ("yes", "Yes: star 120 metres, gull 80")
    assert answer.usage.calls == 1 and answer.rows == ((1, 120, 80),)
    shorter, _ = await full(
        "Is the Star shorter?", asking("yes_no", LONGER.replace(") > (", ") < ("))
    )
    assert (shorter.value, shorter.text) == ("no", "No: star 120 metres, gull 80")


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT lost FROM ships WHERE name = 'Northern Star'", "yes"),
        ("SELECT lost FROM ships WHERE name = 'Grey Gull'", "no"),
        ("SELECT MAX(length) > 100 FROM ships", "yes"),
        ("SELECT MAX(length) > 500 FROM ships", "no"),
        ("SELECT COUNT(*) FROM ships WHERE lost", 1),
        ("SELECT SUM(lost) FROM ships", 1),
    ],
)
async def test_a_comparison_says_yes_or_no_and_a_count_does_not(sql: str, value: object) -> None:
    answer, _ = await full("?", sql)
    assert answer.value == value and answer.usage.calls == 1


async def test_a_number_for_a_yes_or_no_question_goes_back() -> None:
    asked = asking("yes_no", "SELECT MAX(length) FROM ships")
    answer, model = await full(
        "Is any ship longer than 100?",
        asked,
        asking("yes_no", "SELECT MAX(length) > 100 FROM ships"),
    )
    assert "asks for yes or no" in model.history[1].messages[-1].content and answer.value == "yes"


async def test_which_one_with_several_rows_goes_back() -> None:
    several = asking("one", "SELECT name FROM ships WHERE length > 100")
    one = asking("one", "SELECT name FROM ships WHERE built = '1911-05-02'")
    answer, model = await full("Which ship is the longest?", several, one)
    assert (
        "asks for one thing, and the statement gives 2 rows"
        in model.history[1].messages[-1].content
    )
    assert answer.value == "Northern Star"
    listed, _ = await full("Which ships are longer than 100?", several | {"asks": "several"})
    assert listed.value == ["Northern Star", "Old Petrel"] and listed.usage.calls == 1


async def test_ties_at_the_extreme_do_not_go_back() -> None:
    tied = asking("one", "SELECT name FROM ships WHERE lost = (SELECT MAX(s.lost) FROM ships AS s)")
    answer, model = await full("Which ship was lost?", tied)
    several = len((await full("?", "SELECT name FROM ships WHERE lost = 1"))[0].value)
    assert len(answer.value) == several > 1 and len(model.history) == 1


@pytest.mark.parametrize(
    "where",
    [
        "length = (SELECT MAX(s.length) FROM ships AS s WHERE s.name = ships.name)",
        "length = (SELECT MAX(s.length) FROM ships AS s) OR length > 0",
    ],
)
async def test_rows_that_are_no_ties_go_back(where: str) -> None:
    asked = asking("one", f"SELECT name FROM ships WHERE {where}")
    _, model = await full("Which ship is the longest?", asked, asked)
    assert "asks for one thing" in model.history[1].messages[-1].content


async def test_after_a_look_up_the_words_speak_of_a_look_up() -> None:
    look = {"action": "look", "sql": "SELECT port, COUNT(*) FROM ships GROUP BY port", "reason": ""}
    _, model = await full("?", look, "SELECT COUNT(*) FROM ships WHERE port = 'Bergen'")
    said = model.history[1].messages[-1].content
    assert "looked up" in said and "your statement says" not in said
