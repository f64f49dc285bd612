"""md, html, csv, eml, docx, pptx, xlsx: headings, lists and tables, offline."""

from __future__ import annotations

import datetime
import io
import socket
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from document_samples import check_document

from sliders.documents import Document, html_table, load
from sliders.errors import DocumentError


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a reader tried to reach the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def _load(folder: Path, name: str, raw: bytes | str) -> Document:
    path = folder / name
    path.write_bytes(raw.encode() if isinstance(raw, str) else raw)
    return check_document(load(path))


def _found(document: Document, kind: str) -> list[str]:
    return [document.text[e.start : e.end] for e in document.elements if e.kind == kind]


MARKDOWN = """# Lamp report

The works sold many lamps in the north.

## Sales

1. first point
2. second point

(in millions)

| Item | 2021 | 2020 |
|------|------|------|
| Lamps | $ 5 | 4 |
| Costs | (3) | 2 |
"""


def test_markdown(tmp_path: Path) -> None:
    document = _load(tmp_path, "a.md", MARKDOWN)
    assert _found(document, "heading") == ["Lamp report", "Sales"]
    assert [element.level for element in document.elements if element.kind == "heading"] == [1, 2]
    assert _found(document, "list_item") == ["1. first point", "2. second point"]
    assert _found(document, "table") == [
        "| Item | 2021 | 2020 |\n| --- | --- | --- |\n| Lamps | $5 | 4 |\n| Costs | (3) | 2 |"
    ]
    grid = next(element.grid for element in document.elements if element.grid)
    assert grid.note == "(in millions)"
    assert document.title == "Lamp report"
    assert document.media_type == "text/markdown"


HTML = """<!doctype html><html>\
<head><title>The lamp page</title><style>p {color: red}</style></head><body>
<h1>Lamps</h1><p>They sold <b>well</b> in the north of the country.</p>\
<ul><li>One</li><li>Two</li></ul>
<table>
<tr><td rowspan="2">Item</td><th colspan="4">Year Ended June 30,</th></tr>
<tr><td colspan="2">2021</td><td colspan="2">2020</td></tr>
<tr><td>Sales</td><td>$</td><td>5,363</td><td>$</td><td>4,869</td></tr>
<tr><td>Costs</td><td></td><td>(467</td><td></td><td>373</td></tr>
</table><script>var x = 1;</script></body></html>"""


def test_html_with_spanning_cells(tmp_path: Path) -> None:
    document = _load(tmp_path, "a.html", HTML)
    assert document.title == "The lamp page"
    assert _found(document, "heading") == ["Lamps"]
    assert _found(document, "list_item") == ["One", "Two"]
    grid = next(element.grid for element in document.elements if element.grid)
    assert grid.header == ("Item", "Year Ended June 30, / 2021", "Year Ended June 30, / 2020")
    assert "| Sales | $5,363 | $4,869 |" in document.text
    assert "color" not in document.text
    assert "var x" not in document.text


