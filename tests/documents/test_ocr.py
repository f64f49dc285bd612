"""Scanned pages and pictures: words with boxes and scores, by OCR."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import docx
import numpy as np
import pypdfium2
import pytest
from document_samples import check_document
from PIL import Image
from reportlab.pdfgen import canvas

from sliders import Workspace
from sliders.documents import Document, SourceFile, discover, load, load_apart, read_pdf
from sliders.errors import DocumentError

_ROWS = [("Item", "Kilos", "Price"), ("Nails", "12", "34.50"), ("Rope", "7", "118.20")]


def _printed() -> Image.Image:
    """A small receipt, as a printer at 150 dots an inch shows it."""
    buffer = io.BytesIO()
    drawing = canvas.Canvas(buffer, pagesize=(240, 150))
    drawing.setFont("Helvetica", 11)
    drawing.drawString(20, 125, "Receipt of the harbour shop")
    for r, row in enumerate(_ROWS):
        for x, text in zip((20, 120, 180), row, strict=True):
            drawing.drawString(x, 95 - 22 * r, text)
    drawing.save()
    return pypdfium2.PdfDocument(buffer.getvalue())[0].render(scale=150 / 72).to_pil()


def _rows(document: Document) -> list[tuple[str, ...]]:
    (grid,) = [element.grid for element in document.elements if element.grid]
    return [grid.header, *(tuple(cell.text for cell in row) for row in grid.rows)]


@pytest.fixture
def scanner() -> None:
    pytest.importorskip("rapidocr")


@pytest.mark.parametrize(("suffix", "angle"), [("png", 0), ("jpg", 2), ("tif", 90), ("webp", 180)])
def test_a_picture_is_read_upright(scanner: None, tmp_path: Path, suffix: str, angle: int) -> None:
    path = tmp_path / f"a.{suffix}"
    turned = _printed().rotate(angle, expand=True, fillcolor="white", resample=Image.BICUBIC)
    turned.save(path)
    document = check_document(load(path))
    assert _rows(document) == _ROWS
    assert document.text.startswith("Receipt of the harbour shop")
    assert dict(document.pages[0].scores)["11820"] > 0.8
    assert document.warnings[0].startswith("read by OCR: 1 pages (1); the lowest score of a word")


@pytest.mark.parametrize("mode", ["1", "P", "I;16", "LA"])
def test_dots_of_every_kind_are_read(scanner: None, tmp_path: Path, mode: str) -> None:
    printed = _printed().resize((1_000, 625))
    grey = np.asarray(printed.convert("L"))
    shown = Image.fromarray(grey.astype("uint16") * 257) if mode == "I;16" else printed
    shown = shown if mode == "I;16" else shown.convert("L").convert(mode, dither=0)
    assert shown.mode == mode
    shown.save(tmp_path / "a.png")
    assert _rows(load(tmp_path / "a.png")) == _ROWS


def test_a_picture_of_too_many_dots_is_named_so(scanner: None, tmp_path: Path) -> None:
    Image.new("1", (20_000, 20_000)).save(tmp_path / "a.png")
    with pytest.raises(DocumentError, match="too large"):
        load(tmp_path / "a.png")


def test_scanned_pages_of_a_pdf_are_read_beside_pages_with_text(
    scanner: None, tmp_path: Path
) -> None:
    buffer = io.BytesIO()
    drawing = canvas.Canvas(buffer)
    drawing.drawString(72, 700, "The harbour wall cost 45 euros in that year.")
    for _ in range(2):
        drawing.showPage()
        drawing.drawInlineImage(_printed(), 72, 400, 240, 150)
    drawing.save()
    assert read_pdf(buffer.getvalue(), "a.pdf").unread == (2, 3)
    path, told = tmp_path / "a.pdf", list[tuple[str, int, int]]()
    path.write_bytes(buffer.getvalue())
    source = SourceFile(path, "a.pdf")
    document = check_document(load_apart(source, on_page=lambda *page: told.append(page)))
    assert told == [("a.pdf", 1, 2), ("a.pdf", 2, 2)]
    assert document.unread == ()
    assert [bool(page.scores) for page in document.pages] == [False, True, True]
    assert document.text.count("| Rope | 7 | 118.20 |") == 2


def test_without_the_extra_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    _printed().save(tmp_path / "a.png")
    with pytest.raises(DocumentError, match=r"install it with: pip install 'sliders\[ocr\]'"):
        load(tmp_path / "a.png")
    (source,) = discover([tmp_path / "a.png"])
    assert not source.passed_over
    assert [s.passed_over for s in discover(tmp_path / "a.png", every=True)] == [False]
    (tmp_path / "b.txt").write_text("Words.")
    assert [s.name for s in discover(tmp_path)] == ["b.txt"]


def _names(ws: Workspace) -> list[str]:
    return sorted(document.name for document in ws.session.catalog.documents.all())


def test_ocr_can_be_turned_off(scanner: None, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    _printed().save(folder / "a.png")
    _printed().save(folder / "b.pdf")
    (folder / "c.txt").write_text("The bridge cost 4 euros.", encoding="utf-8")
    with Workspace(tmp_path / "w.db", ocr="off") as ws:
        report = ws.add(folder)
        assert _names(ws) == ["c.txt"] and report.passed_over
        (told,) = report.failures
        assert "none of its 1 pages has text; OCR may read them: turn it on" in told.message
        with pytest.raises(DocumentError, match="turn it on with: --ocr auto"):
            ws.add(folder / "a.png")


def test_pictures_in_office_files_are_read_when_they_are_asked_for(
    scanner: None, tmp_path: Path
) -> None:
    _printed().save(tmp_path / "shop.png")
    paper = docx.Document()
    paper.add_paragraph("What the shop sold:")
    paper.add_picture(str(tmp_path / "shop.png"))
    (tmp_path / "papers").mkdir()
    paper.save(tmp_path / "papers" / "sales.docx")
    with Workspace(tmp_path / "w.db") as ws:
        ws.add(tmp_path / "papers")
        assert _names(ws) == ["sales.docx"]
    with Workspace(tmp_path / "w.db", ocr="all") as ws:
        report = ws.add(tmp_path / "papers")
        assert _names(ws) == ["sales.docx", "sales.docx/image1.png"]
        assert any("read by OCR" in line for line in report.warnings)
        (hit,) = ws.session.catalog.chunks.search("Rope")
        (picture,) = [d for d in ws.session.catalog.documents.all() if d.name.endswith("png")]
        assert hit.document_id == picture.id


def test_a_damaged_picture_is_refused(scanner: None, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n and no picture")
    (tmp_path / "b.png").write_bytes(b"no picture")
    for name in ("a.png", "b.png"):
        with pytest.raises(DocumentError, match="damaged"):
            load(tmp_path / name)


def test_a_column_of_lone_signs_is_one_sign(scanner: None, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    drawing = canvas.Canvas(buffer, pagesize=(300, 150))
    drawing.setFont("Times-Roman", 10)
    for n, (label, amount) in enumerate((("Cash", "2,853"), ("Stock", "36,500"), ("Land", "9"))):
        drawing.drawString(20, 120 - 20 * n, label)
        drawing.drawString(180, 120 - 20 * n, "$")
        drawing.drawRightString(260, 120 - 20 * n, amount)
    drawing.save()
    page = pypdfium2.PdfDocument(buffer.getvalue())[0]
    page.render(scale=150 / 72).to_pil().save(tmp_path / "a.png")
    text = load(tmp_path / "a.png").text
    assert "| Cash | $2,853 |" in text
    assert "| Stock | $36,500 |" in text


def test_a_lone_dash_keeps_its_column(scanner: None, tmp_path: Path) -> None:
    rows = [("Item", "2021", "2022"), ("Nails", "1,250", "—"), ("Rope", "—", "36,500")]
    buffer = io.BytesIO()
    drawing = canvas.Canvas(buffer, pagesize=(300, 120))
    drawing.setFont("Times-Roman", 10)
    for n, (label, *values) in enumerate(rows):
        drawing.drawString(20, 95 - 20 * n, label)
        for x, value in zip((180, 260), values, strict=True):
            drawing.drawRightString(x, 95 - 20 * n, value)
    drawing.save()
    page = pypdfium2.PdfDocument(buffer.getvalue())[0]
    page.render(scale=200 / 72).to_pil().save(tmp_path / "a.png")
    assert _rows(load(tmp_path / "a.png"))[1:] == rows[1:]
