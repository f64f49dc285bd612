"""Reading of files in a child process, with limits of memory, time and output that grow with the
size of the file. A file that exceeds the limits, or that makes its reader crash, is one file that
cannot be read; the others go on.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sliders.child import ChildEnded, give_back, take
from sliders.documents.discovery import SourceFile
from sliders.documents.document import Document
from sliders.documents.loaders import MAX_BYTES, LoadFailure, failure, read_source
from sliders.documents.remote import Fetched
from sliders.errors import DocumentError

_MODULE = "sliders.documents.reader_process"
_WALL_TIMES = 4
"""Seconds on the clock for each second of the processor, since machines are shared."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """The limits for reading a file: bytes of memory, seconds of the processor, and bytes of the
    resulting document.
    """

    memory_bytes: int
    seconds: float
    document_bytes: int

    @classmethod
    def of(cls, size: int) -> ReadingLimits:
        """Returns the limits for a file of `size` bytes."""
        megabytes = size / 2**20
        return cls((800 << 20) + 40 * size, 20 + 10 * megabytes, (64 << 20) + 20 * size)

    @property
    def passed(self) -> str:
        """The message for a file that exceeds the limits."""
        return (
            f"reading the file took more than {self.seconds:.0f} s of the processor or "
            f"{self.memory_bytes >> 20:,} MB of memory; split the file, or save it again"
        )


def load_apart(
    source: SourceFile, max_bytes: int = MAX_BYTES, read: Fetched | None = None
) -> Document:
    """Returns the document of a file that `discover` found, read in a child process.

    Args:
        source: the file.
        max_bytes: the largest file that is read.
        read: the content of the file, when it was fetched before.

    Raises:
        DocumentError: the file cannot be read, or exceeds its limits.
    """
    read = read or read_source(source, max_bytes)
    limits = ReadingLimits.of(len(read.raw))
    message = (source, read, limits.memory_bytes, limits.seconds, limits.document_bytes)
    child = take(_MODULE)
    try:
        reply = child.ask(pickle.dumps(message), _WALL_TIMES * limits.seconds)
    except ChildEnded as error:
        raise DocumentError(f"{source.name}: {limits.passed}") from error
    state, told, small = _loaded(reply)
    if small:
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
    assert isinstance(told, Document)
    return told


def _loaded(reply: bytes) -> tuple[str, Any, bool]:
    """A reply as objects; a document of millions of cells is made without looking for garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        state, told, small = pickle.loads(reply)
    finally:
        if collecting:
            gc.enable()
    return state, told, small


def load_each(
    sources: Iterable[SourceFile], max_bytes: int = MAX_BYTES
) -> Iterator[Document | LoadFailure]:
    """Yields the document of each file, or the reason why it cannot be read. Files are read one
    after the other, so that a large collection is never in memory as a whole.
    """
    for source in sources:
        try:
            yield load_apart(source, max_bytes)
        except DocumentError as error:
            yield failure(source, error)
