"""The child process that reads files: `python -m sliders.documents.reader_process`.

A message is the bytes of one file with its name and limits; the reply is its document, or one page
of it as OCR reads it, or the words of an error, and whether the process is about as small as
before. An error that a reader did not foresee ends the process, which reports the error.
"""

from __future__ import annotations

import gc
import pickle
import sys
from types import TracebackType

from sliders.child import Messages, limited
from sliders.documents import loaders
from sliders.errors import DocumentError
from sliders.sql.limits import MemoryGauge

_GROWN = 200 << 20
"""Bytes of memory that a process may keep from earlier files. A process that keeps more is ended,
since it would take them from the limit of the next file.
"""
_GROWN_SCANNING = 1200 << 20
"""The same while OCR reads one page after the other: it keeps its models."""
_LARGE = pickle.dumps(("large", "", False))


def main() -> None:
    """The child process: answers one message after the other from its standard input, and returns
    when the parent closes the pipe.
    """
    messages, gauge = Messages(), MemoryGauge()

    def small(most: int = _GROWN) -> bool:
        return gauge.grown() < most

    def tell(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        messages.reply(pickle.dumps(("broke", f"{kind.__name__}: {error}", False)))

    sys.excepthook = tell
    for message in messages:
        gc.enable()
        source, read, wanted, memory_bytes, seconds, most_bytes = pickle.loads(message)
        scanning = isinstance(wanted, int)
        gc.disable()  # nearly all that reading makes is kept
        try:
            loaders.prepare(source, read, scanning)
            with limited(memory_bytes, seconds):
                told = (loaders.scanned if scanning else loaders.parse)(source, read, wanted)
        except DocumentError as error:
            messages.reply(pickle.dumps(("refused", str(error), small())))
            continue
        except MemoryError:
            messages.reply(_LARGE)
            continue
        most = _GROWN_SCANNING if scanning else _GROWN
        reply = pickle.dumps(("document", told, small(most)))
        messages.reply(reply if len(reply) <= most_bytes else _LARGE)


if __name__ == "__main__":
    main()
