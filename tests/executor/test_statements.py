"""Filings that print tables of periods: rows by document and year without an extraction call, conflicts kept apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sliders import Workspace
from sliders.llm.model import Request
from sliders.llm.testing import FunctionModel

FILING = """
                          {company}
              (Exact name of registrant as specified in its charter)

   For the fiscal year ended June 30, {year}

        {state}                                    03-1234567
   (State of incorporation)                     (Employer Number)

                     CONSOLIDATED STATEMENTS OF INCOME
                     (in thousands, except per share amounts)

                                                  Years Ended June 30,
                                              {year}          {before}
Net sales                                  $ {sales}      $ {sales_before}
Cost of goods sold                           61,000        58,200
Operating income                             14,100        13,300
Net income                                 $ {income}      $ {income_before}
Diluted earnings per share                 $   1.98      $   1.88
"""


def _filing(company: str, year: int, figures: str, state: str = "Vermont") -> str:
    sales, sales_before, income, income_before = figures.split()
    return FILING.format(
        company=company, year=year, before=year - 1, state=state, sales=sales, sales_before=sales_before,
        income=income, income_before=income_before,
    )  # fmt: skip


DOCUMENTS = {
    "harrow_mills_2019.txt": _filing("HARROW MILLS, INC.", 2019, "94,000 89,000 10,250 9,800"),
    "harrow_mills_2020.txt": _filing("HARROW MILLS, INC.", 2020, "97,500 90,500 11,000 10,250"),
    "tolland_2020.txt": _filing("Tolland Rope Company", 2020, "41,250 39,000 2,100 2,000", "Maine"),
}
SCHEMA = """
CREATE TABLE income (company TEXT, filing_year INTEGER, fiscal_year INTEGER, revenue_kusd INTEGER, net_income_musd REAL);
CREATE TABLE filings (company TEXT, fiscal_year_end DATE, state_of_incorporation TEXT);
"""


class _Asked:
    """A model that answers schema calls, and remembers which stages were asked."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def __call__(self, request: Request) -> Any:
        self.stages.append(request.stage)
        properties = (request.json_schema or {}).get("properties", {})
        if "rows_per_document" in properties:
            return {"row": "a filing", "rows_per_document": "one"}
        if "columns" in properties:
            part = {"asked": "net income in fiscal 2019", "name": "net_income_2019", "type": "number"}
            return {"columns": [part], "row": "a company", "in_document": "one"}
        return "SELECT net_income FROM financials WHERE fiscal_year = 2019 AND filing_fiscal_year = 2020"


@pytest.fixture
def asked() -> _Asked:
    return _Asked()


@pytest.fixture
def ws(tmp_path: Path, asked: _Asked) -> Iterator[Workspace]:
    with Workspace(tmp_path / "w.db", model=FunctionModel(asked)) as ws:
        for name, text in DOCUMENTS.items():
            ws.add_text(text, name)
        yield ws


def test_a_pinned_table_has_a_row_for_each_year_of_each_filing(ws: Workspace, asked: _Asked) -> None:
    ws.pin_schema(SCHEMA)
    ws.extract()
    frame = ws.tables["income"]
    rows = {
        (r.document, r.fiscal_year): (r.company, r.filing_year, r.revenue_kusd, r.net_income_musd) for r in frame.itertuples()
    }
    assert rows == {
        ("harrow_mills_2019.txt", 2019): ("HARROW MILLS", 2019, 94_000, 10.25),
        ("harrow_mills_2019.txt", 2018): ("HARROW MILLS", 2019, 89_000, 9.8),
        ("harrow_mills_2020.txt", 2020): ("HARROW MILLS", 2020, 97_500, 11.0),
        ("harrow_mills_2020.txt", 2019): ("HARROW MILLS", 2020, 90_500, 10.25),
        ("tolland_2020.txt", 2020): ("Tolland", 2020, 41_250, 2.1),
        ("tolland_2020.txt", 2019): ("Tolland", 2020, 39_000, 2.0),
    }
    assert "extract" not in asked.stages


def test_cover_facts_are_read_from_the_form(ws: Workspace, asked: _Asked) -> None:
    ws.pin_schema(SCHEMA)
    ws.extract()
    frame = ws.tables["filings"].set_index("document")
    assert frame.loc["tolland_2020.txt", "fiscal_year_end"] == "2020-06-30"
    assert frame.loc["tolland_2020.txt", "state_of_incorporation"] == "Maine"
    assert frame.loc["harrow_mills_2019.txt", "company"].casefold() == "harrow mills"
    assert "extract" not in asked.stages


def test_every_cell_walks_back_to_its_words(ws: Workspace) -> None:
    ws.pin_schema(SCHEMA)
    ws.extract()
    assert ws.verify() == []
    for row in ws.session.catalog.extractions.rows("income"):
        text = ws.session.catalog.documents.text(row.document_id)
        for cell in row.cells:
            assert cell.span is not None, cell
            assert text[cell.span.start : cell.span.end] == cell.printed
        assert row.cell("revenue_kusd") is not None and row.cell("revenue_kusd").scale == "thousands"  # type: ignore[union-attr]


def test_a_question_gets_years_and_filings_as_columns(ws: Workspace, asked: _Asked) -> None:
    ws.ask("What was the net income of Harrow Mills in fiscal 2019, as stated in the 2020 filing (USD millions)?")
    table = ws.schema.table("financials")
    assert table.column_names == ("company", "fiscal_year", "net_income", "filing_fiscal_year")
    assert table.column("net_income").scale == "millions"
    assert len(ws.tables["financials"]) == 6
    assert "extract" not in asked.stages


def test_a_second_question_adds_its_amount_to_the_same_rows(ws: Workspace, asked: _Asked) -> None:
    ws.ask("What was the net income of Harrow Mills in fiscal 2019?")
    ws.ask("Which company had the highest revenue in fiscal 2020?")
    frame = ws.tables["financials"]
    assert len(frame) == 6
    assert set(frame["revenue"]) == {94_000, 89_000, 97_500, 90_500, 41_250, 39_000}
    assert "extract" not in asked.stages


def test_other_documents_are_left_to_the_model(tmp_path: Path, asked: _Asked) -> None:
    with Workspace(tmp_path / "w.db", model=FunctionModel(asked)) as ws:
        ws.add_text("Tolland Rope made 41 tonnes of rope in 2020, and 39 in 2019.", "note.txt")
        ws.pin_schema("CREATE TABLE made (fiscal_year INTEGER, tonnes INTEGER)")
        ws.extract()
    assert "extract" in asked.stages
