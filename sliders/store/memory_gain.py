"""How much memory the process has gained since a moment."""

from __future__ import annotations

import contextlib
import os


class MemoryGauge:
    """Bytes of resident memory gained since it was made; always 0 where the system does not tell."""

    def __init__(self) -> None:
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):
            self._descriptor = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._page = os.sysconf("SC_PAGE_SIZE") if self._descriptor is not None else 0
        self._before = self._resident()

    def _resident(self) -> int:
        if self._descriptor is None:
            return 0
        return int(os.pread(self._descriptor, 128, 0).split()[1]) * self._page

    def grown(self) -> int:
        """Bytes gained."""
        return self._resident() - self._before

    def __del__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
