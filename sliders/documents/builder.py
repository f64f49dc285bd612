"""Puts a document together piece by piece, so that offsets, pages and white space are
right by construction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sliders.documents.document import Document, Element, ElementKind, Page
from sliders.documents.tables import TextTable, render_table, with_context
from sliders.documents.titles import find_title


class DocumentBuilder:
    """Collects elements in reading order; `build` gives the document."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._elements: list[Element] = []
        self._page_starts: list[tuple[int, int]] = []
        self.warnings: list[str] = []
        self.unread: list[int] = []
        self.scores: dict[int, tuple[tuple[str, float], ...]] = {}

    def start_page(self, number: int) -> None:
        """Begins page `number`: everything that is added from now on is on it."""
        if self._page_starts and number <= self._page_starts[-1][0]:
            return  # it began inside a table
        self._page_starts.append((number, self._length))

    def add(self, kind: ElementKind, text: str, *, level: int = 0, gap: str = "\n\n") -> None:
        """Adds one element. White space around `text` is dropped; `gap` is the white space written
        before it, `level` the depth of a heading (1 is the top).
        """
        text = text.strip()
        if not text:
            return
        start = self._open(gap)
        self._push(text)
        self._elements.append(Element(kind, start, self._length, level, self._page))

    def add_table(
        self,
        table: TextTable,
        *,
        caption: str = "",
        note: str = "",
        gap: str = "\n\n",
        pages: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Adds a table; the caption and note inside `table` become a line above it.

        `caption` and `note` come from lines that are already in the text; `pages` are the pages on
        which the table goes on, each with the number of its rows.
        """
        if not any(any(row) for row in table.rows):
            return
        own = " ".join(part for part in (table.caption, table.note) if part)
        if own:
            self.add("caption", own, gap=gap)
            gap = "\n"
        start = self._open(gap)
        rendered = render_table(with_context(table, caption, note), start)
        self._push(rendered.text)
        element = Element(
            "table", start, self._length, 0, self._page, rendered.grid, rendered.row_starts
        )
        self._elements.append(element)
        row = len(rendered.row_starts) - sum(count for _, count in pages)
        for number, count in pages:
            at = rendered.row_starts[row] if row < len(rendered.row_starts) else self._length
            self._page_starts.append((number, at))
            row += count

    def build(
        self, name: str, raw: bytes, *, title: str = "", media_type: str = "text/plain"
    ) -> Document:
        """The document; its id is the SHA-256 of the raw content, cut to 16 hexadecimal digits.

        `title` is the title in the file's metadata, "" for none. `raw` is the content of the file.
        """
        text = "".join(self._parts)
        elements = tuple(self._elements)
        title = find_title(text, elements, name, title)
        return Document(
            id=hashlib.sha256(raw).hexdigest()[:16],
            name=name,
            text=text,
            title=title,
            elements=elements,
            pages=self._pages(),
            media_type=media_type,
            warnings=tuple(self.warnings),
            unread=tuple(self.unread),
        )

    @property
    def filled(self) -> bool:
        """True when at least one element was added."""
        return bool(self._elements)

    @property
    def _page(self) -> int | None:
        return self._page_starts[-1][0] if self._page_starts else None

    def _open(self, gap: str) -> int:
        if self._elements:
            self._push(gap if gap.strip() == "" and gap else "\n\n")
        return self._length

    def _push(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _pages(self) -> tuple[Page, ...]:
        starts = self._page_starts
        if not starts:
            return ()
        ends = [start for _, start in starts[1:]] + [self._length]
        begins = [0] + [start for _, start in starts[1:]]
        return tuple(
            Page(n, b, e, self.scores.get(n, ()))
            for (n, _), b, e in zip(starts, begins, ends, strict=True)
        )
