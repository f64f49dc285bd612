"""An answer cites the cells that are the answer, grouped by the rows of its result;
doubts can be selected in SQL.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sliders
from sliders.answer import Answer
from sliders.cli import answer_text
from sliders.llm import COMPACT, FULL, Dialect, Request, Response
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.worlds import shape_of

ORDERS = Table(
    "orders",
    (
        Column("supplier", description="The supplier", pinned=True),
        Column("amount", ColumnType.INTEGER, "The sum", pinned=True),
    ),
    row="an order",
    grain="document",
    key=("supplier",),
    pinned=True,
    documents="orders",
)
AGREEMENTS = Table(
    "agreements",
    (
        Column("partner", description="The partner", pinned=True),
        Column("notice", description="The notice", pinned=True),
    ),
    row="an agreement",
    grain="document",
    key=("partner",),
    pinned=True,
    documents="agreements",
)
WORDS = {"supplier": "Supplier ", "amount": "Amount ", "partner": "Partner ", "notice": "Notice "}
MANY = 30


def stated(text: str, column: str) -> str:
    return text.split(WORDS[column])[1].split(".")[0] if WORDS[column] in text else ""


class Reader:
    """Reads the sentences of a document word for word; `unsure` are values
    that it is not sure of.
    """

    def __init__(self, sql: str, unsure: frozenset[str] = frozenset()) -> None:
        self.sql, self.unsure = sql, unsure
        self.prompts: list[str] = []

    def __call__(self, request: Request) -> Any:
        shape = shape_of(request)
        prompt = "\n".join(m.content for m in request.messages)
        if request.stage == "answer":
            self.prompts.append(prompt)
            return (
                json.dumps({"action": "answer", "sql": self.sql})
                if "action" in str(shape)
                else self.sql
            )
        text = (
            prompt.rsplit("<document>", 1)[-1]
            if "<document>" in prompt
            else request.messages[-1].content
        )
        if "rows" in shape.get("properties", ()):
            tables = [t for t in (ORDERS, AGREEMENTS) if stated(text, t.columns[0].name)]
            return json.dumps(
                {"rows": [{"table": t.name, "cells": self._cells(text, t)} for t in tables]}
            )
        said = {
            name: self._value(stated(text, name))
            for name in shape.get("properties", {})
            if name in WORDS
        }
        sure = {name: -1.0 if str(value) in self.unsure else -0.01 for name, value in said.items()}
        return Response(json.dumps(said), said, sureness=sure)

    def _cells(self, text: str, table: Table) -> dict[str, Any]:
        values = {c.name: stated(text, c.name) for c in table.columns if stated(text, c.name)}
        return {
            n: {
                "value": self._value(v),
                "words": [v],
                "sure": v not in self.unsure,
                "why": "smudged",
            }
            for n, v in values.items()
        }

    def _value(self, words: str) -> Any:
        return int(words) if words.isdigit() else words or None


def asked(
    place: str | Path, sql: str, dialect: Dialect = FULL, unsure: frozenset[str] = frozenset()
) -> tuple[Answer, sliders.Workspace, Reader]:
    reader = Reader(sql, unsure)
    ws = sliders.Workspace(
        place, model=FunctionModel(reader, dialect=dialect), embedder=HashEmbedder()
    )
    for n in range(MANY):
        ws.add_text(f"This is an order. Supplier Firm{n:02}. Amount {100 + n}.", f"order{n:02}.txt")
    for n in range(MANY):
        ws.add_text(
            f"This is an agreement. Partner Firm{n:02}. Notice {n + 1} days.",
            f"agreement{n:02}.txt",
        )
    ws.pin_schema(Schema((ORDERS, AGREEMENTS)))
    ws.extract()
    return ws.ask("What is it?", workflow="extract_and_query"), ws, reader


JOINED = (
    "SELECT o.supplier, a.notice FROM orders AS o JOIN agreements AS a ON a.partner = o.supplier"
)


def cited(answer: Answer) -> dict[int | None, list[Any]]:
    return {row: [c.value for c in group] for row, group in answer.cited_rows.items()}


@pytest.mark.parametrize(
    "sql",
    [
        f"{JOINED} ORDER BY o.supplier",
        f"WITH j AS ({JOINED}) SELECT supplier AS firm, notice AS days FROM j ORDER BY firm",
        (
            f"SELECT s, n FROM (SELECT o.supplier AS s, a.notice AS n FROM ({JOINED}) AS x JOIN "
            "orders AS o ON o.supplier = x.supplier JOIN agreements AS a ON a.partner = "
            "o.supplier) AS y ORDER BY s"
        ),
        (
            "SELECT o.supplier, (SELECT a.notice FROM agreements AS a WHERE a.partner = "
            "o.supplier) FROM orders AS o ORDER BY 1"
        ),
    ],
)
def test_each_result_row_cites_the_cell_that_it_shows(place: str | Path, sql: str) -> None:
    answer, ws, _ = asked(place, sql)
    ws.close()
    assert len(answer.rows) == MANY
    groups = cited(answer)
    for number, (supplier, notice) in enumerate(answer.rows):
        assert supplier in groups[number] and notice in groups[number]


def test_a_union_cites_both_sides(place: str | Path) -> None:
    answer, ws, _ = asked(
        place, "SELECT supplier FROM orders UNION SELECT notice FROM agreements ORDER BY 1"
    )
    ws.close()
    groups = cited(answer)
    assert {answer.rows[n or 0][0] for n in groups} <= {
        v for values in groups.values() for v in values
    }
    assert {c.column for c in answer.citations} >= {"supplier", "notice"}


def test_one_value_out_of_a_join_cites_it_first(place: str | Path) -> None:
    sql = (
        "SELECT a.notice FROM orders AS o JOIN agreements AS a ON a.partner = o.supplier "
        "WHERE o.amount = 129"
    )
    answer, ws, _ = asked(place, sql)
    ws.close()
    assert answer.value == "30 days"
    first = answer.citations[0]
    assert (first.value, first.column, first.document, first.result_row) == (
        "30 days",
        "notice",
        "agreement29.txt",
        0,
    )
    assert {c.document for c in answer.citations} == {"order29.txt", "agreement29.txt"}


def test_an_aggregate_beside_rows_of_another_table_cites_both(place: str | Path) -> None:
    sql = (
        "SELECT (SELECT notice FROM agreements WHERE partner = 'Firm07'), (SELECT "
        "SUM(amount) FROM orders)"
    )
    answer, ws, _ = asked(place, sql)
    ws.close()
    assert answer.citations[0].value == "8 days"
    assert len({c.document for c in answer.citations if c.column == "amount"}) > 1


def test_text_and_json_group_the_sources(place: str | Path, tmp_path: Path) -> None:
    answer, ws, _ = asked(place, f"{JOINED} WHERE o.amount > 126 ORDER BY 1")
    with ws:
        text = answer_text(answer)
        lines = [line.strip() for line in text.splitlines()]
        assert [line for line in lines if line.startswith("row ")] == [
            "row 1: Firm27, 28 days",
            "row 2: Firm28, 29 days",
            "row 3: Firm29, 30 days",
        ]
        assert all(any(f'"{days} days"' in line for line in lines) for days in (28, 29, 30))
        assert {c["result_row"] for c in answer.to_dict()["citations"]} == {0, 1, 2}
        page = answer.view(tmp_path / "page.html")
        assert "Row 3: <bdi>Firm29, 30 days" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("dialect", [FULL, COMPACT], ids=["full", "compact"])
def test_doubts_can_be_selected_where_there_are_any(place: str | Path, dialect: Dialect) -> None:
    sql = "SELECT supplier, amount_doubt FROM orders WHERE amount_doubt IS NOT NULL"
    answer, ws, reader = asked(place, sql, dialect, frozenset({"105"}))
    with ws:
        assert len(answer.rows) == 1 and answer.rows[0][0] == "Firm05" and answer.rows[0][1]
        assert "1 not verified, see amount_doubt" in reader.prompts[0]
        assert "supplier_doubt" not in reader.prompts[0] and "notice_doubt" not in reader.prompts[0]
        assert (105, "amount") in {(c.value, c.column) for c in answer.citations}
        assert list(
            ws.query("SELECT count(supplier) AS n FROM orders WHERE amount_doubt IS NULL")["n"]
        ) == [MANY - 1]
        assert "amount_doubt" in ws.tables["orders"].columns


@pytest.mark.parametrize("dialect", [FULL, COMPACT], ids=["full", "compact"])
def test_without_doubts_nothing_is_said_of_them(place: str | Path, dialect: Dialect) -> None:
    answer, ws, reader = asked(place, "SELECT COUNT(supplier) FROM orders", dialect)
    with ws:
        assert answer.value == MANY and answer.status == "answered"
        assert "_doubt" not in reader.prompts[0] and "not verified" not in reader.prompts[0]
        assert "amount_doubt" not in ws.tables["orders"].columns
