"""What a run shows while it works: a live line, plain lines, or nothing. Plain data only; it knows no room."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Literal, Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

Mode = Literal["live", "plain", "quiet"]

_PLAIN_SECONDS = 10.0
"""Plain output says where it is about this often, and at every change of stage."""
_BAR = 24


def duration(seconds: float) -> str:
    """Seconds as a person writes them: 8 s, 3 min 20 s, 2 h 05 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def choose_mode(*, quiet: bool = False, plain: bool = False, stream: TextIO | None = None) -> Mode:
    """The mode that the flags name; a stream that is no terminal gets plain lines."""
    if quiet:
        return "quiet"
    stream = stream or sys.stderr
    return "plain" if plain or not stream.isatty() else "live"


class Display:
    """Progress on standard error; use it as a context manager.

    `update` takes the stage, units done and in all, rows, tokens, US dollars and a detail, as a run reports them.
    """

    def __init__(
        self, mode: Mode, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.mode, self._clock, self._stream = mode, clock, stream or sys.stderr
        self._console = Console(file=self._stream, highlight=False)
        self._live = Live(console=self._console, transient=True, refresh_per_second=4) if mode == "live" else None
        self._started = self._stage_started = self._said = clock()
        self._stage = ""

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def update(
        self, stage: str, done: int = 0, total: int = 0, rows: int = 0, tokens: int = 0, cost: float = 0.0,
        detail: str = "",
    ) -> None:
        """Show how far a stage is."""
        if self.mode == "quiet":
            return
        now = self._clock()
        changed = stage != self._stage
        if changed:
            self._stage, self._stage_started = stage, now
        line = self.line(stage, done, total, rows, tokens, cost, detail)
        if self._live is not None:
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))
        elif changed or now - self._said >= _PLAIN_SECONDS or (total and done == total):
            self._said = now
            self._stream.write(line + "\n")
            self._stream.flush()

    def line(self, stage: str, done: int, total: int, rows: int, tokens: int, cost: float, detail: str) -> str:
        """One line of progress; the time left is that of the stage."""
        parts = [f"{stage:<10}"]
        if total:
            if self.mode == "live":
                filled = _BAR * done // total
                parts.append("━" * filled + "─" * (_BAR - filled))
            parts.append(f"{done}/{total}")
        parts += [detail] if detail else []
        parts += [f"{rows} rows"] if rows else []
        parts += [f"{tokens} tokens"] if tokens else []
        parts += [f"${cost:.4f}"] if cost else []
        spent = self._clock() - self._stage_started
        if 0 < done < total:
            parts.append(f"{duration(spent / done * (total - done))} left")
        parts.append(duration(self._clock() - self._started))
        return "  ".join(parts)

    def say(self, line: str) -> None:
        """A line that stays, above the live one."""
        if self.mode != "quiet":
            self._console.print(Text(line), soft_wrap=True)
