"""The date of a document: its own one, never a date that it tells of, and nothing filled in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.engine import document_date
from sliders.reconcile import newest

PROSE = (
    "The bridge was opened in the presence of the mayor and stands over the river to this day.\n"
)


@pytest.mark.parametrize(
    ("name", "title", "beginning", "expected"),
    [
        ("notes/report_2020-11-12.txt", "", PROSE, "2020-11-12"),
        ("20210504-minutes.pdf", "", PROSE, "2021-05-04"),
        ("ORLA_2020_annual.txt", "", PROSE, "2020"),
        ("orla-2020-03.txt", "", PROSE, "2020-03"),
        ("a.txt", "Orla v Tarn (9 August 2006)", PROSE, "2006-08-09"),
        ("a.txt", "12 March 2021: minutes", PROSE, "2021-03-12"),
        (
            "ORLA_2021.txt",
            "FORM",
            "FORM\n   For the fiscal year ended August 29, 2021\n" + PROSE,
            "2021",
        ),
        ("a.txt", "", "ORLA MILLS\n03 MAR 2018 18:22\nTOTAL 8.20\n", "2018-03-03"),
        ("a.txt", "", "From: Ann\nDate: Tue, 4 May 2021 09:10:00 +0200\n\n" + PROSE, "2021-05-04"),
        ("a.txt", "", PROSE * 10 + "Filed: 4 May 2021\n", "2021-05-04"),
    ],
)
def test_a_date_of_its_own(name: str, title: str, beginning: str, expected: str) -> None:
    assert document_date(name, title, beginning) == expected


@pytest.mark.parametrize(
    ("name", "title", "beginning"),
    [
        ("a.txt", "", "On October 25, 1999, about noon, a boat sank near the harbour of Arlen.\n"),
        ("a.txt", "The flood of 3 May 1950 and what followed", PROSE),
        (
            "a.txt",
            "",
            PROSE * 10 + "The application was filed on 3 May 1950 and refused on the same day.\n",
        ),
        ("a.txt", "", "Date of birth: 3 May 1950\n"),
        ("a.txt", "", "Due date: 3 May 2021\n"),
        ("a.txt", "", "Date: 09/08/17\n"),
        ("receipt_1051.txt", "", PROSE),
        ("receipt_032.txt", "", ""),
        ("a.txt", "", "written about 3 May 1950\n"),
    ],
)
def test_dates_that_are_not_its_own(name: str, title: str, beginning: str) -> None:
    assert document_date(name, title, beginning) == ""


def test_a_known_order_of_day_and_month_reads_a_numeric_date() -> None:
    assert document_date("a.txt", "", "Date: 09/08/17\n", day_first=True) == "2017-08-09"
    assert document_date("a.txt", "", "Date: 09/08/17\n", day_first=False) == "2017-09-08"


def test_a_full_date_counts_more_than_a_year() -> None:
    assert document_date("orla_2021.txt", "", "Issued: 4 May 2020\n") == "2020-05-04"


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=400))
def test_any_text_gives_a_date_or_nothing(name: str, title: str, beginning: str) -> None:
    found = document_date(name, title, beginning)
    assert found == "" or 1900 <= int(found[:4]) < 2100


@pytest.mark.parametrize(
    ("dates", "place"),
    [
        (["2020-01-01", "2021-01-01"], 1),
        (["2021", "2020"], 0),
        (["2021-03", "2020-12-31"], 0),
        (["2020", "2020-03-01"], None),
        (["2020-03-01", "2020-03-01"], None),
        (["", "2020-03-01"], None),
        ([], None),
    ],
)
def test_the_newest_of_several(dates: list[str], place: int | None) -> None:
    assert newest(dates) == place
