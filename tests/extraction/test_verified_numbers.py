"""Printed marks that make a number negative, units over units, and what rounding may change."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sliders.values import ColumnType, Expected, convert, dimension, numbers_in, rounds_to, typed


@pytest.mark.parametrize(
    "printed",
    [
        "412.80-",
        "Fee 412.80- on account",
        "412.80 CR",
        "412.80 Cr",
        "412.80CR",
        "(412.80)",
        "Credit (412.80)",
        "Credit ($412.80)",
        "minus 412.80",
        "−412.80",
        "$412.80-",
        "| 412.80- |",
        "△412.80",
    ],
)
def test_an_amount_with_a_mark_of_a_credit_is_negative(printed: str) -> None:
    assert [number.value for number in numbers_in(printed)] == [-412.8]


@pytest.mark.parametrize(
    "printed",
    [
        "412.80",
        "412.80 DR",
        "Rs. 412.80 Cr",
        "the amount (412.80) was paid",
        "412.80 - see note",
        "412.80-\nfoot",
        "al menos 412.80",
    ],
)
def test_an_amount_without_one_is_not(printed: str) -> None:
    assert [number.value for number in numbers_in(printed)] == [412.8]


@pytest.mark.parametrize(
    ("printed", "values"),
    [
        ("7- and 8-year-olds", [7, 8]),
        ("412.80-415.20", [412.8, 415.2]),
        ("16 (80)", [16, 80]),
        ("Cloud (45.2%)", [45.2]),
        ("Revenue 1,234 (1,100)", [1234, 1100]),
        ("pages 12- 14", [12, 14]),
        ("10,000-\nfoot runway", [10000]),
        ("Smith (2021)", [2021]),
    ],
)
def test_a_hyphen_and_brackets_of_prose_are_no_signs(printed: str, values: list[float]) -> None:
    assert [number.value for number in numbers_in(printed)] == values


@pytest.mark.parametrize(
    ("printed", "wanted", "factor"),
    [
        ("mg/L", "g/L", "0.001"),
        ("mg/dL", "g/L", "0.01"),
        ("µmol/L", "mmol/L", "0.001"),
        ("km/h", "m/s", None),
        ("mg/dL", "mmol/L", ""),
    ],
)
def test_a_unit_over_a_unit_converts_within_what_it_measures(
    printed: str, wanted: str, factor: str | None
) -> None:
    converted = convert(Decimal(1), printed, wanted)
    assert (converted is None) == (factor == "") and dimension(printed)
    assert not factor or converted == Decimal(factor)


@pytest.mark.parametrize(
    ("value", "exact", "whole", "rounded"),
    [
        (7.72, 139 / 18, False, True),
        (7.7, 139 / 18, False, True),
        (7.71, 139 / 18, False, False),
        (8, 139 / 18, False, False),
        (8, 139 / 18, True, True),
        (67, 200 / 3, False, True),
        (1981, 1980, False, False),
        (434999999.99999994, 435000000, False, True),
        (0, 0.004, False, False),
        (1981, 1980, True, False),
    ],
)
def test_a_value_may_be_rounded_to_the_digits_that_it_has(
    value: float, exact: float, whole: bool, rounded: bool
) -> None:
    assert rounds_to(value, exact, whole=whole) is rounded


def test_the_noise_of_arithmetic_leaves_a_whole_number_whole() -> None:
    whole = Expected(ColumnType.INTEGER)
    assert typed(434999999.99999994, whole).value == 435_000_000
    assert typed(434999999.5, whole).value is None
