"""The PDF reader: printed lines of pages become headings, paragraphs and tables whose rows can be
read alone.

*Furniture* means running headers and footers. A *stroke* is a drawn line. A *segment* is a piece of
a printed line between wide spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_c

from sliders.documents.builder import DocumentBuilder
from sliders.documents.document import Document
from sliders.documents.pdf.annotations import page_notes, with_notes
from sliders.documents.pdf.column_order import reading_order
from sliders.documents.pdf.ruling_lines import Stroke, page_strokes, strokes_below
from sliders.documents.pdf.words import PrintedLine, page_lines
from sliders.documents.table_grid.grid import Line, find_tables, join_marks
from sliders.documents.text_blocks import furniture_of, heading_level, shape_of
from sliders.errors import DocumentError
from sliders.values.notes import is_note, unit_note
from sliders.values.printed import is_value

_FEW_CHARACTERS = 20
_MANY_SHAPES = 50
_MOST_LOST = 0.05
_PARAGRAPH_GAP = 1.45
_ITEM = re.compile(r"(?:[•●▪◦‣·∙–-]|\(\w{1,3}\)|\d{1,2}[.)])\s+\S|[•●▪◦‣]\S")
_PROGRAM_TITLE = re.compile(r"\.(?:docx?|xlsx?|pptx?|pdf|html?|indd)\b|^Microsoft", re.IGNORECASE)
_SPOILED_END = re.compile("[\x02\u00ad]$")


def read_pdf(raw: bytes, name: str) -> Document:
    """Returns the document of a PDF file.

    Raises:
        DocumentError: the file is encrypted, truncated or no PDF, or none of its pages has text.
    """
    pdf = _open(raw, name)
    try:
        builder = DocumentBuilder()
        form = pdf.formenv.raw if pdf.init_forms() and pdf.formenv else None
        pages, strokes = zip(*(_lines(pdf, n, builder, form) for n in range(len(pdf))), strict=True)
        title = str(pdf.get_metadata_dict().get("Title", ""))
    finally:
        pdf.close()
    furniture = furniture_of([[line.text for line in lines] for lines in pages])
    for number, lines in enumerate(pages, 1):
        builder.start_page(number)
        _PageWriter(builder, lines, strokes[number - 1], furniture).write()
    if not any(pages):
        raise DocumentError(
            f"{name}: none of its {len(pages)} pages has text; run OCR on it and add it again"
        )
    return builder.build(
        name, raw, title=title if _is_title(title) else "", media_type="application/pdf"
    )


def _open(raw: bytes, name: str) -> pypdfium2.PdfDocument:
    try:
        pdf = pypdfium2.PdfDocument(raw)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium_c.FPDF_ERR_PASSWORD or "assword" in str(
            error
        ):
            raise DocumentError(
                f"{name}: the PDF is encrypted; save it without a password and add it again"
            ) from error
        raise DocumentError(
            f"{name}: the PDF is damaged or truncated; fetch or export it again"
        ) from error
    if len(pdf) == 0:
        pdf.close()
        raise DocumentError(f"{name}: the PDF has no pages; fetch or export it again")
    return pdf


def _lines(
    pdf: pypdfium2.PdfDocument, index: int, builder: DocumentBuilder, form: Any
) -> tuple[list[PrintedLine], list[Stroke]]:
    """Returns the printed lines and the strokes of one page."""
    try:
        page = pdf[index]
    except pypdfium2.PdfiumError:
        builder.warnings.append(f"page {index + 1} cannot be read: the PDF is damaged there")
        return [], []
    try:
        lines, letters = page_lines(page)
        builder.warnings.extend(_told(lines, letters, index + 1))
        notes = page_notes(page.raw, form)
        if hidden := [note.text for note in notes if note.hidden]:
            builder.warnings.append(f"page {index + 1}: hidden notes were left out: {hidden[:3]}")
        lines = with_notes(lines, [note for note in notes if not note.hidden])
        if sum(len(line.text) for line in lines) < _FEW_CHARACTERS and _has_picture(page):
            builder.warnings.append(f"page {index + 1} has no text: it needs OCR")
        tabular = sum(len(line.segments) > 1 for line in lines) > 1
        return reading_order(lines), page_strokes(page) if tabular else []
    finally:
        page.close()


def _told(lines: list[PrintedLine], letters: int, number: int) -> Iterator[str]:
    """What a page's lines lost of its text, and those that nobody sees."""
    read = sum(map(str.isalnum, "".join(line.text for line in lines)))
    if letters - read > max(_FEW_CHARACTERS, _MOST_LOST * letters):
        yield f"page {number}: {letters - read} of {letters} letters and digits were not read"
    if unseen := sum(line.invisible for line in lines):
        yield f"page {number}: {unseen} of {len(lines)} lines are invisible text and were read"


def _has_picture(page: pypdfium2.PdfPage) -> bool:
    """Whether a page shows a picture, or so many drawn shapes that they may be letters."""
    shapes = 0
    for drawn in page.get_objects(max_depth=4):
        if drawn.type == pdfium_c.FPDF_PAGEOBJ_IMAGE:
            return True
        shapes += drawn.type == pdfium_c.FPDF_PAGEOBJ_PATH
        if shapes > _MANY_SHAPES:
            return True
    return False


