"""The loop: what the model writes is what runs; what is odd goes back in words,
once; nothing is made up.
"""

from __future__ import annotations

from typing import Any

import pytest

from sliders.answer import SqlAnswer, answer_question
from sliders.compact import BARE_SQL
from sliders.errors import ModelRefusal
from sliders.llm import COMPACT, FULL, Response
from sliders.llm.testing import ScriptedModel
from tests.answer.tables import CREW_TABLE, SHIP_TABLE, database

TABLES = (SHIP_TABLE, CREW_TABLE)


async def compact(question: str, *replies: Any, **kwargs: Any) -> tuple[SqlAnswer, ScriptedModel]:
    """Ask with bare statements as replies."""
    model = ScriptedModel(replies, dialect=COMPACT)
    return await answer_question(
        question, TABLES, database(), model, writer=BARE_SQL, **kwargs
    ), model


async def full(question: str, *replies: Any, **kwargs: Any) -> tuple[SqlAnswer, ScriptedModel]:
    """Ask with JSON replies: a string stands for an answer with that statement."""
    data = [
        {"action": "answer", "sql": r, "reason": ""} if isinstance(r, str) else r for r in replies
    ]
    model = ScriptedModel(data, dialect=FULL)
    return await answer_question(question, TABLES, database(), model, **kwargs), model


WRITTEN: list[tuple[str, object]] = [
    ("SELECT COUNT(*) FROM ships", 4),
    ("SELECT COUNT(DISTINCT owner) FROM ships", 3),
    ("SELECT COUNT(owner) FROM ships", 4),
    ("SELECT name FROM ships WHERE length > 80", ["Northern Star", "Old Petrel"]),
    ("SELECT name FROM ships WHERE length >= 80", ["Northern Star", "Grey Gull", "Old Petrel"]),
    ("SELECT name FROM ships WHERE length < 120", "Grey Gull"),
    (
        "SELECT name FROM ships WHERE length <= 120 ORDER BY name",
        ["Grey Gull", "Northern Star", "Old Petrel"],
    ),
    ("SELECT name FROM ships WHERE length <> 80", ["Northern Star", "Old Petrel"]),
    ("SELECT name FROM ships WHERE lost IS NULL", "Sea Otter"),
    ("SELECT COUNT(*) FROM ships WHERE lost IS NOT NULL", 3),
    ("SELECT name FROM ships WHERE lost = 0", ["Grey Gull", "Old Petrel"]),
    ("SELECT name FROM ships WHERE lost IS NOT 1", ["Grey Gull", "Sea Otter", "Old Petrel"]),
    ("SELECT name FROM ships WHERE NOT lost", ["Grey Gull", "Old Petrel"]),
    ("SELECT name FROM ships WHERE lost IS TRUE", "Northern Star"),
    ("SELECT COUNT(*) FROM ships WHERE port IS NULL", 1),
    ("SELECT DISTINCT port FROM ships WHERE port IS NOT NULL ORDER BY port", ["Bergen", "Oslo"]),
    ("SELECT port FROM ships WHERE port IS NOT NULL ORDER BY port", ["Bergen", "Bergen", "Oslo"]),
    ("SELECT owner FROM ships GROUP BY owner HAVING COUNT(*) > 1", "Harbour Lines Ltd."),
    ("SELECT owner FROM ships GROUP BY owner HAVING COUNT(*) >= 2", "Harbour Lines Ltd."),
    (
        "SELECT owner, COUNT(*) AS n FROM ships GROUP BY owner ORDER BY n DESC LIMIT 1",
        [["Harbour Lines Ltd.", 2]],
    ),
    ("SELECT SUM(CASE WHEN length > 100 THEN 1 ELSE 0 END) FROM ships", 2),
    (
        "SELECT name, CASE WHEN lost THEN 'lost' ELSE 'safe' END FROM ships WHERE port = 'Oslo'",
        [["Grey Gull", "safe"]],
    ),
    (
        "SELECT a.name FROM ships a JOIN ships b ON a.length > b.length",
        ["Northern Star", "Old Petrel"],
    ),
    (
        "SELECT a.name FROM ships AS a JOIN ships AS b ON a.owner = b.owner AND a.built < b.built",
        "Northern Star",
    ),
    ("SELECT COUNT(*) FROM ships a, ships b WHERE a.length = b.length AND a.name < b.name", 1),
    (
        "SELECT s.name FROM ships s LEFT JOIN crews c ON c.ship = s.name WHERE c.ship IS NULL",
        ["Sea Otter", "Old Petrel"],
    ),
    ("SELECT COUNT(DISTINCT s.name) FROM ships s JOIN crews c ON c.ship = s.name", 2),
    (
        "SELECT name FROM ships WHERE name NOT IN (SELECT ship FROM crews)",
        ["Sea Otter", "Old Petrel"],
    ),
    (
        (
            "SELECT name FROM ships WHERE EXISTS (SELECT 1 FROM crews WHERE ship = name "
            "AND role = 'cook')"
        ),
        "Northern Star",
    ),
    ("SELECT MAX(length) - MIN(length) FROM ships", 40),
    ("SELECT AVG(length) FROM ships WHERE length IS NOT NULL", 106.666666667),
    (
        (
            "SELECT name FROM (SELECT name, RANK() OVER (ORDER BY length DESC) AS r FROM "
            "ships) WHERE r = 1"
        ),
        ["Northern Star", "Old Petrel"],
    ),
    ("WITH big AS (SELECT * FROM ships WHERE length > 100) SELECT COUNT(*) FROM big", 2),
    (
        "SELECT name FROM ships WHERE length = (SELECT MAX(length) FROM ships)",
        ["Northern Star", "Old Petrel"],
    ),
    (
        "SELECT name FROM ships WHERE port = 'Oslo' UNION SELECT ship FROM crews",
        ["Grey Gull", "Northern Star"],
    ),
    (
        "SELECT name FROM ships WHERE built BETWEEN '1911-01-01' AND '1911-12-31'",
        ["Northern Star", "Old Petrel"],
    ),
    ("SELECT strftime('%Y', built) FROM ships WHERE name = 'Grey Gull'", "1925"),
    ("SELECT name FROM ships WHERE owner LIKE '%Lines%' AND port = 'Oslo'", "Grey Gull"),
    ("SELECT upper(name) || '!' FROM ships WHERE name = 'Grey Gull'", "GREY GULL!"),
    ("SELECT ROUND(AVG(length), 1) FROM ships WHERE owner = 'Harbour Lines Ltd.'", 100),
    ('SELECT "name" FROM "ships" WHERE "port" = \'Oslo\'', "Grey Gull"),
]


