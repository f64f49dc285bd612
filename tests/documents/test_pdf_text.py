"""Running text of PDF pages: columns, ligatures, wide letters, and words at the ends of lines."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from document_samples import read_file
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from sliders.documents import Document


def drawn(draw: Callable[[Any], None]) -> Document:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.setFont("Helvetica", 10)
    draw(canvas)
    canvas.save()
    return read_file(buffer.getvalue(), "a.pdf")


def printed(*lines: str, left: float = 72, top: float = 700) -> Callable[[Any], None]:
    def draw(canvas: Any) -> None:
        for number, line in enumerate(lines):
            canvas.drawString(left, top - 14 * number, line)

    return draw


LEFT = (
    "The western mill grinds for",
    "the whole valley. It was put",
    "up in 1912 and cost 300 crowns,",
    "half of which the town paid",
    "in grain over eleven years.",
)
RIGHT = (
    "The eastern mill stands idle",
    "since its wheel broke. It was",
    "sold in 1987 for 450 crowns to",
    "a family that now lives there",
    "and keeps bees in the yard.",
)


def test_few_lines_in_two_columns_are_read_column_by_column() -> None:
    def draw(canvas: Any) -> None:
        printed(*LEFT)(canvas)
        printed(*RIGHT, left=330)(canvas)

    text = drawn(draw).text
    assert "It was put up in 1912 and cost 300 crowns, half of which" in text
    assert "sold in 1987 for 450 crowns to a family that now lives there" in text


def test_names_beside_names_are_no_columns_of_text() -> None:
    def draw(canvas: Any) -> None:
        printed("Warehouse at the harbour", "Warehouse in the old town", "Office by the park")(
            canvas
        )
        printed("Director Anna Lindqvist", "Director Bo Sandberg", "Director Eva Holm", left=330)(
            canvas
        )
        canvas.drawString(72, 700 - 42, "Laboratory on the hill")
        canvas.drawString(330, 700 - 42, "Director Nils Berggren")

    text = drawn(draw).text
    assert text.index("Anna Lindqvist") < text.index("Warehouse in the old town")


def test_columns_go_on_over_a_page_with_one_line_in_the_second() -> None:
    def draw(canvas: Any) -> None:
        for first, second in ((LEFT * 3, RIGHT * 3), (LEFT * 3, RIGHT[:1])):
            canvas.setFont("Helvetica", 10)
            printed(*first)(canvas)
            printed(*second, left=330)(canvas)
            canvas.showPage()

    text = drawn(draw).text
    assert text.rstrip().endswith("in grain over eleven years.\n\nThe eastern mill stands idle")


def test_letters_of_ligatures_are_kept() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    font = Path(matplotlib.__file__).parent / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"
    pdfmetrics.registerFont(TTFont("Wide", str(font)))

    def draw(canvas: Any) -> None:
        canvas.setFont("Wide", 11)
        canvas.drawString(72, 700, "O\ufb03ce, sta\ufb00, ba\ufb04e and \ufb02oor")

    assert drawn(draw).text == "Office, staff, baffle and floor"


def test_words_that_are_set_wide_are_words() -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(72, 700, "NET SALES 8351", charSpace=4)
        canvas.drawString(72, 650, "1 2 3 4 5 6 7 8")

    text = drawn(draw).text
    assert "NET SALES 8351" in text
    assert "1 2 3 4 5 6 7 8" in text


def test_words_with_a_line_through_them_are_left_out_and_told() -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(72, 700, "Fee 640 710 crowns")
        start = 72 + canvas.stringWidth("Fee ", "Helvetica", 10)
        canvas.line(start, 703.5, start + 17, 703.5)
        canvas.drawString(72, 650, "Underlined 55")
        canvas.line(72, 648.5, 140, 648.5)

    document = drawn(draw)
    assert "640" not in document.text
    assert "710 crowns" in document.text
    assert "Underlined 55" in document.text
    assert document.warnings == ("page 1: struck-out text was left out: ['640']",)


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (("A year-", "end sale of the short-", "term lease."), "year-end sale of the short-term"),
        (
            (
                "The indus-",
                "try is old. Its own indus-",
                "tries, an industry of glass, shrink-",
                "ed.",
            ),
            "The industry is old. Its own industries, an industry of glass, shrinked.",
        ),
        (("The Anglo-", "Dutch trade of salt."), "The Anglo-Dutch trade"),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_is_the_words_or_breaks_it(
    lines: tuple[str, ...], read: str
) -> None:
    assert read in drawn(printed(*lines)).text


@pytest.mark.parametrize(
    ("base", "mark", "read"),
    [("2022", "1)", "2022^1)"), ("45", "b", "45^b"), ("On the 1", "st", "On the 1st")],
)
def test_raised_marks_are_written_as_in_other_formats(base: str, mark: str, read: str) -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(72, 700, base)
        canvas.setFont("Helvetica", 6)
        canvas.drawString(72 + canvas.stringWidth(base, "Helvetica", 10), 704.5, mark)
        canvas.setFont("Helvetica", 10)
        canvas.drawString(160, 700, "and more")

    assert drawn(draw).text.startswith(read)


def test_values_near_their_words_stand_in_a_column_of_their_own() -> None:
    def draw(canvas: Any) -> None:
        for n in range(8):
            canvas.drawString(72, 700 - 14 * n, f"{n + 10}")
            canvas.drawString(110, 700 - 14 * n, f"Site number {n + 10}")
            canvas.drawString(185, 700 - 14 * n, f"{n + 4010}")

    text = drawn(draw).text
    assert "| 10 | Site number 10 | 4010 |" in text
    assert "| 17 | Site number 17 | 4017 |" in text


def test_white_and_covered_words_are_told() -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(72, 740, "Plain words of the page.")
        canvas.setFillColorRGB(0.1, 0.1, 0.4)
        canvas.rect(70, 695, 200, 16, fill=1, stroke=0)
        canvas.setFillColorRGB(1, 1, 1)
        canvas.drawString(72, 700, "White on blue")
        canvas.drawString(72, 660, "Ghostly 31")
        canvas.setFillColorRGB(0, 0, 0)
        canvas.drawString(72, 620, "Buried 32")
        canvas.rect(70, 616, 90, 14, fill=1)

    document = drawn(draw)
    assert document.warnings == ("page 1: white or covered text was read: Ghostly 31 Buried ...",)
