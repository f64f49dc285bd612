"""A number belongs to the name before it in its sentence; averages and other things that are counted belong to nobody."""

from __future__ import annotations

import pytest

from sliders.extraction.attributed import attributed, is_of_another

NAMES = ["Ada Lund", "Per Vik Jr.", "Oda Lund", "Ines"]


@pytest.mark.parametrize(
    ("text", "owned"),
    [
        ("Vik took 28 points and Ines 11 points.", {"Per Vik Jr.": ["28"], "Ines": ["11"]}),
        ("Ada Lund had 12 rebounds and 9 points; Oda Lund had seven points.", {"Ada Lund": ["9"], "Oda Lund": ["seven"]}),
        ("With 20 points, Ines led. Vik's season-high 31 points came late.", {"Ines": ["20"], "Per Vik Jr.": ["31"]}),
        ("Ines, averaging 19 points, took 4 points. Vik won by 12 points.", {"Ines": ["4"]}),
        ("Vik and Ines had 9 points each. Ines sat.", {}),  # one number alone does not show how the text counts
        ("Vik and Ines had 9 points each. Ines took 3 points.", {"Per Vik Jr.": ["9"], "Ines": ["9", "3"]}),
        ("Vik and Ines turned in a pair of 13-point games. Ines took 3 points.", {"Per Vik Jr.": ["13"], "Ines": ["13", "3"]}),
        ("Vik sat and Ines had 9 points. Ines took 3 points.", {"Ines": ["9", "3"]}),
        ("Ines had 3 points. Ada Lund and Ines had 9 points each.", {"Ada Lund": ["9"], "Ines": ["3", "9"]}),
        ("Vik (3-4) and Ines (5-9) had 9 points apiece. Ines took 3 points.", {"Per Vik Jr.": ["9"], "Ines": ["9", "3"]}),
        ("Vik took 9 points. Ines was right behind Vik with 8 points.", {"Per Vik Jr.": ["9"], "Ines": ["8"]}),
        ("They got 15 points from Vik, 13 points from Ines.", {"Per Vik Jr.": ["15"], "Ines": ["13"]}),
        ("Ines posted a 19-point, 20-rebound double-double. Vik took 3 points.", {"Ines": ["19"], "Per Vik Jr.": ["3"]}),
        ("They took 30 points late, and Ines ran. Ines took 4 points.", {"Ines": ["4", "30"]}),
        ("Nobody with more than 9 points but Ines. Vik, in early-season form, took 7 points.", {"Per Vik Jr.": ["7"]}),
        ("Over his last two games, Vik has taken 58 points. Ines took 4 points.", {"Ines": ["4"]}),
        ("Lund took 8 points and 9 points.", {}),
        ("Ines took 8 points.", {}),
    ],
)
def test_numbers_go_to_their_names(text: str, owned: dict[str, list[str]]) -> None:
    found = attributed(text, NAMES, "points")
    assert {name: [text[start:end] for start, end in spans] for name, spans in found.items()} == owned


def test_what_belongs_to_one_name_or_counts_other_things_is_not_anothers() -> None:
    text = "Vik took 28 points and Ines 11 points. Oda Lund had 17 rebounds and 6 points."
    owned = attributed(text, ["Per Vik", "Ines"], "points")
    assert is_of_another(text, text.index("28"), owned)
    assert is_of_another(text, text.index("17"), owned)
    assert not is_of_another(text, text.index("6 points"), owned)


def test_a_number_of_several_together_is_nobodys() -> None:
    text = "Vik took 28 points and Ines 11 points, while Ada Lund and Oda Lund combined for 37 points."
    owned = attributed(text, ["Per Vik", "Ines", "Ada Lund", "Oda Lund"], "points")
    assert "37" not in [text[start:end] for spans in owned.values() for start, end in spans]
    assert is_of_another(text, text.index("37"), owned)
