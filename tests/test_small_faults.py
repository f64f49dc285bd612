"""Behaviours that one wrong word of the code would lose without anything else failing."""

from __future__ import annotations

from pathlib import Path

import pytest

from sliders import Budget, Settings, Workspace
from sliders.documents import Document, html_table, load
from sliders.errors import DocumentError
from sliders.llm import PriceTable
from sliders.retrieval import chunk_document
from tests.worlds import TEXTS, Reader


def test_pinning_a_table_keeps_the_others(tmp_path: Path) -> None:
    with Workspace(tmp_path / "w.db", model=Reader().model) as ws:
        ws.pin_schema({"bridges": {"cost": "number"}})
        ws.pin_schema({"locks": {"depth": "number"}})
        assert [table.name for table in ws.schema.tables] == ["locks", "bridges"]


def test_a_budget_that_is_given_replaces_the_one_before() -> None:
    settings = Settings(budget=Budget(max_tokens=10))
    assert settings.changed(budget=Budget(max_cost=2.0)).budget == Budget(max_cost=2.0)
    assert settings.changed(concurrency=2).budget == Budget(max_tokens=10)


def test_the_longest_name_of_a_model_decides_its_price() -> None:
    prices = PriceTable()
    assert prices.price("gpt-4.1-mini-2025-04-14") == prices.price("gpt-4.1-mini")
    assert prices.price("gpt-4.1-mini") != prices.price("gpt-4.1")
    own = PriceTable.load(
        {"a": {"prompt": 9, "completion": 9}, "a-small": {"prompt": 1, "completion": 1}}
    )
    assert own.cost("a-small-v2", 1_000_000, 0) == 1


def test_a_table_in_an_old_encoding_is_told(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_bytes("Ort,Länge\nMühle,12\n".encode("cp1252"))
    document = load(path)
    assert "Mühle" in document.text
    assert document.warnings


def test_a_file_of_bytes_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(b"The bridge cost 4 euros." + b"\x00\x07" + b" More words follow here." * 4)
    with pytest.raises(DocumentError):
        load(path)


def _text(path: Path, text: str) -> Document:
    path.write_text(text, encoding="utf-8")
    return load(path)


def test_headings_of_one_level_stand_side_by_side(tmp_path: Path) -> None:
    words = (
        "The bridge stands over the river and has carried carts since the year of the flood. " * 30
    )
    text = f"# Works\n\n## Costs\n\n{words}\n\n## Dates\n\n{words}\n"
    document = _text(tmp_path / "works.md", text)
    chunks = chunk_document(document, max_tokens=200, count_tokens=lambda text: len(text) // 4)
    paths = {chunk.context.heading_path for chunk in chunks}
    assert {("Works", "Costs"), ("Works", "Dates")} <= paths
    assert max(map(len, paths)) == 2


def test_two_columns_under_equal_headers_keep_both_values() -> None:
    html = (
        "<table><tr><th>Item</th><th colspan=2>Amount</th></tr>"
        "<tr><td>Deck</td><td>12</td><td>34</td></tr></table>"
    )
    table = html_table(html)
    assert {"12", "34"} <= set(table.rows[0])


def test_a_result_that_the_row_limit_cut_is_incomplete(tmp_path: Path) -> None:
    question = "What is the cost of each?"
    statement = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10500) "
        "SELECT things.name, n.i FROM things JOIN n"
    )
    with Workspace(tmp_path / "w.db", model=Reader(sql={question: statement}).model) as ws:
        for name, text in TEXTS.items():
            ws.add_text(text, name)
        answer = ws.ask(question)
    assert answer.status == "incomplete"
    assert [gap.kind for gap in answer.completeness.missing] == ["cut"]
