"""Builds documents for the tests of the room from a short notation."""

from __future__ import annotations

import pytest

from sliders.documents import Document, Element, ElementKind, Page, TableCell, TableGrid

Block = tuple[ElementKind, str] | tuple[ElementKind, str, int]


def build(*blocks: Block, title: str = "Report", pages: tuple[Page, ...] = ()) -> Document:
    """Blocks `(kind, text[, level])` joined by empty lines; a table's rows are its lines."""
    text, elements = "", []
    for block in blocks:
        kind, body, level = block if len(block) == 3 else (*block, 0)
        start = len(text)
        text += body
        elements.append(_element(kind, body, start, level))
        text += "\n\n"
    return Document(
        id="doc", name="doc.md", text=text, title=title, elements=tuple(elements), pages=pages
    )


def _element(kind: ElementKind, body: str, start: int, level: int) -> Element:
    end = start + len(body)
    if kind != "table":
        return Element(kind, start, end, level)
    rows, at = [], start
    for line in body.split("\n"):
        rows.append(at)
        at += len(line) + 1
    cells = tuple(
        (TableCell(line, row, row + len(line)),)
        for row, line in zip(rows, body.split("\n"), strict=True)
    )
    grid = TableGrid(
        header=("item", "2022"), rows=cells, caption="Table 3. Cash flows", note="in millions"
    )
    return Element(kind, start, end, 0, grid=grid, row_starts=tuple(rows))


@pytest.fixture(scope="session")
def document():
    """The builder `document(*blocks, title, pages, description)`."""
    return build