def test_a_cell_over_two_rows_is_in_both() -> None:
    table = html_table(
        "<table><tr><th>Town</th><th>Year</th><th>Lamps</th></tr>"
        "<tr><td rowspan=2>Bern</td><td>2020</td><td>7</td></tr><tr><td>2021</td><td>9</"
        "td></tr></table>"
    )
    assert table.rows == (("Bern", "2020", "7"), ("Bern", "2021", "9"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv(tmp_path: Path, delimiter: str) -> None:
    rows = [["company", "revenue", "town"], ["Lumen", "5", "Bern"], ["Argand, Sons", "7", ""]]
    lines = [delimiter.join(f'"{cell}"' if "," in cell else cell for cell in row) for row in rows]
    document = _load(tmp_path, "a.csv", "\n".join(lines))
    assert document.text == (
        "| company | revenue | town |\n| --- | --- | --- |\n| Lumen | 5 | Bern |\n"
        "| Argand, Sons | 7 |  |"
    )
    grid = document.elements[0].grid
    assert grid is not None
    assert grid.header == ("company", "revenue", "town")
    assert [cell.text for cell in grid.rows[1]] == ["Argand, Sons", "7", ""]


def test_xlsx_is_one_table_a_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Sales"
    for row in (
        ["Lamp works", None],
        ["(in thousands)", None],
        ["", 2021, 2020],
        ["Lamps", 5.0, 4.5],
        ["Costs", -3, None],
    ):
        sheet.append(row)
    second = book.create_sheet("Opened")
    second.append(["shop", "day"])
    second.append(["North", datetime.datetime(2021, 3, 4)])
    buffer = io.BytesIO()
    book.save(buffer)
    document = _load(tmp_path, "a.xlsx", buffer.getvalue())
    assert _found(document, "heading") == ["Sales", "Opened"]
    assert _found(document, "table") == [
        "|  | 2021 | 2020 |\n| --- | --- | --- |\n| Lamps | 5 | 4.5 |\n| Costs | -3 |  |",
        "| shop | day |\n| --- | --- |\n| North | 2021-03-04 |",
    ]
    assert [e.grid.note for e in document.elements if e.grid] == ["(in thousands)", ""]


def test_docx(tmp_path: Path) -> None:
    word = docx.Document()
    word.add_heading("Lamp report", 1)
    word.add_heading("Sales", 2)
    word.add_paragraph("The works sold many lamps in the north of the country.")
    word.add_paragraph("one point", style="List Bullet")
    table = word.add_table(2, 3)
    for r, row in enumerate([["Item", "2021", "2020"], ["Lamps", "5", "4"]]):
        for c, cell in enumerate(row):
            table.cell(r, c).text = cell
    buffer = io.BytesIO()
    word.save(buffer)
    document = _load(tmp_path, "a.docx", buffer.getvalue())
    assert _found(document, "heading") == ["Lamp report", "Sales"]
    assert [element.level for element in document.elements if element.kind == "heading"] == [1, 2]
    assert _found(document, "list_item") == ["one point"]
    assert _found(document, "table") == [
        "| Item | 2021 | 2020 |\n| --- | --- | --- |\n| Lamps | 5 | 4 |"
    ]


def test_pptx_slides_are_pages(tmp_path: Path) -> None:
    show = pptx.Presentation()
    for title in ("Lamps", "Bulbs"):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = f"All about {title.lower()}"
    buffer = io.BytesIO()
    show.save(buffer)
    document = _load(tmp_path, "a.pptx", buffer.getvalue())
    assert [page.number for page in document.pages] == [1, 2]
    assert document.page_at(document.text.index("All about bulbs")) == 2
    assert _found(document, "heading") == ["Lamps", "Bulbs"]


def test_email_keeps_its_fields_and_names_its_attachments(tmp_path: Path) -> None:
    raw = (
        "Subject: Price of lamps\nFrom: ada@lumen.example\nDate: Mon, 1 Mar 2021 10:00:00 +0000\n"
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n'
        "Content-Type: text/html\n\n"
        "<p>A lamp costs 5 EUR.</p>\n--b\nContent-Type: text/plain\n"
        'Content-Disposition: attachment; filename="list.txt"\n\nx\n--b--\n'
    )
    document = _load(tmp_path, "a.eml", raw)
    assert document.title == "Price of lamps"
    assert "From: ada@lumen.example" in document.text
    assert "A lamp costs 5 EUR." in document.text
    assert "Attachments: list.txt" in document.text


def test_formats_that_need_the_extra_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: str) -> None:
        raise ImportError("no module")

    word = docx.Document()
    word.add_paragraph("text")
    word.save(str(tmp_path / "a.docx"))
    monkeypatch.setattr("sliders.documents.unstructured_offline.importlib.import_module", missing)
    with pytest.raises(DocumentError, match=r'pip install "sliders\[docs\]"'):
        load(tmp_path / "a.docx")
