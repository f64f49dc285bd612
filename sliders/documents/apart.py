"""Files are read in a child process with limits of memory, time and output that grow with the file.

A file that takes more, or on which its reader breaks, is one file that cannot be read.
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
"""Seconds on the clock for each of the processor: machines are shared."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What reading a file may take: bytes of memory, seconds of the processor, and bytes of its
    document.
    """

    memory_bytes: int
    seconds: float
    document_bytes: int

    @classmethod
    def of(cls, size: int) -> ReadingLimits:
        """The limits of a file of so many bytes."""
        megabytes = size / 2**20
        return cls((800 << 20) + 40 * size, 20 + 10 * megabytes, (64 << 20) + 20 * size)

    @property
    def passed(self) -> str:
        """The words for a file that takes more."""
        return (
            f"reading it took more than {self.seconds:.0f} s of the processor or "
            f"{self.memory_bytes >> 20:,} MB of memory; split the file, or save it anew"
        )


def load_apart(
    source: SourceFile, max_bytes: int = MAX_BYTES, read: Fetched | None = None
) -> Document:
    """The document of a file that `discover` found, read in a child process.

    Args:
        read: what stands in the file, where it was fetched before.

    Raises:
        DocumentError: the file cannot be read, or takes more than its limits.
    """
    read = read or read_source(source, max_bytes)
    limits = ReadingLimits.of(len(read.raw))
    message = (source, read, limits.memory_bytes, limits.seconds, limits.document_bytes)
    child = take(_MODULE)
    try:
        state, told = _loaded(child.ask(pickle.dumps(message), _WALL_TIMES * limits.seconds))
    except ChildEnded as error:
        raise DocumentError(f"{source.name}: {limits.passed}") from error
    if state == "broke":
        child.end()
        raise DocumentError(
            f"{source.name}: its reader broke ({told}); the file may be damaged: save it anew, or "
            "as another format"
        )
    give_back(child)
    if state == "large":
        raise DocumentError(f"{source.name}: {limits.passed}")
    if state == "refused":
        raise DocumentError(told)
    assert isinstance(told, Document)
    return told


def _loaded(reply: bytes) -> tuple[str, Any]:
    """A reply as an object; a document of millions of cells is made without looking for garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        state, told = pickle.loads(reply)
    finally:
        if collecting:
            gc.enable()
    return state, told


def load_each(
    sources: Iterable[SourceFile], max_bytes: int = MAX_BYTES
) -> Iterator[Document | LoadFailure]:
    """One file after the other, so that a large collection is never in memory as a whole."""
    for source in sources:
        try:
            yield load_apart(source, max_bytes)
        except DocumentError as error:
            yield failure(source, error)
