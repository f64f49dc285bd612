"""Questions over the same tables are asked in one call; each keeps its findings and its retry."""

from __future__ import annotations

from typing import Any

from sliders.answer import STEPS, SqlAnswer, SqlQuestion, answer_question, first_turns
from sliders.errors import ModelRefusal
from sliders.llm.testing import ScriptedModel
from tests.answer.tables import CREW_TABLE, SHIP_TABLE, database, profiles

COUNT = "SELECT COUNT(*) FROM ships"
EMPTY = "SELECT COUNT(*) FROM ships WHERE port = 'Bergn'"
QUESTIONS = ("How many ships are there?", "How many ships lie in Bergen?")


def step(number: int, sql: str) -> dict[str, Any]:
    return {"question": number, "action": "answer", "asks": "number", "sql": sql, "reason": ""}


async def asked(*replies: Any) -> tuple[list[SqlAnswer], ScriptedModel]:
    """Both questions, asked together."""
    model, run_sql = ScriptedModel(replies), database()
    known = profiles(run_sql)
    turns = await first_turns([SqlQuestion(q) for q in QUESTIONS], known, model)
    answers = [
        await answer_question(
            q, (SHIP_TABLE, CREW_TABLE), run_sql, model, profiles=known, first=turns.get(q)
        )
        for q in QUESTIONS
    ]
    return answers, model


async def test_one_call_answers_all_questions() -> None:
    right = "SELECT COUNT(*) FROM ships WHERE port = 'Bergen'"
    answers, model = await asked({"answers": [step(1, COUNT), step(2, right)]})
    assert [answer.value for answer in answers] == [4, 2]
    assert len(model.history) == 1


async def test_what_is_odd_about_one_goes_back_for_that_one_alone() -> None:
    right = {"action": "answer", "sql": "SELECT COUNT(*) FROM ships WHERE port = 'Bergen'"}
    answers, model = await asked({"answers": [step(1, COUNT), step(2, EMPTY)]}, right)
    assert [answer.value for answer in answers] == [4, 2]
    first, second = model.history
    assert second.messages[0] == first.messages[0]
    said = [message.content for message in second.messages[1:]]
    assert QUESTIONS[0] not in said[0] and "Bergn" in said[1] and QUESTIONS[1] in said[2]


async def test_a_question_without_a_readable_step_is_asked_alone() -> None:
    alone = {"action": "answer", "sql": COUNT}
    for reply in (
        {"answers": [step(2, COUNT)]},
        {"answers": [step(1, EMPTY), step(1, COUNT), step(2, COUNT)]},
    ):
        answers, model = await asked(reply, alone)
        assert [answer.value for answer in answers] == [4, 4]
        assert len(model.history) == 2
    for reply in (alone, ModelRefusal("no")):
        answers, model = await asked(reply, alone, alone)
        assert [answer.value for answer in answers] == [4, 4]
        assert len(model.history) == 3


def test_the_prompt_of_several_begins_as_that_of_one() -> None:
    known = profiles(database())
    assert STEPS.several is not None
    several = STEPS.several.request([SqlQuestion(q) for q in QUESTIONS], known)
    for question in QUESTIONS:
        alone = STEPS.request(question, known)
        assert alone.messages[0] == several.messages[0]
        tables = alone.messages[1].content.partition("Question")[0].rstrip()
        assert several.messages[1].content.startswith(tables.partition("\n\nWords")[0])
