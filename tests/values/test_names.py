"""Words for one country are one value, whatever form a document prints."""

from __future__ import annotations

import numpy as np
import pytest

from sliders.reconcile.canonical import Links, link_by_rule, representatives
from sliders.reconcile.column_codes import Encoded
from sliders.values.names import country_of, is_country_column


@pytest.mark.parametrize(
    ("words", "country"),
    [
        ("Spaniard", "Spain"),
        ("the USA", "United States"),
        ("Swedes", "Sweden"),
        ("Monegasque", "Monaco"),
        ("Côte d’Ivoire", "Ivory Coast"),
        ("Nigerien", "Niger"),
        ("Nigerian", "Nigeria"),
        ("North Korean", "North Korea"),
        ("Lisbon", None),
        ("", None),
    ],
)
def test_a_word_means_its_country(words: str, country: str | None) -> None:
    assert country_of(words) == country


def test_forms_of_one_country_are_one_value_that_the_countrys_name_stands_for() -> None:
    forms = ("Peruvian", "Peru", "Chile", "Greek", "Kurdish")
    codes = np.array([0, 0, 0, 1, 2, 3, 4], np.int64)
    links = Links(len(forms))
    link_by_rule(forms, links, (), "home")
    kept = representatives(Encoded(codes, forms), links, (), "home")
    assert {forms[code]: forms[stands] for code, stands in kept.items()} == {"Peru": "Peru", "Peruvian": "Peru"}


def test_a_column_of_other_things_keeps_words_that_are_also_countries_apart() -> None:
    forms = ("Georgia", "Georgian", "Baroque", "Gothic", "Tudor", "Regency")
    links = Links(len(forms))
    assert not is_country_column(forms)
    link_by_rule(forms, links, (), "style")
    assert links.find(0) != links.find(1)


def test_by_the_words_alone_each_legal_form_and_none_is_a_company_of_its_own() -> None:
    def joined(*forms: str) -> list[set[str]]:
        links = Links(len(forms))
        link_by_rule(forms, links, (), "seller")
        roots = [links.find(code) for code in range(len(forms))]
        return sorted(({f for f, r in zip(forms, roots, strict=True) if r == root} for root in set(roots)), key=sorted)

    assert joined("Moss Ltd", "Moss Inc", "Moss Limited", "Moss") == [{"Moss"}, {"Moss Inc"}, {"Moss Limited", "Moss Ltd"}]
    assert joined("Acme, Inc.", "ACME", "Acme Incorporated") == [{"ACME"}, {"Acme, Inc.", "Acme Incorporated"}]
