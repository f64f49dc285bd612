"""The media type of a file by its content; the extension decides only where the content allows
several.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePath

from sliders.errors import DocumentError

TEXT = "text/plain"
MARKDOWN = "text/markdown"
HTML = "text/html"
CSV = "text/csv"
TSV = "text/tab-separated-values"
EMAIL = "message/rfc822"
PDF = "application/pdf"
_OOXML = "application/vnd.openxmlformats-officedocument."
DOCX = _OOXML + "wordprocessingml.document"
PPTX = _OOXML + "presentationml.presentation"
XLSX = _OOXML + "spreadsheetml.sheet"

OPENDOCUMENT = "application/vnd.oasis.opendocument"
EPUB = "application/epub+zip"
PICTURE = "image"

SUFFIXES = {
    ".txt": TEXT,
    ".text": TEXT,
    ".log": TEXT,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".csv": CSV,
    ".tsv": TSV,
    ".eml": EMAIL,
    ".pdf": PDF,
    ".docx": DOCX,
    ".docm": DOCX,
    ".pptx": PPTX,
    ".pptm": PPTX,
    ".xlsx": XLSX,
    ".xlsm": XLSX,
    ".odt": OPENDOCUMENT,
    ".ods": OPENDOCUMENT,
    ".odp": OPENDOCUMENT,
    ".epub": EPUB,
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp"), PICTURE),
}

_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_PICTURE = re.compile(rb"\x89PNG\r\n|\xff\xd8\xff|II\*\x00|MM\x00\*|RIFF.{4}WEBP", re.DOTALL)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PARTS = (("word/", DOCX), ("ppt/", PPTX), ("xl/", XLSX))
_ZIPPED = (DOCX, PPTX, XLSX, OPENDOCUMENT, EPUB)
_MAX_UNPACKED = 512 * 2**20
_SUSPECT_UNPACKED = 32 * 2**20
_MAX_RATIO = 150
_MAX_ENTRIES = 20_000


def sniff(raw: bytes, name: str, suffix: str | None = None) -> str:
    """Returns the media type of a file.

    Args:
        raw: the content.
        name: the file's name, for errors.
        suffix: the extension; None takes it from the name.

    Raises:
        DocumentError: the format is not read (an archive, rich text, an old or encrypted Office
            file), or the file is damaged, or unpacks to far more than its size.
    """
    by_name = SUFFIXES.get(PurePath(name).suffix.lower() if suffix is None else suffix, TEXT)
    head = raw[:1024]
    if b"%PDF-" in head:
        return PDF
    if _PICTURE.match(raw):
        return PICTURE
    if raw.lstrip().startswith(b"{\\rtf"):
        raise DocumentError(f"{name}: rich text (.rtf) is not read; save it as .docx")
    if raw.startswith(_OLE):
        if "EncryptedPackage".encode("utf-16-le") in raw[:65_536]:
            raise DocumentError(
                f"{name}: the file is encrypted; save it without a password and add it again"
            )
        raise DocumentError(
            f"{name}: an old Office format (.doc, .xls, .ppt); save it as .docx, .xlsx or .pptx"
        )
    if raw.startswith(b"PK\x03\x04") or by_name in _ZIPPED:
        return _office_kind(raw, name)
    if by_name in (PDF, PICTURE):
        what = "PDF" if by_name == PDF else "picture"
        problem = f"{name}: the {what} is damaged or truncated; fetch or export it again"
        raise DocumentError(problem)
    if by_name == TEXT and _HTML.match(head):
        return HTML
    return by_name


def _office_kind(raw: bytes, name: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError) as error:
        raise DocumentError(
            f"{name}: the file is damaged or truncated; fetch or export it again"
        ) from error
    unpacked = sum(entry.file_size for entry in entries)
    packed = max(sum(entry.compress_size for entry in entries), 1)
    bomb = unpacked > _SUSPECT_UNPACKED and unpacked / packed > _MAX_RATIO
    if bomb or unpacked > _MAX_UNPACKED or len(entries) > _MAX_ENTRIES:
        raise DocumentError(
            f"{name}: it unpacks to {unpacked // 2**20} MB, like a zip bomb; "
            "unpack it yourself and add its files"
        )
    names = {entry.filename for entry in entries}
    if "content.xml" in names and "mimetype" in names:
        return OPENDOCUMENT
    if "META-INF/container.xml" in names:
        return EPUB
    if "[Content_Types].xml" in names:
        for prefix, kind in _PARTS:
            if any(entry.startswith(prefix) for entry in names):
                return kind
    raise DocumentError(f"{name}: a zip archive, not a document; unpack it and add the folder")
