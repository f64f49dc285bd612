"""Which headers are periods, and which fiscal year they mean."""

from __future__ import annotations

import pytest

from sliders.extraction.periods import read_period, stated_period


@pytest.mark.parametrize(
    ("header", "year", "months", "end"),
    [
        ("2019", 2019, 12, ""),
        ("FY2019", 2019, 12, ""),
        ("Fiscal 2019", 2019, 12, ""),
        ("Year Ended June 30, 2019", 2019, 12, "2019-06-30"),
        ("Years Ended December 3, 2021", 2021, 12, "2021-12-03"),
        ("52 Weeks Ended August 30, 2020", 2020, 12, "2020-08-30"),
        ("Fiscal year ended January 2, 2021", 2020, 12, "2021-01-02"),
        ("Three Months Ended March 31, 2018", 2018, 3, "2018-03-31"),
        ("As of December 31, 2018", 2018, 0, "2018-12-31"),
        ("2018 (restated)", 2018, 12, ""),
    ],
)
def test_a_header_that_is_a_period(header: str, year: int, months: int, end: str) -> None:
    period = read_period(header)
    assert period is not None
    assert (period.year, period.months, period.end) == (year, months, end)
    assert header[period.start : period.stop].isdigit()


@pytest.mark.parametrize(
    "header", ["", "Change in 2019", "2019 vs 2018", "% of revenue", "Tonnes", "Restructuring 2018", "Total", "12,019"]
)
def test_a_header_that_says_something_else(header: str) -> None:
    assert read_period(header) is None


def test_the_period_that_a_document_covers() -> None:
    text = "Annual report\n\nFor the fiscal year ended   March 28, 2015\n\nfor the transition period from    to   ."
    found = stated_period(text)
    assert found is not None
    period, start, end = found
    assert (period.year, period.end) == (2015, "2015-03-28")
    assert text[start:end] == "March 28, 2015"
    assert text[period.start : period.stop] == "2015"


def test_no_period_where_none_is_stated() -> None:
    assert stated_period("The year ended badly for the brewery. In 2015 it closed.") is None
