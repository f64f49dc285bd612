"""Who belongs to which side, by the flow of a report."""

from __future__ import annotations

from sliders.chunks.chunk import Chunk, ChunkContext
from sliders.extraction.cell import Cell, Grounding, Row, Span
from sliders.extraction.coerce import CoerceContext
from sliders.extraction.membership import fullest, memberships, whole_name
from sliders.extraction.reading import Reading
from sliders.extraction.told import with_own_groups
from sliders.schema.types import Column, ColumnType

REPORT = (
    "The Merrow Otters (5-2) beat the Lund Kestrels on Sunday. Ada Vik led the Otters with 28 points against the Kestrels. "
    "Oda Moe added 11 points. The Kestrels were led by Nils Berg's 19 points. Per Lie and Tor Aas had 9 points each. "
    "Bo Holm was the only Otter to miss. Despite 4 points from Liv Ruud, the Kestrels lost. "
    "For the visiting Otters, Siri Dal took 7 points. Lund's Eva Sund had 3 points."
)
SIDES = {
    "Ada Vik": "Merrow Otters", "Oda Moe": "Merrow Otters", "Nils Berg": "Lund Kestrels", "Per Lie": "Lund Kestrels",
    "Tor Aas": "Lund Kestrels", "Bo Holm": "Merrow Otters", "Liv Ruud": "Lund Kestrels",
    "Siri Dal": "Merrow Otters", "Eva Sund": "Lund Kestrels",
}  # fmt: skip
GROUPS = ("Merrow Otters", "Lund Kestrels")


def test_names_belong_to_the_side_that_the_text_speaks_of() -> None:
    assert memberships(REPORT, list(SIDES), GROUPS) == SIDES


def test_a_text_comes_back_to_a_side_with_a_name_that_it_placed() -> None:
    back = (
        "The Otters beat the Kestrels. Ada Vik led the Otters with 28 points. The Kestrels got 19 points from Nils Berg. "
        "Vik's shots left no way back for Berg. Oda Moe was right behind Vik with 12 points. Tor Aas had 9 points. "
        "The Kestrels head home. Vik added 5 assists to her points. Bo Holm had 3 points. "
        "The Kestrels fought back, but throws from Siri Dal, Eva Sund and Liv Ruud helped the Otters hang on. "
        "Despite 2 points from Per Lie (2-for-9 shooting), the Otters were never behind."
    )
    sides = dict.fromkeys(["Ada Vik", "Oda Moe", "Tor Aas", "Bo Holm", "Siri Dal", "Eva Sund", "Liv Ruud", "Per Lie"], "Otters")
    assert memberships(back, [*sides, "Nils Berg"], ("Otters", "Kestrels")) == {**sides, "Nils Berg": "Kestrels"}


def test_a_name_that_the_text_does_not_have_has_no_side() -> None:
    assert memberships(REPORT, ["Ida Ness"], GROUPS) == {}


def row(number: int, player: str, team: str) -> Row:
    cells = []
    for column, words in (("player", player), ("team", team)):
        start = REPORT.index(words)
        cells.append(Cell(column, words, words, Grounding.EXACT, Span("d", start, start + len(words))))
    return Row(str(number), "players", "d", "c", number, tuple(cells))


def test_rows_get_the_team_that_is_theirs_and_other_columns_stay() -> None:
    reading = Reading(Chunk("c", "d", 0, 0, len(REPORT), REPORT, 90, ChunkContext()), REPORT, 0, CoerceContext(), None)
    columns = (Column("player"), Column("team"), Column("points", ColumnType.INTEGER))
    rows = [row(n, name, "Lund Kestrels" if name == "Tor Aas" else "Merrow Otters") for n, name in enumerate(SIDES)]
    settled = with_own_groups(reading, rows, columns)
    found = {str(r.cells[0].value): r.cells[1] for r in settled}
    assert all(str(cell.value).split()[-1] == SIDES[name].split()[-1] for name, cell in found.items())
    assert all(c.span is not None and REPORT[c.span.start : c.span.end] == c.printed for c in found.values())

    same = [row(n, name, "Merrow Otters") for n, name in enumerate(SIDES)]
    assert with_own_groups(reading, same, columns) == same  # one side alone: nothing to choose between


def test_a_short_name_takes_the_full_form_that_the_text_prints() -> None:
    assert fullest(REPORT, "Otters") == "Merrow Otters"
    assert fullest(REPORT, "Merrow Otters") == "Merrow Otters"
    assert fullest(REPORT, "Herons") == "Herons"


def test_a_last_word_gets_the_one_whole_name_of_its_text() -> None:
    text = "It went to the Otters. With Ada Lund out, Per Vik Jr. ran. Lund and Vik sat; Ines Moe and Oda Moe did not."
    assert whole_name(text, "Lund") == "Ada Lund"
    assert whole_name(text, "Vik") == "Per Vik Jr."
    assert whole_name(text, "Moe") == ""  # two of them
    assert whole_name(text, "Otters") == ""
