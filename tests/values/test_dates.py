"""Dates and datetimes: many printed forms, none of them completed by guessing."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.schema import Column
from sliders.values import ColumnType, Context, agrees, dates_in, infer_day_first, parse_value

DAY = Column("day", ColumnType.DATE)
MOMENT = Column("moment", ColumnType.DATETIME)


@pytest.mark.parametrize(
    ("printed", "iso"),
    [
        ("October 25, 1999", "1999-10-25"),
        ("Monday, 25th of October, 1999", "1999-10-25"),
        ("25 October 1999", "1999-10-25"),
        ("the twenty-fifth of October 1999", "1999-10-25"),
        ("October the first, 1999", "1999-10-01"),
        ("Thirty first December 1998", "1998-12-31"),
        ("25/10/1999", "1999-10-25"),
        ("10/25/1999", "1999-10-25"),
        ("11/11/2020", "2020-11-11"),
        ("25-12-18", "2018-12-25"),
        ("99-12-31", "1999-12-31"),
        ("03 MAR 2018", "2018-03-03"),
        ("03 MAR 18", "2018-03-03"),
        ("25-Dec-2018", "2018-12-25"),
        ("2018-03-03 18:22", "2018-03-03"),
        ("Mar 3, 2018", "2018-03-03"),
        ("Sept. 9, 1999", "1999-09-09"),
        ("28.10.1957", "1957-10-28"),
        ("03.04.2018", "2018-04-03"),
        ("born 14 March 1879 in Ulm", "1879-03-14"),
        ("this 6th day of February, 1999", "1999-02-06"),
        ("1er août 2015", "2015-08-01"),
        ("3. März 2020", "2020-03-03"),
        ("15 de enero de 2019", "2019-01-15"),
        ("14 févr. 2011", "2011-02-14"),
        ("20180303", "2018-03-03"),
    ],
)
def test_full_dates(printed: str, iso: str) -> None:
    assert parse_value(printed, DAY).value == iso


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("3/4/2018", "day-month or month-day"),
        ("Q3 2022", "no full date"),
        ("c. 1650", "uncertain"),
        ("before 1700", "uncertain"),
        ("circa 3 March 1650", "uncertain"),
        ("before 3 March 1650", "uncertain"),
        ("5 October 1582 (Julian)", "uncertain"),
        ("12 March 44 BC", "uncertain"),
        ("25–27 October 1999", "range of days"),
        ("March 3-5, 2018", "no full date"),
        ("yesterday", "not a date"),
        ("next Tuesday", "not a date"),
        ("today", "not a date"),
        ("31 February 2000", "no full date"),
        ("28 October 1957 - 16 November 2000", "2 dates"),
        ("The agreement of 3 May 2001 was amended to run from 4 June 2002", "2 dates"),
        ("soon", "'soon' is not a date"),
    ],
)
def test_no_part_is_invented(printed: str, reason: str) -> None:
    result = parse_value(printed, DAY)
    assert result.value is None
    assert reason in result.reason


def test_order_of_numeric_dates_comes_from_the_document() -> None:
    assert infer_day_first("25/10/1999 ; 3/4/2018") is True
    assert infer_day_first("as of 3/13/2020 and 4/1/2020") is False
    assert infer_day_first("3/4/2018") is None
    assert infer_day_first("25/10/1999 ; 10/25/1999") is None
    assert parse_value("3/4/2018", DAY, Context(day_first=True)).value == "2018-04-03"
    assert parse_value("3/4/2018", DAY, Context(day_first=False)).value == "2018-03-04"


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("May 2010", "2010-05"),
        ("1957", "1957"),
        ("05/2010", "2010-05"),
        ("in May of 2010", "2010-05"),
    ],
)
def test_partial_dates_keep_the_parts_that_are_printed(printed: str, value: str) -> None:
    assert parse_value(printed, DAY).value == value


@pytest.mark.parametrize(
    ("value", "printed", "fits"),
    [
        ("1999-10-25", "on October 25, 1999", True),
        ("1999-10", "on October 25, 1999", True),
        ("1999-10-25", "in October 1999", False),
        ("1999-10-25", "on October 25", True),
        ("1999-10-25", "on October 25 of the year 2001", False),
        ("2018-03-04", "3/4/2018", True),
        ("2018-04-03", "3/4/2018", True),
        ("2018-05-03", "3/4/2018", False),
        ("2000-11-16", "28 October 1957 - 16 November 2000", True),
        ("2018-03-03 18:22:00", "At 6:22 p.m. on 3 March 2018", True),
        ("2018-03-03 18:22:00", "At 7:22 p.m. on 3 March 2018", False),
    ],
)
def test_words_bear_out_a_date(value: str, printed: str, fits: bool) -> None:
    finding = agrees(value, printed, MOMENT)
    assert (finding == "") is fits
    assert fits or value in finding


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("03 MAR 2018 18:22", "2018-03-03 18:22:00"),
        ("2018-03-03T18:22:05Z", "2018-03-03 18:22:05"),
        ("25/12/2018 8:13:39 PM", "2018-12-25 20:13:39"),
        ("Oct. 5, 2001 at 3:15 p.m.", "2001-10-05 15:15:00"),
        ("11/11/2020, 12:00 AM", "2020-11-11 00:00:00"),
        ("3 March 2018", "2018-03-03"),
    ],
)
def test_datetimes(printed: str, value: str) -> None:
    assert parse_value(printed, MOMENT).value == value


def test_spans() -> None:
    text = "He lived from 28 October 1957 to 16 November 2000; see May 2010 and 1999."
    assert [(text[date.start : date.end], date.iso) for date in dates_in(text)] == [
        ("28 October 1957", "1957-10-28"),
        ("16 November 2000", "2000-11-16"),
        ("May 2010", "2010-05"),
        ("1999", "1999"),
    ]


def words(text: str) -> list[str]:
    return text.split()


_ENGLISH = words(
    "January February March April May June July August September October November December"
)
_GERMAN = words(
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
)
_FRENCH = words(
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
)
_SPANISH = words(
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
_FORMS = {
    "iso": lambda d: d.isoformat(),
    "english": lambda d: f"{_ENGLISH[d.month - 1]} {d.day}, {d.year}",
    "british": lambda d: f"{d.day} {_ENGLISH[d.month - 1]} {d.year}",
    "short": lambda d: f"{d.day:02d} {_ENGLISH[d.month - 1][:3].upper()} {d.year}",
    "hyphen": lambda d: f"{d.day:02d}-{_ENGLISH[d.month - 1][:3]}-{d.year}",
    "german": lambda d: f"{d.day}. {_GERMAN[d.month - 1]} {d.year}",
    "french": lambda d: f"{d.day} {_FRENCH[d.month - 1]} {d.year}",
    "spanish": lambda d: f"{d.day} de {_SPANISH[d.month - 1]} de {d.year}",
    "dots": lambda d: f"{d.day:02d}.{d.month:02d}.{d.year}",
    "slashes": lambda d: f"{d.day:02d}/{d.month:02d}/{d.year}",
    "phrase": lambda d: f"signed on {_ENGLISH[d.month - 1]} {d.day}, {d.year} in Ulm",
}
DATES = st.dates(dt.date(1000, 1, 1), dt.date(2999, 12, 31))


@given(DATES, st.sampled_from(sorted(_FORMS)))
def test_formatted_dates_round_trip(date: dt.date, form: str) -> None:
    result = parse_value(_FORMS[form](date), DAY, Context(day_first=True))
    assert result.value == date.isoformat()
    assert parse_value(str(result.value), DAY).value == date.isoformat()


@given(DATES)
def test_month_first_round_trip(date: dt.date) -> None:
    printed = f"{date.month}/{date.day}/{date.year}"
    assert parse_value(printed, DAY, Context(day_first=False)).value == date.isoformat()


@given(DATES)
def test_an_ambiguous_date_is_never_decided_alone(date: dt.date) -> None:
    value = parse_value(f"{date.day}/{date.month}/{date.year}", DAY).value
    swappable = date.day <= 12 and date.day != date.month
    assert value == (None if swappable else date.isoformat())
