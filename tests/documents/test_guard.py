"""What a reader loses of a file's words is a warning that stays with the document."""

from __future__ import annotations

import io
import zipfile

import docx
import openpyxl
import pytest
from document_samples import read_file
from pptx import Presentation

SHAPE = (
    '<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
    "<a:p><a:r><a:t>Boxed words cost 77</a:t></a:r></a:p></xdr:wsDr>"
)


def test_words_in_a_drawing_of_a_workbook_are_told() -> None:
    book = openpyxl.Workbook()
    book.active.append(["item", "price"])
    book.active.append(["lamp", 40])
    buffer = io.BytesIO()
    book.save(buffer)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("xl/drawings/drawing1.xml", SHAPE)
    document = read_file(buffer.getvalue(), "a.xlsx")
    assert "of the file are not in what was read: 77, boxed, cost, words" in document.warnings[-1]


@pytest.mark.parametrize("name", ["a.html", "a.md", "a.eml"])
def test_what_is_read_whole_has_no_warning(name: str) -> None:
    body = (
        "<h1>Prices</h1><p>The <b>lamp</b> <code>lamp_of_lund</code> costs 45<sup>1</sup> EUR.</p>"
    )
    if name == "a.eml":
        body = f"Subject: x\nContent-Type: text/html\n\n{body}"
    assert read_file(body.encode(), name).warnings == ()


def test_office_files_that_are_read_whole_have_no_warning() -> None:
    word, deck = docx.Document(), Presentation()
    word.add_heading("Prices")
    word.add_paragraph("The lamp costs 45 EUR.")
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "The lamp costs 45 EUR."
    for made, name in ((word, "a.docx"), (deck, "a.pptx")):
        buffer = io.BytesIO()
        made.save(buffer)
        assert read_file(buffer.getvalue(), name).warnings == ()


def test_names_with_underscores_and_targets_of_links_are_no_lost_words() -> None:
    raw = b"# Columns\n\n`event_id`, *killed_here* and [the list](https://example.org/far/away).\n"
    assert read_file(raw, "a.md").warnings == ()