@pytest.mark.parametrize(("sql", "value"), WRITTEN)
async def test_what_is_written_runs_as_it_is_written(sql: str, value: object) -> None:
    for answer, _ in (await compact("?", *[sql] * 3), await full("?", *[sql] * 4)):
        assert (answer.sql, answer.status, answer.value) == (sql, "answered", value)
        assert {attempt.sql for attempt in answer.attempts} == {sql}


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT COUNT(*) FROM ships WHERE YEAR(built) = 1911", 2),
        ("SELECT COUNT(*) FROM ships WHERE EXTRACT(YEAR FROM built) = 1911", 2),
        ("SELECT COUNT(*) FROM ships WHERE strftime('%Y', built) = 1911", 2),
        ("SELECT COUNT(*) FROM ships WHERE YEAR(DATE('now')) - YEAR(built) > 90", 4),
        ("SELECT COUNT(*) FROM ships WHERE owner ILIKE 'harbour%'", 2),
        ('SELECT length FROM ships WHERE name = "Grey Gull"', 80),
        ("SELECT years_between(built, scrapped) FROM ships WHERE name = 'Northern Star'", 38),
        ("SELECT years_between(built, scrapped) FROM ships WHERE name = 'Sea Otter'", 50),
        ("SELECT days_between(built, '1911-05-05') FROM ships WHERE name = 'Northern Star'", 3),
        ("```sql\nSELECT length FROM ships WHERE name = 'Grey Gull';\n```", 80),
    ],
)
async def test_other_dialects_are_said_in_sqlite(sql: str, value: object) -> None:
    answer, _ = await compact("?", sql)
    assert answer.value == value


