"""The way from files to documents: `load`, `load_many`, `load_text`, and a register of formats."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sliders.documents import sniff
from sliders.documents.discover import SourceFile, printable
from sliders.documents.discover import discover as _discover
from sliders.documents.document import Document
from sliders.documents.partition import read_docx, read_email, read_html, read_markdown, read_pptx
from sliders.documents.pdf import read_pdf
from sliders.documents.sheets import read_csv, read_xlsx
from sliders.documents.text import parse_text, read_text
from sliders.errors import DocumentError

Reader = Callable[[bytes, str], Document]
"""Reads the raw bytes of a file of the given name; raises DocumentError when it cannot."""

_MAX_BYTES = 256 * 2**20

_READERS: dict[str, Reader] = {
    sniff.TEXT: read_text,
    sniff.PDF: read_pdf,
    sniff.MARKDOWN: read_markdown,
    sniff.HTML: read_html,
    sniff.DOCX: read_docx,
    sniff.PPTX: read_pptx,
    sniff.XLSX: read_xlsx,
    sniff.CSV: read_csv,
    sniff.TSV: read_csv,
    sniff.EMAIL: read_email,
}
_SUFFIXES: dict[str, str] = dict(sniff.SUFFIXES)


@dataclass(frozen=True, slots=True)
class LoadFailure:
    """A file that could not be read, and one sentence that says why and what to do."""

    path: str
    message: str


def register_loader(suffix: str, reader: Reader, media_type: str = "") -> None:
    """Read files that end in `suffix` (".rtf") by `reader`, in place of what reads them now."""
    suffix = suffix.lower() if suffix.startswith(".") else f".{suffix.lower()}"
    media_type = media_type or f"application/x-{suffix[1:]}"
    _SUFFIXES[suffix] = media_type
    _READERS[media_type] = reader


def discover(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[SourceFile]:
    """The files of files, folders (recursive) and globs, sorted by name.

    Raises:
        DocumentError: a path does not exist, a folder cannot be read, or nothing is found.
    """
    return _discover(paths, suffixes=_SUFFIXES)


def load(path: str | os.PathLike[str], *, name: str | None = None) -> Document:
    """The document in a file; `name` is what the workspace calls it (the file's name by default).

    Raises:
        DocumentError: the file cannot be read; the message says why and what to do.
    """
    path = Path(path)
    name = name or path.name
    raw, modified = _read(path, name)
    document = _reader(raw, name)(raw, name)
    return replace(document, source=printable(str(path.absolute())), modified=modified)


def load_text(text: str, name: str) -> Document:
    """The document of a text that is already in memory.

    Raises:
        DocumentError: the text is empty.
    """
    if not text.strip():
        raise DocumentError(f"{name}: the text is empty; give some")
    return parse_text(text, name, text.encode("utf-8", "surrogatepass"))


def load_many(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> tuple[list[Document], list[LoadFailure]]:
    """Every document that can be read, in the order of `discover`, and a failure for each that cannot.

    Files of the same content are one document; it says so in its warnings.

    Raises:
        DocumentError: nothing is found at all (see `discover`).
    """
    documents: dict[str, Document] = {}
    failures: list[LoadFailure] = []
    for found in load_each(discover(paths)):
        if isinstance(found, LoadFailure):
            failures.append(found)
            continue
        first = documents.setdefault(found.id, found)
        if first is not found:
            documents[found.id] = replace(first, warnings=(*first.warnings, same_content(found.name)))
    return list(documents.values()), failures


def load_each(sources: Iterable[SourceFile]) -> Iterator[Document | LoadFailure]:
    """One file after the other, so that a large collection is never in memory as a whole."""
    for source in sources:
        try:
            yield load(source.path, name=source.name)
        except DocumentError as error:
            yield LoadFailure(printable(str(source.path)), printable(str(error)))


def same_content(name: str) -> str:
    """The warning for a file whose content was read before under another name."""
    return f"{name} has the same content and is not added again"


def suffixes() -> Sequence[str]:
    """The file name extensions that are read in folders, sorted."""
    return sorted(_SUFFIXES)


def _reader(raw: bytes, name: str) -> Reader:
    suffix = Path(name).suffix.lower()
    own = _SUFFIXES.get(suffix)
    if own is not None and own != sniff.SUFFIXES.get(suffix):
        return _READERS[own]
    return _READERS[sniff.sniff(raw, name)]


def _read(path: Path, name: str) -> tuple[bytes, float]:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise DocumentError(f"{name}: not a regular file; add a file or a folder")
        if about.st_size > _MAX_BYTES:
            limit = _MAX_BYTES // 2**20
            raise DocumentError(f"{name}: {about.st_size // 2**20} MB is more than {limit} MB; split the file")
        raw = path.read_bytes()
    except OSError as error:
        problem = f"{name}: cannot be read ({error.strerror or error}); check the path and its rights"
        raise DocumentError(problem) from error
    if not raw.strip(b" \t\r\n\f\x00"):
        raise DocumentError(f"{name}: the file is empty; add one with text")
    return raw, about.st_mtime
