"""OpenDocument files and e-books, and rich text that is refused by name."""

from __future__ import annotations

import io
import zipfile

import pytest
from document_samples import read_file

from sliders.errors import DocumentError

LONG = ("office", "text", "table", "drawing")
NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for short, long in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
    )
)


def packed(**parts: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return buffer.getvalue()


def opendocument(body: str) -> bytes:
    content = f"<office:document-content {NAMES}><office:body>{body}</office:body>"
    return packed(mimetype="application/x", content_xml=f"{content}</office:document-content>")


def cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"


def test_an_opendocument_text_is_read() -> None:
    rows = f"<table:table-row>{cell('Part')}{cell('Price')}</table:table-row>"
    rows += f"<table:table-row>{cell('Bolt')}{cell('1.50')}</table:table-row>"
    text = read_file(
        opendocument(
            "<office:text><text:tracked-changes><text:p>500</text:p></text:tracked-changes>"
            '<text:h text:outline-level="1">Supply agreement</text:h>'
            "<text:p>The fee is <text:span>750</text:span><text:s/>euros.<text:note>"
            "<text:note-citation>1</text:note-citation><text:note-body><text:p>Without tax."
            "</text:p></text:note-body></text:note></text:p>"
            f"<table:table>{rows}</table:table></office:text>"
        ),
        "a.odt",
    ).text
    assert "Supply agreement" in text
    assert "The fee is 750 euros." in text
    assert "Without tax." in text
    assert "500" not in text
    assert "| Bolt | 1.50 |" in text


def test_an_opendocument_sheet_is_read_without_its_endless_blanks() -> None:
    blank = '<table:table-cell table:number-columns-repeated="16384"/>'
    rows = f"<table:table-row>{cell('Part')}{cell('Price')}{blank}</table:table-row>"
    rows += f"<table:table-row>{cell('Bolt')}{cell('1.50')}{blank}</table:table-row>"
    rows += f'<table:table-row table:number-rows-repeated="1048000">{blank}</table:table-row>'
    sheet = f'<table:table table:name="Prices">{rows}</table:table>'
    text = read_file(
        opendocument(f"<office:spreadsheet>{sheet}</office:spreadsheet>"), "a.ods"
    ).text
    assert "Prices" in text
    assert "| Bolt | 1.50 |" in text


def test_an_e_book_is_read_in_its_order() -> None:
    container = '<container><rootfiles><rootfile full-path="o/c.opf"/></rootfiles></container>'
    package = (
        '<package><manifest><item id="a" href="one.xhtml"/><item id="b" href="two.xhtml"/>'
        '</manifest><spine><itemref idref="b"/><itemref idref="a"/></spine></package>'
    )
    raw = packed(
        mimetype="application/epub+zip",
        **{
            "META-INF__container_xml": container,
            "o__c_opf": package,
            "o__one_xhtml": "<html><body><p>It ended in 1912.</p></body></html>",
            "o__two_xhtml": "<html><body><h1>Bridges</h1><p>It began in 1904.</p></body></html>",
        },
    )
    text = read_file(raw, "a.epub").text
    assert text.index("It began in 1904.") < text.index("It ended in 1912.")


@pytest.mark.parametrize("name", ["a.rtf", "a.txt", "a.doc"])
def test_rich_text_is_refused_by_name(name: str) -> None:
    with pytest.raises(DocumentError, match="rich text"):
        read_file(rb"{\rtf1 Jarl cost 21 euros.}", name)
