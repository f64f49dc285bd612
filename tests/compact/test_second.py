"""A second reading marks an answer where another statement of the small model gives something else,
and changes nothing else.
"""

from __future__ import annotations

import pytest

from sliders.answer import STEPS, SqlAnswer, answer_question, profile_tables
from sliders.compact import BARE_SQL, beside_others, second_prompt
from sliders.llm import COMPACT, FULL
from sliders.llm.testing import ScriptedModel
from tests.answer.tables import CREW_TABLE, SHIP_TABLE, database

TABLES = (SHIP_TABLE, CREW_TABLE)

LONG = "SELECT COUNT(*) FROM ships WHERE length > 80"


async def held(*replies: str, first: str = LONG) -> tuple[SqlAnswer, ScriptedModel]:
    """The answer of `first` held against further replies, and the model that gave them."""
    run_sql, model = database(), ScriptedModel([first, *replies], dialect=COMPACT)
    profiles = profile_tables(TABLES, run_sql)
    answer = await answer_question(
        "How many are longer than 80?",
        TABLES,
        run_sql,
        model,
        profiles=profiles,
        writer=BARE_SQL,
    )
    return await beside_others(answer, profiles, run_sql, model), model


@pytest.mark.parametrize(
    ("second", "effect"),
    [
        (LONG, ""),
        ("SELECT SUM(length > 80) FROM ships", ""),
        ("SELECT COUNT(*) FROM ships", "2 would be 4"),
        ("SELECT nothing FROM anywhere", "2 would be nothing"),
        ("no statement at all", "2 would be nothing"),
    ],
)
async def test_a_second_statement_that_gives_something_else_marks_the_answer(
    second: str, effect: str
) -> None:
    answer, _ = await held(second)
    assert (answer.value, answer.sql, answer.status) == (2, LONG, "answered")
    assert [(doubt.kind, doubt.effect) for doubt in answer.doubts] == (
        [("choice", effect)] if effect else []
    )


async def test_rows_tell_the_same_in_any_order_and_with_a_column_more() -> None:
    first = "SELECT name FROM ships ORDER BY name"
    answer, _ = await held("SELECT name, length FROM ships ORDER BY length DESC", first=first)
    assert not answer.doubts
    answer, _ = await held("SELECT name FROM ships ORDER BY name LIMIT 2", first=first)
    assert [doubt.kind for doubt in answer.doubts] == ["choice"]


async def test_the_full_dialect_has_no_second_reading() -> None:
    run_sql = database()
    answer = SqlAnswer("?", "answered", 1, "1.", "SELECT 1", rows=((1,),))
    assert (
        await STEPS.second_look(
            answer, profile_tables(TABLES, run_sql), run_sql, ScriptedModel([], dialect=FULL)
        )
        is answer
    )


def test_the_second_prompt_shows_bare_tables_with_rows() -> None:
    shown = (
        second_prompt("How long is the Merrow?", profile_tables(TABLES, database()))
        .messages[-1]
        .content
    )
    assert (
        "CREATE TABLE ships" in shown
        and "/* example rows:" in shown
        and "How long is the Merrow?" in shown
    )
