"""What a text says of each thing that it lists: its own words, in every form of list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.extraction.entries import entries_of

FORMS = {
    "a table": (
        "Boats of the bay\n\nAll are for hire.\n\n| Boat | Berth | Seats |\n|---|---|---|\n| Merrow | B1 | 20 |\n| Tern | B2 | "
        "35 |\n\nAsk at the kiosk."
    ),
    "lines with details below": "Boats of the bay\n\nMerrow (B1)\n  20 seats\nTern (B2)\n  35 seats\n\nAsk at the kiosk.",
    "headings with a passage below": (
        "Boats of the bay\n\nMerrow\n\nShe has 20 seats.\n\nTern\n\nShe has 35 seats.\n\nAsk at the kiosk."
    ),
    "running text": (
        "Boats of the bay\n\nAt berth one lies the Merrow, an old boat that has been painted green again this spring. She has 20 "
        "seats. Beside her you see the Tern, which was built for us in the yard of the next village. She has 35 seats.\n\nAsk at "
        "the kiosk."
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_entry_has_its_own_words_and_no_other_ones(form: str) -> None:
    text = FORMS[form]
    common, (merrow, tern) = entries_of(text, ["Merrow", "Tern"])
    assert merrow and tern
    assert "20" in merrow.own and "35" not in merrow.own and "35" in tern.own and "20" not in tern.own
    assert "Boats of the bay" in common and "Ask at the kiosk." in common and "Merrow" not in common and "20" not in common
    assert text[merrow.start : merrow.end].strip() == merrow.own


def test_what_stands_right_above_an_entry_is_shown_with_it() -> None:
    text = "Boats\n\nOpen ones\n\n| Boat | Seats |\n| Merrow | 20 |\n\nCovered ones\n\n| Seats | Boat |\n| 35 | Tern |"
    _, (merrow, tern) = entries_of(text, ["Merrow", "Tern"])
    assert merrow and merrow.above.endswith("Open ones\n\n| Boat | Seats |")
    assert tern and tern.above == "Covered ones\n\n| Seats | Boat |"


def test_a_thing_that_is_told_of_in_two_places_has_both() -> None:
    text = "Prices\nMerrow .... 4.20\nTern .... 3.10\n\nNotes\n\nThe Merrow has 20 seats. The Tern has 35."
    _, (merrow, tern) = entries_of(text, ["Merrow", "Tern"])
    assert merrow and merrow.own.split("\n") == ["Merrow .... 4.20", "The Merrow has 20 seats."]
    assert tern and "3.10" in tern.own and "35" in tern.own and "20" not in tern.own


def test_a_name_inside_a_longer_one_is_not_that_one() -> None:
    _, (short, long) = entries_of("Tern: 35 seats\nArctic Tern: 12 seats", ["Tern", "Arctic Tern"])
    assert short and long and "12" not in short.own and "35" not in long.own


def test_a_name_that_is_printed_nowhere_has_no_entry() -> None:
    common, (entry,) = entries_of("Boats of the bay", ["Merrow"])
    assert entry is None and common == "Boats of the bay"


NAMES = st.lists(st.from_regex(r"[A-Z][a-z]{3,8}", fullmatch=True), min_size=1, max_size=8, unique=True)


@given(names=NAMES, gap=st.sampled_from(["\n", "\n\n", " "]))
def test_every_line_of_a_list_is_found_with_its_own_number(names: list[str], gap: str) -> None:
    told = [f"{name} has {number + 1000} seats in all." for number, name in enumerate(names)]
    _, entries = entries_of(gap.join(told), names)
    assert [entry.own for entry in entries if entry] == told
