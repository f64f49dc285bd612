"""The way from files to documents."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sliders.documents import remote, sniff
from sliders.documents.discovery import MAX_BYTES, SourceFile, printable
from sliders.documents.document import Document
from sliders.documents.guard import guarded
from sliders.documents.mail import read_email
from sliders.documents.ocr.pictures import read_picture, scan
from sliders.documents.ocr.recognizer import engine
from sliders.documents.packed import carried, read_epub, read_opendocument
from sliders.documents.partition import read_docx, read_html, read_markdown, read_pptx
from sliders.documents.pdf.page_content import PageContent
from sliders.documents.pdf.reader import read_pdf
from sliders.documents.separated import read_csv
from sliders.documents.sheets import read_xlsx
from sliders.documents.text import parse_text, read_text
from sliders.documents.unstructured_offline import partitioner
from sliders.errors import DocumentError

Reader = Callable[[bytes, str], Document]
"""Reads the raw bytes of a file of the given name; raises DocumentError when it cannot."""


_READERS: dict[str, Reader] = {
    sniff.TEXT: read_text,
    sniff.MARKDOWN: read_markdown,
    sniff.HTML: read_html,
    sniff.DOCX: read_docx,
    sniff.PPTX: read_pptx,
    sniff.XLSX: read_xlsx,
    sniff.CSV: read_csv,
    sniff.TSV: read_csv,
    sniff.EMAIL: read_email,
    sniff.OPENDOCUMENT: read_opendocument,
    sniff.EPUB: read_epub,
}


_PAGED = {sniff.PDF: read_pdf, sniff.PICTURE: read_picture}
"""Readers of files whose pages may need OCR."""
_PARTITIONED = frozenset(_READERS) - {sniff.TEXT, sniff.XLSX, sniff.CSV, sniff.TSV}


@dataclass(frozen=True, slots=True)
class LoadFailure:
    """A file that could not be read. `message` is one sentence that says why and what to do; `name`
    is the name that the file would have in the workspace.
    """

    path: str
    message: str
    name: str = ""


def load(path: str | os.PathLike[str], *, name: str | None = None) -> Document:
    """Returns the document of a file or an address. `name` is its name in the workspace, by default
    the file's name.

    Raises:
        DocumentError: the file cannot be read; the message says why and what to do.
    """
    if remote.is_address(path):
        return load_source(SourceFile(Path(), name or remote.shown(str(path)), str(path)))
    return load_source(SourceFile(Path(path), name or Path(path).name))


def load_source(source: SourceFile, max_bytes: int = MAX_BYTES) -> Document:
    """Returns the document of a file that `discover` found.

    Raises:
        DocumentError: the file cannot be read; the message says why and what to do.
    """
    read = read_source(source, max_bytes)
    document = parse(source, read)
    if document.unread:
        document = parse(source, read, {n: scanned(source, read, n) for n in document.unread})
    return document


def read_source(source: SourceFile, max_bytes: int = MAX_BYTES) -> remote.Fetched:
    """Returns the bytes of a file, the name that tells its format, and when it was changed.

    Raises:
        DocumentError: the file cannot be read, is empty, or has more than `max_bytes`.
    """
    read = (
        remote.fetch(source.address, max_bytes)
        if source.address
        else _read(source.path, source.name, max_bytes)
    )
    if source.attachment is not None:
        files = carried(read.raw)
        if source.attachment >= len(files):
            raise DocumentError(
                f"{source.name}: the file that carried it has changed; add that file again"
            )
        file = files[source.attachment]
        read = remote.Fetched(file.raw, file.name, read.modified)
    if not read.raw.strip(b" \t\r\n\f\x00"):
        raise DocumentError(f"{source.name}: the file is empty; add one with text")
    return read


def prepare(source: SourceFile, read: remote.Fetched, scanning: bool = False) -> None:
    """Loads the packages that the file's reader needs, or the models of OCR, before the limit of
    memory is set: their memory does not count for the file.

    Raises:
        DocumentError: the bytes are no document that can be read, or a package is missing.
    """
    if scanning:
        engine()
    elif sniff.sniff(read.raw, source.name, Path(read.file_name).suffix.lower()) in _PARTITIONED:
        partitioner("text", "partition_text", source.name)


def scanned(source: SourceFile, read: remote.Fetched, number: int) -> PageContent:
    """A page of a file, counted from 1, as OCR reads it.

    Raises:
        DocumentError: the picture is damaged or too large.
    """
    kind = sniff.sniff(read.raw, source.name, Path(read.file_name).suffix.lower())
    return scan(read.raw, kind, source.name, number)


def parse(
    source: SourceFile, read: remote.Fetched, scans: Mapping[int, PageContent] | None = None
) -> Document:
    """Returns the document of a file's bytes; `scans` are the pages that OCR has read, by number.

    Raises:
        DocumentError: the bytes are no document that can be read.
    """
    kind = sniff.sniff(read.raw, source.name, Path(read.file_name).suffix.lower())
    try:
        if kind in _PAGED:
            document = _PAGED[kind](read.raw, source.name, scans, source.ocr)
        else:
            document = _READERS[kind](read.raw, source.name)
        warnings = guarded(document, read.raw)
    except RecursionError as error:
        raise DocumentError(
            f"{source.name}: its parts are nested too deeply; save it again, or as another format"
        ) from error
    where = remote.shown(source.address) if source.address else str(source.path.absolute())
    if source.attachment is not None:  # "mail/offer.eml/prices.csv"
        where += f"/{source.name.rpartition(f'{source.path.name}/')[2]}"
    return replace(document, source=printable(where), modified=read.modified, warnings=warnings)


def load_text(text: str, name: str) -> Document:
    """The document of a text that is already in memory.

    Raises:
        DocumentError: the text is empty.
    """
    if not text.strip():
        raise DocumentError(f"{name}: the text is empty; give some")
    return parse_text(text, name, text.encode("utf-8", "surrogatepass"))


def failure(source: SourceFile, error: Exception) -> LoadFailure:
    """Returns the failure of a file for an error that its reader raised."""
    return LoadFailure(
        printable(source.name if source.address else str(source.path)),
        printable(str(error)),
        source.name,
    )


def same_content(name: str) -> str:
    """Returns the warning that a file is not added, because a file of another name with the same
    content is in the workspace. `name` is the file that is not added.
    """
    return f"{name} has the same content and is not added again"


def _read(path: Path, name: str, max_bytes: int) -> remote.Fetched:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise DocumentError(f"{name}: not a regular file; add a file or a folder")
        if about.st_size > max_bytes:
            told = f"{about.st_size / 2**20:,.0f} MB is more than {max_bytes / 2**20:,.0f} MB"
            raise DocumentError(f"{name}: {told}; raise SLIDERS_MAX_FILE_MB, or split the file")
        return remote.Fetched(path.read_bytes(), path.name, about.st_mtime)
    except OSError as error:
        problem = (
            f"{name}: cannot be read ({error.strerror or error}); check the path and its rights"
        )
        raise DocumentError(problem) from error
