"""PDF: rows and columns rebuilt from character boxes, with pdfplumber as the oracle."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable

import pdfplumber
import pytest
from document_samples import STATEMENT_ROWS, check_document, make_pdf
from PIL import Image
from reportlab.pdfgen import canvas

from sliders.documents import Document, read_pdf
from sliders.errors import DocumentError


def test_every_number_stands_beside_its_row_and_year(statement_pdf: bytes) -> None:
    document = check_document(read_pdf(statement_pdf, "lumen.pdf"))
    table = next(element for element in document.elements if element.grid)
    assert table.grid is not None
    assert table.grid.header == (
        "",
        *(f"Year Ended June 30, / {year}" for year in (2021, 2020, 2019)),
    )
    rows = [[cell.text for cell in row] for row in table.grid.rows]
    first = ["Sales of lamps", "$120,118", "$98,004", "$7,411"]
    assert rows == [["Revenue:", "", "", ""], first, *[list(row) for row in STATEMENT_ROWS[1:]]]
    assert "|   Cost of lamps | (61,020) | (50,111) | (3,300) |" in document.text
    assert table.grid.note == "(in thousands, except per share)"
    assert table.grid.caption == "STATEMENT OF INCOME"


def test_rows_agree_with_the_oracle(statement_pdf: bytes) -> None:
    """pdfplumber's layout text has the same numbers in the same order on each line."""
    document = read_pdf(statement_pdf, "lumen.pdf")
    table = next(element for element in document.elements if element.grid)
    assert table.grid is not None
    ours = {
        row[0].text: [re.sub(r"[$]", "", cell.text) for cell in row[1:]]
        for row in table.grid.rows
        if row[1].text
    }
    with pdfplumber.open(io.BytesIO(statement_pdf)) as pdf:
        lines = pdf.pages[0].extract_text(layout=True).splitlines()
    theirs = {}
    for line in lines:
        pieces = [piece.strip() for piece in re.split(r"\s{2,}|\$\s*", line.strip()) if piece]
        if len(pieces) == 4:
            theirs[pieces[0]] = pieces[1:]
    assert ours == {label: values for label, values in theirs.items() if label in ours}
    assert len(ours) == len(STATEMENT_ROWS)


def test_prose_becomes_paragraphs_and_bold_lines_headings() -> None:
    page = [
        (72, 72, "Item 7. Discussion of results"),
        (72, 100, "The lamps of the northern plant sold well in the first half of the"),
        (72, 112, "year, and the works hired nine people."),
        (72, 140, "Our people"),
        (72, 154, "Nobody left the works in the second half of the year."),
    ]
    document = check_document(read_pdf(make_pdf([page], bold=frozenset({"Our people"})), "a.pdf"))
    assert [(e.kind, document.text[e.start : e.end]) for e in document.elements] == [
        ("heading", "Item 7. Discussion of results"),
        (
            "paragraph",
            (
                "The lamps of the northern plant sold well in the first half of the year, and the "
                "works hired nine people."
            ),
        ),
        ("heading", "Our people"),
        ("paragraph", "Nobody left the works in the second half of the year."),
    ]


def test_pages_are_numbered_and_running_headers_are_no_headings() -> None:
    pages = [
        [
            (72, 40, "LUMEN WORKS ANNUAL REPORT"),
            (72, 90, f"Chapter text number {n} about lamps."),
            (300, 760, str(n)),
        ]
        for n in range(1, 5)
    ]
    document = check_document(read_pdf(make_pdf(pages), "b.pdf"))
    assert [page.number for page in document.pages] == [1, 2, 3, 4]
    assert not [element for element in document.elements if element.kind == "heading"]
    assert document.page_at(document.text.index("number 3")) == 3


def _drawn(*pages: Callable[[canvas.Canvas], object]) -> Document:
    buffer = io.BytesIO()
    drawing = canvas.Canvas(buffer)
    for draw in pages:
        draw(drawing)
        drawing.showPage()
    drawing.save()
    return check_document(read_pdf(buffer.getvalue(), "a.pdf"))


def _words(drawing: canvas.Canvas) -> None:
    drawing.drawString(72, 700, "The harbour wall cost 45 euros.")


