"""Long names, several periods in one table, a company that no page names:
each has a place from schema to answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sliders import Workspace
from sliders.errors import ModelRefusal
from sliders.llm.testing import ScriptedModel
from sliders.schema import Column, Schema, Table
from sliders.values import ColumnType

YEARS = """<html><body><h1>Aldous Pier</h1><table><caption>Sales, in millions of dollars</caption>
<tr><th>Item</th><th>2020</th><th>2021</th><th>2022</th></tr>
<tr><td>Ropes</td><td>410</td><td>455</td><td>512</td></tr>\
<tr><td>Third quarter</td><td>101</td><td>110</td><td>120</td></tr>
</table></body></html>"""
INTEGER, NUMBER = ColumnType.INTEGER, ColumnType.NUMBER
SALES = Table(
    "sales",
    (
        Column("company"),
        Column("year", INTEGER),
        Column("quarter", INTEGER),
        Column("amount", NUMBER, scale="millions", currency="USD"),
    ),
    row="sales of one company in one period",
    key=("company", "year", "quarter"),
    pinned=True,
)


def said(value: object, *words: str) -> dict[str, Any]:
    return {"value": value, "words": list(words)}


def period(year: int, amount: int, quarter: dict[str, Any] | None = None) -> dict[str, Any]:
    cells = {
        "company": said("Aldous Pier", "Aldous Pier"),
        "year": said(year, str(year)),
        "amount": said(amount, str(amount)),
    }
    return {"table": "sales", "cells": cells | ({"quarter": quarter} if quarter else {})}


def test_a_value_that_rests_on_two_places_is_verified_at_both(
    place: str | Path, tmp_path: Path
) -> None:
    (tmp_path / "list.txt").write_text(
        "Ropes * cost 12 euros.\n\nA star means that it is sold out.", encoding="utf-8"
    )
    table = Table(
        "goods",
        (Column("name"), Column("sold_out", ColumnType.BOOLEAN)),
        row="one thing for sale",
        pinned=True,
    )
    gone = {
        **said(True, "Ropes *", "A star means that it is sold out"),
        "how": "judged",
        "why": "it has the star",
    }
    row = {"table": "goods", "cells": {"name": said("Ropes", "Ropes"), "sold_out": gone}}
    answer = {"action": "answer", "sql": "SELECT name FROM goods WHERE sold_out"}
    with Workspace(
        place,
        model=ScriptedModel({"plan": {"hints": []}, "extract": {"rows": [row]}, "answer": answer}),
    ) as ws:
        ws.add(tmp_path / "list.txt")
        ws.pin_schema(Schema((table,)))
        assert ws.ask("What is sold out?").value == "Ropes"
        assert ws.verify() == []
        assert "A star means" in str(ws.why(ws.tables["goods"]["row_id"].iloc[0]))


def test_three_years_and_a_quarter_of_one_table_stay_apart(
    place: str | Path, tmp_path: Path
) -> None:
    (tmp_path / "sales.html").write_text(YEARS, encoding="utf-8")
    rows = [
        period(2020, 410),
        period(2021, 455),
        period(2022, 512),
        period(2022, 120, said(3, "Third quarter")),
    ]
    sql = "SELECT amount FROM sales WHERE year = 2021 AND quarter IS NULL"
    model = ScriptedModel(
        {
            "plan": {"hints": []},
            "extract": {"rows": rows},
            "answer": {"action": "answer", "sql": sql},
        }
    )
    with Workspace(place, model=model) as ws:
        ws.add(tmp_path / "sales.html")
        ws.pin_schema(Schema((SALES,)))
        answer = ws.ask("What were the sales of Aldous Pier in 2021?")
        frame = ws.tables["sales"]
        assert ws.verify() == []
    assert (answer.value, answer.status, answer.sql) == (455, "answered", sql)
    assert sorted(zip(frame["year"], frame["amount"], strict=True)) == [
        (2020, 410),
        (2021, 455),
        (2022, 120),
        (2022, 512),
    ]
    assert frame["quarter"].dropna().tolist() == [3]
    assert "455" in {citation.quote for citation in answer.citations}


LONG = "number_of_passengers_who_were_on_board_when_the_ferry_left_the_quay"


def test_a_long_column_name_stays_what_it_is(place: str | Path) -> None:
    assert len(LONG) > 63
    shown = LONG if isinstance(place, Path) else LONG[:63]  # a server's names are no longer
    table = {
        "name": "sailings",
        "row": "a sailing",
        "rows_per_document": "one",
        "columns": [
            {"name": LONG, "type": "integer", "description": "how many passengers were on board"}
        ],
    }
    schema = {
        "tables": [table],
        "needs": [{"question": 1, "columns": [f"sailings.{LONG}"]}],
        "not_covered": [],
    }
    model = ScriptedModel(
        {
            "plan": {"hints": []},
            "schema": schema,
            "extract": {
                "rows": [{"table": "sailings", "cells": {LONG: said(15, "15 passengers")}}]
            },
            "answer": {"action": "answer", "sql": f"SELECT SUM({shown}) FROM sailings"},
        }
    )
    with Workspace(place, model=model) as ws:
        ws.add_text("The ferry left with 15 passengers on board.", "a.txt")
        answer = ws.ask("How many passengers were on board?")
        assert ws.tables["sailings"][shown].tolist() == [15]
        assert ws.query(f"SELECT {shown} AS n FROM sailings")["n"].tolist() == [15]
    assert answer.value == 15


def test_a_name_that_no_page_prints_is_kept_for_audit_and_not_shown(place: str | Path) -> None:
    cells = {
        "company": said("Karsten Dock"),
        "year": said(2020, "2020"),
        "amount": said(410, "410"),
    }
    model = ScriptedModel(
        {"extract": [{"rows": [{"table": "sales", "cells": cells}]}, {"cells": []}]}
    )
    with Workspace(place, model=model) as ws:
        ws.add_text("We sold ropes for 410 million dollars in 2020.", "a.txt")
        ws.pin_schema(Schema((SALES,)))
        ws.extract()
        frame = ws.tables["sales"]
        (row,) = ws.session.catalog.extractions.rows("sales")
        told = str(ws.why(str(frame["row_id"].iloc[0])))
    assert frame["company"].isna().all() and frame["amount"].tolist() == [410]
    company = row.cell("company")
    assert company is not None and company.value == "Karsten Dock" and not company.stands
    assert "company" in told and "ungrounded" in told


def test_a_given_table_is_filled_also_where_the_model_cannot_say_what_its_rows_are(
    place: str | Path, tmp_path: Path
) -> None:
    (tmp_path / "list.txt").write_text("Ropes cost 12 euros.", encoding="utf-8")
    rows = [
        {"table": "goods", "cells": {"name": said("Ropes", "Ropes"), "price": said(12, "12 euros")}}
    ]
    answer = {"action": "answer", "sql": "SELECT price FROM goods"}
    replies = {
        "schema": ModelRefusal("no row"),
        "plan": {"hints": []},
        "extract": {"rows": rows},
        "answer": answer,
    }
    with Workspace(place, model=ScriptedModel(replies)) as ws:
        ws.add(tmp_path / "list.txt")
        ws.pin_schema({"goods": {"name": "text", "price": "number"}})
        assert ws.ask("What do ropes cost?").value == 12
