"""The PDF reader: printed lines of pages become headings, paragraphs and tables whose rows can be
read alone.

*Furniture* means running headers and footers. A *stroke* is a drawn line. A *segment* is a piece of
a printed line between wide spaces.
"""

from __future__ import annotations

import re

import pypdfium2
import pypdfium2.raw as pdfium_c

from sliders.documents.builder import DocumentBuilder
from sliders.documents.document import Document
from sliders.documents.pdf.over_pages import join_over_pages
from sliders.documents.pdf.page_content import page_content
from sliders.documents.pdf.page_writer import PageWriter
from sliders.documents.text_blocks import furniture_of
from sliders.errors import DocumentError

_PROGRAM_TITLE = re.compile(r"\.(?:docx?|xlsx?|pptx?|pdf|html?|indd)\b|^Microsoft", re.IGNORECASE)


def read_pdf(raw: bytes, name: str) -> Document:
    """Returns the document of a PDF file.

    Raises:
        DocumentError: the file is encrypted, truncated or no PDF, or none of its pages has text.
    """
    pdf = _open(raw, name)
    try:
        builder = DocumentBuilder()
        form = pdf.formenv.raw if pdf.init_forms() and pdf.formenv else None
        pages = [page_content(pdf, n, form) for n in range(len(pdf))]
        title = str(pdf.get_metadata_dict().get("Title", ""))
    finally:
        pdf.close()
    texts = [[line.text for line in page.lines if line.text] for page in pages]
    furniture = furniture_of(texts)
    join_over_pages([page.lines for page in pages], furniture)
    for number, page in enumerate(pages, 1):
        builder.start_page(number)
        builder.warnings.extend(page.warnings)
        PageWriter(builder, page, furniture).write()
    if not builder.filled:
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


def _is_title(title: str) -> bool:
    """Says whether the title in a PDF's metadata is a real title: three words or more, and no file
    name or program name, which many programs write there.
    """
    return len(title.split()) >= 3 and not _PROGRAM_TITLE.search(title)
