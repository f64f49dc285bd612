"""What is printed with a number that is not exact, in any of the languages that code knows."""

from __future__ import annotations

import re

import pytest

from sliders.values import bound_at, named_bound


def bound(printed: str) -> str:
    digits = re.search(r"\d[\d.,]*", printed)
    assert digits is not None
    return bound_at(printed, *digits.span())


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("<0.5", "<"),
        ("CRP < 0.5 mg/L", "<"),
        ("below 0.3", "<"),
        ("menos de 40", "<"),
        ("méně než 40", "<"),
        ("不到40", "<"),
        ("40 से कम", "<"),
        ("above 40", ">"),
        ("mehr als 5", ">"),
        ("超过300", ">"),
        ("a >5 b", ">"),
        ("more than 5", ">"),
        ("up to 30 days", "<="),
        ("no more than 5", "<="),
        ("不超过300", "<="),
        ("40% or less", "<="),
        ("au plus 40", "<="),
        ("≥ 40", ">="),
        ("at least 40 days", ">="),
        ("al menos 40", ">="),
        ("au moins 40", ">="),
        ("не менее 40", ">="),
        ("40人以上", ">="),
        ("40 이상", ">="),
        ("30 days or more", ">="),
        ("40+ years", ">="),
        ("about 300", "about"),
        ("300 or so", "about"),
        ("ca. 300", "about"),
        ("около 40 млн", "about"),
        ("约300人", "about"),
        ("~300", "about"),
        ("between 300 and 400 people", "between 300 and 400"),
        ("between 300 kg and 400 kg", "between 300 and 400"),
        ("zwischen 300 und 400", "between 300 and 400"),
        ("entre 3 y 5", "between 3 and 5"),
        ("300から400の間", "between 300 and 400"),
    ],
)
def test_a_bound_is_read_where_it_stands(printed: str, expected: str) -> None:
    assert bound(printed) == expected


@pytest.mark.parametrize(
    "printed",
    [
        "40",
        "moreover 40",
        "leftover 40",
        "> 40 said the letter",
        "the prices 40 and 50",
        "40-50",
        "40 to 50",
        "a -> 40",
        "n=40",
        "5 ± 2",
    ],
)
def test_other_words_and_signs_are_no_bounds(printed: str) -> None:
    assert bound(printed) == ""


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("≤", "<="),
        ("At least", ">="),
        ("about", "about"),
        ("between 2 and 3", "between 2 and 3"),
        (None, ""),
        ("", ""),
        (3, ""),
    ],
)
def test_a_reader_may_name_a_bound_in_its_own_words(said: object, expected: str) -> None:
    assert named_bound(said) == expected


@pytest.mark.parametrize(
    "printed",
    [
        "ein Vertrag über 4000 EUR",
        "unter 3 Bewerbern",
        "wins over 4 rivals",
        "under 40 directors",
        "a walk around 3 lakes",
        "alrededor de 3 plazas",
        "cerca de 3 colegios",
        "près de 3 écoles",
        "3 camere oltre 2 bagni",
        "boven 3 kamers",
        "přes 3 mosty",
        "kolem 3 stolů",
        "intorno a 3 tavoli",
        "hasta 40",
        "até 40",
        "fino a 40",
        "jusqu'à 40",
        "до 40",
        "reached a maximum of 41",
        "San Diego, CA 92101",
        "c. 40",
        "OK. 40 people",
        "nach 3 Wochen",
        "the above 3 points",
        "en plus de 3 salles",
        "节约40万元",
        "共签约3份",
        "契約3件",
        "予約40件",
        "계약 3건",
        "예약 40건",
        "找不到3个",
        "3家超市",
        "역대 최대 40",
        "نحو 3 مدن",
    ],
)
def test_a_word_of_two_senses_before_a_number_is_no_bound(printed: str) -> None:
    assert bound(printed) == ""


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("nicht mehr als 40", "<="),
        ("pas plus de 40", "<="),
        ("no menos de 40", ">="),
        ("nie więcej niż 40", "<="),
        ("не больше 40", "<="),
        ("non meno di 40", ">="),
        ("不高于40", "<="),
        ("没有超过40", "<="),
        ("약 40건", "about"),
        ("共约300人", "about"),
    ],
)
def test_a_bound_that_is_denied_is_its_opposite(printed: str, expected: str) -> None:
    assert bound(printed) == expected
