"""Numbers as they are printed, in many locales, scales and words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.extraction.cell import Absence
from sliders.extraction.coerce import CoerceContext, coerce
from sliders.extraction.numbers import infer_decimal, numbers_in
from sliders.extraction.scales import scale_in
from sliders.schema.types import Column, ColumnType

WHOLE = Column("count", ColumnType.INTEGER)
NUMBER = Column("amount", ColumnType.NUMBER)


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("1,577", 1577),
        ("(1,577)", -1577),
        ("$(1,577)", -1577),
        ("($ 1,577)", -1577),
        ("(5.2)%", -5.2),
        ("2.556.697", 2556697),
        ("22.268", 22.268),
        ("141,3", 141.3),
        ("1 234,5", 1234.5),
        ("1\u00a0234,5", 1234.5),
        ("1\u2009234\u2009567", 1234567),
        ("1'234'567.89", 1234567.89),
        ("12,34,567", 1234567),
        ("$8.20", 8.2),
        ("RM 12.50", 12.5),
        ("€1.234,56", 1234.56),
        ("1.234,56 €", 1234.56),
        ("12%", 12),
        ("−5", -5),
        ("minus 5", -5),
        ("5,5 million", 5_500_000),
        ("$14.7 billion", 14_700_000_000),
        ("$14.7-billion", 14_700_000_000),
        ("1.2bn", 1_200_000_000),
        ("3k", 3000),
        ("€5m", 5_000_000),
        ("4,2 Mio. €", 4_200_000),
        ("half", 0.5),
        ("3 1/2", 3.5),
        ("3½", 3.5),
        ("1,577*", 1577),
        ("1,577 [2]", 1577),
        ("3.5 ± 1.2", 3.5),
    ],
)
def test_number_column(printed: str, value: float) -> None:
    assert coerce(printed, NUMBER).value == value


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("22.268", 22268),
        ("six", 6),
        ("Twenty-seven", 27),
        ("two hundred and thirty", 230),
        ("one thousand two hundred and five", 1205),
        ("a dozen", 12),
        ("three dozen", 36),
        ("half a dozen", 6),
        ("nine hundred thousand", 900_000),
        ("two and a half million", 2_500_000),
        ("two million three hundred and five", 2_000_305),
        ("twelve hundred", 1200),
        ("third", 3),
        ("the twenty-first", 21),
        ("3rd", 3),
        ("about 1,200", 1200),
        ("a total of 3,957 patients in intensive care", 3957),
        ("16 (80%)", 16),
        ("As of 11/11/2020, 3,127 patients", 3127),
        ("the 7-day count reached 138", 138),
        ("COVID-19 wards: 12", 12),
    ],
)
def test_integer_column(printed: str, value: int) -> None:
    result = coerce(printed, WHOLE)
    assert result.value == value
    assert isinstance(result.value, int)


@pytest.mark.parametrize(
    ("column", "printed", "reason"),
    [
        (WHOLE, "5-7", "range"),
        (WHOLE, "3.5", "whole number"),
        (WHOLE, "12 apples, 5 pears", "2 numbers"),
        (NUMBER, "between 4 and 6 metres", "2 numbers"),
        (NUMBER, "a lot", "no number"),
        (NUMBER, "version 1.2.3", "no number"),
        (NUMBER, "N345AN", "no number"),
        (NUMBER, "4/5", "no number"),
        (NUMBER, "18:22", "no number"),
        (WHOLE, "9" * 30, "64-bit"),
        (WHOLE, "9" * 5000, "no number"),
    ],
)
def test_what_does_not_parse_says_why(column: Column, printed: str, reason: str) -> None:
    result = coerce(printed, column)
    assert result.value is None
    assert result.absence is Absence.NOT_PARSED
    assert reason in result.detail
    assert printed in result.detail or reason == "whole number"


@pytest.mark.parametrize("printed", ["none", "no", "nil"])
def test_zero_words_are_derived_zeros(printed: str) -> None:
    result = coerce(printed, WHOLE)
    assert (result.value, result.derived) == (0, True)
    assert printed in result.rationale


@pytest.mark.parametrize("printed", ["", "null", "N/A", "n.a.", "not stated", "Unknown", "-", "—", " – "])
@pytest.mark.parametrize("type_", list(ColumnType))
def test_absent_markers_are_not_stated(printed: str, type_: ColumnType) -> None:
    result = coerce(printed, Column("c", type_))
    assert result.value is None
    assert result.absence is Absence.NOT_STATED


def test_approximation_and_bound_are_noted() -> None:
    about, bound = coerce("about 1,200", WHOLE), coerce("more than 300", WHOLE)
    assert "about" in about.rationale and not about.derived
    assert "more than" in bound.rationale and bound.derived


@pytest.mark.parametrize(
    ("printed", "column", "context", "value"),
    [
        ("1,577", Column("revenue", ColumnType.NUMBER), CoerceContext(scale="thousands"), 1_577_000),
        ("1,577", Column("revenue", ColumnType.NUMBER, scale="millions"), CoerceContext(scale="thousands"), 1.577),
        ("1,577", Column("revenue", ColumnType.NUMBER, scale="millions"), CoerceContext(scale="millions"), 1577),
        (
            "$14.7 billion",
            Column("revenue", ColumnType.NUMBER, scale="millions"),
            CoerceContext(scale="thousands"),
            14700,
        ),
        ("2,000,000,000", Column("revenue", ColumnType.NUMBER, scale="millions"), None, 2000),
        (
            "(1.5)",
            Column("loss", ColumnType.NUMBER),
            CoerceContext(note="(in millions, except per share data)"),
            -1_500_000,
        ),
        ("1.23", Column("eps", ColumnType.NUMBER), CoerceContext(note="(in millions, except per share data)"), 1.23),
        ("1.23", Column("dividend", ColumnType.NUMBER, "dividend per share"), CoerceContext(scale="millions"), 1.23),
        ("2020", Column("fiscal_year", ColumnType.INTEGER), CoerceContext(scale="thousands"), 2020),
        ("12%", Column("margin", ColumnType.NUMBER), CoerceContext(scale="millions"), 12),
        ("12%", Column("margin", ColumnType.NUMBER, percent_range="0_1"), None, 0.12),
        ("12%", Column("margin", ColumnType.NUMBER, percent_range="0_100"), None, 12),
        ("12", Column("margin", ColumnType.NUMBER, percent_range="0_1"), None, 0.12),
        ("0.12", Column("margin", ColumnType.NUMBER, percent_range="0_1"), None, 0.12),
        ("22.268", Column("area", ColumnType.NUMBER), CoerceContext(decimal=","), 22268),
        ("1,577", Column("area", ColumnType.NUMBER), CoerceContext(decimal=","), 1.577),
    ],
)
def test_scales_and_percents(printed: str, column: Column, context: CoerceContext | None, value: float) -> None:
    assert coerce(printed, column, context=context).value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("printed", "column", "value"),
    [
        ("110 points, 12 rebounds", Column("points", ColumnType.INTEGER), 110),
        ("42 km in 3 hours", Column("distance", ColumnType.NUMBER, unit="km"), 42),
        ("16 (80%)", Column("share", ColumnType.NUMBER, percent_range="0_100"), 80),
        ("3 books for $12.50", Column("price", ColumnType.NUMBER, currency="USD"), 12.5),
    ],
)
def test_the_column_picks_among_several_numbers(printed: str, column: Column, value: float) -> None:
    result = coerce(printed, column)
    assert result.value == value
    assert printed in result.rationale


@pytest.mark.parametrize(
    ("printed", "column", "currency"),
    [
        ("€5", NUMBER, "EUR"),
        ("US$ 5", NUMBER, "USD"),
        ("RM 5", NUMBER, "MYR"),
        ("5 euros", NUMBER, "EUR"),
        ("CHF 5", NUMBER, "CHF"),
        ("$5", NUMBER, "$"),
        ("$5", Column("price", ColumnType.NUMBER, currency="CAD"), "CAD"),
        ("5", Column("price", ColumnType.NUMBER, currency="EUR"), "EUR"),
    ],
)
def test_currencies_are_recorded(printed: str, column: Column, currency: str) -> None:
    assert coerce(printed, column).currency == currency


@pytest.mark.parametrize(
    ("note", "scale"),
    [
        ("in thousands", "thousands"),
        ("(In millions, except per share data)", "millions"),
        ("dollars in millions", "millions"),
        ("$000", "thousands"),
        ("(000s)", "thousands"),
        ("TEUR", "thousands"),
        ("€m", "millions"),
        ("in Mio. €", "millions"),
        ("in Mrd. Euro", "billions"),
        ("12,000 people", ""),
        ("in March", ""),
        ("", ""),
    ],
)
def test_scale_notes(note: str, scale: str) -> None:
    assert scale_in(note) == scale


def test_fiscal_and_plain_years_from_dates() -> None:
    assert coerce("December 31, 2020", Column("fiscal_year", ColumnType.INTEGER)).value == 2020
    assert coerce("January 31, 2021", Column("fiscal_year", ColumnType.INTEGER)).value is None
    event = coerce("October 25, 1999", Column("event_year", ColumnType.INTEGER))
    assert (event.value, event.derived) == (1999, True)


def test_numbers_in_gives_spans_and_skips_identifiers() -> None:
    text = "N47BA carried 1,569 kg (twelve crates) on 3/4/2018 at 18:22, 7-day mean −5.5%, ids A-12 and 12B."
    found = [(number.text, number.value) for number in numbers_in(text)]
    assert found == [("1,569", 1569), ("twelve", 12), ("7", 7), ("−5.5%", -5.5)]
    assert all(text[number.start : number.end] == number.text for number in numbers_in(text))


def test_plain_spaces_group_digits_only_in_a_single_value() -> None:
    assert [number.value for number in numbers_in("118 573")] == [118, 573]
    assert coerce("118 573", NUMBER).value == 118573


def test_infer_decimal() -> None:
    assert infer_decimal(["1.234,56 and 12,5"]) == ","
    assert infer_decimal(["1,234.56", "3.5"]) == "."
    assert infer_decimal(["2.556.697"]) == ","
    assert infer_decimal(["141,3", "138.1"]) == ""
    assert infer_decimal(["1,577 and 22.268"]) == ""
    assert infer_decimal(["see [1,2]"]) == ""
    assert infer_decimal(["8,20 and 9,50"]) == ","


LOCALES = [(",", "."), (".", ","), ("\u00a0", ","), ("\u202f", ","), ("'", "."), ("’", "."), (" ", ",")]


@given(
    st.integers(-(10**12), 10**12),
    st.integers(0, 99),
    st.sampled_from(LOCALES),
    st.sampled_from(["{}", "$ {}", "{} €", "about {}", "{} people", "USD {}"]),
)
def test_formatted_numbers_round_trip(whole: int, cents: int, marks: tuple[str, str], frame: str) -> None:
    group, decimal = marks
    digits = f"{abs(whole):,}".replace(",", group)
    printed = f"{'-' if whole < 0 else ''}{digits}{decimal}{cents:02d}"
    if frame != "{}" and whole < 0:
        printed = printed[1:]
        whole = -whole
    expected = float(f"{'-' if whole < 0 else ''}{abs(whole)}.{cents:02d}")
    if group == " " and frame == "about {}":
        frame = "{}"
    assert coerce(frame.format(printed), NUMBER).value == pytest.approx(expected)


@given(st.integers(0, 10**9), st.sampled_from([",", ".", "\u00a0", "'"]))
def test_grouped_integers_round_trip(whole: int, group: str) -> None:
    assert coerce(f"{whole:,}".replace(",", group), WHOLE).value == whole


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def spell(value: int, british: bool) -> str:
    """English words for 0 to 10**12 - 1, written for this test."""
    small, tens = _SMALL.split(), _TENS.split()
    if value < 20:
        return small[value]
    if value < 100:
        return tens[value // 10 - 2] + (f"-{small[value % 10]}" if value % 10 else "")
    for power, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if value >= power:
            rest = value % power
            joint = " and " if british and 0 < rest < 100 else " "
            return f"{spell(value // power, british)} {name}" + (joint + spell(rest, british) if rest else "")
    raise AssertionError(value)


@given(st.integers(0, 10**12 - 1), st.booleans())
def test_number_words_round_trip(value: int, british: bool) -> None:
    assert coerce(spell(value, british), WHOLE).value == value
    assert coerce(spell(value, british).upper(), WHOLE).value == value


@given(st.text(max_size=80), st.sampled_from(list(ColumnType)), st.sampled_from(["thousands", "", "x"]))
def test_never_raises_and_always_says_why(text: str, type_: ColumnType, scale: str) -> None:
    column = Column("some_value", type_, "a value", values=("low", "high"), scale=scale)
    result = coerce(text, column, context=CoerceContext(note=text, scale=scale))
    assert (result.value is None) == (result.absence is not None)
    assert result.value is not None or result.detail


_FRAGMENTS = "1,577 (5.2)% $ € 12 % the pilot and two of 3 no not 2018 March million half - – ( ) 1/2 a dozen ,"
_PIECES = st.lists(
    st.sampled_from(tuple(_FRAGMENTS.split())),
    max_size=9,
)


@given(_PIECES, st.sampled_from(list(ColumnType)))
def test_never_raises_on_fragments_of_values(pieces: list[str], type_: ColumnType) -> None:
    result = coerce(" ".join(pieces), Column("people_killed", type_, "number of people killed"))
    assert (result.value is None) == (result.absence is not None)


@given(st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9).map(lambda value: round(value, 3)))
def test_values_are_fixed_points(value: float) -> None:
    once = coerce(f"{value:.4f}" if isinstance(value, float) else str(value), NUMBER).value
    assert once == pytest.approx(value)
    assert coerce(str(once) if abs(float(str(once))) < 1e6 else f"{once:f}", NUMBER).value == pytest.approx(once)
