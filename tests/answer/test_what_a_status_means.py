"""A status says whether something is missing; what may be otherwise is a doubt beside it, named,
with what it would change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sliders
from sliders.answer import Answer, Doubt
from sliders.cli import answer_text
from sliders.llm import Request
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType
from tests.worlds import shape_of

FIRMS = Table(
    "firms",
    (
        Column("name", description="The firm", pinned=True),
        Column("staff", ColumnType.INTEGER, "How many work there", pinned=True),
        Column("city", description="Where it is", pinned=True),
    ),
    row="a firm",
    grain="document",
    key=("name",),
    pinned=True,
)


COLUMNS = FIRMS.column_names


def said(words: str, value: object = None, **more: object) -> dict[str, object]:
    """A cell as the reader gives it."""
    return {"value": words if value is None else value, "words": [words], **more}


def asked(
    path: str | Path, documents: Mapping[str, dict[str, Any]], sql: str, table: Table = FIRMS
) -> Answer:
    """The answer of a statement over firms that a double reads: the cells of each
    document, by its name.
    """

    def reply(request: Request) -> Any:
        if request.stage == "answer":
            return {"action": "answer", "sql": sql, "reason": ""}
        prompt = request.messages[-1].content
        if "rows" in shape_of(request).get("properties", ()):
            name = next((name for name in documents if f"Document {name}." in prompt), "")
            cells = {
                column: cell
                for column, cell in documents.get(name, {}).items()
                if column in COLUMNS
            }
            row = {
                "table": "firms",
                "cells": cells,
                "does_not_apply": documents.get(name, {}).get("does_not_apply", []),
            }
            return {"rows": [row] if cells else []}
        return {"cells": [], "hints": [], "parts": []}

    with sliders.Workspace(path, model=FunctionModel(reply), embedder=HashEmbedder()) as ws:
        ws.pin_schema(Schema((table,)))
        for name, cells in documents.items():
            stated = ((c, cells[c]["words"]) for c in COLUMNS if c in cells and cells[c]["words"])
            words = " ".join(f"The {column} is {words[0]}." for column, words in stated)
            ws.add_text(f"Document {name}. {words}", f"{name}.txt")
        return ws.ask("What is it?")


def firm(name: str, staff: int | None, city: str = "Oslo", **staff_more: object) -> dict[str, Any]:
    """The cells of a firm; without a number of staff its document does not tell it."""
    told = {} if staff is None else {"staff": said(str(staff), staff, **staff_more)}
    return {"name": said(name), **told, "city": said(city)}


FOUR = {
    "a": firm("Alder", 10),
    "b": firm("Birch", 20),
    "c": firm("Cedar", 30),
    "d": firm("Dogwood", 40),
}


def test_an_unsure_value_that_moves_nothing_is_no_doubt(place: str | Path) -> None:
    documents = FOUR | {"b": firm("Birch", 20, sure=False)}
    answer = asked(place, documents, "SELECT city FROM firms WHERE name = 'Alder'")
    assert (answer.status, answer.value, answer.doubts, answer.complete) == (
        "answered",
        "Oslo",
        (),
        True,
    )


def test_an_unsure_value_that_moves_a_sum_is_one_doubt_with_all_that_settles_it(
    place: str | Path,
) -> None:
    documents = FOUR | {"b": firm("Birch", 20, sure=False)}
    answer = asked(place, documents, "SELECT SUM(staff) FROM firms")
    assert (answer.status, answer.value, answer.complete) == ("answered", 100, True)
    [doubt] = answer.doubts
    assert doubt.kind == "value" and "staff 20" in doubt.thing
    assert doubt.place == "b.txt; firms.staff"
    assert doubt.effect == "100 would be 80 to 120"
    assert doubt.command == "sliders set-value firms staff --where document=b.txt 20"
    assert answer.to_dict()["doubts"] == [json.loads(json.dumps(doubt.to_dict()))]
    assert "Doubt:    staff 20" in answer_text(answer) and doubt.command in answer_text(answer)
    assert "doubt: staff 20" in answer._repr_html_()


def test_the_command_of_a_doubt_settles_it(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    documents = FOUR | {"b": firm("Birch", 20, sure=False)}
    asked(path, documents, "SELECT SUM(staff) FROM firms")
    with sliders.Workspace(
        path, model=FunctionModel(lambda request: {}), embedder=HashEmbedder()
    ) as ws:
        ws.set_value("firms", "staff", "20", {"document": "b.txt"})
    again = asked(path, documents, "SELECT SUM(staff) FROM firms")
    assert (again.status, again.value, again.doubts) == ("answered", 100, ())


def test_an_answer_in_words_has_doubts_too(place: str | Path) -> None:
    documents = FOUR | {"d": firm("Dogwood", 40, sure=False)}
    answer = asked(
        place, documents, "SELECT name FROM firms WHERE staff = (SELECT MAX(staff) FROM firms)"
    )
    assert (answer.status, answer.value) == ("answered", "Dogwood")
    assert [doubt.effect for doubt in answer.doubts] == ["Dogwood would be Cedar"]


def test_a_tie_that_a_limit_cuts_is_a_doubt_and_a_clear_order_is_none(place: str | Path) -> None:
    sql = "SELECT name FROM firms ORDER BY staff DESC LIMIT 1"
    tied = asked(place, FOUR | {"c": firm("Cedar", 40)}, sql)
    assert tied.status == "answered" and [doubt.kind for doubt in tied.doubts] == ["choice"]
    assert {"Cedar", "Dogwood"} <= set(tied.doubts[0].effect.split())
    assert tied.doubts[0].command == "sliders query 'SELECT name FROM firms ORDER BY staff DESC'"


def test_a_clear_order_has_no_doubt(place: str | Path) -> None:
    answer = asked(place, FOUR, "SELECT name FROM firms ORDER BY staff DESC LIMIT 1")
    assert (answer.status, answer.value, answer.doubts) == ("answered", "Dogwood", ())


def test_many_doubts_are_counted_in_words_and_listed_in_json() -> None:
    doubts = tuple(Doubt("unverified", f"value {n}", "", "1 would be 2", "") for n in range(9))
    answer = Answer("?", "answered", 1, "1.", doubts=doubts)
    assert answer_text(answer).count("Doubt:") == 6 and "and 4 more" in answer_text(answer)
    assert len(answer.to_dict()["doubts"]) == 9


@pytest.mark.parametrize("status", ["answered", "not_found", "incomplete", "failed"])
def test_complete_never_stands_beside_incomplete(status: Any) -> None:
    assert Answer("?", status).to_dict()["complete"] is (status in ("answered", "not_found"))


WITHOUT = FOUR | {"b": firm("Birch", None), "d": firm("Dogwood", None)}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(staff) FROM firms",
        "SELECT AVG(staff) FROM firms",
        "SELECT MAX(staff) FROM firms",
        "SELECT COUNT(staff) FROM firms",
        "SELECT name FROM firms ORDER BY staff DESC LIMIT 1",
        "SELECT name FROM firms WHERE staff = (SELECT MAX(staff) FROM firms)",
        "SELECT city, SUM(staff) FROM firms GROUP BY city",
        "WITH f AS (SELECT staff AS people FROM firms) SELECT SUM(people) FROM f",
        "SELECT SUM(people) FROM (SELECT staff AS people FROM firms)",
        "WITH f(people) AS (SELECT staff FROM firms) SELECT MAX(people) FROM f",
        "SELECT SUM(CASE WHEN city = 'Oslo' THEN staff ELSE 0 END) FROM firms",
        "SELECT COUNT(*) FROM firms WHERE staff > 15",
        "SELECT COUNT(*) FROM firms WHERE staff BETWEEN 25 AND 26",
        "SELECT COUNT(*) FROM firms WHERE staff <> 10",
        "SELECT COUNT(*) FROM firms WHERE NOT staff = 10",
        "SELECT COUNT(*) FROM firms WHERE staff NOT IN (10, 11)",
    ],
)
def test_a_document_without_a_value_that_is_measured_makes_the_answer_incomplete(
    tmp_path: Path, sql: str
) -> None:
    answer = asked(tmp_path / "w.db", WITHOUT, sql)
    assert (answer.status, answer.complete, answer.completeness.complete) == (
        "incomplete",
        False,
        False,
    )
    [gap] = answer.completeness.missing
    assert (gap.kind, gap.documents) == ("value", ("b.txt", "d.txt"))
    assert (
        "staff has no value in 2 documents: not stated" in answer.text
        and "b.txt, d.txt" in answer.text
    )
    assert gap.command == "sliders set-value firms staff --where document=b.txt VALUE"
    assert answer.to_dict()["missing"][0]["documents"] == ["b.txt", "d.txt"]
    assert gap.command in answer_text(answer)


def test_a_missing_value_widens_the_range_of_a_sum(place: str | Path) -> None:
    answer = asked(place, WITHOUT, "SELECT SUM(staff) FROM firms")
    assert answer.value == 40 and answer.range is not None
    assert (answer.range.low, answer.range.high) == (40, 100)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM firms",
        "SELECT COUNT(*) FROM firms WHERE city = 'Oslo'",
        "SELECT COUNT(*) FROM firms WHERE staff IS NOT NULL",
        "SELECT COUNT(*) FROM firms WHERE staff > 15 AND name = 'Alder'",
        "SELECT SUM(staff) FROM firms WHERE name = 'Alder'",
        "SELECT AVG(staff) FROM firms WHERE staff IS NOT NULL",
        "SELECT name, staff FROM firms WHERE name = 'Cedar'",
    ],
)
def test_a_value_that_the_statement_does_not_measure_leaves_no_gap(
    tmp_path: Path, sql: str
) -> None:
    answer = asked(tmp_path / "w.db", WITHOUT, sql)
    assert (answer.status, answer.complete, answer.completeness.missing) == ("answered", True, ())


def test_a_value_whose_words_are_not_in_the_text_is_missing_and_named(place: str | Path) -> None:
    documents = FOUR | {"b": {**firm("Birch", None), "staff": {"value": 777, "words": []}}}
    answer = asked(place, documents, "SELECT SUM(staff) FROM firms")
    assert (answer.status, answer.value) == ("incomplete", 80)
    assert [gap.documents for gap in answer.completeness.missing] == [("b.txt",)]
    assert "ungrounded" in answer.text


def test_a_value_that_does_not_apply_is_no_gap_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    documents = FOUR | {"b": firm("Birch", None) | {"does_not_apply": ["staff"]}}
    answer = asked(path, documents, "SELECT SUM(staff) FROM firms")
    assert (answer.status, answer.value, answer.doubts) == ("answered", 80, ())
    assert answer.range is not None and answer.range.is_point
    with sliders.Workspace(
        path, model=FunctionModel(lambda request: {}), embedder=HashEmbedder()
    ) as ws:
        frame = ws.tables["firms"]
        assert "staff is empty: does not apply" in str(
            ws.why(frame[frame["name"] == "Birch"]["row_id"].iloc[0])
        )


def test_a_document_without_its_row_is_missing_where_every_document_has_one(
    place: str | Path,
) -> None:
    answer = asked(place, FOUR | {"letter": {}}, "SELECT SUM(staff) FROM firms")
    assert (answer.status, answer.value) == ("incomplete", 100)
    [gap] = answer.completeness.missing
    assert (gap.kind, gap.documents, gap.command) == (
        "document",
        ("letter.txt",),
        "sliders why letter.txt",
    )


def test_a_document_of_a_kind_that_does_not_fill_the_table_is_named_and_leaves_no_gap(
    place: str | Path,
) -> None:
    table = replace(FIRMS, documents="profiles of firms")
    answer = asked(place, FOUR | {"letter": {}}, "SELECT SUM(staff) FROM firms", table)
    assert (answer.status, answer.value) == ("answered", 100)
    assert str(answer.completeness).startswith("4 of 5 documents gave rows (none: letter.txt)")
    assert str(answer.range) == "100 to 140: 1 missing value or row (as if it were like those read)"


def test_documents_of_another_kind_are_not_counted(tmp_path: Path) -> None:
    towns = Table(
        "towns",
        (Column("town", description="The town", pinned=True),),
        row="a town",
        grain="document",
        pinned=True,
    )

    def reply(request: Request) -> Any:
        if request.stage == "answer":
            return {"action": "answer", "sql": "SELECT COUNT(*) FROM firms", "reason": ""}
        prompt = request.messages[-1].content
        if "rows" in shape_of(request).get("properties", ()):
            table, column = ("firms", "name") if "The name is" in prompt else ("towns", "town")
            words = prompt.rpartition(" is ")[2].partition(".")[0]
            return {"rows": [{"table": table, "cells": {column: said(words)}}]}
        return {"cells": [], "hints": [], "parts": []}

    with sliders.Workspace(
        tmp_path / "w.db", model=FunctionModel(reply), embedder=HashEmbedder()
    ) as ws:
        ws.pin_schema(Schema((FIRMS, towns)))
        for name, words in (
            ("a", "The name is Alder"),
            ("b", "The name is Birch"),
            ("c", "The town is Oslo"),
        ):
            ws.add_text(f"{words}.", f"{name}.txt")
        answer = ws.ask("How many firms are there?")
    assert (answer.status, answer.value) == ("answered", 2)
    assert str(answer.completeness) == "2 of 2 documents gave rows"
