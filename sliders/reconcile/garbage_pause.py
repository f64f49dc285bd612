"""A pause of Python's garbage collection (its search for reference cycles), for code that creates
millions of values which stay.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """A `with` block without garbage collection, which would walk over all rows again and again, so
    that the cost would grow faster than n log n.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
