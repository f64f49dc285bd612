"""The loop: code repairs first, the model is asked again only for what code cannot settle, nothing is made up."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import replace

import pytest

from sliders.answer.agent import answer_question
from sliders.answer.values import RunSql, SqlAnswer, TableView
from sliders.llm.model import Request, Response, Usage
from sliders.schema.types import Column
from tests.answer.tables import CREW_TABLE, SHIP_TABLE, database, runner


class Scripted:
    """A model that says its lines in order and keeps what it was asked."""

    name = "scripted"
    context_tokens = 8000

    def __init__(self, replies: Iterable[str]) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    async def generate(self, request: Request) -> Response:
        self.requests.append(request)
        return Response(self.replies[len(self.requests) - 1], usage=Usage(1, 0, 10, 5))


async def ask(question: str, *replies: str) -> tuple[SqlAnswer, Scripted]:
    model = Scripted(replies)
    return await answer_question(question, (SHIP_TABLE, CREW_TABLE), database(), model), model


@pytest.mark.parametrize(
    ("question", "sql", "value"),
    [
        ("How many ships are there?", "SELECT COUNT(*) FROM ships", 4),
        (
            "Which port is the home of the Grey Gull?",
            "```sql\nSELECT port FROM ships WHERE name = 'grey gull';\n```",
            "Oslo",
        ),
        ("List the ships of Fjord Ferries.", "SELECT name FROM ships WHERE owner = 'Fjord Ferries'", ["Sea Otter"]),
        ("How many ships does Harbour Lines own?", "SELECT COUNT(*) FROM ships WHERE owner = 'Harbour Lines'", 2),
        ("How many ships have Bergen as home port?", "SELECT COUNT(*) FROM ships WHERE owner = 'Bergen'", 2),
        ("How many ships were built in 1911?", "SELECT COUNT(*) FROM ships WHERE strftime('%Y', built) = 1911", 2),
        ("How many ships were built before 1912?", "SELECT COUNT(*) FROM ships WHERE built < 1912", 2),
        (
            "Which ships are 120 metres or longer?",
            "SELECT name FROM ships WHERE length >= 120",
            ["Northern Star", "Old Petrel"],
        ),
        (
            "Which ship is the longest?",
            "SELECT name FROM ships ORDER BY length DESC LIMIT 1",
            ["Northern Star", "Old Petrel"],
        ),
        ("Which ship is the shortest?", "SELECT name FROM ships ORDER BY length LIMIT 1", "Grey Gull"),
        (
            "Which owner has the most ships?",
            "SELECT owner, COUNT(*) FROM ships GROUP BY owner ORDER BY 2 DESC LIMIT 1",
            "Harbour Lines Ltd.",
        ),
        (
            "Which owner has the most ships, and how many?",
            "SELECT owner, COUNT(*) AS n FROM ships GROUP BY owner ORDER BY n DESC LIMIT 1",
            [["Harbour Lines Ltd.", 2]],
        ),
        ("What is the average length? Round to one decimal.", "SELECT AVG(length) FROM ships", 106.7),
        (
            "What is the ratio of the longest to the shortest? Round to two decimals.",
            "SELECT MAX(length) / MIN(length) FROM ships",
            1.5,
        ),
        (
            "How old in completed years was the Northern Star when scrapped?",
            "SELECT years_between(built, scrapped) FROM ships WHERE name = 'Northern Star'",
            38,
        ),
        (
            "How old in completed years was the Sea Otter when scrapped?",
            "SELECT years_between(built, scrapped) FROM ships WHERE name = 'Sea Otter'",
            50,
        ),
        ("What is the average length?", "SELECT SUM(length) / COUNT(*) FROM ships", 106.666666667),
        (
            "List the length of the Northern Star.",
            "SELECT s.length FROM ships AS s JOIN crews AS c ON c.ship = s.name WHERE s.name = 'Northern Star'",
            [120],
        ),
        (
            "Which ship is the shortest? Give its port and length.",
            "SELECT name, port, length FROM ships ORDER BY length LIMIT 1",
            [["Oslo", 80]],
        ),
        (
            "How many ships does Fjord Ferries own, and how many of them were lost?",
            "SELECT COUNT(*), SUM(lost IS NULL) FROM ships",
            [[1, 1]],
        ),
        (
            "List the names of all ships, oldest first.",
            "SELECT name FROM ships WHERE built < '1930' ORDER BY name LIMIT 1",
            ["Grey Gull", "Northern Star", "Old Petrel"],
        ),
        (
            "What is the home port of the ship with a captain and a cook?",
            "SELECT s.port FROM ships s JOIN crews c ON c.ship = s.name WHERE c.role = 'captain' AND c.role = 'cook'",
            "Bergen",
        ),
        ("How many owners are there?", "SELECT COUNT(*) FROM ships", 3),
        ("How many ships were lost?", "SELECT COUNT(*) FROM ships WHERE lost = 'yes'", 1),
        ("How many ships have no home port stated?", "SELECT COUNT(*) FROM ships WHERE port = NULL", 1),
        ("How many different ports are there?", "SELECT COUNT(port) FROM ships", 2),
        ("How many ships are longer than 120 metres?", "SELECT COUNT(*) FROM ships WHERE length > 120", 0),
    ],
)
async def test_one_statement_answers(question: str, sql: str, value: object) -> None:
    answer, model = await ask(question, sql)
    assert (answer.status, answer.value) == ("answered", value)
    assert len(model.requests) == answer.usage.calls == 1


async def test_an_error_goes_back_with_what_exists() -> None:
    answer, model = await ask(
        "How long is the Grey Gull?", "SELECT tonnage FROM ships", "SELECT length FROM ships WHERE name='Grey Gull'"
    )
    assert answer.value == 80
    feedback = model.requests[1].messages[-1].content
    assert "tonnage" in feedback and "length" in feedback


async def test_a_second_item_that_was_asked_is_asked_for_again() -> None:
    answer, _ = await ask(
        "Which ship is the shortest, and how long is it?",
        "SELECT name FROM ships ORDER BY length LIMIT 1",
        "SELECT name, length FROM ships ORDER BY length LIMIT 1",
    )
    assert answer.value == [["Grey Gull", 80]]


async def test_a_named_value_that_is_not_used_is_pointed_out() -> None:
    _, model = await ask(
        "How many people are in the crew of the Northern Star?",
        "SELECT SUM(people) FROM crews",
        "SELECT SUM(people) FROM crews WHERE ship = 'Northern Star'",
    )
    assert "'Northern Star'" in model.requests[1].messages[-1].content


async def test_it_abstains_when_nothing_is_found() -> None:
    answer, model = await ask(
        "How long is the Blue Whale?", *["SELECT length FROM ships WHERE name = 'Blue Whale'"] * 3
    )
    assert (answer.status, answer.value) == ("not_found", None)
    assert "Blue Whale" in answer.reason
    warm = [request.temperature > 0 for request in model.requests]
    assert warm == [False, False, True], "what is said twice is asked less strictly"


async def test_a_zero_for_a_value_that_a_column_with_gaps_does_not_know_is_no_answer() -> None:
    answer, _ = await ask(
        "How many ships have Aarhus as port?", *["SELECT COUNT(*) FROM ships WHERE port = 'Aarhus'"] * 3
    )
    assert (answer.status, answer.value) == ("not_found", None)


async def test_a_zero_for_a_value_that_a_full_column_does_not_hold_is_an_answer() -> None:
    answer, _ = await ask("How many ships does Acme own?", *["SELECT COUNT(*) FROM ships WHERE owner = 'Acme'"] * 3)
    assert (answer.status, answer.value) == ("answered", 0)


async def test_statements_that_never_run_give_no_value() -> None:
    answer, model = await ask("How many ships?", "DROP TABLE ships", "I do not know", "DELETE FROM ships")
    assert (answer.status, answer.value) == ("not_found", None)
    assert len(model.requests) == 3
    assert all(attempt.error for attempt in answer.attempts)


async def test_the_model_can_say_that_no_column_fits() -> None:
    answer, _ = await ask("Who was the architect?", "SELECT NULL", "SELECT NULL")
    assert answer.status == "not_found"


async def test_every_repair_is_recorded() -> None:
    answer, _ = await ask(
        "How many ships does Harbour Lines own?", "SELECT COUNT(*) FROM ship WHERE owner = 'Harbour Lines'"
    )
    assert len(answer.attempts[0].repairs) == 2


def with_hull() -> tuple[TableView, RunSql]:
    """The ships with a column that no document states."""
    view = replace(SHIP_TABLE, table=replace(SHIP_TABLE.table, columns=(*SHIP_TABLE.table.columns, Column("hull"))))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE ships AS SELECT 'r1' AS row_id, 'Grey Gull' AS name, NULL AS owner, NULL AS port, "
                       "NULL AS built, NULL AS scrapped, 80 AS length, 0 AS lost, NULL AS hull, 'a.txt' AS document")  # fmt: skip
    return view, runner(connection)


BY_NAME, BY_IS, BY_GAP = (f"SELECT COUNT(*) FROM ships WHERE hull {test}" for test in ("= 'steel'", "IS 'steel'", "IS NULL"))


@pytest.mark.parametrize(
    ("question", "statements", "status"),
    [
        ("How many ships have a hull of steel?", [BY_NAME, BY_GAP, BY_GAP, BY_GAP], "not_found"),
        ("How many ships have a hull made from steel?", [BY_IS, BY_IS, BY_IS], "not_found"),
        ("How many ships have no hull of steel?", [BY_GAP, BY_GAP, BY_GAP], "answered"),
        ("For how many ships is the hull not stated?", [BY_GAP, BY_GAP, BY_GAP], "answered"),
    ],
)
async def test_a_value_that_is_stated_nowhere_is_not_counted_by_what_is_missing(
    question: str, statements: list[str], status: str
) -> None:
    view, run = with_hull()
    answer = await answer_question(question, (view,), run, Scripted(statements))
    assert answer.status == status
    assert (answer.value == 1) is (status == "answered")
