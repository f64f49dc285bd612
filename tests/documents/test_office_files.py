"""Word files and presentations as a reader of the printed page sees them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import pytest
from document_samples import read_file
from docx.oxml import parse_xml
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from sliders.documents import Document

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
AUTHOR = 'w:id="1" w:author="a" w:date="2024-01-01T00:00:00Z"'


def run(text: str, properties: str = "", leaf: str = "t") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:{leaf} xml:space="preserve">{text}</w:{leaf}></w:r>'


def inserted(text: str) -> str:
    return f"<w:ins {AUTHOR}>{run(text)}</w:ins>"


def deleted(text: str) -> str:
    return f"<w:del {AUTHOR}>{run(text, leaf='delText')}</w:del>"


def word(*blocks: str, change: Callable[[Any], None] | None = None, **parts: str) -> Document:
    """The document of a Word file with these blocks of XML; `parts` are more parts of the file."""
    file = docx.Document()
    body = file.element.body
    for block in blocks:
        body.insert(len(body) - 1, parse_xml(block.replace(">", f" {W}>", 1)))
    if change is not None:
        change(file)
    buffer = io.BytesIO()
    file.save(buffer)
    with zipfile.ZipFile(buffer, "a") as archive:
        for name, content in parts.items():
            archive.writestr(f"word/{name}.xml", content)
    return read_file(buffer.getvalue(), "a.docx")


def paragraph(*pieces: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(pieces)}</w:p>"


def test_tracked_changes_are_accepted() -> None:
    moved = f"<w:moveFrom {AUTHOR}>{run('Rent 12 euros.')}</w:moveFrom>"
    arrived = f"<w:moveTo {AUTHOR}>{run('Rent 12 euros.')}</w:moveTo>"
    text = word(
        paragraph(run("The fee is "), deleted("500"), inserted("750"), run(" euros a month.")),
        paragraph(moved, run("Kept words stay.")),
        paragraph(arrived),
        paragraph(run("One sentence "), properties=f"<w:rPr><w:del {AUTHOR}/></w:rPr>"),
        paragraph(run("goes on here.")),
    ).text
    assert "The fee is 750 euros a month." in text
    assert "500" not in text
    assert text.count("Rent 12 euros.") == 1
    assert "One sentence goes on here." in text


def test_fractions_moved_words_and_hyphens_that_do_not_break_are_no_lost_words() -> None:
    math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    part = "<m:{0}><m:r><m:t>{1}</m:t></m:r></m:{0}>"
    fraction = (
        f"<m:oMath {math}><m:f>{part.format('num', 3)}{part.format('den', 8)}</m:f></m:oMath>"
    )
    document = word(
        paragraph(f"<w:moveFrom {AUTHOR}>{run('Formerly here.')}</w:moveFrom>", run("Stays.")),
        paragraph(run("A share of "), fraction),
        paragraph("<w:r><w:t>Part 88</w:t><w:noBreakHyphen/><w:t>1234</w:t></w:r>"),
    )
    assert "A share of 3/8" in document.text
    assert "Part 88-1234" in document.text
    assert document.warnings == ()


def test_rows_that_were_deleted_are_gone() -> None:
    rows = "".join(
        f"<w:tr>{mark}<w:tc>{paragraph(run(name))}</w:tc><w:tc>{paragraph(run(price))}</w:tc></w:tr>"
        for name, price, mark in (
            ("Part", "Price", ""),
            ("Bolt", "1.50", f"<w:trPr><w:del {AUTHOR}/></w:trPr>"),
            ("Nut", "0.80", f"<w:trPr><w:ins {AUTHOR}/></w:trPr>"),
        )
    )
    text = word(f"<w:tbl><w:tblPr/><w:tblGrid/>{rows}</w:tbl>").text
    assert "Bolt" not in text
    assert "| Nut | 0.80 |" in text


def test_controls_and_boxes_stand_in_their_place() -> None:
    control = f"<w:sdt><w:sdtContent>{run('14 days')}</w:sdtContent></w:sdt>"
    box = f"<w:pict><w:txbxContent>{paragraph(run('Valid until 2027.'))}</w:txbxContent></w:pict>"
    text = word(
        f"<w:sdt><w:sdtContent>{paragraph(run('Customer: Ostrava Tools.'))}</w:sdtContent></w:sdt>",
        paragraph(run("Delivery within "), control, run(" of the order.")),
        paragraph(run("Before the box."), f"<w:r>{box}</w:r>"),
        paragraph(run("After the box.")),
    ).text
    assert "Delivery within 14 days of the order." in text
    places = [text.index(words) for words in ("Customer", "Before the", "Valid until", "After the")]
    assert places == sorted(places)
    assert text.count("Valid until 2027.") == 1


def test_a_box_that_is_stored_twice_is_read_once() -> None:
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    box = f"<w:txbxContent>{paragraph(run('Only once 44.'))}</w:txbxContent>"
    both = (
        f'<mc:AlternateContent {mc}><mc:Choice Requires="wps"><w:drawing>{box}</w:drawing>'
        f"</mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent>"
    )
    text = word(paragraph(run("Anchor."), f"<w:r>{both}</w:r>")).text
    assert text.count("Only once 44.") == 1


def test_notes_stand_at_their_mark() -> None:
    words = paragraph(run("Without tax."))
    note = f'<w:footnotes {W}><w:footnote w:id="2">{words}</w:footnote></w:footnotes>'
    text = word(
        paragraph(
            run("The fee is 750"), '<w:r><w:footnoteReference w:id="2"/></w:r>', run(" euros.")
        ),
        paragraph(run("Next paragraph.")),
        footnotes=note,
    ).text
    assert "The fee is 750[1] euros.\n\n[1] Without tax.\n\nNext paragraph." in text


def test_hidden_and_struck_out_text_is_left_out_and_told() -> None:
    document = word(
        paragraph(run("Visible. "), run("Draft fee 300.", "<w:vanish/>")),
        paragraph(run("Penalty 900 euros.", "<w:strike/>"), run("Penalty 80 euros.")),
        paragraph(run("Not hidden.", '<w:vanish w:val="0"/>')),
    )
    assert "300" not in document.text
    assert "900" not in document.text
    assert "Penalty 80 euros." in document.text
    assert "Not hidden." in document.text
    assert [warning.split(" was ")[0] for warning in document.warnings] == [
        "hidden text",
        "struck-out text",
    ]
    assert '"Draft fee 300."' in document.warnings[0]


def test_headers_and_footers_are_read_once() -> None:
    def change(file: Any) -> None:
        file.sections[0].header.paragraphs[0].text = "Contract no. 4711"
        file.sections[0].footer.paragraphs[0].text = "Signed 3 May 2024"
        file.add_section()

    text = word(paragraph(run("Body.")), change=change).text
    assert text.count("Contract no. 4711") == 1
    assert text.count("Signed 3 May 2024") == 1


def test_merged_cells_of_word_stand_in_the_rows_that_they_cover() -> None:
    def change(file: Any) -> None:
        table = file.add_table(3, 2)
        for (r, c), text in {
            (0, 0): "Region",
            (0, 1): "Town",
            (1, 1): "Alm",
            (2, 1): "Brix",
        }.items():
            table.cell(r, c).text = text
        table.cell(1, 0).merge(table.cell(2, 0)).text = "North"

    text = word(change=change).text
    assert "| North | Alm |" in text
    assert "| North | Brix |" in text


@pytest.mark.parametrize(
    ("base", "marks", "read"),
    [
        ("45", ("1",), "45^1"),
        ("10", ("1", "2"), "10^12"),
        ("m", ("2",), "m2"),
        ("2022", ("1)",), "2022^1)"),
        ("45", ("b",), "45^b"),
        ("1", ("st",), "1st"),
    ],
)
def test_raised_digits_of_word_are_no_digits_of_their_number(
    base: str, marks: tuple[str, ...], read: str
) -> None:
    up = [run(mark, '<w:vertAlign w:val="superscript"/>') for mark in marks]
    assert f"Value {read} here." in word(paragraph(run(f"Value {base}"), *up, run(" here."))).text


def slides(change: Callable[[Any], None]) -> Document:
    deck = Presentation()
    change(deck)
    buffer = io.BytesIO()
    deck.save(buffer)
    return read_file(buffer.getvalue(), "a.pptx")


def test_notes_hidden_slides_and_groups_of_a_presentation() -> None:
    def change(deck: Any) -> None:
        for title in ("Results", "Secret"):
            slide = deck.slides.add_slide(deck.slide_layouts[5])
            slide.shapes.title.text = title
        slide.element.set("show", "0")
        first = deck.slides[0]
        first.notes_slide.notes_text_frame.text = "A one-off sale of 3."
        group = first.shapes.add_group_shape().shapes.add_group_shape()
        group.shapes.add_textbox(0, Inches(3), Inches(2), Inches(1)).text_frame.text = "Staff 88"

    document = slides(change)
    first, second = (document.text[page.start : page.end] for page in document.pages)
    assert "Staff 88" in first
    assert first.strip().endswith("Notes: A one-off sale of 3.")
    assert "Secret (hidden slide)" in second
    assert document.warnings == ("hidden slides were read and marked: 2",)


def test_charts_struck_out_and_raised_text_of_a_presentation() -> None:
    def change(deck: Any) -> None:
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        data = CategoryChartData()
        data.categories = ["Q1", "Q2"]
        data.add_series("Sales", (4.5, 5.5))
        size = (Inches(1), Inches(3), Inches(4), Inches(3))
        slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *size, data)
        frame = slide.shapes.add_textbox(0, 0, Inches(4), Inches(1)).text_frame
        words = frame.paragraphs[0]
        for text, mark in (
            ("Margin 45", ""),
            ("1", "baseline"),
            (" per cent ", ""),
            ("99", "strike"),
        ):
            piece = words.add_run()
            piece.text = text
            if mark:
                piece._r.get_or_add_rPr().set(mark, "30000" if mark == "baseline" else "sngStrike")

    document = slides(change)
    assert "Margin 45^1 per cent" in document.text
    assert "| Q2 | 5.5 |" in document.text
    assert document.warnings == ('struck-out text was left out in 1 place: "99"',)


def test_a_word_file_with_macros_is_read() -> None:
    file = docx.Document()
    file.add_paragraph("The lamp costs 45 EUR.")
    plain, macros = io.BytesIO(), io.BytesIO()
    file.save(plain)
    kind = b"application/vnd.ms-word.document.macroEnabled.main+xml"
    usual = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(macros, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(usual, kind))
    assert read_file(macros.getvalue(), "a.docm").text == "The lamp costs 45 EUR."


def test_merged_cells_of_a_presentation_fill_what_they_span() -> None:
    def change(deck: Any) -> None:
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        rows = ["Area|2021||2022|", "|Plan|Done|Plan|Done", "East|1|2|3|4", "West|5|6||8"]
        table = slide.shapes.add_table(4, 5, 0, 0, Inches(8), Inches(3)).table
        for r, row in enumerate(rows):
            for c, text in enumerate(row.split("|")):
                table.cell(r, c).text = text
        for first, last in (((0, 0), (1, 0)), ((0, 1), (0, 2)), ((0, 3), (0, 4)), ((2, 3), (3, 3))):
            table.cell(*first).merge(table.cell(*last))

    lines = slides(change).text.split("\n")
    assert lines[0] == "| Area | 2021 / Plan | 2021 / Done | 2022 / Plan | 2022 / Done |"
    assert lines[2:] == ["| East | 1 | 2 | 3 | 4 |", "| West | 5 | 6 | 3 | 8 |"]
