"""The memory of a statement on a PostgreSQL server, which has no limit of its own for it.

When the server runs on this machine, its process for the statement is watched and stopped. If this
user may, the kernel limits it as well. On another machine its memory is not limited.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sliders.child import address_space
from sliders.errors import UnsafeStatement
from sliders.sql.limits import Limits, MemoryGauge, short
from sliders.store.engines import Engine

_LOOK = 0.005
"""Seconds between two checks."""


@contextlib.contextmanager
def held_memory(engine: Engine, raw: Any, sql: str, limits: Limits) -> Iterator[None]:
    """Stops a connection's statement inside the `with` block when it takes more memory than
    allowed.

    Raises:
        UnsafeStatement: it was stopped.
    """
    process = raw.info.backend_pid
    if not _is_here(raw, process):
        yield
        return
    _hold(process, limits.memory_bytes)
    gauge, over, passed = MemoryGauge(process), threading.Event(), threading.Event()

    def watch() -> None:
        while not over.wait(_LOOK):
            if gauge.grown() > limits.memory_bytes:
                passed.set()
                raw.cancel_safe()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except engine.errors as error:
        refused = getattr(error, "sqlstate", None) == "53200"  # the kernel gave it no more
        if passed.is_set() or refused:
            raise UnsafeStatement(
                f"the statement was stopped: it needed more than "
                f"{limits.memory_bytes / 1_000_000:.0f} MB of memory; ask for less: {short(sql)}"
            ) from error
        raise
    finally:
        over.set()
        watcher.join()


def _is_here(raw: Any, process: int) -> bool:
    """True when a connection's process runs on this machine."""
    host = raw.info.host
    if host and not host.startswith("/") and host not in ("localhost", "127.0.0.1", "::1"):
        return False
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"postgres")
    except OSError:
        return False


def _hold(process: int, memory_bytes: float) -> None:
    """Makes the kernel refuse more memory to a process, if this user may."""
    if sys.platform != "linux" or memory_bytes == float("inf"):
        return
    import resource

    with contextlib.suppress(OSError):  # another user's process is watched alone
        size = address_space(process)
        _, hard = resource.prlimit(process, resource.RLIMIT_AS)
        resource.prlimit(process, resource.RLIMIT_AS, (size + int(memory_bytes), hard))
