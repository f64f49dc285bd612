"""Invariants of every document, and small files of each format made on the fly."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from reportlab.lib.pagesizes import letter
from reportlab.pdfgen import canvas

from sliders.documents import Document, load


def check_document(document: Document) -> Document:
    """Elements sorted, apart, inside the text, white space between; cells and rows where
    they say; pages cover.
    """
    text, at = document.text, 0
    for element in document.elements:
        assert at <= element.start < element.end <= len(text)
        assert text[at : element.start].strip() == ""
        assert text[element.start : element.end].strip() == text[element.start : element.end]
        at = element.end
        if element.kind != "table":
            assert element.grid is None
            continue
        assert element.grid is not None
        assert len(element.row_starts) == len(element.grid.rows) > 0
        ends = [*(start - 1 for start in element.row_starts[1:]), element.end]
        for start, end, row in zip(element.row_starts, ends, element.grid.rows, strict=True):
            assert "\n" not in text[start:end]
            assert len(row) == len(element.grid.header)
            for cell in row:
                assert start <= cell.start <= cell.end <= end
                assert text[cell.start : cell.end] == cell.text
    assert text[at:].strip() == ""
    if document.pages:
        assert document.pages[0].start == 0
        assert document.pages[-1].end == len(text)
        for page, following in zip(document.pages, document.pages[1:], strict=False):
            assert page.end == following.start
        for element in document.elements:
            assert element.page == document.page_at(element.start)
    assert document.title
    return document


Placed = tuple[float, float, str]


def make_pdf(
    pages: list[list[Placed]],
    *,
    right: bool = False,
    bold: frozenset[str] = frozenset(),
    password: str = "",
) -> bytes:
    """A PDF of pieces (x, y from the top, text); numbers end at x when `right`, texts in
    `bold` are set in bold.
    """
    buffer = io.BytesIO()
    drawing = canvas.Canvas(buffer, pagesize=letter, encrypt=password or None)
    for page in pages:
        for x, y, text in page:
            drawing.setFont("Times-Bold" if text in bold else "Times-Roman", 10)
            place = (
                drawing.drawRightString
                if right and text[:1] in "0123456789($—"
                else drawing.drawString
            )
            place(x, letter[1] - y, text)
        drawing.showPage()
    drawing.save()
    return buffer.getvalue()


STATEMENT_ROWS = [
    ("Sales of lamps", "120,118", "98,004", "7,411"),
    ("Cost of lamps", "(61,020)", "(50,111)", "(3,300)"),
    ("Gain on plant", "—", "12", "—"),
    ("Gross result", "59,098", "47,905", "4,111"),
]


def statement_page() -> list[Placed]:
    """One page with an income statement of three years; `$` and `)` stand apart as
    annual reports print them.
    """
    page: list[Placed] = [
        (250, 60, "Lumen Works Ltd."),
        (220, 75, "STATEMENT OF INCOME"),
        (225, 90, "(in thousands, except per share)"),
        (400, 115, "Year Ended June 30,"),
        (380, 128, "2021"),
        (460, 128, "2020"),
        (540, 128, "2019"),
        (60, 145, "Revenue:"),
    ]
    for n, (label, *values) in enumerate(STATEMENT_ROWS):
        y = 160 + 14 * n
        page.append((66, y, label))
        for x, value in zip((380, 460, 540), values, strict=True):
            page.append((x, y, value))
        if n == 0:
            page.extend((x - 62, y, "$") for x in (380, 460, 540))
    page.append((60, 260, "The notes are an integral part of this statement."))
    return page


def read_file(raw: bytes, name: str) -> Document:
    """The document of a file of that name, its invariants checked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(raw)
        return check_document(load(path))