async def test_a_statement_that_was_cut_is_not_run() -> None:
    cut = Response("SELECT COUNT(*) FROM ships WHERE length > 80", finish_reason="length")
    answer, model = await compact(
        "?", cut, "SELECT COUNT(*) FROM ships WHERE length > 80 AND lost = 1"
    )
    assert answer.value == 1 and "stopped at the limit" in model.history[1].messages[-1].content
    only, _ = await compact("?", cut, cut, cut)
    assert (only.status, only.value) == ("failed", None)


async def test_an_error_goes_back_with_the_nearest_names() -> None:
    answer, model = await compact(
        "?", "SELECT lenght FROM ships", "SELECT length FROM ships WHERE name='Grey Gull'"
    )
    assert answer.value == 80
    assert (
        "there is no column lenght; the nearest are length" in model.history[1].messages[-1].content
    )


async def test_a_value_that_no_row_has_goes_back_with_the_nearest() -> None:
    wrong, right = (
        f"SELECT COUNT(*) FROM ships WHERE owner = '{name}'"
        for name in ("Harbour Lines", "Harbour Lines Ltd.")
    )
    for answer, model in (await compact("?", wrong, right), await full("?", wrong, right)):
        assert (answer.value, answer.sql) == (2, right)
        assert "'Harbour Lines Ltd.'" in model.history[1].messages[-1].content


async def test_a_value_of_another_column_is_pointed_out() -> None:
    _, model = await compact("?", *["SELECT name FROM ships WHERE owner = 'Bergen'"] * 2)
    assert "it is a value of ships.port" in model.history[1].messages[-1].content


async def test_a_zero_is_not_final_before_the_values_were_seen() -> None:
    sql = "SELECT COUNT(*) FROM ships WHERE port = 'Oslo' AND length > 100"
    for answer, model in (await compact("?", sql, sql), await full("?", *[sql] * 3)):
        assert (answer.status, answer.value) == ("answered", 0)
        seen = model.history[1].messages[-1].content
        assert "port = 'Oslo' alone keeps 1 row" in seen and "'Bergen' (2 rows)" in seen
    once, _ = await compact("?", sql, ModelRefusal("no"), ModelRefusal("no"))
    assert once.status == "not_found"


async def test_a_zero_of_an_unknown_value_is_the_strong_models_to_confirm() -> None:
    sql = "SELECT COUNT(*) FROM ships WHERE port = 'Aarhus'"
    small, _ = await compact("?", sql, sql)
    assert (small.status, small.value) == ("not_found", None) and "Aarhus" in small.reason
    strong, _ = await full("?", sql, sql)
    assert (strong.status, strong.value) == ("answered", 0)


async def test_an_empty_result_is_not_found_with_the_reason() -> None:
    answer, _ = await compact("?", *["SELECT length FROM ships WHERE name = 'Blue Whale'"] * 2)
    assert (answer.status, answer.value) == ("not_found", None) and "Blue Whale" in answer.reason


async def test_a_finding_is_sent_once_and_told_with_the_answer() -> None:
    sql = "SELECT name FROM ships ORDER BY length DESC LIMIT 1"
    answer, model = await full("?", sql, sql)
    assert answer.value == "Northern Star" and answer.usage.calls == 2
    assert (
        "2 rows have the same length" in answer.reason
        and "2 rows have the same length" in model.history[1].messages[-1].content
    )
    small, _ = await compact("?", sql)
    assert small.usage.calls == 1 and "2 rows have the same length" in small.reason


async def test_the_model_can_look_first() -> None:
    look = {
        "action": "look",
        "sql": "SELECT port, COUNT(*) FROM ships GROUP BY port",
        "reason": "spelling",
    }
    answer, model = await full("?", look, "SELECT COUNT(*) FROM ships WHERE port = 'Bergen'")
    assert answer.value == 2 and [a.action for a in answer.attempts] == ["look", "answer"]
    assert "'Bergen' | 2" in model.history[1].messages[-1].content


