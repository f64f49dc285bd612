"""The progress of a run, and its display: a live line, plain lines, or nothing."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from sliders.hidden import bare, hide, visible

if TYPE_CHECKING:
    from rich.live import Live

Mode = Literal["live", "plain", "quiet"]

_PLAIN_SECONDS = 10.0
"""The usual seconds between two lines of plain output; a new stage gets a line at once."""
_BAR = 24


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a stage: `done` of `total` units; rows, tokens and US dollars so far."""

    stage: str
    done: int = 0
    total: int = 0
    rows: int = 0
    tokens: int = 0
    cost: float = 0.0
    detail: str = ""


def counted(count: int, thing: str, several: str = "") -> str:
    """A number of things in words: 1 row, 1,200 rows, 2 values are."""
    return f"{count:,} {thing if count == 1 else several or f'{thing}s'}"


def duration(seconds: float) -> str:
    """Seconds in the words of a person: 8 s, 3 min 20 s, 2 h 05 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def choose_mode(*, quiet: bool = False, plain: bool = False) -> Mode:
    """Returns the mode that the flags ask for; when standard error is no terminal, plain lines."""
    if quiet:
        return "quiet"
    return "plain" if plain or not sys.stderr.isatty() else "live"


def _live() -> Live:
    """Returns a live line on standard error; `rich` is loaded only for it."""
    from rich.console import Console
    from rich.live import Live

    console = Console(file=bare(sys.stderr), highlight=False)
    return Live(console=console, transient=True, refresh_per_second=4)


class Display:
    """Progress on standard error; use it as a context manager."""

    def __init__(self, mode: Mode) -> None:
        self.mode, self._stream = mode, sys.stderr
        self._live = _live() if mode == "live" else None
        self._started = self._said = self._since = time.monotonic()
        self._stage, self._first, self._total = "", 0, 0

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, progress: Progress) -> None:
        """Shows the progress of a stage."""
        if self.mode == "quiet":
            return
        now = time.monotonic()
        changed = progress.stage != self._stage
        if changed or progress.total != self._total or progress.done < self._first:
            self._stage, self._since = progress.stage, now
            self._first, self._total = progress.done, progress.total
        line = self.line(progress)
        if self._live is not None:
            from rich.text import Text

            self._live.update(Text(visible(hide(line)), no_wrap=True, overflow="ellipsis"))
        elif (
            changed
            or now - self._said >= _PLAIN_SECONDS
            or (progress.total and progress.done == progress.total)
        ):
            self._said = now
            self._stream.write(line + "\n")
            self._stream.flush()

    def line(self, progress: Progress) -> str:
        """Returns one line of progress. The time left is estimated for the stage, from the units
        done since its first line.
        """
        done, total = progress.done, progress.total
        parts = [f"{progress.stage:<10}"]
        if total:
            if self.mode == "live":
                filled = _BAR * done // total
                parts.append("━" * filled + "─" * (_BAR - filled))
            parts.append(f"{done}/{total}")
        parts += [progress.detail] if progress.detail else []
        parts += [counted(progress.rows, "row")] if progress.rows else []
        parts += [counted(progress.tokens, "token")] if progress.tokens else []
        parts += [f"${progress.cost:.4f}"] if progress.cost else []
        now = time.monotonic()
        if self._first < done < total:
            each = (now - self._since) / (done - self._first)
            parts.append(f"{duration(each * (total - done))} left")
        parts.append(duration(now - self._started))
        return "  ".join(parts)
