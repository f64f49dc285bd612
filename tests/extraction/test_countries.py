"""Words for one country are one value, whatever form a document prints."""

from __future__ import annotations

import numpy as np
import pytest

from sliders.answer.match import same
from sliders.extraction.coerce import CoerceContext, coerce
from sliders.extraction.countries import citizenship_in, country_of, is_country_column
from sliders.extraction.sentences import told_in_sentence
from sliders.reconcile.canonical import Links, link_by_rule, variants_of
from sliders.reconcile.profile import Encoded
from sliders.schema.types import Column, ColumnType


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
    variants = variants_of(Encoded(codes, forms), links, (), "home")
    assert variants.clusters[0] == variants.clusters[1]
    assert forms[variants.representative[variants.clusters[0]]] == "Peru"
    assert len({int(c) for c in variants.clusters}) == 4


def test_a_column_of_other_things_keeps_words_that_are_also_countries_apart() -> None:
    forms = ("Georgia", "Georgian", "Baroque", "Gothic", "Tudor", "Regency")
    links = Links(len(forms))
    assert not is_country_column(forms)
    link_by_rule(forms, links, (), "style")
    assert links.find(0) != links.find(1)


def test_a_literal_finds_the_words_for_its_country() -> None:
    assert same("Norway", ["Norwegian", "Danish", "norway"]) == ["Norwegian", "norway"]
    assert same("Danish", ["Dane", "Denmark", "Finn"]) == ["Dane", "Denmark"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ines Vala (born 1961) is a retired Chilean pilot from Lima, Peru.", "Chilean"),
        ("Tom Reed was an U.S. senator.", "U.S."),
        ("Mara Oduya was one of the first South African divers.", "South African"),
        ("He was born in Spain. He is a Franco-Swiss baker.", None),
        ("She was the mayor of Oslo, Norway.", None),
    ],
)
def test_the_introduction_says_whose_citizen_somebody_is(text: str, words: str | None) -> None:
    found = citizenship_in(text)
    assert (text[found[0] : found[1]] if found else None) == words


def test_a_column_of_countries_holds_the_country_for_the_word_that_is_printed() -> None:
    country = Column("country", ColumnType.TEXT, "country; citizens")
    assert coerce("Danish", country).value == "Denmark"
    assert coerce("Scottish", country).value == "United Kingdom"
    assert coerce("Scottish", Column("country", ColumnType.TEXT)).value == "Scotland"
    assert coerce("Danish", Column("nationality", ColumnType.TEXT)).value == "Danish"
    told = told_in_sentence(country, "Kai Holm was a Danish painter in Rome.", CoerceContext())
    assert told is not None and told[2].value == "Denmark"
