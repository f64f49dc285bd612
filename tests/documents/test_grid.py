"""The grid algorithm on aligned text: what was printed in columns comes back with
its row and its header.
"""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from sliders.documents import Segment, find_tables, join_marks, read_text

_PIECES = re.compile(r"[^ ]+(?: [^ ]+)*")


def tables_in(lines: list[str]) -> list[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]]:
    """Header and rows of each table that a text of these lines holds."""
    document = read_text("\n".join(lines).encode(), "lines.txt")
    grids = [e.grid for e in document.elements if e.grid is not None]
    return [(g.header, tuple(tuple(c.text for c in row) for row in g.rows)) for g in grids]


def pieces(line: str) -> tuple[Segment, ...]:
    """The parts of a line between which two spaces or more stand, marks with their numbers."""
    return join_marks(tuple(Segment(m[0], *m.span()) for m in _PIECES.finditer(line)))


_labels = st.lists(
    st.text("abcdefghij", min_size=3, max_size=9).map(str.capitalize), min_size=1, max_size=3
).map(" ".join)
_numbers = st.integers(0, 9_999_999).map("{:,}".format)
_values = st.one_of(_numbers, _numbers.map("({})".format), st.just("—"))


@st.composite
def _tables(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, list[str]]]]:
    columns = draw(st.integers(2, 5))
    years = [str(2023 - n) for n in range(columns)]
    rows = draw(
        st.lists(
            st.tuples(_labels, st.lists(_values, min_size=columns, max_size=columns)),
            min_size=3,
            max_size=9,
        )
    )
    rows = [(label, [draw(_numbers), *values[1:]]) for label, values in rows]
    return years, rows


def _printed(
    years: list[str], rows: list[tuple[str, list[str]]], width: int, shift: list[int]
) -> list[str]:
    label = max(len(name) for name, _ in rows) + 4
    lines = [" " * label + "".join(year.rjust(width) for year in years), ""]
    for (name, values), by in zip(rows, shift, strict=True):
        lines.append(name.ljust(label + by) + "".join(value.rjust(width) for value in values))
    return lines


@settings(max_examples=150, deadline=None)
@given(_tables(), st.integers(14, 24), st.data())
def test_a_printed_table_comes_back(
    table: tuple[list[str], list[tuple[str, list[str]]]], width: int, data: st.DataObject
) -> None:
    """Rows drift by up to three characters, as text printed from a proportional font does."""
    years, rows = table
    shift = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    found = tables_in(_printed(years, rows, width, shift))
    assert found == [(("", *years), tuple((name, *values) for name, values in rows))]


@settings(max_examples=100, deadline=None)
@given(_tables(), st.integers(16, 24), st.data())
def test_a_row_with_holes_keeps_its_columns(
    table: tuple[list[str], list[tuple[str, list[str]]]], width: int, data: st.DataObject
) -> None:
    years, rows = table
    hole = data.draw(st.integers(0, len(years) - 1))
    values = [value if n == hole else "" for n, value in enumerate(["77"] * len(years))]
    printed = _printed(years, [*rows, ("Other", values)], width, [0] * (len(rows) + 1))
    [(_, found)] = tables_in(printed)
    assert found[-1] == ("Other", *values)


@given(st.lists(st.text("abc ,.;$()%0123456789-", max_size=60), max_size=25))
def test_regions_never_overlap_and_stay_inside(lines: list[str]) -> None:
    found = find_tables([pieces(line) for line in lines])
    at = -1
    for region in found:
        assert at < region.first <= region.last < len(lines)
        at = region.last
        assert {len(row) for row in region.table.rows} == {len(region.table.header)}


@given(st.lists(st.text("abc$()%0123456789., ", max_size=40), max_size=6))
def test_joining_marks_loses_no_character(texts: list[str]) -> None:
    line = tuple(
        Segment(text, 10.0 * n, 10.0 * n + 5) for n, text in enumerate(texts) if text.strip()
    )
    before = "".join("".join(segment.text.split()) for segment in line)
    after = "".join("".join(segment.text.split()) for segment in join_marks(line))
    assert [c for c in after if c not in ". "] == [c for c in before if c not in ". "]


