"""Clauses are cut to the terms that a column knows; names and free text are left alone."""

from __future__ import annotations

import pytest

from sliders.extraction.categories import categorised
from sliders.extraction.cell import Absence, Cell, Grounding, Row, Span
from sliders.schema.types import Column, Table

TABLE = Table("voyages", (Column("ice"),), row="a voyage", grain="document")


def rows(said: dict[str, tuple[str, str]]) -> list[Row]:
    """Rows of (text, words read)."""
    return [Row(i, "voyages", i, f"{i}:0", 0, (_cell(i, text, words),)) for i, (text, words) in said.items()]


def _cell(document: str, text: str, words: str) -> Cell:
    if not words:
        return Cell("ice", absence=Absence.NOT_STATED)
    start = text.index(words)
    return Cell("ice", words, words, Grounding.EXACT, Span(document, start, start + len(words)))


def changed(said: dict[str, tuple[str, str]]) -> dict[str, object]:
    out = categorised(rows(said), TABLE, lambda span: said[span.document_id][0][span.start : span.end])
    cells = {row.id: row.cells[0] for row in out}
    for i, cell in cells.items():
        assert cell.span is not None and said[i][0][cell.span.start : cell.span.end] == cell.printed
    return {i: cell.value for i, cell in cells.items()}


COLLECTION = {
    "a": ("The fjord had solid ice cover throughout the voyage.", "solid ice cover throughout the voyage"),
    "b": ("Solid ice cover prevailed.", "Solid ice cover prevailed"),
    "c": ("There was solid ice cover (SIC) in May.", "solid ice cover"),
    "d": ("It met drifting ice near Moss.", "drifting ice near Moss"),
    "e": ("It met drifting ice.", "drifting ice"),
    "f": ("Drifting ice was seen on the second day.", "Drifting ice was seen"),
    "g": ("Heavy drifting ice closed the port.", "Heavy drifting ice"),
    "h": ("The crew saw birds; drifting ice lay ahead.", "birds"),
    "i": ("No drifting ice was met.", ""),
    "j": ("The log tells of solid ice cover and drifting ice.", ""),
}


def test_clauses_become_the_term_in_them_and_its_abbreviation() -> None:
    assert changed(COLLECTION) == {
        "a": "SIC",
        "b": "SIC",
        "c": "SIC",
        "d": "drifting ice",
        "f": "Drifting ice",
        "g": "drifting ice",
        "h": "drifting ice",
    }


@pytest.mark.parametrize(
    "words",
    [
        ["Moss", "Moss", "Moss", "Oslo", "Oslo", "Oslo", "Moss by the sea", "the port of Oslo"],
        ["Port of Moss", "Moss in Norway", "Moss by the sea", "Bergen", "Oslo", "Alta", "Bodø", "Molde"],
        ["two sails were torn", "the mast broke", "a leak", "the pump failed", "fog", "a storm", "no wind", "a fire"],
    ],
)
def test_names_and_free_text_stay(words: list[str]) -> None:
    assert changed({str(n): (w, w) for n, w in enumerate(words)}) == {}


@pytest.mark.parametrize(
    ("text", "read", "value"),
    [
        ("She was wrecked on the rocks.", "wrecked on the rocks", None),  # no word of it is said of any other voyage
        ("Nothing but a thin ice skin around the ship.", "a thin ice skin around the ship", "as it is"),
        ("Solid cover prevailed in May.", "Solid cover prevailed in May", "SIC"),
    ],
)
def test_a_clause_of_something_else_is_no_category_and_a_short_form_is_its_term(text: str, read: str, value: object) -> None:
    said = COLLECTION | {"k": (text, read)}
    out = categorised(rows(said), TABLE, lambda span: said[span.document_id][0][span.start : span.end])
    assert {row.id: row.cells[0].value for row in out}.get("k", "as it is") == value
