"""Numbers as they are printed, in many locales, scales and words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.schema import Column
from sliders.values import (
    ColumnType,
    Context,
    agrees,
    head_note,
    infer_decimal,
    is_note,
    numbers_in,
    parse_value,
    scale_in,
    title_note,
)

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
        ("Rs 1,20,000 crore", 1_200_000_000_000),
        ("try 5 times", 5),
        ("4,2 Mio. €", 4_200_000),
        ("half", 0.5),
        ("3 1/2", 3.5),
        ("3½", 3.5),
        ("1,577*", 1577),
        ("1,577 [2]", 1577),
        ("45^1", 45),
        ("45¹", 45),
        ("(45)^1", -45),
        ("$45^1,2", 45),
        ("45[1] EUR", 45),
        ("10^6", 1_000_000),
        ("10⁶", 1_000_000),
        ("10^-3", 0.001),
        ("1.5 × 10^6 kg", 1_500_000),
        ("3.5 ± 1.2", 3.5),
    ],
)
def test_number_column(printed: str, value: float) -> None:
    assert parse_value(printed, NUMBER).value == value


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
        ("none", 0),
        ("No", 0),
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
    result = parse_value(printed, WHOLE)
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
    result = parse_value(printed, column)
    assert result.value is None and not result.absent
    assert reason in result.reason
    assert printed in result.reason or reason == "whole number"


@pytest.mark.parametrize("printed", ["", "null", "N/A", "n.a.", "-", "—", " – "])
@pytest.mark.parametrize("type_", list(ColumnType))
def test_absent_markers_are_not_stated(printed: str, type_: ColumnType) -> None:
    result = parse_value(printed, Column("c", type_))
    assert result.absent
    assert (result.value is None and result.reason) or result.value == printed.strip()


MONEY = Column("x", ColumnType.NUMBER, currency="USD")
MILLIONS = Column("x", ColumnType.NUMBER, scale="millions")
PERCENT = Column("x", ColumnType.NUMBER, unit="%")
SHARE = Column("x", ColumnType.NUMBER, unit="share")
NOTE = Context(note="(in millions, except per share data)")


@pytest.mark.parametrize(
    ("printed", "column", "context", "value"),
    [
        ("1,577", MONEY, Context(note="thousands"), 1_577_000),
        ("1,577", MILLIONS, Context(note="thousands"), 1.577),
        ("1,577", MILLIONS, Context(note="millions"), 1577),
        ("$14.7 billion", MILLIONS, Context(note="thousands"), 14700),
        ("2,000,000,000", MILLIONS, None, 2000),
        ("$ (1.5)", MONEY, NOTE, -1_500_000),
        ("1.23", Column("x", ColumnType.NUMBER, unit="USD per share", currency="USD"), NOTE, 1.23),
        ("2020", WHOLE, Context(note="thousands"), 2020),
        ("12%", NUMBER, Context(note="millions"), 12),
        ("12%", SHARE, None, 0.12),
        ("12%", PERCENT, None, 12),
        ("12", SHARE, None, 0.12),
        ("0.12", SHARE, None, 0.12),
        ("25 basis points", PERCENT, None, 0.25),
        (
            "1,577",
            Column("x", ColumnType.NUMBER, unit="USD millions"),
            Context(note="thousands"),
            1.577,
        ),
        ("1,577", Column("x", ColumnType.NUMBER, unit="$"), Context(note="thousands"), 1_577_000),
        ("42 miles", Column("x", ColumnType.NUMBER, unit="miles"), Context(note="in miles"), 42),
        ("22.268", Column("area", ColumnType.NUMBER), Context(decimal=","), 22268),
        ("1,577", Column("area", ColumnType.NUMBER), Context(decimal=","), 1.577),
    ],
)
def test_scales_and_percents(
    printed: str, column: Column, context: Context | None, value: float
) -> None:
    assert parse_value(printed, column, context or Context()).value == pytest.approx(
        value, rel=1e-12
    )


@pytest.mark.parametrize(
    ("printed", "column", "value"),
    [
        ("110 points, 12 rebounds", Column("x", ColumnType.INTEGER, unit="points"), 110),
        ("42 km in 3 hours", Column("distance", ColumnType.NUMBER, unit="km"), 42),
        ("16 (80%)", PERCENT, 80),
        ("3 books for $12.50", Column("price", ColumnType.NUMBER, currency="USD"), 12.5),
    ],
)
def test_the_column_picks_among_several_numbers(printed: str, column: Column, value: float) -> None:
    assert parse_value(printed, column).value == value


@pytest.mark.parametrize(
    ("printed", "currency"),
    [
        ("€5", "EUR"),
        ("US$ 5", "USD"),
        ("RM 5", "MYR"),
        ("5 euros", "EUR"),
        ("CHF 5", "CHF"),
        ("$5", "$"),
        ("5", ""),
    ],
)
def test_currencies_are_recorded(printed: str, currency: str) -> None:
    (number,) = numbers_in(printed)
    assert number.currency == currency


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
        ("(Millions)", "millions"),
        ("Millions of U.S. dollars", "millions"),
        ("(in US$ thousands)", "thousands"),
        ("$MM", "millions"),
        ("Rs. in crore", "crores"),
        ("USD bn", "billions"),
        ("all in all 5 million people", ""),
        ("12,000 people", ""),
        ("in March", ""),
        ("", ""),
    ],
)
def test_scale_notes(note: str, scale: str) -> None:
    assert scale_in(note) == scale


@pytest.mark.parametrize(
    ("printed", "unit", "value"),
    [
        ("17 feet", "m", 5.1816),
        ("17 feet", "ft", 17),
        ("a 17-foot fall", "feet", 17),
        ("seventeen feet", "feet", 17),
        ("5 ft 11 in", "inches", 71),
        ("6 feet, 2 inches", "cm", 187.96),
        ("2 hours and 30 minutes", "minutes", 150),
        ("two years and three months", "months", 27),
        ("68 °F", "°C", 20),
        ("60 miles per hour", "km/h", 96.56064),
        ("3 acres", "ha", 1.21405692672),
        ("5 in 2018", "", None),
    ],
)
def test_units_convert_within_one_dimension(printed: str, unit: str, value: float | None) -> None:
    result = parse_value(printed, Column("x", ColumnType.NUMBER, unit=unit))
    assert result.value == (value if value is None else pytest.approx(value))
    assert (value is None) == bool(result.reason)


def test_a_unit_or_currency_that_does_not_convert_is_told() -> None:
    distance = Column("x", ColumnType.NUMBER, unit="km")
    assert parse_value("5 hours", distance).value == 5
    assert "column in km" in agrees(5, "5 hours", distance)
    assert "column in EUR" in agrees(5, "$5", Column("x", ColumnType.NUMBER, currency="EUR"))


@given(
    st.integers(1, 10**6),
    st.sampled_from([("km", "m"), ("ft", "in"), ("hours", "minutes"), ("kg", "g")]),
)
def test_units_there_and_back(value: int, units: tuple[str, str]) -> None:
    large, small = units
    there = parse_value(f"{value:,} {large}", Column("x", ColumnType.NUMBER, unit=small)).value
    assert parse_value(
        f"{there} {small}", Column("x", ColumnType.NUMBER, unit=large)
    ).value == pytest.approx(value)


def test_numbers_in_gives_spans_and_skips_identifiers() -> None:
    text = (
        "N47BA carried 1,569 kg (twelve crates) on 3/4/2018 at 18:22, 7-day mean −5.5%, "
        "ids A-12 and 12B."
    )
    found = [(number.text, number.value) for number in numbers_in(text)]
    assert found == [("1,569", 1569), ("twelve", 12), ("7", 7), ("−5.5%", -5.5)]
    assert all(text[number.start : number.end] == number.text for number in numbers_in(text))


def test_plain_spaces_group_digits_only_in_a_single_value() -> None:
    assert [number.value for number in numbers_in("118 573")] == [118, 573]
    assert parse_value("118 573", NUMBER).value == 118573


def test_infer_decimal() -> None:
    assert infer_decimal("1.234,56 and 12,5") == ","
    assert infer_decimal("1,234.56 ; 3.5") == "."
    assert infer_decimal("2.556.697") == ","
    assert infer_decimal("141,3 ; 138.1") == ""
    assert infer_decimal("1,577 and 22.268") == ""
    assert infer_decimal("see [1,2]") == ""
    assert infer_decimal("8,20 and 9,50") == ","


LOCALES = [
    (",", "."),
    (".", ","),
    ("\u00a0", ","),
    ("\u202f", ","),
    ("'", "."),
    ("’", "."),
    (" ", ","),
]


@given(
    st.integers(-(10**12), 10**12),
    st.integers(0, 99),
    st.sampled_from(LOCALES),
    st.sampled_from(["{}", "$ {}", "{} €", "about {}", "{} people", "USD {}"]),
)
def test_formatted_numbers_round_trip(
    whole: int, cents: int, marks: tuple[str, str], frame: str
) -> None:
    group, decimal = marks
    digits = f"{abs(whole):,}".replace(",", group)
    printed = f"{'-' if whole < 0 else ''}{digits}{decimal}{cents:02d}"
    if frame != "{}" and whole < 0:
        printed = printed[1:]
        whole = -whole
    expected = float(f"{'-' if whole < 0 else ''}{abs(whole)}.{cents:02d}")
    if group == " " and frame == "about {}":
        frame = "{}"
    assert parse_value(frame.format(printed), NUMBER).value == pytest.approx(expected)


@given(st.integers(0, 10**9), st.sampled_from([",", ".", "\u00a0", "'"]))
def test_grouped_integers_round_trip(whole: int, group: str) -> None:
    assert parse_value(f"{whole:,}".replace(",", group), WHOLE).value == whole


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def spell(value: int, british: bool) -> str:
    """English words for 0 to 10**12 - 1, written for this test."""
    small, tens = _SMALL.split(), _TENS.split()
    if value < 20:
        return small[value]
    if value < 100:
        return tens[value // 10 - 2] + (f"-{small[value % 10]}" if value % 10 else "")
    for power, name in (
        (10**9, "billion"),
        (10**6, "million"),
        (1000, "thousand"),
        (100, "hundred"),
    ):
        if value >= power:
            rest = value % power
            joint = " and " if british and 0 < rest < 100 else " "
            return f"{spell(value // power, british)} {name}" + (
                joint + spell(rest, british) if rest else ""
            )
    raise AssertionError(value)


@given(st.integers(0, 10**12 - 1), st.booleans())
def test_number_words_round_trip(value: int, british: bool) -> None:
    assert parse_value(spell(value, british), WHOLE).value == value
    assert parse_value(spell(value, british).upper(), WHOLE).value == value


@given(
    st.text(max_size=80), st.sampled_from(list(ColumnType)), st.sampled_from(["thousands", "", "x"])
)
def test_never_raises_and_always_says_why(text: str, type_: ColumnType, scale: str) -> None:
    column = Column("some_value", type_, "a value", values=("low", "high"), scale=scale)
    result = parse_value(text, column, Context(note=f"{text} in {scale}"))
    assert (result.value is None) == bool(result.reason)


_FRAGMENTS = (
    "1,577 (5.2)% $ € 12 % the pilot and two of 3 no not 2018 March million half - – ( ) 1/2 a "
    "dozen , feet in km"
)


@given(
    st.lists(st.sampled_from(tuple(_FRAGMENTS.split())), max_size=9),
    st.sampled_from(list(ColumnType)),
    st.sampled_from(["", "m", "%"]),
)
def test_what_is_parsed_is_borne_out_by_its_words(
    pieces: list[str], type_: ColumnType, unit: str
) -> None:
    words, column = " ".join(pieces), Column("killed", type_, unit=unit)
    result = parse_value(words, column)
    assert (result.value is None) == bool(result.reason)
    if result.value is not None and (finding := agrees(result.value, words, column)):
        assert "the column in" in finding


@given(st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9).map(lambda value: round(value, 3)))
def test_values_are_fixed_points(value: float) -> None:
    once = parse_value(f"{value:.4f}" if isinstance(value, float) else str(value), NUMBER).value
    assert once == pytest.approx(value)
    assert parse_value(
        str(once) if abs(float(str(once))) < 1e6 else f"{once:f}", NUMBER
    ).value == pytest.approx(once)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("Harbour Press (M) Limited", ""),
        ("Rope (B)", ""),
        ("Sales (K)", ""),
        ("Sales ($M)", "$M"),
        ("Sales (m€)", "m€"),
        ("Sales (in millions)", "in millions"),
    ],
)
def test_one_letter_in_brackets_is_no_scale_of_the_lines_below(line: str, note: str) -> None:
    assert title_note(line) == note


def test_a_line_of_one_letter_is_no_note() -> None:
    assert [is_note(line) for line in ("(M)", "(B)", "($M)", "（万元）")] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("head", "note"),
    [
        ("Revenue (M)", "in millions"),
        ("Revenue [K]", "in thousands"),
        ("(B)", "in billions"),
        ("Length (m)", ""),
        ("Class (A)", ""),
        ("Alder (M) Sdn Bhd", ""),
        ("Revenue", ""),
    ],
)
def test_a_letter_behind_a_column_name_is_a_scale(head: str, note: str) -> None:
    assert head_note(head) == note
