"""HTML without other packages: table cells with their spans expanded, and a plain reader of the page's blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser

from sliders.documents.build import DocumentBuilder
from sliders.documents.decode import decode
from sliders.documents.document import Document
from sliders.documents.tables import Table, table_from_rows
from sliders.documents.values import is_value, is_year

_SKIPPED = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_BLOCKS = frozenset(
    {
        *("p", "div", "section", "article", "main", "header", "footer", "aside", "nav", "ul", "ol", "dl", "dt", "dd"),
        *("blockquote", "figure", "address", "form", "fieldset", "hr", "body"),
    }
)
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_MAX_SPAN = 60
_MAX_HEADER_ROWS = 4


@dataclass(slots=True)
class _Rows:
    """A table while it is read: its cells, and the cells that reach down from rows above."""

    rows: list[list[str]] = field(default_factory=list)
    header: list[bool] = field(default_factory=list)
    caption: str = ""
    hanging: dict[int, tuple[int, str]] = field(default_factory=dict)

    def start_row(self) -> None:
        self.rows.append([])
        self.header.append(True)
        self._fill()

    def add(self, text: str, columns: int, rows: int, is_header: bool) -> None:
        if not self.rows:
            self.start_row()
        row = self.rows[-1]
        start = len(row)
        # Words name all columns that they span, a value stands in the first of them.
        spread = is_header or not is_value(text) or is_year(text)
        row.extend(text if spread or c == 0 else "" for c in range(columns))
        if rows > 1:
            self.hanging.update({start + c: (rows - 1, row[start + c]) for c in range(columns)})
        self.header[-1] = self.header[-1] and is_header
        self._fill()

    def _fill(self) -> None:
        row = self.rows[-1]
        while len(row) in self.hanging:
            left, text = self.hanging.pop(len(row))
            if left > 1:
                self.hanging[len(row) + 100_000] = (left - 1, text)
            row.append(text)

    def end_row(self) -> None:
        self.hanging = {column % 100_000: cell for column, cell in self.hanging.items()}

    def plain_html(self) -> str:
        """The table as HTML without spans."""
        lines = []
        for row, is_header in zip(self.rows, self.header, strict=True):
            tag = "th" if is_header else "td"
            lines.append("<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>")
        return "<table>" + "".join(lines) + "</table>"

    def table(self) -> Table:
        rows = [row for row in self.rows if any(row)]
        marked = [flag for flag, row in zip(self.header, self.rows, strict=True) if any(row)]
        named = next((n for n, flag in enumerate(marked) if not flag), len(marked))
        counted = count_header_rows(rows)
        return table_from_rows(rows, max(named, counted) if 0 < named < len(rows) else counted, self.caption)


def count_header_rows(rows: Sequence[Sequence[str]]) -> int:
    """How many leading rows name the columns: those above the first row with values, none when the first has some."""
    for n, row in enumerate(rows[:_MAX_HEADER_ROWS]):
        values = [cell for cell in row[1:] if cell and is_value(cell) and not is_year(cell)]
        if values:
            return n
        label = row[0] if row else ""
        if n and label and label != rows[0][0] and not any(cell and cell != label for cell in row):
            return n  # a section's name over the first rows
    return min(1, max(len(rows) - 1, 0))


def html_table(html: str) -> Table:
    """The first table of a piece of HTML."""
    read = _tables(html)
    return read[0].table() if read else Table((), ())


def without_spans(html: str) -> str:
    """The HTML of one table with every cell that spans columns or rows written once per column and row."""
    read = _tables(html)
    return read[0].plain_html() if read else html


def _tables(html: str) -> list[_Rows]:
    reader = _Reader(DocumentBuilder())
    reader.feed(html)
    reader.close()
    return reader.tables


def read_html_plainly(raw: bytes, name: str) -> Document:
    """A document out of HTML by its headings, paragraphs, list items, code and tables."""
    text, warnings = decode(raw, name)
    builder = DocumentBuilder()
    builder.warnings.extend(warnings)
    reader = _Reader(builder)
    reader.feed(text)
    reader.close()
    return builder.build(name, raw, title=reader.title, media_type="text/html")


class _Reader(HTMLParser):
    """Feeds a builder with the blocks of a page; a table inside a cell is read as text of the cell."""

    def __init__(self, builder: DocumentBuilder) -> None:
        super().__init__(convert_charrefs=True)
        self.builder = builder
        self.tables: list[_Rows] = []
        self.title = ""
        self._words: list[str] = []
        self._skip = 0
        self._kind = "p"
        self._open: list[_Rows] = []
        self._cell: tuple[int, int, bool] | None = None
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = True
        elif tag in _SKIPPED:
            self._skip += tag != "head"
        elif tag == "table":
            if not self._open:
                self._flush()
            self._open.append(_Rows())
        elif self._open:
            self._table_tag(tag, dict(attrs))
        elif tag == "br":
            self._words.append("\n")
        elif tag in _HEADINGS or tag in ("li", "pre") or tag in _BLOCKS:
            self._flush()
            self._kind = tag

    def _table_tag(self, tag: str, attrs: dict[str, str | None]) -> None:
        if len(self._open) > 1 or tag not in ("tr", "td", "th", "caption"):
            self._words.append(" ")
            return
        self._end_cell()
        if tag == "tr":
            self._open[0].end_row()
            self._open[0].start_row()
        elif tag == "caption":
            self._kind, self._words = "caption", []
        else:
            self._words = []
            self._cell = (_span(attrs.get("colspan")), _span(attrs.get("rowspan")), tag == "th")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in _SKIPPED:
            self._skip = max(0, self._skip - (tag != "head"))
        elif tag == "table" and self._open:
            self._end_table()
        elif self._open:
            if len(self._open) == 1 and tag in ("td", "th", "tr"):
                self._end_cell()
            elif tag == "caption":
                self._open[0].caption, self._words, self._kind = self._text(), [], "p"
        elif tag in _HEADINGS or tag in ("li", "pre") or tag in _BLOCKS:
            self._flush()

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._skip:
            self._words.append(data)

    def close(self) -> None:
        super().close()
        while self._open:
            self._end_table()
        self._flush()

    def _text(self) -> str:
        return " ".join("".join(self._words).split())

    def _end_cell(self) -> None:
        if self._cell is not None:
            columns, rows, is_header = self._cell
            self._open[0].add(self._text(), columns, rows, is_header)
            self._cell, self._words = None, []

    def _end_table(self) -> None:
        if len(self._open) > 1:
            self._open.pop()
            return
        self._end_cell()
        self.tables.append(self._open.pop())
        table = self.tables[-1].table()
        self._words, self._kind = [], "p"
        if len(table.header) > 1:
            self.builder.add_table(table)
            return
        for row in table.rows:
            self.builder.add("paragraph", " ".join(row))

    def _flush(self) -> None:
        raw, text, kind = "".join(self._words), self._text(), self._kind
        self._words, self._kind = [], "p"
        if kind in _HEADINGS:
            self.builder.add("heading", text, level=_HEADINGS[kind])
        elif kind == "pre":
            self.builder.add("code", raw)
        elif kind == "li":
            self.builder.add("list_item", text, gap="\n")
        else:
            self.builder.add("paragraph", text)


def _span(value: str | None) -> int:
    return max(1, min(int(value), _MAX_SPAN)) if value and value.strip().isdigit() else 1
