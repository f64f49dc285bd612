"""Phrases of two columns are parted and claimed words given back only where the other rows show how."""

from __future__ import annotations

from collections.abc import Mapping

from sliders.extraction.cell import Cell, Grounding, Row, Span
from sliders.extraction.parts import parted, shape
from sliders.schema.types import Column, Table

TABLE = Table("boats", (Column("maker"), Column("kind"), Column("sail_number")), row="a boat", grain="document")
TEXTS = {
    "1": "A Hallberg Rassy 352 with sail number S441",
    "2": "A Contest 31 with sail number H207",
    "3": "A Contest Sprinta 33 with sail number G19",
    "4": "A Dehler Optima 98 with sail number G88",
    "5": "A Contest 38 with sail number H11",
    "6": "A Maxi 77 with sail number S302",
    "7": "A Maxi 95 with sail number S77",
    "8": "A Comfort Boats Company 34 with sail number S5",
}
READ: dict[str, tuple[str, str, str]] = {
    "1": ("Hallberg Rassy", "352", "S441"),
    "2": ("Contest", "31", "H207"),
    "3": ("Contest Sprinta 33", "G19", "G19"),
    "4": ("Dehler", "Optima", "G88"),
    "5": ("Contest 38", "H11", "H11"),
    "6": ("Maxi", "77", "S302"),
    "7": ("Maxi", "95", "S77"),
    "8": ("Comfort Boats Company", "34", "S5"),
}


def rows(read: Mapping[str, tuple[str, str, str]]) -> list[Row]:
    return [
        Row(i, "boats", i, f"{i}:0", 0, tuple(cell(i, c.name, words) for c, words in zip(TABLE.columns, said, strict=True)))
        for i, said in read.items()
    ]


def cell(document: str, column: str, words: str) -> Cell:
    start = TEXTS[document].index(words)
    return Cell(column, words, words, Grounding.EXACT, Span(document, start, start + len(words)))


def text(span: Span) -> str:
    return TEXTS[span.document_id][span.start : span.end]


def values(changed: list[Row]) -> dict[tuple[str, str], object]:
    assert all(text(c.span) == c.printed for r in changed for c in r.cells if c.span is not None)
    return {(row.id, cell.column): cell.value for row in changed for cell in row.cells}


def test_phrases_are_parted_and_words_given_to_the_column_that_has_their_like() -> None:
    assert values(parted(rows(READ), TABLE, text)) == {
        ("3", "maker"): "Contest",
        ("3", "kind"): "Sprinta 33",
        ("4", "kind"): "Optima 98",
        ("5", "maker"): "Contest",
        ("5", "kind"): "38",
    }


def test_too_few_rows_show_nothing() -> None:
    assert parted(rows({i: READ[i] for i in "1235"}), TABLE, text) == []


def test_columns_whose_values_look_alike_may_share_words() -> None:
    names = ["Oslo", "Bergen", "Moss", "Molde", "Alta", "Hamar", "Skien", "Bodø"]
    texts = {str(n): f"{name} of {name}" for n, name in enumerate(names)}
    table = Table("ports", (Column("town"), Column("harbour")), row="a port", grain="document")
    shared = [
        Row(i, "ports", i, f"{i}:0", 0, tuple(Cell(c, n, n, Grounding.EXACT, Span(i, 0, len(n))) for c in ("town", "harbour")))
        for i, n in ((i, t.split()[0]) for i, t in texts.items())
    ]
    assert parted(shared, table, lambda span: texts[span.document_id][span.start : span.end]) == []


def test_a_shape_is_how_words_begin() -> None:
    assert [shape(w) for w in ("S441", "Optima 98", "352", "iPad")] == ["A9", "Aa", "9", "aA"]


def test_words_at_the_end_that_another_column_owns_in_other_rows_are_cut() -> None:
    TEXTS["9"] = "The Harbour Trust Maxi 77 with sail number S1"
    TEXTS["10"] = "A Maxi 68 with sail number S2"
    table = Table("boats", (Column("owner"), Column("maker")), row="a boat", grain="document")
    owned = [
        Row(i, "boats", i, f"{i}:0", 0, (cell(i, "owner", owner), cell(i, "maker", "Maxi")))
        for i, owner in (("6", "Maxi"), ("7", "A Maxi"), ("9", "Harbour Trust Maxi"), ("10", "A Maxi"))
    ]
    found = values(parted(owned, table, text))
    assert found[("9", "owner")] == "Harbour Trust"
    alone = [row for row in owned if row.id in ("7", "9")]
    assert ("9", "owner") not in values(parted(alone, table, text))
