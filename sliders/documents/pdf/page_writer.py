"""Writes printed lines as headings, paragraphs and tables whose rows can be read alone."""

from __future__ import annotations

import re
from statistics import median

from sliders.documents.builder import DocumentBuilder
from sliders.documents.pdf.drawn_tables import DrawnTable
from sliders.documents.pdf.over_pages import PageTable
from sliders.documents.pdf.page_content import PageContent
from sliders.documents.pdf.ruling_lines import strokes_below
from sliders.documents.pdf.word_ends import WordEnds
from sliders.documents.pdf.words import PrintedLine, joined_text
from sliders.documents.spanned_tables import table_of_spans
from sliders.documents.table_grid.grid import Line, find_tables, join_marks
from sliders.documents.text_blocks import heading_level, shape_of
from sliders.values.notes import is_note, unit_note
from sliders.values.printed import is_value

_PARAGRAPH_GAP = 1.45
_WALL = 4
_ITEM = re.compile(r"(?:[•●▪◦‣·∙–-]|\(\w{1,3}\)|\d{1,2}[.)])\s+\S|[•●▪◦‣]\S")


class PageWriter:
    """Writes the lines of one page to the document builder."""

    def __init__(
        self,
        builder: DocumentBuilder,
        page: PageContent,
        furniture: frozenset[str],
        ends: WordEnds,
    ) -> None:
        self._ends = ends
        self._builder, self._lines, self._furniture = builder, page.lines, furniture
        self._strokes = page.strokes
        heights = [line.height for line in page.lines if not isinstance(line, DrawnTable)]
        self._pitch = median(heights) if heights else 0.0
        self._paragraph: list[PrintedLine] = []
        self.tables = self._tables()

    def write(self) -> None:
        at = 0
        for table in self.tables:
            caption, note, above = self._context(at, table.first)
            above = above if table.table is not None else 0
            self._write_lines(at, table.first - above)
            self._write_title(table.first - above, table.first)
            if table.table is not None:
                self._builder.add_table(table.table, caption=caption, note=note, pages=table.pages)
            at = table.last + 1
        self._write_lines(at, len(self._lines))

    def _tables(self) -> list[PageTable]:
        rows, origin = self._with_blanks()
        below = strokes_below(self._lines, self._strokes)
        regions = find_tables(rows, [below[origin[n]] if row else () for n, row in enumerate(rows)])
        tables = [PageTable(origin[r.first], origin[r.last], r.table, region=r) for r in regions]
        for n, line in enumerate(self._lines):
            if isinstance(line, DrawnTable):
                table = table_of_spans(line.rows, printed=True)
                tables.append(PageTable(n, n, table, line.pages))
        return sorted(tables, key=lambda table: table.first)

    def _with_blanks(self) -> tuple[list[Line], list[int]]:
        """Returns the segments of each line, with an empty row for each vertical gap of the page,
        and the number of the printed line for each row.
        """
        rows: list[Line] = []
        origin: list[int] = []
        for n, line in enumerate(self._lines):
            if isinstance(line, DrawnTable):
                rows.extend([()] * _WALL)
                origin.extend([n] * _WALL)
                continue
            if n and self._gap_above(n) > 1.1 * self._pitch:
                rows.append(())
                origin.append(n)
            rows.append(join_marks(line.segments))
            origin.append(n)
        return rows, origin

    def _gap_above(self, n: int) -> float:
        """Returns the distance to the line above."""
        return self._lines[n - 1].bottom - self._lines[n].top

    def _context(self, floor: int, first: int) -> tuple[str, str, int]:
        """Returns the caption of a table, its note, and the number of lines directly above it that
        are its title. Each is empty when there is none.
        """
        caption = note = ""
        used = 0
        for at in range(first - 1, max(floor, first - 5) - 1, -1):
            text = self._lines[at].text
            if shape_of(text) in self._furniture:
                break
            if not note and is_note(text):
                note = text
            elif self._is_heading_like(self._lines[at]):
                caption, note, used = text, note or unit_note(text), first - at
                break
            else:
                words = " ".join(line.text for line in self._lines[max(floor, at - 2) : at + 1])
                note = note or unit_note(words)  # of the words that introduce the table
                break
            used = first - at
        return caption, note, used

    def _is_heading_like(self, line: PrintedLine) -> bool:
        text = line.text
        short = len(line.segments) == 1 and 3 <= len(text) <= 100 and text[-1] not in ".;,"
        return short and (line.bold or heading_level(text) > 0)

    def _write_title(self, first: int, end: int) -> None:
        for line in self._lines[first:end]:
            if is_note(line.text):
                self._builder.add("caption", line.text, gap="\n")
            else:
                self._builder.add("heading", line.text, level=3)

    def _write_lines(self, first: int, end: int) -> None:
        for n in range(first, end):
            line = self._lines[n]
            level = self._heading(n, end)
            if level:
                self._flush()
                self._builder.add("heading", line.text, level=level)
                continue
            if self._paragraph and self._breaks(n):
                self._flush()
            self._paragraph.append(line)
        self._flush()

    def _heading(self, n: int, end: int) -> int:
        line = self._lines[n]
        text = line.text
        if (
            len(line.segments) != 1
            or shape_of(text) in self._furniture
            or (self._paragraph and not self._ended(n))
        ):
            return 0
        if any(is_value(word) for word in text.split()[-1:]) and heading_level(text) == 0:
            return 0
        last = n + 1 == len(self._lines)
        level = heading_level(text, "" if last or self._breaks(n + 1) else self._lines[n + 1].text)
        if level and not last:
            return level
        short = len(text.split()) <= 14 and len(text) <= 90 and text[-1] not in ".,;"
        return (
            4 if line.bold and short and not last and text[0].isupper() and not is_note(text) else 0
        )

    def _ended(self, n: int) -> bool:
        """Says whether a paragraph ends before line `n`: at an end mark, a vertical gap, or a
        change to or from bold.
        """
        above = self._paragraph[-1]
        return self._breaks(n) or above.text[-1:] in ".:;!?)" or self._lines[n].bold != above.bold

    def _breaks(self, n: int) -> bool:
        above, line = self._lines[n - 1], self._lines[n]
        distance = above.bottom - line.bottom
        if (
            _ITEM.match(line.text)
            or shape_of(above.text) in self._furniture
            or shape_of(line.text) in self._furniture
        ):
            return True
        return distance > _PARAGRAPH_GAP * max(self._pitch, line.height) or distance < 0

    def _flush(self) -> None:
        if not self._paragraph:
            return
        text = joined_text(self._paragraph, self._ends)
        kind = "list_item" if _ITEM.match(text) else "caption" if is_note(text) else "paragraph"
        self._builder.add(kind, text)  # type: ignore[arg-type]
        self._paragraph = []
