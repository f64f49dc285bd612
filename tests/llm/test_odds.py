"""The odds of choices at one token."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sliders.llm import chosen, odds_of, sureness, told_odds


def listed(**tokens: float) -> list[dict[str, Any]]:
    return [{"token": token, "logprob": log} for token, log in tokens.items()]


@pytest.mark.parametrize(
    ("token", "choice"),
    [
        (" Yes", "yes"),
        ("no.", "no"),
        ('"yes', "yes"),
        ("n", None),
        ("not", "not stated"),
        ("", None),
        ("The", None),
    ],
)
def test_a_token_stands_for_a_choice_it_begins(token: str, choice: str | None) -> None:
    assert chosen(token, ("yes", "no", "not stated")) == choice


def test_a_first_token_of_two_choices_stands_for_neither() -> None:
    assert chosen("high", ("high speed", "high voltage")) is None
    assert chosen("A", ("A", "B")) == "A"


def test_variants_of_a_choice_are_added_up_and_a_missing_one_gets_the_floor() -> None:
    odds = odds_of(("yes", "no", "unknown"), listed(Yes=-1.0, yes=-1.0, No=-2.0, The=-6.0))
    assert odds["yes"] == pytest.approx(-1.0 + math.log(2))
    assert (odds["no"], odds["unknown"]) == (-2.0, -7.0)


def test_no_choice_among_the_tokens_is_no_odds() -> None:
    assert odds_of(("yes", "no"), listed(Maybe=-0.1)) == {}
    assert odds_of(("yes", "no"), []) == {}


def generated(*tokens: tuple[str, dict[str, float]]) -> list[dict[str, Any]]:
    """The tokens of a reply, each with its likeliest rivals."""
    return [
        {
            "token": token,
            "logprob": 0.0,
            "top_logprobs": [{"token": t, "logprob": log} for t, log in rivals.items()],
        }
        for token, rivals in tokens
    ]


def test_the_odds_of_a_value_against_null_are_read_where_it_begins() -> None:
    reply = generated(
        ("{", {}),
        ('"', {}),
        ("sold", {}),
        ('":', {}),
        (" ", {}),
        ("19", {"19": -0.1, "null": -4.1}),
        ("11", {"11": -0.2}),
        (', "', {}),
        ("by", {}),
        ('":', {}),
        (' "', {' "': -0.5, "null": -1.0, '"': -2.0}),
        ("null", {"null": -0.1}),
        ('"}', {}),
    )
    assert told_odds(reply) == pytest.approx({"sold": 4.0, "by": 0.5})


def test_a_boolean_is_held_against_the_other_and_a_further_object_s_member_has_its_number() -> None:
    reply = generated(
        ('{"', {}),
        ("late", {}),
        ('":', {}),
        ("true", {"true": -0.5, "false": -2.0, "null": -0.1}),
        ('},{"', {}),
        ("late", {}),
        ('":', {}),
        ("false", {"false": -0.25, "true": -3.0}),
        ('},{"', {}),
        ("late", {}),
        ('":', {}),
        ("null", {"null": 0.0, "x": -9.0}),
        ("}", {}),
    )
    assert told_odds(reply) == pytest.approx({"late": 1.5, "late#1": -2.75, "late#2": -9.0})


def test_a_rival_that_is_not_listed_counts_as_the_floor_and_no_list_as_nothing() -> None:
    one, two = ("1", {"1": -0.1, "2": -3.0}), ("2", {})
    reply = generated(
        ('{"', {}), ("a", {}), ('":', {}), one, (',"', {}), ("b", {}), ('":', {}), two
    )
    assert told_odds(reply) == pytest.approx({"a": 3.9})
    assert told_odds([]) == {}


def sure(*tokens: tuple[str, float]) -> list[dict[str, Any]]:
    """The tokens of a reply with their log-probabilities."""
    return [{"token": token, "logprob": log} for token, log in tokens]


def test_a_value_is_as_sure_as_its_least_likely_token_and_what_closes_a_text_says_nothing() -> None:
    reply = sure(
        ('{"', -9.0),
        ("town", -9.0),
        ('":"', -0.1),
        ("Ar", -0.7),
        ("den", -0.2),
        ('","', -4.0),
        ("cars", -9.0),
        ('":', -9.0),
        ("2", -0.3),
        ("0", -1.5),
        ("},{", -5.0),
        ('"town":', -9.0),
        ("null", -0.4),
        ("}", -5.0),
    )
    assert sureness(reply) == pytest.approx({"town": -0.7, "cars": -1.5, "town#1": -0.4})


def test_a_value_in_one_token_counts_with_it_and_one_that_is_cut_not_at_all() -> None:
    assert sureness(
        sure(('{"a":""', -0.5), (',"b":', 0.0), ("tru", -0.1), ("e", -0.2), (',"c":"x', -3.0))
    ) == pytest.approx({"a": -0.5, "b": -0.2})
    assert sureness([]) == {}
