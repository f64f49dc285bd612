"""The writer's lock: one opener at a time writes to a file. It belongs to the open lock file: a killed process frees it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from sliders.errors import StoreError, WorkspaceLocked

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no fcntl; SQLite's own lock is then the only one
    fcntl = None  # type: ignore[assignment]


def writer_lock(path: Path) -> int:
    """Take the exclusive lock on `<file>.lock`; a descriptor that holds it until it is closed.

    The lock file stays: removing it would race with an opener.

    Raises:
        WorkspaceLocked: another process, or another place in this one, has it.
        StoreError: the lock file cannot be written.
    """
    workspace = f"workspace {str(path)!r}"
    try:
        descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        told = f"{workspace} cannot be written: {error.strerror}; check the folder's permissions, or choose another place"
        raise StoreError(told) from error
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        if owner == str(os.getpid()):
            told = f"{workspace} is already open for writing in this process; close it first, or open it read-only"
            raise WorkspaceLocked(told) from error
        number = f" (number {owner})" if owner else ""
        told = f"{workspace} is being written by another process{number}; wait until it ends, or use another workspace"
        raise WorkspaceLocked(told) from error
    with contextlib.suppress(OSError):  # a full disk must not stop the opener: the number is for people only
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
    return descriptor
