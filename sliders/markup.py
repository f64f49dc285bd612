"""HTML for notebooks, in which everything that a document or a model wrote is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

MOST_ROWS = 20
_NOTE = "opacity:.7;font-size:85%"


class Listing(str):
    """A string that a notebook shows with its lines; otherwise an ordinary string."""

    def _repr_html_(self) -> str:
        return preformatted(self)


def preformatted(text: object) -> str:
    """Returns HTML that keeps the lines and spaces of a text."""
    return f'<pre style="white-space:pre-wrap">{escape(str(text))}</pre>'


@dataclass(frozen=True, slots=True)
class PageFrame:
    """A whole page in a frame of its own; its scripts see nothing around it.

    Args:
        page: the page as HTML.
        height: the height of the frame, in pixels.
    """

    page: str = field(repr=False)
    height: int = 600

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.page)}" sandbox="allow-scripts" loading="lazy" '
            f'style="width:100%;height:{self.height}px;border:1px solid #8884"></iframe>'
        )


def note(*lines: object) -> str:
    """Returns small print, a line for each argument."""
    return "".join(f'<div style="{_NOTE}">{escape(str(line))}</div>' for line in lines if line)


def table_html(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    caption: str = "",
    most: int = MOST_ROWS,
) -> str:
    """Returns a table of at most `most` rows as HTML; missing values are empty."""
    kept = list(rows)
    head = "".join(
        f'<th scope="col" style="text-align:left">{escape(str(column))}</th>' for column in columns
    )
    cells = (
        "".join(f'<td style="text-align:left">{_cell(value)}</td>' for value in row)
        for row in kept[:most]
    )
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    more = note(f"and {len(kept) - most} more") if len(kept) > most else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: object) -> str:
    return "" if value is None else escape(str(value))


def folded(title: str, inner: str) -> str:
    """Returns a part that opens on a click; `inner` is HTML."""
    return f"<details><summary>{escape(title)}</summary>{inner}</details>"
