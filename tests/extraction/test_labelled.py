"""Values behind labels of their own, and counts of what another column lists."""

from __future__ import annotations

import pytest

from sliders.chunks.chunk import Chunk, ChunkContext
from sliders.extraction.cell import Absence, Cell, Grounding, Row, Span
from sliders.extraction.coerce import CoerceContext
from sliders.extraction.labelled import BEHIND_LABEL, labelled, settled_by_labels
from sliders.extraction.listed_names import counted_names
from sliders.extraction.reading import Reading
from sliders.extraction.told import with_sentences
from sliders.schema.types import Column, ColumnType, Table

FORM = """Tide Tables of Merrow by Ada Lund
Keeper No: 77
Shelf Price: $6.99
Price: $5.00
Signature No: 0031
Signature-13: 9990031
Number of Pages: 214
Plates: 3
Plates: 4
He said: a fine book.
"""


@pytest.mark.parametrize(
    ("column", "values", "exact"),
    [
        ("shelf_price", ["$6.99"], True),
        ("page_count", ["214"], True),
        ("pages", [], False),  # a count of pages is no pages
        ("signature_13", ["9990031"], True),
        ("signature", [], False),
        ("keeper", [], False),  # the number of a keeper is no keeper
        ("old_keeper_no", ["77"], False),
        ("list_price", [], False),  # "Price" alone tells no price from another
        ("plates", ["3", "4"], True),
    ],
)
def test_a_label_names_its_column(column: str, values: list[str], exact: bool) -> None:
    found = labelled(Column(column), FORM)
    assert [FORM[place.start : place.end] for place in found] == values
    assert all(place.exact == exact for place in found)


def read(column: Column, words: str) -> Cell:
    chunk = Chunk("c", "d", 0, 0, len(FORM), FORM, 40, ChunkContext())
    reading = Reading(chunk, FORM, 0, CoerceContext(), None)
    start = FORM.find(words) if words else -1
    span = Span("d", start, start + len(words))
    cell = Cell(column.name, words, words, Grounding.EXACT, span) if words else Cell(column.name, absence=Absence.NOT_STATED)
    return with_sentences(reading, Row("1", "books", "d", "c", 0, (cell,)), (column,)).cells[0]


def test_what_a_label_says_wins_over_the_reply_unless_it_says_several_things() -> None:
    assert read(Column("shelf_price", ColumnType.NUMBER), "$5.00").value == 6.99
    assert read(Column("page_count", ColumnType.INTEGER), "").value == 214
    assert read(Column("plates", ColumnType.INTEGER), "").absence is Absence.NOT_STATED


def test_of_two_parts_of_a_document_the_one_with_the_label_is_believed() -> None:
    def part(row: str, pages: int, detail: str) -> Row:
        cell = Cell("pages", pages, str(pages), Grounding.EXACT, Span("d", pages, pages + 3), detail=detail)
        return Row(row, "books", "d", row, 0, (cell,))

    told, other, same = part("1", 214, BEHIND_LABEL), part("2", 30, ""), part("3", 214, "")
    assert [(r.id, r.cells[0].value) for r in settled_by_labels([told, other, same])] == [("2", None)]
    assert settled_by_labels([other, same]) == []


BOOKS = Table("books", (Column("author"), Column("author_count", ColumnType.INTEGER)))


@pytest.mark.parametrize(
    ("author", "stated", "count"),
    [
        ("Ada Lund", "", 1),
        ("Ada Lund and Oda Vik", "", 2),
        ("Ada Lund; Oda Vik; Nils Moe", "1", 3),
        ("Ada Lund, Jr., Oda Vik & Nils Moe", "", 3),
        ("Ada Lund and others", "5 authors", None),  # the text says so itself
        ("", "", None),
    ],
)
def test_names_are_counted_where_they_are_listed(author: str, stated: str, count: int | None) -> None:
    name = Cell("author", author, author, Grounding.EXACT, Span("d", 0, len(author)))
    said = Cell("author_count", 1, stated, Grounding.EXACT, Span("d", 90, 91)) if stated else None
    cells = (
        name if author else Cell("author", absence=Absence.NOT_STATED),
        said or Cell("author_count", absence=Absence.NOT_STATED),
    )
    out = counted_names([Row("1", "books", "d", "c", 0, cells)], BOOKS)
    assert [(c.column, c.value, c.grounding) for r in out for c in r.cells] == (
        [("author_count", count, Grounding.DERIVED)] if count else []
    )
