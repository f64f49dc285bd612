"""What a name is beside its printed form: spelling, the same words, and
words that carry a value.
"""

from __future__ import annotations

import unicodedata

import pytest

from sliders.reconcile import pairs_by_words
from sliders.values import same_text, spelling


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("ACME Corp", "Acme  corp"),
        ("Ｍｉｔｓｕｉ", "Mitsui"),
        ("Peña", unicodedata.normalize("NFD", "peña")),
        ("O’Brien", "O'BRIEN"),
        ("ﬁne", "fine"),
        ("a\u00a0b", "A B"),
        ("soft\u00adware", "software"),
        ("Straße", "STRASSE"),
        ("“X”", '"x"'),
    ],
)
def test_case_white_space_and_unicode_form_make_no_other_spelling(left: str, right: str) -> None:
    assert spelling(left) == spelling(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Peña", "Pena"),
        ("Acme, Inc.", "Acme Inc"),
        ("Vitamin A", "Vitamin E"),
        ("10⁵", "105"),
        ("Route 1/2", "Route 1-2"),
        ("Out of Africa", "Out to Africa"),
        ("½", "1/2"),
        ("The Mill", "Mill"),
        ('5"', "5'"),
        ("A+", "A"),
    ],
)
def test_anything_else_makes_another_spelling(left: str, right: str) -> None:
    assert spelling(left) != spelling(right)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("Czech Republic", "Czechia"),
        ("Netherlands", "the Dutch team"),
        ("Eswatini", "Swaziland"),
        ("Moss Ltd", "Moss Inc"),
        ("Vitamin A deficiency", "Vitamin E deficiency"),
        ("Out of Africa", "Out to Africa"),
        ("Der Turm", "Die Turm"),
    ],
)
def test_words_carry_no_name_that_they_do_not_print(value: str, words: str) -> None:
    assert not same_text(value, words)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("Moss", "Moss Ltd"),
        ("Acme, Inc.", "ACME Incorporated"),
        ("Czechia", "in Czechia"),
        ("A+", "a+"),
        ("St-Denis", "St Denis"),
    ],
)
def test_words_carry_a_name_in_another_form_of_print(value: str, words: str) -> None:
    assert same_text(value, words)


def test_the_same_words_are_a_suggestion_and_another_legal_form_is_none() -> None:
    def suggested(*forms: str) -> set[frozenset[str]]:
        return {frozenset((forms[a], forms[b])) for a, b in pairs_by_words(forms)}

    assert suggested("Moss Ltd", "Moss Inc", "Moss Limited", "Moss") == {
        frozenset(("Moss Ltd", "Moss Limited"))
    }
    assert suggested("Doe, Jane", "Jane Doe", "Jan Doe") == {frozenset(("Doe, Jane", "Jane Doe"))}
    assert (
        suggested("War and Peace", "War for Peace", "Vitamin A deficiency", "Vitamin E deficiency")
        == set()
    )
