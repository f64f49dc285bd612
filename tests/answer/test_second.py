"""A second reading marks an answer where other statements of the small model give something else; what most give answers."""

from __future__ import annotations

import pytest

from sliders.answer.profile import profile_tables
from sliders.answer.result import SqlAnswer
from sliders.answer.second import beside_others, second_prompt
from sliders.answer.sql_agent import answer_question
from sliders.llm.dialect import COMPACT, FULL
from sliders.llm.testing import ScriptedModel
from tests.answer.tables import CREW_TABLE, SHIP_TABLE, database

TABLES = (SHIP_TABLE, CREW_TABLE)

LONG = "SELECT COUNT(*) FROM ships WHERE length > 80"
ALL = "SELECT COUNT(*) FROM ships"


async def held(*replies: str, draft: str = "", first: str = LONG) -> tuple[SqlAnswer, ScriptedModel]:
    """The answer of `first` held against a draft and further replies, and the model that gave them."""
    run_sql, model = database(), ScriptedModel([first, *replies], dialect=COMPACT)
    profiles = profile_tables(TABLES, run_sql)
    answer = await answer_question("How many are longer than 80?", TABLES, run_sql, model, profiles=profiles)
    return await beside_others(answer, profiles, run_sql, model, draft=draft), model


@pytest.mark.parametrize("second", [LONG, "SELECT SUM(length > 80) FROM ships"])
async def test_a_second_statement_that_gives_the_same_is_enough(second: str) -> None:
    answer, model = await held(second)
    assert (answer.value, answer.sql, answer.status, len(model.history)) == (2, LONG, "answered", 2)


@pytest.mark.parametrize("second", [ALL, "SELECT nothing FROM anywhere", "no statement at all"])
async def test_where_a_second_statement_differs_three_that_agree_decide_and_the_answer_is_marked(second: str) -> None:
    answer, model = await held(second, LONG, LONG)
    assert (answer.value, answer.sql, answer.status, len(model.history)) == (2, LONG, "incomplete", 4)
    assert "3 of" in answer.reason
    assert [request.temperature > 0 for request in model.history] == [False, False, True, True]


async def test_what_most_statements_give_answers_with_the_sql_that_gave_it() -> None:
    answer, model = await held(ALL, "SELECT nothing FROM anywhere", ALL, "SELECT SUM(1) FROM ships")
    assert (answer.value, answer.sql, answer.rows, answer.status) == (4, ALL, ((4,),), "incomplete")
    assert "3 of 4 statements" in answer.reason and "others 2" in answer.reason and answer.others == (2,)
    assert ALL in [attempt.sql for attempt in answer.attempts] and len(model.history) == 5


async def test_of_equally_many_the_first_statement_stands() -> None:
    answer, model = await held(ALL, "SELECT 7 FROM ships WHERE length > 80", "no", "no", "no")
    assert (answer.value, answer.sql, answer.status, len(model.history)) == (2, LONG, "incomplete", 6)


async def test_a_statement_that_names_what_no_row_has_has_no_vote() -> None:
    nobody = "SELECT COUNT(*) FROM ships WHERE name = 'Nobody'"
    answer, _ = await held(*[nobody] * 5)
    assert answer.value == 2 and "1 of 1" in answer.reason and answer.status == "incomplete"


@pytest.mark.parametrize("draft", [LONG, ALL, "SELECT nothing FROM anywhere", ""])
async def test_a_draft_that_the_first_statement_was_written_with_has_no_say(draft: str) -> None:
    answer, model = await held(LONG, draft=draft)
    assert answer.status == "answered" and len(model.history) == 2


async def test_rows_tell_the_same_in_any_order_and_with_a_column_more() -> None:
    first = "SELECT name FROM ships ORDER BY name"
    answer, _ = await held("SELECT name, length FROM ships ORDER BY length DESC", first=first)
    assert answer.status == "answered"
    answer, _ = await held(*["SELECT name FROM ships ORDER BY name LIMIT 2"] * 2, *[first] * 2, "no", first=first)
    assert answer.status == "incomplete"


async def test_the_full_dialect_has_no_second_reading() -> None:
    run_sql = database()
    answer = SqlAnswer("?", "answered", 1, "1.", "SELECT 1", rows=((1,),))
    assert await beside_others(answer, profile_tables(TABLES, run_sql), run_sql, ScriptedModel([], dialect=FULL)) is answer


def test_the_second_prompt_shows_bare_tables_with_rows() -> None:
    shown = second_prompt("How long is the Merrow?", profile_tables(TABLES, database()), COMPACT).messages[-1].content
    assert "CREATE TABLE ships" in shown and "/* example rows:" in shown and "How long is the Merrow?" in shown
