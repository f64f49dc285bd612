"""Headers of PDF tables by geometry: strokes, middles, wrapped words, marks;
and the real filings where they are at hand.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path

import pdfplumber
import pytest
from document_samples import check_document
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pagesizes import letter
from reportlab.pdfgen import canvas

from sliders.documents import Document, TableGrid, place_of, read_pdf

_FILINGS = (
    Path(__file__).resolve().parents[3] / "shared" / "evals" / "financebench_pdfs" / "dev" / "docs"
)
_STEP, _WIDTH, _LABELS = 80, 70, 190
_words = st.text("abcdefghij", min_size=3, max_size=7).map(str.capitalize)


class _Page:
    """Draws cells: numbers flush right in columns of 70 points, header words in the
    middle of their columns.
    """

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._canvas = canvas.Canvas(self._buffer, pagesize=letter)
        self._canvas.setFont("Times-Roman", 9)

    def label(self, y: float, text: str, indent: float = 0) -> None:
        self._canvas.drawString(40 + indent, letter[1] - y, text)

    def value(self, y: float, column: int, text: str) -> None:
        self._canvas.drawRightString(_LABELS + column * _STEP + _WIDTH - 4, letter[1] - y, text)

    def head(self, y: float, first: int, last: int, text: str) -> None:
        left, right = self.edges(first, last)
        self._canvas.drawCentredString((left + right) / 2, letter[1] - y, text)

    def stroke(self, y: float, first: int, last: int) -> None:
        left, right = self.edges(first, last)
        self._canvas.rect(left, letter[1] - y, right - left, 0.6, stroke=0, fill=1)

    def raised(self, y: float, x: float, text: str) -> None:
        self._canvas.setFont("Times-Roman", 5)
        self._canvas.drawString(x, letter[1] - y + 5, text)
        self._canvas.setFont("Times-Roman", 9)

    @staticmethod
    def edges(first: int, last: int) -> tuple[float, float]:
        return _LABELS + first * _STEP, _LABELS + last * _STEP + _WIDTH

    def grid(self) -> TableGrid:
        self._canvas.save()
        document = check_document(read_pdf(self._buffer.getvalue(), "t.pdf"))
        (table,) = [element for element in document.elements if element.grid]
        assert table.grid is not None
        for row in table.grid.rows:
            for c, cell in enumerate(row):
                if cell.text:
                    place = place_of(table, cell.start)
                    assert place is not None
                    assert place.column == table.grid.header[c]
                    assert place.row.endswith(row[0].text)
        return table.grid


def _rows(page: _Page, columns: int, top: float = 200) -> list[tuple[str, ...]]:
    rows = [(f"Line {n}", *(str(1000 * n + 100 * c) for c in range(columns))) for n in range(1, 5)]
    for n, (label, *values) in enumerate(rows):
        page.label(top + 13 * n, label)
        for c, value in enumerate(values):
            page.value(top + 13 * n, c, value)
    return rows


def _printed(grid: TableGrid) -> list[tuple[str, ...]]:
    return [tuple(cell.text for cell in row) for row in grid.rows]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(_words, st.lists(_words, min_size=1, max_size=3, unique=True)),
        min_size=1,
        max_size=2,
    )
)
def test_words_over_several_columns_stand_over_each_of_them(
    groups: list[tuple[str, list[str]]],
) -> None:
    """A stroke below the words says which columns are theirs, wherever their
    middle happens to be.
    """
    page, column, expected = _Page(), 0, []
    for span, names in groups:
        last = column + len(names) - 1
        page.head(170, column, last, span)
        page.stroke(173, column, last)
        for n, name in enumerate(names):
            page.head(184, column + n, column + n, name)
            page.stroke(187, column + n, column + n)
        expected += [f"{span} / {name}" if len(names) > 1 else f"{span} {name}" for name in names]
        column = last + 1
    rows = _rows(page, column) if column > 1 else []
    if rows:
        grid = page.grid()
        assert grid.header == ("", *expected)
        assert _printed(grid) == rows


def test_a_geography_table_keeps_its_two_spans_apart() -> None:
    page = _Page()
    for first, last, span in ((0, 1, "Three months ended"), (2, 3, "Six months ended")):
        page.head(160, first, last, span)
        page.stroke(163, first, last)
    for c, date in enumerate(("July 2,", "July 3,", "July 2,", "July 3,")):
        page.head(173, c, c, date)
        page.head(183, c, c, str(2023 - c % 2))
        page.stroke(186, c, c)
    page.label(183, "(in millions)")
    rows = _rows(page, 4)
    grid = page.grid()
    spans = ("Three months ended", "Three months ended", "Six months ended", "Six months ended")
    dates = ("July 2, 2023", "July 3, 2022", "July 2, 2023", "July 3, 2022")
    assert grid.header == (
        "",
        *(f"{span} / {date}" for span, date in zip(spans, dates, strict=True)),
    )
    assert (grid.note, _printed(grid)) == ("(in millions)", rows)


@pytest.mark.parametrize("columns", [2, 3, 4, 5])
def test_without_strokes_the_middle_of_the_years_counts(columns: int) -> None:
    page = _Page()
    page.head(170, 0, columns - 1, "Year Ended December 31,")
    for c in range(columns):
        page.head(184, c, c, str(2023 - c))
    rows = _rows(page, columns)
    grid = page.grid()
    assert grid.header == ("", *(f"Year Ended December 31, / {2023 - c}" for c in range(columns)))
    assert _printed(grid) == rows


@pytest.mark.parametrize("closed", [False, True])
def test_words_that_wrap_in_their_column_are_one_name(closed: bool) -> None:
    page = _Page()
    if closed:
        page.stroke(194, 0, 2)
    lines = (
        ("", "", "Weighted"),
        ("", "Average", "Average"),
        ("Number", "Price", "Life"),
        ("of Items", "Paid", "in Years"),
    )
    for y, pieces in zip((160, 170, 180, 190), lines, strict=True):
        for c, text in enumerate(pieces):
            if text:
                page.head(y, c, c, text)
    rows = _rows(page, 3, top=205)
    grid = page.grid()
    assert grid.header == (
        "",
        "Number of Items",
        "Average Price Paid",
        "Weighted Average Life in Years",
    )
    assert _printed(grid) == rows


def test_a_span_whose_edge_is_drawn_column_by_column() -> None:
    page = _Page()
    page.head(170, 0, 2, "Number of lamps")
    for c in range(3):
        page.stroke(173, c, c)
        page.head(184, c, c, str(2021 - c))
        page.stroke(187, c, c)
    _rows(page, 3)
    assert page.grid().header == ("", *(f"Number of lamps / {2021 - c}" for c in range(3)))


def test_years_over_pairs_of_columns() -> None:
    page = _Page()
    for n, year in enumerate(("2021", "2020")):
        page.head(184, 2 * n, 2 * n + 1, year)
    _rows(page, 4)
    assert page.grid().header == ("", "2021", "2021", "2020", "2020")


def test_raised_footnote_marks_stay_in_their_row() -> None:
    page = _Page()
    for c in range(2):
        page.head(184, c, c, str(2021 - c))
    rows = _rows(page, 2)
    page.raised(200 + 13 * 2, 68, "(7)")
    printed = _printed(page.grid())
    assert [row[1:] for row in printed] == [row[1:] for row in rows]
    assert re.fullmatch(r"Line 3 ?\(7\)", printed[2][0])


def test_indented_rows_stand_in_their_sections() -> None:
    page = _Page()
    for c in range(2):
        page.head(184, c, c, str(2021 - c))
    for n, (indent, text) in enumerate(
        (
            (0, "Assets:"),
            (8, "Cash"),
            (8, "Lamps that were sold and not"),
            (8, "yet paid"),
            (0, "Total"),
        )
    ):
        page.label(200 + 13 * n, text, indent)
        if n not in (0, 2):
            for c in range(2):
                page.value(200 + 13 * n, c, str(n * 10 + c + 10))
    grid = page.grid()
    assert _printed(grid) == [
        ("Assets:", "", ""),
        ("Cash", "20", "21"),
        ("Lamps that were sold and not yet paid", "40", "41"),
        ("Total", "50", "51"),
    ]


@pytest.mark.skipif(not _FILINGS.is_dir(), reason="the filings are not at hand")
def test_real_filings_have_named_columns_and_rows_as_printed() -> None:
    """Few tables of values have a column without name, and rows have the numbers of one printed
    line in their order.
    """
    path = min(_FILINGS.glob("*_EARNINGS.pdf"))
    document = check_document(read_pdf(path.read_bytes(), path.name))
    tables = [(element.page, element.grid) for element in document.elements if element.grid]
    assert len(tables) >= 8
    named = sum(all(grid.header[1:]) for _, grid in tables)
    assert named >= 0.9 * len(tables)
    with pdfplumber.open(path) as pdf:
        lines = {
            n: [_digits(line) for line in page.extract_text(layout=True).splitlines()]
            for n, page in enumerate(pdf.pages, 1)
        }
    rows = [
        (page, [_digits(cell.text) for cell in row[1:]])
        for page, grid in tables
        for row in grid.rows
    ]
    found = [any("".join(values) in line for line in lines[page or 0]) for page, values in rows]
    assert sum(found) >= 0.98 * len(found)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


_YEARS = ("2021", "2022", "2023")


def _over_pages(between: str = "", second: tuple[str, ...] = (), shift: float = 0) -> Document:
    """A table without drawn cells on two pages with running headers and footers; `second` is the
    header on the second page, `between` stands above it.
    """
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, pagesize=letter)

    def line(y: float, cells: Sequence[str], label: str, shift: float = 0) -> None:
        page.drawString(72, y, label)
        for number, text in enumerate(cells):
            page.drawRightString(300 + 90 * number + shift, y, text)

    for number, header in enumerate((_YEARS, second)):
        page.setFont("Times-Roman", 10)
        page.drawString(72, 770, "Report of the Harbour Board")
        if between and number:
            page.drawString(72, 740, between)
        top = 740 - 15 * bool(number and between)
        if header:
            line(top - 15, header, "Ship", shift * number)
        for row in range(8):
            figures = [str(100 * (k + 1) + 10 * number + row) for k in range(3)]
            line(top - 30 - 15 * row, figures, f"Boat {'AB'[number]}{row}", shift * number)
        page.drawCentredString(300, 40, f"Page {number + 1}")
        page.showPage()
    page.save()
    return check_document(read_pdf(buffer.getvalue(), "t.pdf"))


def _grids(document: Document) -> list[TableGrid]:
    return [element.grid for element in document.elements if element.grid]


@pytest.mark.parametrize("second", [(), _YEARS])
def test_a_table_without_drawn_cells_goes_on_over_pages(second: tuple[str, ...]) -> None:
    document = _over_pages(second=second)
    (grid,) = _grids(document)
    assert grid.header == ("Ship", *_YEARS) and len(grid.rows) == 16
    last = grid.rows[-1]
    assert [cell.text for cell in last] == ["Boat B7", "117", "217", "317"]
    assert [document.page_at(row[0].start) for row in grid.rows] == [1] * 8 + [2] * 8
    assert document.text.count("Report of the Harbour Board") == 2


@pytest.mark.parametrize(
    ("between", "second", "shift"),
    [("Boats of the river", (), 0), ("", ("2018", "2019", "2020"), 0), ("", (), 60)],
)
def test_another_table_at_the_top_of_a_page_stays_one(
    between: str, second: tuple[str, ...], shift: float
) -> None:
    assert [len(grid.rows) for grid in _grids(_over_pages(between, second, shift))] == [8, 8]
