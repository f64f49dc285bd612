"""The child process that reads files: `python -m sliders.documents.reader_process`.

A message is the bytes of one file with its name and limits; the reply is its document, or the
words of an error, and whether the process is about as small as before. What a reader of a format
did not foresee ends the process, which says what it was.
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
"""Bytes of memory that a process may keep from earlier files; one that holds more is ended, as its
limits are over what it has.
"""
_LARGE = pickle.dumps(("large", "", False))


def main() -> None:
    """Serve until the parent closes the pipe."""
    messages, gauge = Messages(), MemoryGauge()

    def small() -> bool:
        return gauge.grown() < _GROWN

    def tell(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        messages.reply(pickle.dumps(("broke", f"{kind.__name__}: {error}", False)))

    sys.excepthook = tell
    for message in messages:
        gc.enable()
        source, read, memory_bytes, seconds, most_bytes = pickle.loads(message)
        gc.disable()  # nearly all that reading makes is kept
        try:
            loaders.prepare(source, read)
            with limited(memory_bytes, seconds):
                document = loaders.parse(source, read)
        except DocumentError as error:
            messages.reply(pickle.dumps(("refused", str(error), small())))
            continue
        except MemoryError:
            messages.reply(_LARGE)
            continue
        reply = pickle.dumps(("document", document, small()))
        messages.reply(reply if len(reply) <= most_bytes else _LARGE)


if __name__ == "__main__":
    main()
