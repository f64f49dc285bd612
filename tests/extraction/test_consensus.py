"""Lines of a list settle their labels by vote; marks and yes-or-no clauses are read by code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.extraction.cell import Absence, Cell, Grounding, Row, Span
from sliders.extraction.coerce import CoerceContext
from sliders.extraction.consensus import Line, agreed
from sliders.extraction.records import names_entry
from sliders.extraction.sentences import told_in_sentence
from sliders.schema.types import Column, ColumnType

CARGO, PORT = Column("cargo", ColumnType.TEXT), Column("port", ColumnType.TEXT)
HEATED = Column("deck_heated", ColumnType.BOOLEAN)


def line(number: int, text: str, start: int = 0, **words: str | None) -> Line:
    cells = []
    for column in (CARGO, PORT):
        said = words.get(column.name)
        if said is None:
            cells.append(Cell(column.name, absence=Absence.NOT_STATED))
            continue
        at = start + text.index(said)
        cells.append(Cell(column.name, said, said, Grounding.EXACT, Span("d", at, at + len(said))))
    return Line(Row(f"r{number}", "sailings", "d", "c", number, tuple(cells)), text, start)


def many(count: int, first: int = 10) -> list[Line]:
    return [line(first + n, f"Sailing with barley from Hull, day {n}.", cargo="barley", port="Hull") for n in range(count)]


def changed(lines: list[Line]) -> dict[str, dict[str, Cell]]:
    return {row.id: {cell.column: cell for cell in row.cells} for row in agreed(lines, (CARGO, PORT))}


def test_words_that_most_lines_call_a_port_are_moved_there() -> None:
    odd = line(0, "Left Hull at dawn.", cargo="Hull")
    got = changed([odd, *many(12)])
    assert got["r0"]["port"].value == "Hull"
    assert got["r0"]["cargo"].absence is Absence.NOT_STATED
    assert set(got) == {"r0"}


def test_a_line_read_empty_gets_the_known_words_at_their_place() -> None:
    odd = line(0, "At dawn, BARLEY left.", start=500)
    cell = changed([odd, *many(12)])["r0"]["cargo"]
    assert (cell.printed, cell.span) == ("BARLEY", Span("d", 509, 515))


def test_two_known_words_in_one_line_settle_nothing() -> None:
    odd = line(0, "Oats and barley left.")
    oats = [line(100 + n, f"Oats {n} sailed.", cargo="Oats") for n in range(4)]
    assert "r0" not in changed([odd, *oats, *many(12)])


def test_a_rare_phrase_is_cut_to_the_known_value_inside() -> None:
    odd = line(0, "Took very fine barley flour aboard.", cargo="very fine barley flour")
    assert changed([odd, *many(12)])["r0"]["cargo"].printed == "barley"


def test_words_of_many_lines_that_one_line_calls_a_cargo_are_none() -> None:
    lines = [line(10 + n, f"Slow boat {n} with barley.", cargo="barley") for n in range(8)]
    quiet = [line(30 + n, f"Slow boat {n} left.") for n in range(6)]
    odd = line(0, "Slow boat in fog.", cargo="Slow boat")
    assert changed([odd, *lines, *quiet])["r0"]["cargo"].absence is Absence.NOT_STATED


def test_too_few_lines_have_no_vote() -> None:
    assert changed([line(0, "Left Hull at dawn.", cargo="Hull"), *many(5)]) == {}


@given(st.lists(st.sampled_from(["barley", "oats", "Hull", "Lynn"]), min_size=12, max_size=40), st.randoms())
def test_a_second_vote_changes_nothing_and_every_cell_stands_in_its_line(words: list[str], random: object) -> None:
    lines = []
    for n, word in enumerate(words):
        column = "cargo" if (word in ("barley", "oats")) ^ (random.random() < 0.15) else "port"  # type: ignore[attr-defined]
        lines.append(line(n, f"{n}: {word} again", **{column: word}))
    result = {row.id: {c.column: c for c in row.cells} for row in agreed(lines, (CARGO, PORT))}
    after = []
    for one in lines:
        new = result.get(one.row.id, {})
        for cell in new.values():
            if cell.span is not None:
                assert one.text[cell.span.start : cell.span.end] == cell.printed
        cells = tuple(new.get(c.column, c) for c in one.row.cells)
        after.append(Line(Row(one.row.id, "sailings", "d", "c", one.row.ordinal, cells), one.text, 0))
    assert agreed(after, (CARGO, PORT)) == []


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("The ferry is not fast and its deck is heated in winter.", True),
        ("A slow boat, not heated, with a bar.", False),
        ("The saloon is warm.", None),
        ("It is heated. The upper deck is not heated.", None),
    ],
)
def test_a_clause_tells_yes_or_no(text: str, truth: bool | None) -> None:
    found = told_in_sentence(HEATED, text, CoerceContext())
    assert (found[2].value if found else None) is truth


def test_a_mark_is_the_identifier_of_its_own_row_only() -> None:
    assert names_entry("sailing", "sailings", "a sailing")
    assert names_entry("entry_no", "log", "an entry")
    assert not names_entry("phone_number", "sailings", "a sailing")
    assert not names_entry("port", "sailings", "a sailing")


def test_what_loses_beside_every_other_value_is_no_value() -> None:
    known = [line(100 + n, f"Steam ferry with barley, {n}.", cargo="barley") for n in range(10)]
    alone = [line(200 + n, f"Steam ferry {n} left.", cargo="Steam ferry") for n in range(4)]
    mixed = line(0, "Steam ferry with barley again.", cargo="Steam ferry")
    got = changed([*known, *alone, mixed])
    assert all(got[f"r{200 + n}"]["cargo"].absence is Absence.NOT_STATED for n in range(4))
    assert got["r0"]["cargo"].printed == "barley"


def test_values_that_win_and_lose_stay() -> None:
    lines = [line(n, f"{a} met {b}, {n}.", cargo=a) for n, (a, b) in enumerate([("Oats", "Rye"), ("Rye", "Oats")] * 8)]
    assert changed(lines) == {}


def test_a_yes_or_no_in_other_words_than_its_columns_is_filled_by_its_meaning() -> None:
    family = Column("family_friendly", ColumnType.BOOLEAN)
    odd = Line(
        Row("r0", "sailings", "d", "c", 0, (Cell("family_friendly", absence=Absence.NOT_STATED),)),
        "An adult only sailing with barley.",
        40,
    )
    got = {row.id: row.cells for row in agreed([odd, *many(12)], (CARGO, PORT, family))}
    (cell,) = got["r0"]
    assert (cell.value, cell.printed, cell.span) == (False, "adult only", Span("d", 43, 53))


def test_a_phrase_that_says_another_fields_name_is_emptied() -> None:
    odd = line(0, "It has a cheap port fee and barley.", cargo="a cheap port fee")
    cell = changed([odd, *many(12)])["r0"]["cargo"]
    assert cell.printed == "barley"  # the line's known words take its place


def test_common_words_in_a_column_of_names_are_none_unless_they_are_usual() -> None:
    named = [line(100 + n, f"{port}, day {n}, oats.", cargo="oats", port=port) for n, port in enumerate(PORTS * 4)]
    rare = line(0, "Five out of five, said the mate.", cargo=None, port="out of five")
    usual = [line(200 + n, f"Out on the open sea, day {n}.", port="open sea") for n in range(5)]
    got = changed([rare, *usual, *named])
    assert got["r0"]["port"].absence is Absence.NOT_STATED
    assert not any(f"r{200 + n}" in got and "port" in got[f"r{200 + n}"] for n in range(5))


PORTS = ["Hull", "Oslo", "Moss", "Alta", "The Sound"]
