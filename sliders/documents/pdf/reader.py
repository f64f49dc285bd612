"""The PDF reader: printed lines of pages become headings, paragraphs and tables whose rows can be
read alone.

*Furniture* means running headers and footers. A *stroke* is a drawn line. A *segment* is a piece of
a printed line between wide spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pypdfium2
import pypdfium2.raw as pdfium_c

from sliders.documents.builder import DocumentBuilder
from sliders.documents.document import Document
from sliders.documents.ocr_words import lacking
from sliders.documents.pdf.column_order import reading_order
from sliders.documents.pdf.over_pages import join_over_pages, join_printed_tables
from sliders.documents.pdf.page_content import PageContent, page_content
from sliders.documents.pdf.page_writer import PageWriter
from sliders.documents.pdf.value_columns import with_values_apart
from sliders.documents.pdf.word_ends import WordEnds
from sliders.documents.text_blocks import furniture_of
from sliders.errors import DocumentError

_PROGRAM_TITLE = re.compile(r"\.(?:docx?|xlsx?|pptx?|pdf|html?|indd)\b|^Microsoft", re.IGNORECASE)
_SHOWN = 6


def read_pdf(
    raw: bytes, name: str, scans: Mapping[int, PageContent] | None = None, ocr: bool = True
) -> Document:
    """Returns the document of a PDF file.

    Args:
        raw: the file.
        name: its name.
        scans: pages that OCR has read, by number.
        ocr: False where OCR shall read none.

    Raises:
        DocumentError: the file is encrypted, truncated or no PDF, or none of its pages has text.
    """
    pdf = open_pdf(raw, name)
    try:
        form = pdf.formenv.raw if pdf.init_forms() and pdf.formenv else None
        pages = [page_content(pdf, n, form) for n in range(len(pdf))]
        title = str(pdf.get_metadata_dict().get("Title", ""))
    finally:
        pdf.close()
    title = title if _is_title(title) else ""
    return document_of_pages(pages, raw, name, scans or {}, title, lacks=lacking(ocr))


def document_of_pages(
    pages: list[PageContent],
    raw: bytes,
    name: str,
    scans: Mapping[int, PageContent],
    title: str = "",
    media_type: str = "application/pdf",
    lacks: str = "",
) -> Document:
    """Returns the document of pages; `scans` replace pages without words, by number. `lacks` is
    what has to be done so that OCR can read.

    Raises:
        DocumentError: no page has text.
    """
    builder = DocumentBuilder()
    _take_scans(builder, pages, scans, lacks)
    gutter: float | None = None
    for page in pages:
        lines, gutter = reading_order(page.lines, gutter)
        page.lines = with_values_apart(lines)
    texts = [[line.text for line in page.lines if line.text] for page in pages]
    furniture, ends = furniture_of(texts), WordEnds(texts)
    printed = [page.lines for page in pages]
    join_over_pages(printed, furniture)
    builder.warnings.extend(_read_by_ocr(builder.scores))
    writers = [PageWriter(builder, page, furniture, ends) for page in pages]
    join_printed_tables(printed, [writer.tables for writer in writers], furniture)
    for number, (page, writer) in enumerate(zip(pages, writers, strict=True), 1):
        builder.start_page(number)
        builder.warnings.extend(page.warnings)
        writer.write()
    if not builder.filled and not builder.unread:
        more = f"; OCR may read them: {lacks}" if lacks else ""
        raise DocumentError(f"{name}: none of its {len(pages)} pages has text{more}")
    return builder.build(name, raw, title=title, media_type=media_type)


def _take_scans(
    builder: DocumentBuilder,
    pages: list[PageContent],
    scans: Mapping[int, PageContent],
    lacks: str,
) -> None:
    """Puts pages that OCR has read in the place of those without words; the others still need
    it.
    """
    for number, page in enumerate(pages, 1):
        if page.unread and number in scans:
            pages[number - 1] = scans[number]
            builder.scores[number] = scans[number].scores
        elif page.unread and not lacks:
            builder.unread.append(number)
        elif page.unread:
            page.warnings.append(f"page {number} has no text: it needs OCR; {lacks}")


def _read_by_ocr(scores: Mapping[int, tuple[tuple[str, float], ...]]) -> Iterator[str]:
    """Yields the warnings about pages that OCR read."""
    read = [number for number, words in scores.items() if words]
    if read:
        shown = ", ".join(map(str, read[:_SHOWN])) + (", ..." if len(read) > _SHOWN else "")
        least = min(score for words in scores.values() for _, score in words)
        yield f"read by OCR: {len(read)} pages ({shown}); the lowest score of a word is {least:.2f}"


def open_pdf(raw: bytes, name: str) -> pypdfium2.PdfDocument:
    """Returns the PDF in a file's bytes; the caller closes it.

    Raises:
        DocumentError: the file is encrypted, truncated or no PDF, or has no pages.
    """
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


def _is_title(title: str) -> bool:
    """Says whether the title in a PDF's metadata is a real title: three words or more, and no file
    name or program name, which many programs write there.
    """
    return len(title.split()) >= 3 and not _PROGRAM_TITLE.search(title)
