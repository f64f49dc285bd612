"""One try: what is handed in, what has to come of it, and what it took."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sliders.errors import SlidersError

_LOOK = 0.01
"""Seconds between two looks at the memory."""
_HUNG = 90
_PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_MB = 600.0
GRACE = 1.0
"""Seconds of the clock over a limit."""


@dataclass(frozen=True, slots=True)
class Try:
    """What is handed in.

    `wanted` is the value of a control; "refused" asks for an error in words, "bounded" for either,
    within the limits of memory and so many seconds.
    """

    kind: str
    given: Any
    wanted: Any = "bounded"
    seconds: float = 2.0

    @property
    def control(self) -> bool:
        """Whether it has to work."""
        return self.wanted not in ("bounded", "refused")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a try; `why` is empty where it held."""

    tried: Try
    why: str
    peak_mb: float
    seconds: float


def _own_memory(pid: int) -> int:
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[1:3]
    except OSError:
        return 0
    return (int(resident) - int(shared)) * _PAGE


def _below(roots: Iterable[int]) -> list[int]:
    """Processes that these started."""
    found, parents = [], set(roots)
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, IndexError):
            stat = Path(f"/proc/{name}/stat").read_text() if name.isdigit() else ""
            if stat and int(stat.rpartition(")")[2].split()[1]) in parents:
                found.append(int(name))
    return found


@contextlib.contextmanager
def _peak(roots: Sequence[int]) -> Iterator[list[float]]:
    """The largest memory inside the block, in MB: that of child processes, and the growth of this
    one.
    """
    peak, over, before = [0.0], threading.Event(), _own_memory(os.getpid())

    def watch() -> None:
        looks, pids = 0, list[int]()
        while not over.wait(_LOOK):
            pids = _below(roots) if looks % 10 == 0 else pids
            looks += 1
            grown = max(0, _own_memory(os.getpid()) - before)
            peak[0] = max(peak[0], (grown + sum(map(_own_memory, pids))) / 1e6)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def _hung(*_: object) -> None:
    raise TimeoutError("it hung")


def _unprintable(words: str) -> str:
    try:
        words.encode()
    except UnicodeEncodeError:
        return "its words cannot be printed"
    return "" if words.strip() else "it has no words"


def played(
    tries: Iterable[Try],
    act: Callable[[Try], Any],
    roots: Sequence[int] = (),
    most: Callable[[Try], tuple[float, float]] = lambda one: (MOST_MB, one.seconds),
) -> Iterator[Outcome]:
    """The outcomes of tries.

    Args:
        act: what a try gives; an error of the package is one in words.
        roots: processes beside this one whose children do the work.
        most: the MB and seconds that a try may take.
    """
    signal.signal(signal.SIGALRM, _hung)
    for one in tries:
        started, value, why = time.perf_counter(), None, ""
        signal.alarm(_HUNG)
        with _peak([os.getpid(), *roots]) as peak:
            try:
                value = act(one)
                why = "" if one.wanted in ("bounded", value) else f"gave {value!r}"[:200]
            except SlidersError as error:
                why = f"refused: {error}"[:300] if one.control else ""
                why = why or _unprintable(str(error))
            except Exception as error:  # noqa: BLE001 - it is what is counted
                why = f"{type(error).__name__}: {error}"[:300]
        signal.alarm(0)
        seconds = time.perf_counter() - started
        megabytes, limit = most(one)
        if peak[0] > megabytes:
            why = why or f"took {peak[0]:.0f} MB"
        if seconds > limit + GRACE:
            why = why or f"took {seconds:.1f} s"
        yield Outcome(one, why, peak[0], seconds)


def figures(area: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The flat figures of an area."""
    return {
        f"{area}_tries": len(outcomes),
        f"{area}_controls": sum(outcome.tried.control for outcome in outcomes),
        f"{area}_held": sum(not outcome.why for outcome in outcomes),
        f"{area}_peak_mb": round(max(outcome.peak_mb for outcome in outcomes), 1),
        f"{area}_longest_s": round(max(outcome.seconds for outcome in outcomes), 2),
        f"{area}_not_held": sorted({outcome.tried.kind for outcome in outcomes if outcome.why}),
    }
