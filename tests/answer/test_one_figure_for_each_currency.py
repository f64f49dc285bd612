"""Amounts in several currencies or units are one figure each; a single one over all is a doubt
unless it was asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sliders
from sliders.answer import Answer
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.worlds import shape_of

BILLS = Table(
    "bills",
    (
        Column("number", description="Its number", pinned=True),
        Column("amount", ColumnType.NUMBER, "What is paid", pinned=True),
        Column("pieces", ColumnType.INTEGER, "How many pieces", pinned=True),
        Column("currency", description="Of the amount", pinned=True),
    ),
    row="a bill",
    grain="document",
    key=("number",),
    pinned=True,
)
MIXED = [("A1", 100.5, 3, "USD"), ("A2", 50.5, 4, "EUR"), ("A3", 20.0, 5, "USD")]
QUESTION = "What do the bills come to?"


def asked(
    path: Path, statements: list[dict[str, str]], bills: list[Any] = MIXED, question: str = QUESTION
) -> tuple[Answer, list[str]]:
    """The answer, and what the model was told before each of its statements."""
    told: list[str] = []

    def reply(request: Request) -> Any:
        prompt = request.messages[-1].content
        if request.stage == "answer":
            told.append(prompt)
            return {
                "action": "answer",
                "reason": "",
                **statements[min(len(told), len(statements)) - 1],
            }
        if "rows" in shape_of(request).get("properties", ()):
            words = prompt.rpartition("Bill ")[2].partition(" end")[0].split()
            values = dict(
                zip(
                    BILLS.column_names,
                    (words[0], float(words[1]), int(words[2]), words[3]),
                    strict=True,
                )
            )
            cells = {
                n: {"value": v, "words": [w]}
                for (n, v), w in zip(values.items(), words, strict=True)
            }
            return {"rows": [{"table": "bills", "cells": cells}]}
        return {"cells": [], "hints": [], "parts": []}

    with sliders.Workspace(
        path / "w.db", model=FunctionModel(reply), embedder=HashEmbedder()
    ) as ws:
        ws.pin_schema(Schema((BILLS,)))
        for number, amount, pieces, currency in bills:
            ws.add_text(f"Bill {number} {amount} {pieces} {currency} end", f"{number}.txt")
        return ws.ask(question), told


SUM = {"sql": "SELECT SUM(amount) FROM bills"}
EACH = {"sql": "SELECT currency, SUM(amount) FROM bills GROUP BY currency"}


def test_the_model_is_told_and_gives_one_figure_for_each(tmp_path: Path) -> None:
    answer, told = asked(tmp_path, [SUM, EACH])
    assert "one figure for each" in told[1] and "'USD' (2 rows)" in told[1]
    assert (answer.status, sorted(answer.rows), answer.doubts) == (
        "answered",
        [("EUR", 50.5), ("USD", 120.5)],
        (),
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(amount) FROM bills",
        "SELECT AVG(amount) FROM bills",
        "SELECT number FROM bills ORDER BY amount DESC LIMIT 1",
        "SELECT COUNT(*) FROM bills WHERE amount > 40",
        "SELECT SUM(amount) FROM bills WHERE currency IN ('USD', 'EUR')",
        "SELECT SUM(amount), MIN(currency) FROM bills",
    ],
)
def test_a_single_figure_that_the_model_insists_on_stands_with_a_doubt(
    tmp_path: Path, sql: str
) -> None:
    answer, _ = asked(tmp_path, [{"sql": sql}])
    assert answer.status == "answered" and answer.sql == sql
    [doubt] = answer.doubts
    assert doubt.kind == "units" and "USD" in doubt.thing and "EUR" in doubt.thing


def test_the_doubt_says_each_figure_and_how_to_get_them(tmp_path: Path) -> None:
    answer, _ = asked(tmp_path, [SUM])
    [doubt] = answer.doubts
    assert "EUR, 50.5" in doubt.effect and "USD, 120.5" in doubt.effect
    assert (
        doubt.command == "sliders query 'SELECT currency, SUM(amount) FROM bills GROUP BY currency'"
    )


def test_words_of_the_question_that_ask_for_one_figure_settle_it(tmp_path: Path) -> None:
    question = "What do the bills come to, whatever the currency?"
    answer, _ = asked(tmp_path, [SUM, SUM | {"meant": "whatever the currency"}], question=question)
    assert (answer.value, answer.doubts) == (171.0, ())


def test_words_that_do_not_stand_in_the_question_settle_nothing(tmp_path: Path) -> None:
    answer, _ = asked(tmp_path, [SUM, SUM | {"meant": "whatever the currency"}])
    assert [doubt.kind for doubt in answer.doubts] == ["units"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(amount) FROM bills WHERE currency = 'USD'",
        "SELECT SUM(pieces) FROM bills",
        "SELECT COUNT(*) FROM bills",
        "SELECT currency, MAX(amount) FROM bills GROUP BY currency",
        "SELECT number, SUM(amount) FROM bills GROUP BY number",
        "SELECT currency AS c, SUM(amount) FROM bills GROUP BY 1",
        "SELECT number, RANK() OVER (PARTITION BY currency ORDER BY amount) FROM bills",
    ],
)
def test_one_currency_a_count_or_a_figure_each_has_no_doubt(tmp_path: Path, sql: str) -> None:
    answer, told = asked(tmp_path, [{"sql": sql}])
    assert (answer.status, answer.doubts, len(told)) == ("answered", (), 1)


def test_one_currency_in_all_rows_has_no_doubt(tmp_path: Path) -> None:
    answer, _ = asked(tmp_path, [SUM], [("A1", 100.5, 3, "USD"), ("A2", 50.5, 4, "USD")])
    assert (answer.value, answer.doubts) == (151.0, ())


def weighed(path: Path, sql: str, weights: list[str]) -> Answer:
    """The answer over parcels whose schema has no unit, weighed as each document prints it."""
    weight = Column("weight", ColumnType.NUMBER, "Its weight", pinned=True)
    parcels = Table("parcels", (weight,), row="a parcel", grain="document", pinned=True)

    def reply(request: Request) -> Any:
        prompt = request.messages[-1].content
        if request.stage == "answer":
            return {"action": "answer", "sql": sql, "reason": ""}
        if "rows" in shape_of(request).get("properties", ()):
            words = prompt.rpartition("weighs ")[2].partition(" in all")[0]
            cells = {"weight": {"value": float(words.split()[0]), "words": [words]}}
            return {"rows": [{"table": "parcels", "cells": cells}]}
        return {"cells": [], "hints": [], "parts": []}

    with sliders.Workspace(
        path / "w.db", model=FunctionModel(reply), embedder=HashEmbedder()
    ) as ws:
        ws.pin_schema(Schema((parcels,)))
        for number, words in enumerate(weights):
            ws.add_text(f"Parcel {number} weighs {words} in all.", f"{number}.txt")
        return ws.ask("How heavy are the parcels?")


@pytest.mark.parametrize(
    "sql", ["SELECT SUM(weight) FROM parcels", "SELECT MAX(weight) FROM parcels"]
)
def test_printed_units_that_differ_are_a_doubt_where_no_column_holds_them(
    tmp_path: Path, sql: str
) -> None:
    answer = weighed(tmp_path, sql, ["12 kg", "500 g", "3 kg"])
    [doubt] = answer.doubts
    assert (
        doubt.kind == "units" and "kg (0.txt, 2.txt)" in doubt.thing and "g (1.txt)" in doubt.thing
    )


def test_printed_units_that_are_one_have_no_doubt(tmp_path: Path) -> None:
    answer = weighed(tmp_path, "SELECT SUM(weight) FROM parcels", ["12 kg", "5 kilograms", "3 kg"])
    assert (answer.value, answer.doubts) == (20.0, ())


def test_a_figure_has_the_currency_that_its_rows_state(tmp_path: Path) -> None:
    dollars = {"sql": "SELECT SUM(amount), COUNT(*) FROM bills WHERE currency = 'USD'"}
    answer, _ = asked(tmp_path, [dollars])
    assert answer.units == ("USD", "") and "120.50 USD" in answer.text
    (tmp_path / "one").mkdir()
    one, _ = asked(tmp_path / "one", [{"sql": "SELECT MAX(amount) FROM bills"}], [MIXED[1]])
    assert one.units == ("EUR",) and one.text == "50.50 EUR"
    (tmp_path / "several").mkdir()
    several, _ = asked(tmp_path / "several", [SUM, SUM])
    assert several.units == ("",), "which one, nobody knows"
    (tmp_path / "most").mkdir()
    most = {"sql": "SELECT number, amount FROM bills ORDER BY amount DESC LIMIT 1", "meant": "come"}
    top, _ = asked(tmp_path / "most", [most])
    assert top.units == ("", "USD") and "100.50 USD" in top.text, "that of the row that is shown"
    (tmp_path / "list").mkdir()
    every, _ = asked(tmp_path / "list", [{"sql": "SELECT number, amount FROM bills"}])
    assert every.units == ("", "")
