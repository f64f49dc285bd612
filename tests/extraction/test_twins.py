"""Columns that stand on the same words fill each other; others never do."""

from __future__ import annotations

from dataclasses import replace

from sliders.extraction.cell import Absence, Cell, Grounding, Row, Span
from sliders.extraction.twins import filled_by_twins
from sliders.schema.types import Column, ColumnType

SOLD, PAID = Column("sold_on", ColumnType.DATE), Column("paid_on", ColumnType.DATE)


def row(number: int, sold: int | None, paid: int | None) -> Row:
    def cell(name: str, at: int | None) -> Cell:
        if at is None:
            return Cell(name, absence=Absence.NOT_STATED)
        return Cell(name, f"2020-01-{at:02d}", f"{at} Jan 2020", Grounding.EXACT, Span(f"d{number}", at, at + 10))

    return Row(f"r{number}", "sales", f"d{number}", f"c{number}", 0, (cell("sold_on", sold), cell("paid_on", paid)))


def test_a_twin_fills_the_empty_cell_with_its_words() -> None:
    rows = [row(n, n + 1, n + 1) for n in range(9)] + [row(20, None, 7)]
    (filled,) = filled_by_twins(rows, (SOLD, PAID))
    cell = filled.cells[0]
    assert (filled.id, cell.column, cell.value, cell.span) == ("r20", "sold_on", "2020-01-07", Span("d20", 7, 17))


def test_columns_that_differ_in_some_rows_fill_nothing() -> None:
    rows = [row(n, n + 1, n + 1 + (n % 3 == 0)) for n in range(9)] + [row(20, None, 7)]
    assert filled_by_twins(rows, (SOLD, PAID)) == []


def test_few_rows_prove_nothing_and_pinned_columns_stay() -> None:
    rows = [row(n, n + 1, n + 1) for n in range(5)] + [row(20, None, 7)]
    assert filled_by_twins(rows, (SOLD, PAID)) == []
    pinned = (Column("sold_on", ColumnType.DATE, pinned=True), PAID)
    assert filled_by_twins([row(n, n + 1, n + 1) for n in range(9)] + [row(20, None, 7)], pinned) == []


def test_words_that_did_not_parse_give_way_to_the_twins() -> None:
    odd = row(20, None, 7)
    unread = replace(odd.cells[0], printed="13:29", absence=Absence.NOT_PARSED)
    rows = [*(row(n, n + 1, n + 1) for n in range(9)), replace(odd, cells=(unread, odd.cells[1]))]
    (filled,) = filled_by_twins(rows, (SOLD, PAID))
    assert (filled.cells[0].value, filled.cells[0].printed) == ("2020-01-07", "7 Jan 2020")
