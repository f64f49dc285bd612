"""Pages of PDFs and picture files as arrays of pixels, and the reader of picture files."""

from __future__ import annotations

import io
from collections.abc import Mapping
from math import sqrt
from typing import Any

from sliders.documents import sniff
from sliders.documents.document import Document
from sliders.documents.ocr.scanned_page import scanned_page
from sliders.documents.ocr_words import lacking
from sliders.documents.pdf.page_content import PageContent
from sliders.documents.pdf.reader import document_of_pages, open_pdf
from sliders.errors import DocumentError

_DOTS_PER_POINT = 200 / 72
_LONGEST, _MOST_READ = 4_000, 9_000_000
"""The most dots of a picture for the models: at its longer side, and in all (memory grows with
them; a letter at 300 dots an inch has about as many).
"""
_MOST_PIXELS = 150_000_000


def scan(raw: bytes, kind: str, name: str, number: int) -> PageContent:
    """Returns a page of a file as OCR reads it.

    Args:
        kind: the media type of the file.
        number: the page, from 1.

    Raises:
        DocumentError: the picture is damaged or too large.
    """
    page = _rendered if kind == sniff.PDF else _frame
    return scanned_page(page(raw, name, number), number)


def read_picture(
    raw: bytes, name: str, scans: Mapping[int, PageContent] | None = None, ocr: bool = True
) -> Document:
    """Returns the document of a picture file.

    Args:
        scans: the pages that OCR has read, by number; without them all pages are marked as unread.
        ocr: False refuses the picture, because only OCR can read it.

    Raises:
        DocumentError: OCR is off or not installed, or finds no words, or the file is damaged or too
            large.
    """
    if lacks := lacking(ocr):
        raise DocumentError(f"{name}: a picture is read by OCR; {lacks}")
    with _opened(raw, name) as picture:
        count = getattr(picture, "n_frames", 1)
    pages = [PageContent(unread=True) for _ in range(count)]
    return document_of_pages(pages, raw, name, scans or {}, media_type=sniff.PICTURE)


def _opened(raw: bytes, name: str) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        picture = Image.open(io.BytesIO(raw))
    except Image.DecompressionBombError as error:
        raise DocumentError(
            f"{name}: a picture of so many dots is too large; save it with fewer"
        ) from error
    except (UnidentifiedImageError, OSError, ValueError) as error:
        raise DocumentError(f"{name}: the picture is damaged; fetch or export it again") from error
    if picture.width * picture.height > _MOST_PIXELS:
        size = f"{picture.width} by {picture.height} dots"
        raise DocumentError(f"{name}: a picture of {size} is too large; save it with fewer")
    return picture


def _scale(width: float, height: float) -> float:
    """The factor for a picture's sides, so that it has as many dots as the models may get."""
    return min(_LONGEST / max(width, height), sqrt(_MOST_READ / (width * height)))


def _frame(raw: bytes, name: str, number: int) -> Any:
    import numpy as np
    from PIL import ImageOps

    with _opened(raw, name) as picture:
        try:
            picture.seek(number - 1)
            picture = _mixable(picture)
            scale = _scale(*picture.size)
            picture.thumbnail((max(picture.width * scale, 1), max(picture.height * scale, 1)))
            shown = ImageOps.exif_transpose(picture).convert("RGBA")
        except (OSError, ValueError, SyntaxError, EOFError) as error:
            problem = f"{name}: the picture is damaged; fetch or export it again"
            raise DocumentError(problem) from error
        pixels = np.asarray(shown, dtype=np.uint16)
    colour, cover = pixels[:, :, :3], pixels[:, :, 3:]
    return ((colour * cover + 255 * (255 - cover)) // 255).astype(np.uint8)


def _mixable(picture: Any) -> Any:
    """A picture with dots as colours of 8 bits, because dots of other kinds cannot be mixed when a
    picture is made smaller.
    """
    import numpy as np
    from PIL import Image, ImageOps

    if picture.mode in ("1", "P", "PA"):
        upright = ImageOps.exif_transpose(picture)
        return upright.convert("L" if picture.mode == "1" else "RGBA")
    if picture.mode.startswith("I"):
        upright = ImageOps.exif_transpose(picture)
        return Image.fromarray((np.asarray(upright) >> 8).astype(np.uint8))
    return picture


def _rendered(raw: bytes, name: str, number: int) -> Any:
    pdf = open_pdf(raw, name)
    try:
        page = pdf[number - 1]
        scale = min(_DOTS_PER_POINT, _scale(*page.get_size()))
        return page.render(scale=scale, rev_byteorder=True).to_numpy()[:, :, :3].copy()
    finally:
        pdf.close()
