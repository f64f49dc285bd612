"""PDF tables whose cells are closed by drawn lines, and pages with turned words."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from document_samples import check_document
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Table

from sliders.documents import Document, read_pdf

_GRID = ("GRID", (0, 0), (-1, -1), 0.7, "black")
_STYLES = getSampleStyleSheet()


def _read(raw: bytes) -> Document:
    return check_document(read_pdf(raw, "a.pdf"))


def _printed(*parts: Flowable) -> Document:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer).build(list(parts))
    return _read(buffer.getvalue())


def _drawn(*pages: Callable[[canvas.Canvas], object]) -> Document:
    buffer = io.BytesIO()
    drawing = canvas.Canvas(buffer)
    for draw in pages:
        draw(drawing)
        drawing.showPage()
    drawing.save()
    return _read(buffer.getvalue())


def _cells(document: Document) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    (grid,) = [element.grid for element in document.elements if element.grid]
    return grid.header, [tuple(cell.text for cell in row) for row in grid.rows]


def _ruled(
    drawing: canvas.Canvas, rows: Sequence[Sequence[str]], top: float = 700, width: float = 80
) -> None:
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            drawing.rect(72 + width * c, top - 20 * (r + 1), width, 20)
            drawing.drawString(76 + width * c, top - 20 * (r + 1) + 6, text)


def test_a_cell_over_several_rows_or_columns_counts_in_each_of_them() -> None:
    rows = [
        ["Region", "2022", "", "2023", ""],
        ["", "Units", "EUR", "Units", "EUR"],
        ["North", "10", "100", "12", "140"],
        ["South", "20", "200", "21", "230"],
        ["", "25", "250", "26", "270"],
    ]
    spans = (((0, 0), (0, 1)), ((1, 0), (2, 0)), ((3, 0), (4, 0)), ((0, 3), (0, 4)))
    table = Table(rows, style=[_GRID, *(("SPAN", *places) for places in spans)])
    names = ("2022 / Units", "2022 / EUR", "2023 / Units", "2023 / EUR")
    assert _cells(_printed(Paragraph("Sales by region", _STYLES["Heading2"]), table)) == (
        ("Region", *names),
        [
            ("North", "10", "100", "12", "140"),
            ("South", "20", "200", "21", "230"),
            ("South", "25", "250", "26", "270"),
        ],
    )


def test_a_wrapped_cell_is_one_cell() -> None:
    body = _STYLES["BodyText"]
    long = "Replace the timber deck that was damaged by the flood in spring"
    rows = [
        ["Project", "Purpose", "Cost"],
        [Paragraph("Bridge over the Lune near the old mill", body), Paragraph(long, body), "1,200"],
        ["School roof", "", "900"],
    ]
    header, cells = _cells(_printed(Table(rows, colWidths=[90, 120, 60], style=[_GRID])))
    assert header == ("Project", "Purpose", "Cost")
    assert cells == [
        ("Bridge over the Lune near the old mill", long, "1,200"),
        ("School roof", "", "900"),
    ]


def test_a_table_over_pages_is_one_table_and_its_rows_know_their_page() -> None:
    rows = [[f"Site {n}", str(10 + n), f"{n / 10}"] for n in range(100)]
    table = Table([["Site", "Samples", "pH"], *rows], style=[_GRID], repeatRows=1)
    document = _printed(Paragraph("Water quality", _STYLES["Heading2"]), table)
    assert _cells(document) == (("Site", "Samples", "pH"), [tuple(row) for row in rows])
    assert [page.number for page in document.pages] == [1, 2, 3]
    assert document.page_at(document.text.index("Site 1 ")) == 1
    assert document.page_at(document.text.index("Site 99")) == 3


def test_tables_of_other_columns_or_with_words_between_them_stay_apart() -> None:
    first = [["Site", "Samples"], ["A", "1"], ["B", "2"]]
    document = _drawn(
        lambda drawing: _ruled(drawing, first),
        lambda drawing: _ruled(drawing, first, width=90),
        lambda drawing: (drawing.drawString(72, 760, "Another year."), _ruled(drawing, first)),
    )
    assert sum(element.grid is not None for element in document.elements) == 3


def test_rows_without_lines_between_them_are_rows() -> None:
    def draw(drawing: canvas.Canvas) -> None:
        for left, right in ((72, 172), (172, 200), (200, 228)):
            drawing.rect(left, 600, right - left, 60)
            drawing.rect(left, 660, right - left, 20)
        for n, row in enumerate(
            (("Site", "Nets", "Hauls"), *(("ab"[n % 2], "12", "7") for n in range(3)))
        ):
            for x, text in zip((76, 174, 202), row, strict=True):
                drawing.drawString(x, 665 - 20 * n, text)

    header, rows = _cells(_drawn(draw))
    assert (header, rows) == (
        ("Site", "Nets", "Hauls"),
        [("a", "12", "7"), ("b", "12", "7"), ("a", "12", "7")],
    )


def test_a_page_printed_sideways_is_turned() -> None:
    rows = [["Site", "Samples", "pH"], ["Lund", "12", "6.5"], ["Alm", "15", "7.1"]]

    def draw(drawing: canvas.Canvas) -> None:
        drawing.translate(560, 0)
        drawing.rotate(90)
        drawing.drawString(72, 540, "Water quality of the year")
        _ruled(drawing, rows, top=500)

    expected = (tuple(rows[0]), [tuple(row) for row in rows[1:]])
    assert _cells(_drawn(draw)) == expected


def test_turned_words_do_not_run_into_the_lines_that_they_cross() -> None:
    def draw(drawing: canvas.Canvas) -> None:
        for n in range(8):
            drawing.drawString(72, 700 - 14 * n, f"The harbour wall number {n} cost 45 euros.")
        for angle, text in ((45, "DRAFT"), (90, "Filed in Lund")):
            drawing.saveState()
            drawing.translate(150, 600)
            drawing.rotate(angle)
            drawing.drawString(0, 0, text)
            drawing.restoreState()

    text = _drawn(draw).text
    assert all(f"The harbour wall number {n} cost 45 euros." in text for n in range(8))
    assert "DRAFT" in text
    assert "Filed in Lund" in text


def test_values_of_a_form_stand_in_their_cells() -> None:
    def draw(drawing: canvas.Canvas) -> None:
        _ruled(drawing, [["Claim", "Amount"], ["Travel", ""], ["Hotel", "40"]])
        drawing.acroForm.textfield(name="a", value="318.40", x=154, y=661, width=70, height=18)

    assert _cells(_drawn(draw))[1] == [("Travel", "318.40"), ("Hotel", "40")]
