"""The writer's lock: one process at a time writes to a workspace.

The lock belongs to the process in the operating system's books, so that a killed process frees it at once.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from sliders.errors import StoreError, WorkspaceLocked

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no fcntl; SQLite's own lock is then the only one
    fcntl = None  # type: ignore[assignment]

# POSIX locks do not exclude two openers inside one process, and closing any handle frees them: hence this register.
_held: set[str] = set()
_register = threading.Lock()


class WriterLock:
    """An exclusive lock on `<file>.lock`, held from `acquire` to `release` or to the end of the process."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + ".lock")
        self._workspace = path
        self._name = os.path.realpath(self.path)
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            WorkspaceLocked: another process, or another place in this one, has it.
            StoreError: the lock file cannot be written.
        """
        with _register:
            if self._name in _held:
                raise WorkspaceLocked(
                    f"workspace {str(self._workspace)!r} is already open for writing in this process; close it first, "
                    "or open it read-only"
                )
            self._descriptor = self._open()
            _held.add(self._name)

    def _open(self) -> int:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(
                f"workspace {str(self._workspace)!r} cannot be written: {error.strerror}; check the folder's "
                "permissions, or choose another place"
            ) from error
        try:
            if fcntl is not None:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise WorkspaceLocked(
                f"workspace {str(self._workspace)!r} is being written by another process"
                f"{f' (number {owner})' if owner else ''}; wait until it ends, or use another workspace"
            ) from error
        with contextlib.suppress(OSError):  # a full disk must not stop the opener: the number is for people only
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        return descriptor

    def release(self) -> None:
        """Free the lock; a second call does nothing. The lock file stays: removing it would race with an opener."""
        with _register:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
                _held.discard(self._name)
