"""Reading of files in child processes, with limits of memory, time and output that grow with the
size of the file. A file that exceeds the limits, or that makes its reader crash, is one file that
cannot be read; the others go on. Pages that need OCR are read by two children side by side.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from sliders.child import ChildEnded, give_back, take
from sliders.documents.discovery import MAX_BYTES, SourceFile
from sliders.documents.document import Document
from sliders.documents.loaders import LoadFailure, failure, read_source
from sliders.documents.pdf.page_content import PageContent
from sliders.documents.remote import Fetched
from sliders.errors import DocumentError

_MODULE = "sliders.documents.reader_process"
_WALL_TIMES = 4
"""Seconds on the clock for each second of the processor, since machines are shared."""
_WORKERS = 2
_FEW_PAGES, _LEAST_OF_PAGE = 100, 2_000
"""Pages that OCR reads of any file, and the bytes of a file for each page more: a page tree or a
picture may name one page any number of times.
"""
OnPage = Callable[[str, int, int], None]
"""A function that is called for each page that OCR has read: the file's name, the number of pages
done, and the number of all pages.
"""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """The limits for reading a file, or a page by OCR: bytes of memory, seconds of the processor,
    and bytes of the result.
    """

    memory_bytes: int
    seconds: float
    document_bytes: int

    @classmethod
    def of(cls, size: int) -> ReadingLimits:
        """Returns the limits for a file of `size` bytes."""
        megabytes = size / 2**20
        return cls((700 << 20) + 40 * size, 20 + 10 * megabytes, (64 << 20) + 20 * size)

    @classmethod
    def of_page(cls, size: int) -> ReadingLimits:
        """Returns the limits for OCR of a page of a file of `size` bytes."""
        return cls((2 << 30) + 4 * size, 180, 64 << 20)

    @property
    def passed(self) -> str:
        """The message for a file that exceeds the limits."""
        return (
            f"reading the file took more than {self.seconds:.0f} s of the processor or "
            f"{self.memory_bytes >> 20:,} MB of memory; split the file, or save it again"
        )


def load_apart(
    source: SourceFile,
    max_bytes: int = MAX_BYTES,
    read: Fetched | None = None,
    on_page: OnPage | None = None,
) -> Document:
    """Returns the document of a file that `discover` found, read in child processes.

    Args:
        source: the file.
        max_bytes: the largest file that is read.
        read: the content of the file, when it was fetched before.
        on_page: called for each page that OCR has read; see `OnPage`.

    Raises:
        DocumentError: the file cannot be read, or exceeds its limits.
    """
    read = read or read_source(source, max_bytes)
    limits = ReadingLimits.of(len(read.raw))
    document = _asked(source, read, limits, None)
    if document.unread:
        most = _FEW_PAGES + len(read.raw) // _LEAST_OF_PAGE
        if len(document.unread) > most:
            raise DocumentError(
                f"{source.name}: it has {len(document.unread):,} pages for OCR, and a file of its "
                f"size is read up to {most:,}; split it, or leave them out with --ocr off"
            )
        scans = _scans(source, read, document.unread, on_page)
        document = _asked(source, read, limits, scans)
    assert isinstance(document, Document)
    return document


def _scans(
    source: SourceFile, read: Fetched, numbers: Sequence[int], on_page: OnPage | None
) -> dict[int, PageContent]:
    """The pages of a file that need OCR, as OCR reads them, by number."""
    limits = ReadingLimits.of_page(len(read.raw))
    scans: dict[int, PageContent] = {}
    with ThreadPoolExecutor(min(_WORKERS, len(numbers))) as workers:
        asked = {workers.submit(_asked, source, read, limits, n): n for n in numbers}
        try:
            for done in as_completed(asked):
                scans[asked[done]] = done.result()
                if on_page is not None:
                    on_page(source.name, len(scans), len(numbers))
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise
    return scans


def _asked(
    source: SourceFile,
    read: Fetched,
    limits: ReadingLimits,
    wanted: int | Mapping[int, PageContent] | None,
) -> Any:
    """The reply of a child process about a file: the document, with the pages that OCR has read; or
    one page, by its number, as OCR reads it.
    """
    message = (source, read, wanted, limits.memory_bytes, limits.seconds, limits.document_bytes)
    child = take(_MODULE)
    try:
        reply = child.ask(pickle.dumps(message), _WALL_TIMES * limits.seconds)
    except ChildEnded as error:
        raise DocumentError(f"{source.name}: {limits.passed}") from error
    state, told = _loaded(reply)
    if reply[-1]:
        give_back(child)
    else:
        child.end()
    if state == "broke":
        raise DocumentError(
            f"{source.name}: its reader broke ({told}); the file may be damaged: save it again, or "
            "as another format"
        )
    if state == "large":
        raise DocumentError(f"{source.name}: {limits.passed}")
    if state == "refused":
        raise DocumentError(told)
    return told


def _loaded(reply: bytes) -> tuple[str, Any]:
    """A reply as objects. Garbage collection is paused, since a document may have millions of
    cells.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        state, told = pickle.loads(reply)  # but for its last byte
    finally:
        if collecting:
            gc.enable()
    return state, told


def load_each(
    sources: Iterable[SourceFile], max_bytes: int = MAX_BYTES, on_page: OnPage | None = None
) -> Iterator[Document | LoadFailure]:
    """Yields the document of each file, or the reason why it cannot be read. Files are read one
    after the other, so that a large collection is never in memory as a whole.
    """
    for source in sources:
        try:
            yield load_apart(source, max_bytes, on_page=on_page)
        except DocumentError as error:
            yield failure(source, error)
