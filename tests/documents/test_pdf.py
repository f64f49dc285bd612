"""PDF: rows and columns rebuilt from character boxes, with pdfplumber as the oracle."""

from __future__ import annotations

import io
import re

import pdfplumber
import pytest
from document_samples import STATEMENT_ROWS, check_document, make_pdf, statement_page

from sliders.documents import read_pdf
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


def test_a_page_without_text_says_that_it_needs_ocr(statement_pdf: bytes) -> None:
    document = check_document(read_pdf(make_pdf([statement_page(), []], right=True), "scan.pdf"))
    assert document.warnings == ("page 2 has no text: it needs OCR",)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda raw: raw[: len(raw) // 3], "damaged or truncated"),
        (lambda raw: b"%PDF-1.7 nothing else", "damaged or truncated"),
        (lambda _: make_pdf([[(72, 72, "secret")]], password="key"), "encrypted"),
        (lambda _: make_pdf([[]]), "OCR"),
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
