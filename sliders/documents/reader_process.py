"""The child process that reads files: `python -m sliders.documents.reader_process`.

A message is the bytes of one file with its name and limits; the reply is its document, or one page
of it as OCR reads it, or the words of an error, and whether the process is about as small as
before. An error that a reader did not foresee ends the process, which reports the error.
"""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Mapping
from types import TracebackType

from sliders.child import Messages, limited
from sliders.documents import loaders
from sliders.documents.discovery import SourceFile
from sliders.documents.document import Document
from sliders.documents.pdf.page_content import PageContent
from sliders.documents.remote import Fetched
from sliders.errors import DocumentError
from sliders.sql.limits import MemoryGauge

_GROWN = 200 << 20
"""Bytes of memory that a process may keep from earlier files. A process that keeps more is ended,
since it would take them from the limit of the next file.
"""
_GROWN_SCANNING = 1200 << 20
"""The same while OCR reads one page after the other: it keeps its models."""
_LARGE = pickle.dumps(("large", ""))
_Asked = tuple[SourceFile, Fetched, int | Mapping[int, PageContent] | None, int, float, int]


def main() -> None:
    """The child process: answers one message after the other from its standard input, and returns
    when the parent closes the pipe. The last byte of a reply says whether this process may be asked
    again.
    """
    messages, gauge = Messages(), MemoryGauge()

    def tell(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        messages.reply(pickle.dumps(("broke", f"{kind.__name__}: {error}")) + b"\0")

    sys.excepthook = tell
    for message in messages:
        gc.enable()
        asked: _Asked = pickle.loads(message)
        try:
            reply = _reply(gauge, asked)
        except DocumentError as error:
            reply = pickle.dumps(("refused", str(error)))
        except MemoryError:
            reply = _LARGE
        most = _GROWN_SCANNING if isinstance(asked[2], int) else _GROWN
        messages.reply(reply + bytes([gauge.grown() - len(reply) < most]))
        del message, asked, reply  # a process that waits holds nothing of its last file


def _reply(gauge: MemoryGauge, asked: _Asked) -> bytes:
    """What is made of a file. All memory of this process counts as the file's: what it kept of
    earlier ones, too, and the packages and models that its reader needs.

    Raises:
        DocumentError: it cannot be read.
        MemoryError: it exceeds its limits.
    """
    source, read, wanted, memory_bytes, seconds, most_bytes = asked
    gc.disable()  # nearly all that reading makes is kept
    loaders.prepare(source, read, isinstance(wanted, int))
    with limited(memory_bytes, seconds, gauge.own()):
        told: Document | PageContent
        if isinstance(wanted, int):
            told = loaders.scanned(source, read, wanted)
        else:
            told = loaders.parse(source, read, wanted)
        reply = pickle.dumps(("document", told))
    if len(reply) > most_bytes:
        raise MemoryError
    return reply


if __name__ == "__main__":
    main()
