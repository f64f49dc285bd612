"""A cell as the model gave it, checked: what is found, what is doubted, and that no
check changes a value.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sliders.compact import value_cell, with_words
from sliders.extraction import Absence, Cell, Grounding, How, Source, Span, check_cell
from sliders.schema import Column
from sliders.values import ColumnType, Context

from .passages import BOOLEAN, INTEGER, NUMBER, said, source_of

TEXT = (
    "The ferry Merrow has 2 pilots and 15 passengers. No one was hurt. She cost 1.5 million "
    "euros.\nMerrow left at 7:10."
)
SOURCE = source_of(TEXT, start=1000)
ABOARD, COST = Column("aboard", INTEGER), Column("cost", NUMBER, currency="EUR")


def at(words: str) -> Span:
    start = 1000 + TEXT.index(words)
    return Span("document", start, start + len(words))


def test_a_stated_value_stands_at_its_words() -> None:
    found = check_cell(SOURCE, Column("name"), said("Merrow", "Merrow"))
    assert found.finding == "" and found.cell.stands
    assert (found.cell.value, found.cell.printed, found.cell.span) == (
        "Merrow",
        "Merrow",
        at("Merrow"),
    )
    assert (found.cell.how, found.cell.grounding) == (How.STATED, Grounding.EXACT)


def test_a_value_in_the_columns_unit_rests_on_words_in_another_scale() -> None:
    found = check_cell(SOURCE, COST, said(1_500_000, "1.5 million euros"))
    assert (found.finding, found.cell.value, found.cell.printed) == (
        "",
        1_500_000,
        "1.5 million euros",
    )


def test_a_computed_value_keeps_all_its_words_and_its_arithmetic() -> None:
    found = check_cell(
        SOURCE, ABOARD, said(17, "2 pilots", "15 passengers", how="computed", why="2 + 15")
    )
    assert found.finding == ""
    assert (found.cell.value, found.cell.rationale, found.cell.grounding) == (
        17,
        "2 + 15",
        Grounding.DERIVED,
    )
    assert (found.cell.span, found.cell.parts) == (at("2 pilots"), (at("15 passengers"),))
    assert found.cell.printed == "2 pilots", (
        "the words of its own place; further ones stand at theirs"
    )


@pytest.mark.parametrize(
    ("why", "told"), [("2 + 16", "18"), ("all of them", "again"), ("2 / 0", "again"), ("", "again")]
)
def test_wrong_arithmetic_is_doubted_and_the_value_stays(why: str, told: str) -> None:
    found = check_cell(
        SOURCE, ABOARD, said(17, "2 pilots", "15 passengers", how="computed", why=why)
    )
    assert told in found.finding and found.cell.doubt == found.finding
    assert found.cell.value == 17 and found.cell.stands


def test_a_judged_value_is_not_compared_with_its_words() -> None:
    column = Column("harmed", BOOLEAN, reading="judged")
    found = check_cell(
        SOURCE, column, said(False, "No one was hurt", how="judged", why="nobody was")
    )
    assert (found.finding, found.cell.value, found.cell.how, found.cell.rationale) == (
        "",
        False,
        How.JUDGED,
        "nobody was",
    )
    assert not found.cell.doubt


@pytest.mark.parametrize(
    ("value", "whole", "why", "stands"),
    [
        (False, TEXT, "no noise is mentioned", True),
        (0, TEXT, "none is mentioned", True),
        (False, TEXT, "", False),
        (False, "Before. " + TEXT, "no noise is mentioned", False),
        (True, TEXT, "it is quiet", False),
    ],
)
def test_silence_tells_only_a_reasoned_false_or_0_of_a_whole_document(
    value: object, whole: str, why: str, stands: bool
) -> None:
    column = Column(
        "noisy", INTEGER if value == 0 and value is not False else BOOLEAN, reading="judged"
    )
    found = check_cell(replace(SOURCE, whole=whole), column, said(value, how="judged", why=why))
    assert (found.cell.stands, found.cell.value, bool(found.finding)) == (stands, value, not stands)


def test_a_value_that_the_model_calls_unsure_is_kept_in_doubt_and_not_asked_again() -> None:
    column = Column("harmed", BOOLEAN, reading="judged")
    given = {**said(False, "No one was hurt", how="judged", why="nobody was"), "sure": False}
    found = check_cell(SOURCE, column, given)
    assert found.finding == "" and found.cell.value is False and found.cell.stands
    assert "another careful reader" in found.cell.doubt


def test_zero_and_false_are_values() -> None:
    assert check_cell(SOURCE, Column("hurt", INTEGER), said(0, "No one was hurt")).cell.value == 0
    assert (
        check_cell(
            SOURCE, Column("hurt", BOOLEAN), said(False, "No one was hurt", how="judged")
        ).cell.value
        is False
    )


def test_null_is_not_stated() -> None:
    found = check_cell(SOURCE, COST, said(None))
    assert (found.cell.absence, found.cell.value, found.finding) == (Absence.NOT_STATED, None, "")


@pytest.mark.parametrize("words", [(), ("",), ("the Merrow sank",)])
def test_a_value_without_words_is_kept_for_audit_and_enters_nothing(words: tuple[str, ...]) -> None:
    found = check_cell(SOURCE, Column("fate"), said("lost", *words))
    assert (found.cell.absence, found.cell.value) == (Absence.UNGROUNDED, "lost")
    assert not found.cell.stands and found.finding


def test_one_of_several_words_that_is_missing_is_a_doubt() -> None:
    found = check_cell(
        SOURCE, ABOARD, said(17, "2 pilots", "15 sailors", how="computed", why="2 + 15")
    )
    assert "'15 sailors'" in found.finding and found.cell.doubt and found.cell.value == 17


def test_words_that_say_another_number_are_doubted() -> None:
    found = check_cell(SOURCE, ABOARD, said(16, "15 passengers"))
    assert "15" in found.finding and "16" in found.finding
    assert found.cell.value == 16 and found.cell.stands, "the model's value, not one of ours"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (ABOARD, "a few"),
        (ABOARD, 1.5),
        (Column("left", ColumnType.DATE), "soon"),
        (Column("hurt", BOOLEAN), "nobody knows"),
        (Column("kind", ColumnType.CATEGORY, values=("ship", "ferry")), "balloon"),
    ],
)
def test_a_value_that_does_not_fit_its_column_is_said(column: Column, value: object) -> None:
    found = check_cell(SOURCE, column, said(value, "The ferry"))
    assert (found.cell.absence, found.cell.value) == (Absence.NOT_PARSED, value)
    assert repr(value) in found.finding and found.cell.span == at("The ferry")


def test_a_category_takes_one_of_its_values_only() -> None:
    column = Column("kind", ColumnType.CATEGORY, values=("cargo ship", "ferry"), reading="judged")
    assert (
        check_cell(SOURCE, column, said("ferry", "The ferry", how="judged")).cell.value == "ferry"
    )


def test_equal_words_of_two_rows_are_two_places() -> None:
    source = source_of("Pier 4 is open. Pier 4 is shut.")
    first = check_cell(source, Column("pier"), said("Pier 4", "Pier 4"))
    assert first.cell.span is not None
    second = check_cell(source, Column("pier"), said("Pier 4", "Pier 4"), after=first.cell.span.end)
    third = check_cell(source, Column("pier"), said("Pier 4", "Pier 4"), after=len(source.text))
    assert second.cell.span is not None and second.cell.span.start > first.cell.span.start
    assert third.cell.span is not None and third.cell.stands, (
        "a third row rests on words that others have, too"
    )


def test_of_equal_words_those_beside_the_rows_others_are_taken() -> None:
    source = source_of("Ash paid 40 euros.\n\nElm is old.\n\nElm paid 40 euros.")
    near = [(source.text.rindex("Elm"), source.text.rindex("Elm") + 3)]
    found = check_cell(source, COST, said(40, "40 euros"), near)
    assert found.cell.span is not None and found.cell.span.start == source.text.rindex("40 euros")


def test_a_full_form_that_the_document_prints_elsewhere_is_no_finding() -> None:
    source = source_of("Port Arden played at home. Later Arden's keeper Ida Holm scored.")
    found = check_cell(source, Column("team"), said("Port Arden", "Arden's keeper Ida Holm"))
    assert (found.finding, found.cell.doubt) == ("", "")
    assert check_cell(
        source, Column("team"), said("South Arden", "Arden's keeper Ida Holm")
    ).finding


def test_the_note_of_a_table_holds_inside_it_only() -> None:
    text = "Cost 3,120 inside. Length 120 outside."
    inside = range(0, text.index("Length"))
    source = replace(
        source_of(text),
        context=Context(),
        note_at=lambda start: "in thousands of euros" if start in inside else "",
    )
    assert check_cell(source, COST, said(3_120_000, "3,120")).finding == ""
    assert check_cell(source, COST, said(120, "120")).finding == ""
    assert check_cell(source, COST, said(120_000, "120")).finding != ""


@given(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    st.lists(st.text(max_size=12)),
    st.sampled_from(list(ColumnType)),
    st.sampled_from([*How]),
    st.text(max_size=10),
)
def test_every_cell_has_a_value_or_a_reason_and_never_a_value_of_ours(
    value: object, words: list[str], kind: ColumnType, how: How, why: str
) -> None:
    column = Column("c", kind, values=("one", "two") if kind is ColumnType.CATEGORY else ())
    cell = check_cell(
        SOURCE, column, {"value": value, "words": words, "how": how.value, "why": why}
    ).cell
    if cell.stands:
        assert cell.value is not None and cell.span is not None
        assert TEXT[cell.span.start - 1000 : cell.span.end - 1000] in cell.printed
        if isinstance(value, int | float) and isinstance(cell.value, int | float):
            assert cell.value == value
    else:
        assert cell.absence is not None


# the compact dialect: bare values


def bare(source: Source, column: Column, said: object) -> Cell:
    return value_cell(source, column, said).cell


def worded(source: Source, column: Column, cell: Cell, words: str) -> Cell:
    return with_words(source, column, cell, words).cell


def test_a_bare_value_is_found_where_the_text_prints_it() -> None:
    cell = bare(SOURCE, COST, 1_500_000)
    assert cell.stands and cell.span is not None and "1.5 million" in cell.printed
    assert bare(SOURCE, COST, None).absence is Absence.NOT_STATED


def test_a_bare_number_without_the_mark_that_is_printed_is_what_is_printed_in_doubt() -> None:
    checked = value_cell(
        source_of("Rate: 61,00 € per night"), Column("price", ColumnType.NUMBER), 6100
    )
    assert checked.cell.stands and checked.cell.value == 61 and "61,00" in checked.cell.printed
    assert checked.before == 6100 and "6100" in checked.cell.doubt and "61" in checked.finding


@pytest.mark.parametrize(
    ("day_first", "day"), [(True, "2018-04-03"), (False, "2018-03-04"), (None, None)]
)
def test_a_copied_date_is_read_in_the_order_of_its_collection(
    day_first: bool | None, day: str | None
) -> None:
    source = replace(source_of("Sold on 03/04/2018."), context=Context(day_first=day_first))
    column = Column("sold", ColumnType.DATE)
    assert (bare(source, column, "03/04/2018").value == day) is (day is not None)
    assert (check_cell(source, column, said("03/04/2018", "03/04/2018")).cell.value == day) is (
        day is not None
    )


def test_a_bare_value_that_stands_nowhere_takes_words_afterwards() -> None:
    column = Column("fate")
    lost = bare(SOURCE, column, "unharmed")
    assert (lost.absence, lost.value) == (Absence.UNGROUNDED, "unharmed")
    found = worded(SOURCE, column, lost, "No one was hurt")
    assert found.stands and (found.value, found.how, found.span) == (
        "unharmed",
        How.JUDGED,
        at("No one was hurt"),
    )
    still = worded(SOURCE, column, lost, "they all drowned")
    assert still.absence is Absence.UNGROUNDED and "they all drowned" in still.detail


def test_a_number_whose_words_do_not_print_it_is_doubted() -> None:
    cell = worded(SOURCE, ABOARD, bare(SOURCE, ABOARD, 17), "2 pilots and 15 passengers")
    assert cell.stands and cell.value == 17 and cell.doubt


def test_a_bare_value_that_the_card_alone_tells_is_doubted() -> None:
    source = replace(SOURCE, head="From: file The Merrow of Arden")
    cell = bare(source, Column("name"), "The Merrow of Arden")
    assert (cell.stands, cell.value, cell.span) == (
        True,
        "The Merrow of Arden",
        None,
    ) and "card" in cell.doubt
    assert bare(source, Column("name"), "The Gannet").absence is Absence.UNGROUNDED


def test_a_number_of_hundreds_of_digits_is_kept_as_text_for_the_audit() -> None:
    cell = check_cell(SOURCE, ABOARD, said(10**400, "15 passengers")).cell
    assert (cell.absence, cell.value) == (Absence.NOT_PARSED, str(10**400))


def test_a_bare_number_that_is_printed_in_another_currency_is_doubted() -> None:
    source = source_of("The fee is £15.50 a day, the deposit 20 US dollars.")
    fee, deposit = (
        bare(source, Column(n, NUMBER, currency="USD"), v)
        for n, v in (("fee", 15.5), ("deposit", 20))
    )
    assert fee.value == 15.5 and "GBP" in fee.doubt and not deposit.doubt


NOTED = (
    "Kestrel, annual report\nOperating costs (all amounts in thousands of euros)\n\nFuel 1,845\n"
    "Wages 3,210\n\n"
    "Tours (in euros)\nTicket 12\n"
)


def test_the_title_above_lines_states_their_scale() -> None:
    source = source_of(NOTED)
    assert "1,845 (table in thousands)" in check_cell(source, COST, said(1845, "1,845")).finding
    assert "3,210" in check_cell(source, COST, said(3210, "3,210")).finding
    assert check_cell(source, COST, said(1_845_000, "1,845")).finding == "", (
        "a column in single euros"
    )
    thousands = Column("cost", NUMBER, currency="EUR", scale="thousands")
    assert check_cell(source, thousands, said(1845, "1,845")).finding == ""
    assert check_cell(source, COST, said(12, "12")).finding == "", "another title"
    assert (
        check_cell(source_of(NOTED.replace("thousands of ", "")), COST, said(1845, "1,845")).finding
        == ""
    ), "no scale at all"


LENGTH, RENT = Column("length", NUMBER, unit="m"), Column("rent", NUMBER, currency="EUR")


@pytest.mark.parametrize(
    ("column", "words", "wrong", "why", "right", "reason"),
    [
        (LENGTH, "2.4 km", 240, "2.4 * 100", 2400, "2.4 * 1000"),
        (LENGTH, "2.4 km", 3862.4, "2.4 * 1609.344", 2400, "2.4 * 1000"),
        (COST, "3.2 million euros", 3200, "3.2 * 1000", 3_200_000, "3.2 * 1000000"),
        (Column("part", NUMBER, unit="percent"), "12%", 1200, "12 * 100", 12, "12 * 1"),
        (Column("hours", NUMBER, unit="hours"), "90 min", 9, "90 / 10", 1.5, "90 / 60"),
    ],
)
def test_a_computed_conversion_is_compared_with_the_measure_that_is_printed(
    column: Column, words: str, wrong: float, why: str, right: float, reason: str
) -> None:
    source = source_of(f"The survey has it: {words} in all.")
    assert why in check_cell(source, column, said(wrong, words, how="computed", why=why)).finding
    found = check_cell(source, column, said(right, words, how="computed", why=reason))
    assert (found.finding, found.cell.doubt) == ("", "")


@pytest.mark.parametrize(
    ("column", "words", "value", "why"),
    [
        (LENGTH, ("2.4 km",), 4800, "2.4 * 1000 * 2"),
        (LENGTH, ("850 m",), 1700, "850 * 2"),
        (LENGTH, ("850 m", "150 m"), 700, "850 - 150"),
        (RENT, ("12% of 500 euros",), 60, "12% * 500"),
        (RENT, ("12 euros", "40 seats"), 480, "12 * 40"),
        (RENT, ("1.5 million euros",), 3_000_000, "1.5 million * 2"),
    ],
)
def test_arithmetic_that_is_no_conversion_is_not_compared(
    column: Column, words: tuple[str, ...], value: float, why: str
) -> None:
    source = source_of(
        "A: 2.4 km. B: 850 m, C: 150 m. 12% of 500 euros. 12 euros for each of 40 seats. Worth "
        "1.5 million euros."
    )
    assert check_cell(source, column, said(value, *words, how="computed", why=why)).finding == ""


def test_a_computed_date_that_rests_on_one_date_alone_is_that_date() -> None:
    source, day = (
        source_of("Signed on 14 July 2023 and due 30 days later."),
        Column("due", ColumnType.DATE),
    )
    assert (
        "2023-07-14"
        in check_cell(
            source, day, said("2023-06-14", "14 July 2023", how="computed", why="14 July 2023")
        ).finding
    )
    assert (
        check_cell(
            source, day, said("2023-07-14", "14 July 2023", how="computed", why="14 July 2023")
        ).finding
        == ""
    )
    later = said(
        "2023-08-13", "14 July 2023", "30 days later", how="computed", why="14 July 2023 + 30 days"
    )
    assert check_cell(source, day, later).finding == ""