def _picture(drawing: canvas.Canvas) -> None:
    drawing.drawInlineImage(Image.new("RGB", (40, 40), "grey"), 72, 500, 200, 200)


def test_a_page_with_a_picture_and_no_words_needs_ocr_and_an_empty_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    (told,) = _drawn(_words, _picture, lambda drawing: None).warnings
    assert told == "page 2 has no text: it needs OCR; install it with: pip install 'sliders[ocr]'"


def test_values_of_a_form_stand_at_their_place() -> None:
    def draw(drawing: canvas.Canvas) -> None:
        drawing.drawString(72, 700, "Amount claimed:")
        drawing.acroForm.textfield(name="a", value="318.40", x=200, y=694, width=90, height=18)
        drawing.drawString(72, 660, "Approved:")
        drawing.acroForm.checkbox(name="b", checked=True, x=200, y=656, size=14)
        drawing.drawString(72, 620, "Signed in Lund by the clerk.")

    text = _drawn(draw).text
    assert "Amount claimed:  318.40" in text
    assert "Approved:  [x]" in text
    assert text.index("318.40") < text.index("Signed in Lund")


def test_free_text_is_read_at_its_place() -> None:
    def draw(drawing: canvas.Canvas) -> None:
        _words(drawing)
        drawing.freeTextAnnotation("Paid on 3 May 2024", "/Helv 10 Tf 0 g", [72, 600, 300, 620])
        drawing.drawString(72, 500, "End of the page, with its last words.")

    text = _drawn(draw).text
    assert text.index("45 euros") < text.index("Paid on 3 May 2024") < text.index("End of")


def test_invisible_text_is_told() -> None:
    def draw(drawing: canvas.Canvas) -> None:
        _words(drawing)
        text = drawing.beginText(72, 600)
        text.setTextRenderMode(3)
        text.textLine("Nobody sees these words.")
        drawing.drawText(text)

    assert _drawn(draw).warnings == ("page 1: 1 of 2 lines are invisible text and were read",)


@pytest.mark.parametrize(("base", "mark", "read"), [("45", "1", "45^1"), ("10", "12", "10^12")])
def test_raised_digits_are_no_digits_of_their_number(base: str, mark: str, read: str) -> None:
    def draw(drawing: canvas.Canvas) -> None:
        text = drawing.beginText(72, 700)
        text.setFont("Times-Roman", 12)
        text.textOut(f"The price is {base}")
        text.setFont("Times-Roman", 7)
        text.setRise(5)
        text.textOut(mark)
        text.setRise(0)
        text.setFont("Times-Roman", 12)
        text.textOut(" euros a month.")
        drawing.drawText(text)

    assert f"The price is {read} euros a month." in _drawn(draw).text


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda raw: raw[: len(raw) // 3], "damaged or truncated"),
        (lambda raw: b"%PDF-1.7 nothing else", "damaged or truncated"),
        (lambda _: make_pdf([[(72, 72, "secret")]], password="key"), "encrypted"),
        (lambda _: make_pdf([[]]), "none of its 1 pages has text"),
    ],
)
def test_broken_pdfs_give_one_clear_line(statement_pdf: bytes, damage, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DocumentError, match=words) as caught:
        read_pdf(damage(statement_pdf), "bad.pdf")
    assert str(caught.value).startswith("bad.pdf: ")
    assert "\n" not in str(caught.value)


def test_two_columns_of_text_are_read_one_after_the_other() -> None:
    left = [f"left column line {n} says something about lamps" for n in range(12)]
    right = [f"right column line {n} says something on bulbs" for n in range(12)]
    page = [
        (
            72,
            60,
            (
                "A heading that stands over both of the columns and crosses the place between "
                "them, as headings do"
            ),
        )
    ]
    page += [(60, 100 + 12 * n, text) for n, text in enumerate(left)]
    page += [(320, 100 + 12 * n, text) for n, text in enumerate(right)]
    words = check_document(read_pdf(make_pdf([page]), "two.pdf")).text
    assert " ".join(left) in words.replace("\n", " ")
    assert " ".join(right) in words.replace("\n", " ")
    assert words.index(left[-1]) < words.index(right[0])
