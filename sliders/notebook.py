"""Progress in a notebook: one line under the cell, which is replaced as the work goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from typing import Any

from sliders.progress import Display, Progress

_SECONDS = 0.5
"""The least seconds between two updates of the line."""


def notebook_report() -> Callable[[Progress], None] | None:
    """Returns a function that shows progress when this process is the kernel of a notebook, else
    None. IPython is not imported to find out.
    """
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if running is None or type(running).__name__ != "ZMQInteractiveShell":
        return None
    return NotebookLine(_display, lambda: int(running.execution_count)).update


class NotebookLine:
    """The line of progress of each cell.

    Args:
        show: shows HTML and returns a handle that can replace it, as IPython's `display` does.
        cell: the number of the cell that runs.
    """

    def __init__(self, show: Callable[..., Any], cell: Callable[[], int]) -> None:
        self._show, self._cell = show, cell
        self._stage, self._said, self._number = "", 0.0, -1
        self._words, self._handle = Display("quiet"), None

    def update(self, progress: Progress) -> None:
        """Shows the progress of a stage."""
        now, done, number = (
            time.monotonic(),
            progress.total and progress.done == progress.total,
            self._cell(),
        )
        if number != self._number:
            self._number, self._words, self._handle = number, Display("quiet"), None
        elif progress.stage == self._stage and now - self._said < _SECONDS and not done:
            return
        self._stage, self._said = progress.stage, now
        line = self._words.line(progress)
        page = {"text/plain": line, "text/html": f'<code style="opacity:.7">{escape(line)}</code>'}
        if self._handle is None:
            self._handle = self._show(page, raw=True, display_id=True)
        else:
            self._handle.update(page, raw=True)


def _display(page: dict[str, str], **options: Any) -> Any:
    from IPython.display import display

    return display(page, **options)  # type: ignore[no-untyped-call]