async def test_looking_for_ever_gives_no_answer() -> None:
    look = {"action": "look", "sql": "SELECT DISTINCT port FROM ships", "reason": ""}
    answer, model = await full("?", *[look] * 4)
    assert answer.status == "failed" and answer.usage.calls == 4
    assert "last turn" in model.history[-1].messages[-1].content


async def test_the_model_can_say_that_no_column_fits() -> None:
    strong, _ = await full(
        "Who drew it?", {"action": "cannot", "sql": "", "reason": "no column names architects"}
    )
    small, _ = await compact("Who drew it?", "CANNOT: no column names architects")
    assert strong.status == small.status == "not_found"
    assert strong.reason == small.reason == "no column names architects"


async def test_a_null_is_not_found() -> None:
    answer, _ = await compact("?", *["SELECT length FROM ships WHERE name = 'Sea Otter'"] * 3)
    assert (answer.status, answer.value) == ("not_found", None)


async def test_a_number_from_no_table_is_refused() -> None:
    for sql in ("SELECT 42", "SELECT 42 FROM ships LIMIT 1"):
        answer, _ = await full("?", *[sql] * 4)
        assert answer.status == "failed" and "only constants" in answer.reason
    answer, _ = await full("?", "SELECT EXISTS (SELECT 1 FROM ships WHERE port = 'Oslo')")
    assert answer.value == "yes"


async def test_statements_that_never_run_give_no_value() -> None:
    answer, model = await compact(
        "How many ships?", "DROP TABLE ships", "SELECT 1; SELECT 2", "I do not know"
    )
    assert (answer.status, answer.value) == ("failed", None)
    assert len(model.history) == 3 and all(attempt.error for attempt in answer.attempts)


async def test_what_never_ran_twice_is_asked_less_strictly() -> None:
    _, model = await compact("?", *["SELECT tonnage FROM ships"] * 3)
    assert [request.temperature > 0 for request in model.history] == [False, False, True]


async def test_a_reply_that_cannot_be_read_is_an_attempt() -> None:
    answer, _ = await full("?", ModelRefusal("broken"), "SELECT COUNT(*) FROM ships")
    assert answer.value == 4 and "broken" in answer.attempts[0].error


async def test_what_no_column_holds_is_told() -> None:
    _, model = await full("?", "SELECT COUNT(*) FROM ships", uncovered="the shipyard")
    assert "No column holds: the shipyard" in model.history[0].messages[-1].content


async def test_tables_without_rows_cost_no_call() -> None:
    model = ScriptedModel([])
    answer = await answer_question("?", (), database(), model)
    assert answer.status == "not_found" and not model.history


async def test_a_value_that_no_row_has_is_asked_for_by_chance_where_one_is_near() -> None:
    wrong, right = (
        "SELECT length FROM ships WHERE name = 'The Grey Gull'",
        "SELECT length FROM ships WHERE name = 'Grey Gull'",
    )
    answer, model = await compact("How long is The Grey Gull?", wrong, wrong, right)
    assert answer.value == 80 and [request.temperature > 0 for request in model.history] == [
        False,
        False,
        True,
    ]
    far = "SELECT length FROM ships WHERE name = 'Zephyr'"
    answer, model = await compact("How long is the Zephyr?", far, far, right)
    assert answer.status == "not_found" and len(model.history) == 2, (
        "nothing is near: it is not there"
    )


async def test_a_draft_that_does_not_run_is_not_shown() -> None:
    sql = "SELECT owner FROM ships GROUP BY owner ORDER BY COUNT(*) DESC LIMIT 1"
    for draft, shown in (
        (sql, True),
        ("SELECT owner FROM ships ORDER BY COUNT(*) DESC LIMIT 1", False),
        ("SELECT (", False),
    ):
        _, model = await compact("Who owns most?", sql, draft=draft)
        assert ("A draft" in model.history[0].messages[-1].content) is shown
