"""Where copied words stand in the text."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sliders.extraction import Grounding, find

TEXT = (
    "The pilot of N345ANX saw 1,569 birds at 6 p.m.\nFlight 6 carried “John  Smith” and exam-\n"
    "ples of well-\nknown kid-friendly cafés in Dallas, Texas; 5 of 16. DC-9 lost -5 on 11/12/2020 "
    "at the ofﬁce. John Smith left; nine passengers stayed."
)


def found(printed: str, text: str = TEXT) -> tuple[Grounding, str]:
    place = find(printed, text)
    return place.status, text[place.start : place.end] if place.start >= 0 else ""


@pytest.mark.parametrize(
    ("printed", "status", "words"),
    [
        ("1,569", Grounding.EXACT, "1,569"),
        ("Dallas, Texas", Grounding.EXACT, "Dallas, Texas"),
        ("-5", Grounding.EXACT, "-5"),
        ("9", Grounding.EXACT, "9"),
        ("john smith", Grounding.NORMALIZED, "John  Smith"),
        ("'John Smith'", Grounding.NORMALIZED, "“John  Smith”"),
        ("DALLAS, TEXAS.", Grounding.NORMALIZED, "Dallas, Texas"),
        ("examples", Grounding.NORMALIZED, "exam-\nples"),
        ("well-known", Grounding.NORMALIZED, "well-\nknown"),
        ("kid friendly", Grounding.NORMALIZED, "kid-friendly"),
        ("cafes", Grounding.NORMALIZED, "cafés"),
        ("office", Grounding.NORMALIZED, "ofﬁce"),
        ("The pilot ... 1,569 birds", Grounding.NORMALIZED, "The pilot of N345ANX saw 1,569 birds"),
        (
            "Flight 6 […] Dallas",
            Grounding.NORMALIZED,
            TEXT[TEXT.index("Flight") : TEXT.index(", Texas")],
        ),
        ("Dalas, Texas", Grounding.FUZZY, "Dallas, Texas"),
        ("Dallas Texas", Grounding.NORMALIZED, "Dallas, Texas"),
    ],
)
def test_places(printed: str, status: Grounding, words: str) -> None:
    assert found(printed) == (status, words)


@pytest.mark.parametrize(
    "printed",
    [
        "569",
        "N345AN",
        "1",
        "15",
        "2",
        "5 of 1",
        "Tex",
        "the pilot of N345ANY saw",
        "Flight 7 carried John Smith",
        "five passengers stayed",
        "John Smith did not leave; nine passengers stayed",
        "1,568 birds",
        "birds ... pilot",
        "",
        "   ",
        "nowhere to be found",
    ],
)
def test_no_place(printed: str) -> None:
    place = find(printed, TEXT)
    assert (place.status, place.start, place.end, place.count) == (Grounding.NONE, -1, -1, 0)


def test_a_sign_is_not_lost() -> None:
    assert find("5", "it lost -5 points").status is Grounding.NONE
    assert find("5", "it lost 5 points").status is Grounding.EXACT


def test_identifier_parts_are_taken_only_if_nothing_better_is_there() -> None:
    text = "The DC-9 carried 9 guests"
    assert find("9", text).start == text.index("9 guests")


def test_of_several_places_the_one_nearest_to_the_row_is_taken() -> None:
    text = "Ada won 5 prizes. Bob won 7 prizes. Cyd won 5 prizes."
    first, last = text.index("5"), text.rindex("5")
    assert find("5", text) == find("5", text, near=[(0, 3)])
    assert find("5", text).start == first
    place = find("5", text, near=[(text.index("Cyd"), text.index("Cyd") + 3)])
    assert (place.start, place.count) == (last, 2)


def test_another_cells_words_are_avoided() -> None:
    text = "two were killed and two were hurt"
    assert find("two", text, near=[(0, 3)]).start == text.rindex("two")


WORDS = st.text("abcdefghijklmnopqrstuvwxyzé", min_size=2, max_size=9)
VALUES = st.one_of(
    st.integers(0, 99999).map(lambda value: f"{value:,}"),
    st.dates().map(lambda date: date.strftime("%d.%m.%Y")),
    st.lists(WORDS, min_size=1, max_size=4).map(" ".join),
    st.from_regex(r"[A-Z]{1,2}[0-9]{2,4}[A-Z]{0,2}", fullmatch=True),
)


@given(st.lists(WORDS, max_size=30), VALUES, st.lists(WORDS, max_size=30))
def test_planted_words_are_found_where_they_are(
    before: list[str], value: str, after: list[str]
) -> None:
    head = " ".join(before) + " " if before else ""
    text = head + value + (" " + " ".join(after) if after else "")
    place = find(value, text, near=[(len(head), len(head))])
    assert place.status is Grounding.EXACT
    assert text[place.start : place.end] == value
    if place.count == 1:
        assert place.start == len(head)


@given(
    st.lists(WORDS, min_size=2, max_size=8),
    st.sampled_from(["  ", "\n", "\u00a0", " \n\t "]),
    st.sampled_from([str.upper, str.title]),
)
def test_typesetting_does_not_matter(words: list[str], gap: str, change: object) -> None:
    assert callable(change)
    printed = " ".join(words)
    text = f"Start: {gap.join(change(word) for word in words)} end"
    place = find(printed, text)
    assert place.status in (Grounding.EXACT, Grounding.NORMALIZED)
    assert text[place.start : place.end].casefold().split() == [word.casefold() for word in words]


@given(st.integers(10, 9_999_999), st.sampled_from(["{}", "about {} people", "x {}"]))
def test_part_of_a_number_is_never_a_place(value: int, frame: str) -> None:
    grouped = f"{value:,}"
    text = frame.format(f"1{grouped},{value % 1000:03d}" if value < 1000 else f"3,{grouped}")
    assume(grouped != text)
    assert find(grouped, text).status is Grounding.NONE


@given(st.text("0123456789", min_size=2, max_size=8), st.integers(0, 7), st.integers(1, 9))
def test_a_changed_digit_is_never_forgiven(digits: str, position: int, change: int) -> None:
    position %= len(digits)
    other = digits[:position] + str((int(digits[position]) + change) % 10) + digits[position + 1 :]
    text = f"The total amount of invoices paid in the district was {digits} in that year"
    assert (
        find(
            f"The total amount of invoices paid in the district was {other} in that year", text
        ).status
        is Grounding.NONE
    )
    assert find(other, text).status is Grounding.NONE


@given(st.text(max_size=60), st.text(max_size=200))
def test_never_raises_and_spans_fit(printed: str, text: str) -> None:
    place = find(printed, text)
    assert (place.start == -1) == (place.status is Grounding.NONE)
    assert place.start == -1 or 0 <= place.start < place.end <= len(text)


def test_speed_on_chunks_and_bound_on_long_texts() -> None:
    rng = random.Random(7)
    vocabulary = [
        "alpha",
        "beta",
        "Smith",
        "report",
        "passengers",
        "1,577",
        "2018",
        "country",
        "was",
        "of",
    ]
    text = " ".join(rng.choice(vocabulary) for _ in range(330))
    pieces = text.split()
    cells = [" ".join(pieces[i : i + 3]) for i in range(300)]
    started = time.process_time()
    for _ in range(10):
        for cell in cells:
            find(cell, text, near=[(100, 110)])
    assert time.process_time() - started < 1.5  # 3,000 cells; a quiet core takes 0.03 s
    long_text = text * 500
    started = time.process_time()
    assert find("nowhere to be found passengers of any kind", long_text).status is Grounding.NONE
    assert time.process_time() - started < 5


def test_lines_that_were_joined_with_commas_are_found() -> None:
    text = "VIK ROPES\n4B, OLD MOLE\nQUAY ROAD, U13/X\n70112 NORTH HARBOUR, 1,250 berths"
    found = find("4B, OLD MOLE, QUAY ROAD, U13/X,70112 NORTH HARBOUR", text)
    assert (found.status, text[found.start : found.end]) == (Grounding.NORMALIZED, text[10:-14])
    assert find("1 250 berths", text, fuzzy=False).status is Grounding.NONE


def test_a_bar_that_a_table_s_text_escapes_is_found_as_the_model_says_it() -> None:
    text = "| a\\|b | a or b |"
    for words in ("a|b", "a\\|b"):
        found = find(words, text)
        assert text[found.start : found.end] == "a\\|b"


def test_words_of_neighbouring_cells_are_found_within_a_row_alone() -> None:
    text = (
        "| Berset | 400 | CHF |\n| --- | --- | --- |\n| Roche | 250 |  | EUR |\n"
        "| Moss |\tnone | 90 |\n| USD | 7 |\n"
    )
    place = find("400 CHF", text)
    assert (place.status, text[place.start : place.end]) == (Grounding.NORMALIZED, "400 | CHF")
    assert text[slice(*_span("250 EUR", text))] == "250 |  | EUR"
    assert text[slice(*_span("| 400 | CHF |", text))] == "| 400 | CHF |", (
        "a quote with bars of its own"
    )
    assert text[slice(*_span("Berset | 400 CHF", text))] == "Berset | 400 | CHF"
    assert find("90 USD", text, fuzzy=False).status is Grounding.NONE, "never across lines"
    assert find("400 CHF Roche", text, fuzzy=False).status is Grounding.NONE


def _span(words: str, text: str) -> tuple[int, int]:
    place = find(words, text, fuzzy=False)
    return place.start, place.end


@pytest.mark.parametrize(
    ("words", "text", "place"),
    [
        ("international market", "the inter-national market", (4, 25)),
        ("long-term loans", "its longterm loans", (4, 18)),
        ("non-executive directors", "two nonexecutive directors", (4, 26)),
        ("international", "no inter-est in national markets", None),
        ("termloans", "long term loans", None),
    ],
)
def test_hyphens_of_words_that_were_broken_are_forgiven(
    words: str, text: str, place: tuple[int, int] | None
) -> None:
    found = find(words, text, fuzzy=False)
    assert ((found.start, found.end) if found.start >= 0 else None) == place
