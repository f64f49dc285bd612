"""A document: one canonical text, and elements (headings, paragraphs, tables) that mark parts of
it.

Every position in the package is a character offset into `Document.text`. A table stands in that
text as a Markdown grid with its header once; `documents.tables.place_of` gives the labels and the
header of one of its cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

ElementKind = Literal["heading", "paragraph", "list_item", "table", "caption", "code"]


class TableCell(NamedTuple):
    """One printed cell of a table, with its place in `Document.text`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TableGrid:
    """A table as it was read: one name per column in `header` ("Span / Own" when words over several
    columns stand above the column's own), and the cells of each row in `rows`.

    `note` is the table's unit ("in millions"). A label's indent is the white space between the
    label and the "| " that begins its row.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    caption: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Element:
    """A piece of the document: `text[start:end]`. `level` is the heading depth (1 is
    the top), 0 for others.

    `row_starts` gives the offset of each rendered row of a table, so that chunking
    can cut between rows.
    """

    kind: ElementKind
    start: int
    end: int
    level: int = 0
    page: int | None = None
    grid: TableGrid | None = None
    row_starts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the source: `number` counts from 1; it covers `text[start:end]`.

    `scores` are the words of a page that was read by OCR, each with its lowest score (0 to 1).
    """

    number: int
    start: int
    end: int
    scores: tuple[tuple[str, float], ...] = ()


GIVEN = "application/vnd.sliders.table"
"""The media type of a table that the user gave with its rows: nothing is read from it."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document as text with structure.

    `id` is derived from the content, so the same content added twice is one document; `name` is the
    path that the user gave, relative to the folder that was added; `warnings` are lines for the
    user ("page 3 has no text: needs OCR"). Elements are sorted and do not overlap; what lies
    between them is white space. `unread` are the numbers of pages that OCR has still to read.
    """

    id: str
    name: str
    text: str
    title: str
    elements: tuple[Element, ...]
    pages: tuple[Page, ...] = ()
    media_type: str = "text/plain"
    source: str = ""
    modified: float | None = None
    warnings: tuple[str, ...] = ()
    unread: tuple[int, ...] = ()

    def page_at(self, offset: int) -> int | None:
        """Page number (from 1) that holds the character at `offset`, None for
        formats without pages.
        """
        for page in self.pages:
            if page.start <= offset < page.end:
                return page.number
        return None
