"""What counts as a right answer, with the cases that scorers get wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring import Prediction, same, score_answer, unwrap
from benchmarks.suites import GoldQuestion
from benchmarks.values import (
    dates_in,
    normal_text,
    numbers_in,
    parse_bool,
    parse_date,
    parse_number,
    token_f1,
)


def asked(
    answer: Any, kind: str, question: str = "How many?", tolerance: float = 0.0, *more: Any
) -> GoldQuestion:
    return GoldQuestion("q", question, (answer, *more), kind, tolerance=tolerance)


def right(gold: GoldQuestion, value: Any = None, text: str = "", status: str = "answered") -> bool:
    return score_answer(gold, Prediction(status, value, text)).right


@pytest.mark.parametrize(
    ("printed", "number"),
    [
        ("1,577", 1577),
        ("(1,577)", -1577),
        ("$1577.00", 1577),
        ("-3.5", -3.5),
        ("2.556.697", 2556697),
        ("141,3", 141.3),
        ("six", 6),
        ("twenty-one", 21),
        ("30.8%", 30.8),
        ("$2.8 billion", 2.8e9),
        ("RM 12.50", 12.5),
        ("2 years", 2),
        ("none", 0),
        (7, 7),
        (True, 1),
        ("1.234,56", 1234.56),
        ("0.66", 0.66),
        ("12 000", 12000),
    ],
)
def test_numbers_are_read_as_printed(printed: Any, number: float) -> None:
    assert parse_number(printed) == pytest.approx(number)


@pytest.mark.parametrize(
    "printed", ["N47BA", "Boeing 737 and 747", "", "May 2010", "2010-05-01", "12 of 35", None]
)
def test_what_is_not_one_number(printed: Any) -> None:
    assert parse_number(printed) is None


@pytest.mark.parametrize(
    ("printed", "iso"),
    [
        ("October 25, 1999", "1999-10-25"),
        ("25 October 1999", "1999-10-25"),
        ("16TH DAY OF MARCH, 1999", "1999-03-16"),
        ("1999-10-25", "1999-10-25"),
        ("1999-10-25T00:00:00", "1999-10-25"),
        ("25/12/2018", "2018-12-25"),
        ("12/25/2018", "2018-12-25"),
        ("03/03/2018", "2018-03-03"),
        ("May 2010", "2010-05"),
        ("Sept. 3, 2001", "2001-09-03"),
    ],
)
def test_dates_become_iso(printed: str, iso: str) -> None:
    assert parse_date(printed) == iso


@pytest.mark.parametrize("printed", ["03/04/2018", "31 February 2018", "2018", "soon"])
def test_ambiguous_or_impossible_dates_are_not_guessed(printed: str) -> None:
    assert parse_date(printed) is None


def test_numbers_of_a_sentence_leave_out_dates_and_codes() -> None:
    assert numbers_in(
        "On October 25, 1999, N47BA (a Learjet 35A) fell with six people and 2,500 lb."
    ) == [6.0, 2500.0]
    assert dates_in("between 3 May 2001 and 2002-01-31") == ["2001-05-03", "2002-01-31"]


def test_counts_must_be_exact_and_ratios_within_one_percent() -> None:
    assert right(asked(16, "number"), 16)
    assert not right(asked(1600, "number"), 1601)
    assert right(asked(1577, "number", tolerance=0.01), 1590)
    assert not right(asked(1577, "number", tolerance=0.01), 1600)
    assert right(asked(66.1, "number"), 66.1379), "more digits than gold rounds to gold"
    assert not right(asked(66.13, "number"), 66), "fewer digits than gold is another number"


@pytest.mark.parametrize(
    "value",
    ["16", "16 games", "sixteen", [16], [[16]], {"n": 16}, [{"count": 16}], 16.0, "There were 16."],
)
def test_a_count_counts_in_every_wrapping(value: Any) -> None:
    assert right(asked(16, "number"), value)


def test_a_number_in_words() -> None:
    question = "How many of the 35 reports of 2018 are fatal?"
    assert right(asked(16, "number", question), "16 of the 35 reports are fatal.")
    assert not right(asked(16, "number", question), "16 or 17 reports are fatal.")
    assert not right(asked(16, "number", question), "Many reports are fatal.")
    assert right(asked(16, "number", question), None, "In all, 16 reports are fatal.")
    assert not right(asked(16, "number", question), 17, "In all, 16 reports are fatal."), (
        "the value decides"
    )


def test_strings_ignore_case_punctuation_and_space_but_not_accents() -> None:
    gold = asked("Café Brazil", "string", "Which place?")
    assert right(gold, "CAFÉ  BRAZIL.")
    assert right(gold, "the Cafe\u0301 Brazil"), "a composed and a decomposed accent are the same"
    assert not right(gold, "Cafe Brazil")
    assert not right(gold, "Café Brazilia")
    assert right(asked("Tracey", "string"), "Justice Tracey")
    assert not right(asked("1.5 m", "string"), "15 m")


def test_a_longer_name_is_another_entity() -> None:
    gold = asked("Washington", "string", "Which team?")
    assert not right(gold, "Washington Wizards")
    assert not right(gold, "The team that won was Washington Wizards in the end")
    assert right(gold, "The team that won most was Washington.")


def test_a_sentence_counts_when_it_states_the_value_and_nothing_else() -> None:
    gold = asked("significantly increased", "string", "How did it change?")
    assert right(gold, "The outcome was significantly increased by the drug.")
    assert not right(gold, "The outcome was not significantly increased by the drug.")
    assert not right(gold, "It was significantly increased or decreased by the drug.")


def test_yes_and_no() -> None:
    gold = asked("yes", "string", "Is it?")
    assert (
        right(gold, True)
        and right(gold, 1)
        and right(gold, "Yes, both are.")
        and right(gold, "yes")
    )
    assert (
        not right(gold, False)
        and not right(gold, "no")
        and not right(gold, "It is not clear, yes or no")
    )
    assert right(asked(False, "bool"), "No.") and not right(asked(False, "bool"), "Norway")
    assert parse_bool("none of them") is None


def test_dates_compare_as_dates() -> None:
    gold = asked("2018-08-16", "string", "When?")
    assert right(gold, "August 16, 2018") and right(gold, "It became effective on 16 August 2018.")
    assert not right(gold, "It was signed on 16 August 2018 and renewed on 1 May 2019.")
    assert right(asked("July 21, 1926", "string"), "1926-07-21")


def test_printed_amounts_compare_as_numbers_but_units_stay() -> None:
    assert right(asked("$64,000", "string"), 64000) and right(asked("$64,000", "string"), "64000")
    assert right(asked("26 years", "string"), 26)
    assert not right(asked("26 years", "string"), "26 months")


def test_lists_are_sets_unless_an_order_is_asked() -> None:
    gold = asked(["L003", "L048", "L067"], "list", "Which listings?")
    assert right(gold, ["L067", "L003", "L048"])
    assert right(gold, ["L067", "L003", "L048", "L003"])
    assert right(gold, [["L003", "x"], ["L048", "y"], ["L067", "z"]]), "a column of rows"
    assert right(gold, "L003, L048 and L067") and right(gold, "They are: L003; L048; L067")
    assert not right(gold, ["L003", "L048"]) and not right(gold, ["L003", "L048", "L067", "L068"])
    assert not right(gold, "L003, L048, L067 and L099")
    ordered = asked(["2020-12-11", "2020-12-09"], "list", "List the dates, highest first.")
    assert right(ordered, ["2020-12-11", "9 December 2020"]) and not right(
        ordered, ["2020-12-09", "2020-12-11"]
    )


def test_list_items_with_commas() -> None:
    gold = asked(["Blackbaud, Inc.", "Kintera, Inc."], "list", "Which parties?")
    assert right(gold, "Blackbaud, Inc. and Kintera, Inc.")
    assert not right(gold, "Blackbaud, Inc. and Kintera, Inc. and Convio")


def test_table_rows_compare_by_value() -> None:
    gold = asked([["2020-11-19", 264]], "table", "What was the smallest number, and on which date?")
    assert right(gold, [[264, "2020-11-19"]]), "columns of different kinds may change places"
    assert right(gold, [{"n": 264, "day": "19 November 2020"}]) and right(gold, ["2020-11-19", 264])
    assert right(gold, "The smallest number was 264, on 2020-11-19.")
    assert not right(gold, [[264, "2020-11-18"]]) and not right(gold, 264)
    assert not right(gold, [["2020-11-19", 264], ["2020-11-20", 270]])


def test_numbers_of_a_row_keep_their_order() -> None:
    gold = asked([[5, 2]], "table", "How many games did they play, and how many did they win?")
    assert right(gold, [["Brooklyn Nets", 5, 2]]), "a further column does not hurt"
    assert not right(gold, [[2, 5]]) and not right(gold, "They won 2 of 5.")
    assert right(gold, "They played 5 games and won 2.")
    flat = asked(["Mark G. Parker", "1994-10-06"], "table", "Who, and when?")
    assert right(flat, [["Mark G. Parker", "October 6, 1994"]])


def test_not_found_counts_only_where_gold_says_so() -> None:
    absent = asked("UNANSWERABLE", "string", "Which dialect?")
    assert right(absent, None, "", "not_found") and right(absent, "not stated in these documents")
    assert not right(absent, "Brazilian Portuguese")
    assert not right(asked(5, "number"), None, "not found in these documents", "not_found")
    assert not right(asked(0, "number"), None, "", "not_found")
    assert not right(absent, None, "connection refused", "failed"), "a failure is not an abstention"


def test_every_accepted_answer_counts() -> None:
    gold = asked("G. Stanley Hall", "string", "Who?", 0.0, "Stanley Hall")
    assert right(gold, "Stanley Hall") and not right(gold, "Hall")


LONG = "No. For the firm there has been a slight decline in gross margins by 0.8% over the year."


def test_free_text_by_polarity_and_key_number_or_by_a_judge() -> None:
    gold = asked(LONG, "string", "Does the firm have an improving margin?")
    assert right(gold, "No, the margin fell.") and not right(gold, "Yes, by 0.8%.")
    figure = asked(
        "The firm paid about $1.8 bn for the shares that it bought back in 2023",
        "string",
        "How much?",
    )
    assert right(figure, "1.79 billion dollars") and not right(
        figure, "2.1 billion dollars in 2023"
    )
    seen: list[tuple[str, str, str]] = []

    def judge(question: str, wanted: str, given: str) -> bool:
        seen.append((question, wanted, given))
        return True

    assert score_answer(gold, Prediction("answered", "It worsened."), judge).right
    assert seen == [("Does the firm have an improving margin?", LONG, "It worsened.")]
    assert not score_answer(asked(5, "number"), Prediction("answered", 6), judge).right
    assert len(seen) == 1, "numbers never go to the judge"


def test_token_f1_counts_shared_words() -> None:
    assert token_f1("the positive and negative predicates", "negative predicates") == pytest.approx(
        2 * 2 / (2 + 4)
    )


@given(st.text(min_size=1, max_size=40))
def test_normalising_twice_changes_nothing_and_case_never_matters(text: str) -> None:
    assert normal_text(text.upper()) == normal_text(text.upper().casefold())
    assert same(text, text) or not normal_text(text)


@given(st.integers(-(10**9), 10**9))
def test_a_grouped_number_is_the_number(number: int) -> None:
    assert parse_number(f"{number:,}") == number
    assert right(asked(number, "number"), f"{number:,}")


@given(st.lists(st.integers(0, 50), min_size=1, max_size=5))
def test_unwrapping_keeps_values(values: list[int]) -> None:
    flat = unwrap([values])
    assert flat == (values[0] if len(values) == 1 else values)