def test_marks_join_their_numbers() -> None:
    texts = ["Net income", "$", "1,204", "$", "(", "75", ")", "12.5", "%"]
    line = tuple(Segment(text, 10.0 * n, 10.0 * n + 5) for n, text in enumerate(texts))
    assert [segment.text for segment in join_marks(line)] == [
        "Net income",
        "$1,204",
        "$(75)",
        "12.5%",
    ]


def test_a_sign_that_sticks_to_the_number_before_it_belongs_to_the_next() -> None:
    texts = [piece.text for piece in pieces("Balance  $  16  $  5,480  (1,049)$  (67)  61")]
    assert texts == ["Balance", "$16", "$5,480", "(1,049)", "$(67)", "61"]
    assert [piece.text for piece in pieces("Umsatz  4.500€  (300)€  61€")] == [
        "Umsatz",
        "4.500€",
        "(300)€",
        "61€",
    ]


def test_dot_leaders_are_neither_label_nor_value() -> None:
    found = find_tables(
        [pieces(f"{name} .......... {value}") for name, value in (("Ab", 3), ("Cd", 4), ("Ef", 5))]
    )
    assert found[0].table.rows == (("Ab", "3"), ("Cd", "4"), ("Ef", "5"))


def test_a_label_over_two_lines_is_one_row() -> None:
    lines = [
        "                                                2021      2020",
        "Lamps                                            120        98",
        "Result of the works in the north and of all that",
        "  belongs to it                                   12        11",
    ]
    [(_, rows)] = tables_in(lines)
    assert rows[1] == (
        "Result of the works in the north and of all that belongs to it",
        "12",
        "11",
    )


def test_a_table_that_goes_on_after_a_line_keeps_its_header() -> None:
    lines = [
        "                                                2021      2020",
        "Lamps                                            120        98",
        "Bulbs                                             12        11",
        "",
        "",
        "",
        "Wires                                             20         8",
        "Shades                                             2         1",
    ]
    (first, _), (second, _) = tables_in(lines)
    assert first == second == ("", "2021", "2020")


def test_years_under_a_name_are_a_header_and_years_as_values_are_not() -> None:
    lines = [
        "Summary of lamps                                2021      2020",
        "Sold                                             120        98",
        "Broken                                             1         2",
    ]
    [(header, _)] = tables_in(lines)
    assert header == ("Summary of lamps", "2021", "2020")
    lines = [
        "Bern                 1890      1950",
        "Rome                 1901      1930",
        "Oslo                 1911      1912",
    ]
    [(header, rows)] = tables_in(lines)
    assert header == ("", "", "")
    assert len(rows) == 3


def _table(*lines: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    [found] = tables_in(list(lines))
    return found


def test_words_and_years_beside_each_other_are_a_header() -> None:
    found = _table(
        "Item         Plan     2021",
        "Lamps           5        7",
        "Bulbs                  1.5",
        "Wicks          12   absent",
    )
    assert found == (
        ("Item", "Plan", "2021"),
        (("Lamps", "5", "7"), ("Bulbs", "", "1.5"), ("Wicks", "12", "absent")),
    )


def test_a_row_of_words_below_a_header_of_all_columns_is_a_row() -> None:
    found = _table(
        "Item         Plan       Staff",
        "Lamps      absent    on leave",
        "Bulbs           5           9",
        "Wicks           7          12",
    )
    assert found == (
        ("Item", "Plan", "Staff"),
        (("Lamps", "absent", "on leave"), ("Bulbs", "5", "9"), ("Wicks", "7", "12")),
    )


def test_a_header_over_two_lines_stays_one() -> None:
    found = _table(
        "                Net      Gross",
        "Item          sales      sales",
        "Lamps             5          9",
        "Wicks             7         12",
    )
    assert found == (
        ("Item", "Net sales", "Gross sales"),
        (("Lamps", "5", "9"), ("Wicks", "7", "12")),
    )


def test_a_column_in_which_one_row_has_a_value_is_a_column() -> None:
    found = _table(
        "              Staff     Cost     Plan",
        "Lamps            11       12         ",
        "Bulbs            21       22         ",
        "Wicks            31       32       33",
    )
    assert found == (
        ("", "Staff", "Cost", "Plan"),
        (("Lamps", "11", "12", ""), ("Bulbs", "21", "22", ""), ("Wicks", "31", "32", "33")),
    )