def _is_title(title: str) -> bool:
    """Says whether the title in a PDF's metadata is a real title: three words or more, and no file
    name or program name, which many programs write there.
    """
    return len(title.split()) >= 3 and not _PROGRAM_TITLE.search(title)


class _PageWriter:
    """Writes the lines of one page to the document builder."""

    def __init__(
        self,
        builder: DocumentBuilder,
        lines: Sequence[PrintedLine],
        strokes: Sequence[Stroke],
        furniture: frozenset[str],
    ) -> None:
        self._builder, self._lines, self._strokes, self._furniture = (
            builder,
            lines,
            strokes,
            furniture,
        )
        self._pitch = median(line.height for line in lines) if lines else 0.0
        self._paragraph: list[PrintedLine] = []

    def write(self) -> None:
        rows, origin = self._with_blanks()
        below = strokes_below(self._lines, self._strokes)
        regions = find_tables(rows, [below[origin[n]] if row else () for n, row in enumerate(rows)])
        at = 0
        for region in regions:
            first = origin[region.first]
            caption, note, above = self._context(at, first)
            self._write_lines(at, first - above)
            self._write_title(first - above, first)
            self._builder.add_table(region.table, caption=caption, note=note, gap="\n\n")
            at = origin[region.last] + 1
        self._write_lines(at, len(self._lines))

    def _with_blanks(self) -> tuple[list[Line], list[int]]:
        """Returns the segments of each line, with an empty row for each vertical gap of the page,
        and the number of the printed line for each row.
        """
        rows: list[Line] = []
        origin: list[int] = []
        for n, line in enumerate(self._lines):
            if n and self._gap_above(n) > 1.1 * self._pitch:
                rows.append(())
                origin.append(n)
            rows.append(join_marks(line.segments))
            origin.append(n)
        return rows, origin

    def _gap_above(self, n: int) -> float:
        """Returns the distance to the line above."""
        return self._lines[n - 1].bottom - self._lines[n].top

    def _context(self, floor: int, first: int) -> tuple[str, str, int]:
        """Returns the caption of a table, its note, and the number of lines directly above it that
        are its title. Each is empty when there is none.
        """
        caption = note = ""
        used = 0
        for at in range(first - 1, max(floor, first - 5) - 1, -1):
            text = self._lines[at].text
            if shape_of(text) in self._furniture:
                break
            if not note and is_note(text):
                note = text
            elif self._is_heading_like(self._lines[at]):
                caption, note, used = text, note or unit_note(text), first - at
                break
            else:
                words = " ".join(line.text for line in self._lines[max(floor, at - 2) : at + 1])
                note = note or unit_note(words)  # of the words that introduce the table
                break
            used = first - at
        return caption, note, used

    def _is_heading_like(self, line: PrintedLine) -> bool:
        text = line.text
        short = len(line.segments) == 1 and 3 <= len(text) <= 100 and text[-1] not in ".;,"
        return short and (line.bold or heading_level(text) > 0)

    def _write_title(self, first: int, end: int) -> None:
        for line in self._lines[first:end]:
            if is_note(line.text):
                self._builder.add("caption", line.text, gap="\n")
            else:
                self._builder.add("heading", line.text, level=3)

    def _write_lines(self, first: int, end: int) -> None:
        for n in range(first, end):
            line = self._lines[n]
            level = self._heading(n, end)
            if level:
                self._flush()
                self._builder.add("heading", line.text, level=level)
                continue
            if self._paragraph and self._breaks(n):
                self._flush()
            self._paragraph.append(line)
        self._flush()

    def _heading(self, n: int, end: int) -> int:
        line = self._lines[n]
        text = line.text
        if (
            len(line.segments) != 1
            or shape_of(text) in self._furniture
            or (self._paragraph and not self._ended(n))
        ):
            return 0
        if any(is_value(word) for word in text.split()[-1:]) and heading_level(text) == 0:
            return 0
        last = n + 1 == len(self._lines)
        level = heading_level(text, "" if last or self._breaks(n + 1) else self._lines[n + 1].text)
        if level and not last:
            return level
        short = len(text.split()) <= 14 and len(text) <= 90 and text[-1] not in ".,;"
        return (
            4 if line.bold and short and not last and text[0].isupper() and not is_note(text) else 0
        )

    def _ended(self, n: int) -> bool:
        """Says whether a paragraph ends before line `n`: at an end mark, a vertical gap, or a
        change to or from bold.
        """
        above = self._paragraph[-1]
        return self._breaks(n) or above.text[-1:] in ".:;!?)" or self._lines[n].bold != above.bold

    def _breaks(self, n: int) -> bool:
        above, line = self._lines[n - 1], self._lines[n]
        distance = above.bottom - line.bottom
        if (
            _ITEM.match(line.text)
            or shape_of(above.text) in self._furniture
            or shape_of(line.text) in self._furniture
        ):
            return True
        return distance > _PARAGRAPH_GAP * max(self._pitch, line.height) or distance < 0

    def _flush(self) -> None:
        if not self._paragraph:
            return
        text = ""
        for line in self._paragraph:
            broken = _SPOILED_END.search(text) is not None
            text = text[:-1] + line.text if broken else f"{text} {line.text}".lstrip()
        text = text.replace("\x02", "-")
        kind = "list_item" if _ITEM.match(text) else "caption" if is_note(text) else "paragraph"
        self._builder.add(kind, text)  # type: ignore[arg-type]
        self._paragraph = []
