"""The context of a chunk in its document: title, heading path, pages, captions (SLIDERS)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

from sliders.documents.document import Document, Element
from sliders.documents.tables import sections_of
from sliders.retrieval.chunk import ChunkContext
from sliders.retrieval.sentences import sentence_spans
from sliders.values.notes import scale_in

_LONGEST = 300


class Outline:
    """Finds, for any span of one document, the headings above it, its pages and the captions around
    it.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._elements = document.elements
        self._starts = [element.start for element in document.elements]
        self._page_starts = [page.start for page in document.pages]
        self._heading_starts: list[int] = []
        self._paths: list[tuple[tuple[int, str], ...]] = []
        path: tuple[tuple[int, str], ...] = ()
        for element in document.elements:
            if element.kind != "heading":
                continue
            level = max(1, element.level)
            title = _line(document.text[element.start : element.end])
            path = (*(entry for entry in path if entry[0] < level), (level, title))
            self._heading_starts.append(element.start)
            self._paths.append(path)

    def context(self, start: int, end: int) -> ChunkContext:
        """The context of `text[start:end]`; headings and captions printed inside the
        span are not repeated.
        """
        document = self._document
        return ChunkContext(
            title=_line(document.title),
            heading_path=self.heading_path(start),
            page_from=self._page(start),
            page_to=self._page(max(start, end - 1)),
            captions=self._captions(start, end),
        )

    def heading_path(self, offset: int) -> tuple[str, ...]:
        """Headings above `offset`, the top one first; a heading that begins at
        `offset` is not among them.
        """
        number = bisect_left(self._heading_starts, offset)
        if number == 0:
            return ()
        path = self._paths[number - 1]
        first = bisect_left(self._starts, offset)
        if first < len(self._elements):
            element = self._elements[first]
            own_text = not self._document.text[offset : element.start].strip()
            if element.kind == "heading" and own_text and self._covering(offset) is None:
                path = tuple(entry for entry in path if entry[0] < max(1, element.level))
        return tuple(title for _, title in path)

    def kinds(self, start: int, end: int) -> frozenset[str]:
        """Kinds of the elements that the span touches."""
        return frozenset(element.kind for element in self._touching(start, end))

    def _covering(self, offset: int) -> Element | None:
        """The element that began before `offset` and goes on after it."""
        number = bisect_left(self._starts, offset)
        if number and self._elements[number - 1].end > offset:
            return self._elements[number - 1]
        return None

    def _touching(self, start: int, end: int) -> tuple[Element, ...]:
        low = bisect_left(self._starts, start)
        if low and self._elements[low - 1].end > start:
            low -= 1
        return self._elements[low : bisect_left(self._starts, end)]

    def _page(self, offset: int) -> int | None:
        number = bisect_right(self._page_starts, offset)
        return self._document.pages[number - 1].number if number else None

    def _captions(self, start: int, end: int) -> tuple[str, ...]:
        """Captions and notes of the span's tables and next to the span;
        last, the head of a table begun before it.
        """
        text = self._document.text
        low = bisect_left(self._starts, start)
        high = bisect_left(self._starts, end)
        around = self._elements[max(0, low - 1) : low] + self._elements[high : high + 1]
        found = [
            text[element.start : element.end] for element in around if element.kind == "caption"
        ]
        for element in self._touching(start, end):
            if element.grid is not None:
                found.extend((element.grid.caption, element.grid.note))
        inside = text[start:end]
        lines = [
            _line(entry)
            for entry in dict.fromkeys(found)
            if entry.strip() and entry.strip() not in inside
        ]
        lines.append(self.table_head(start))
        return tuple(dict.fromkeys(line for line in lines if line))

    def table_notes(self, start: int, end: int) -> tuple[str, ...]:
        """Returns the notes about units ("In millions") that belong to the span's tables and stand
        outside of the span.
        """
        grids = [element.grid for element in self._touching(start, end) if element.grid is not None]
        told = (
            text.strip()
            for grid in grids
            for text in (grid.note, grid.caption if scale_in(grid.caption) else "")
        )
        inside = self._document.text[start:end]
        return tuple(dict.fromkeys(_line(text) for text in told if text and text not in inside))

    def table_head(self, start: int) -> str:
        """Returns the header of a table that began before `start`, and the rows that name the
        sections of its first row from there on.
        """
        table = self._covering(start)
        if table is None or not table.row_starts:
            return ""
        text, rows = self._document.text, table.row_starts
        first = min(bisect_left(rows, start), len(rows) - 1)
        sections = (text[rows[n] : rows[n + 1]] for n in sections_of(table, first) if n < first)
        return "".join([text[table.start : min(start, rows[0])], *sections]).strip()


def _line(text: str) -> str:
    """One line of at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rstrip() + "…"


def blocks_of(document: Document) -> list[tuple[int, int, Element | None]]:
    """Returns blocks that together hold every character: an element with the white space after it,
    or text outside of elements.
    """
    blocks: list[tuple[int, int, Element | None]] = []
    at = 0

    def close_gap(begin: int) -> int:
        if at < begin and document.text[at:begin].strip():
            blocks.append((at, begin, None))
        elif blocks:
            start, _, element = blocks[-1]
            blocks[-1] = (start, begin, element)
        else:
            return at  # leading white space goes with the first block
        return begin

    for element in document.elements:
        at = close_gap(max(element.start, at))
        if element.end > at:
            blocks.append((at, element.end, element))
            at = element.end
    if close_gap(len(document.text)) < len(document.text):
        blocks.append((at, len(document.text), None))
    return blocks


def parts_of(text: str, start: int, end: int, element: Element | None) -> list[tuple[int, int]]:
    """Returns the rows of a block (text before the first row belongs to it), or its sentences when
    it has no rows.
    """
    rows = element.row_starts if element else ()
    if not rows:
        return sentence_spans(text, start, end)
    return list(pairwise([start, *(row for row in rows[1:] if start < row < end), end]))
