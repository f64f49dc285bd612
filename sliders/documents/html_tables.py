"""HTML tables as rows of cells: a cell that spans columns or rows is written once for each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from sliders.documents.printed_values import is_value, is_year
from sliders.documents.tables import Table, count_header_rows, table_from_rows

_MAX_SPAN = 60
_DECLARATION = re.compile(r"\s*<\?xml[^>]*>")  # lxml refuses it in text


def html_table(html: str) -> Table:
    """The first table of a piece of HTML; a table inside a cell is text of the cell."""
    from lxml.html import document_fromstring  # type: ignore[import-untyped]

    table = document_fromstring(html).find(".//table")
    if table is None:
        return Table((), ())
    cells = [(row, marked) for row, marked in _cells(table) if any(row)]
    rows = [row for row, _ in cells]
    named = next((n for n, (_, marked) in enumerate(cells) if not marked), len(cells))
    counted = count_header_rows(rows)
    header_rows = max(named, counted) if 0 < named < len(rows) else counted
    return table_from_rows(rows, header_rows, " ".join((table.findtext("caption") or "").split()), printed=True)


def without_spans(html: str) -> str:
    """The HTML with its tables written without spans."""
    from lxml.html import document_fromstring, fragment_fromstring, tostring

    root = document_fromstring(_DECLARATION.sub("", html))
    for table in root.xpath("//table[not(ancestor::table)]"):
        plain = fragment_fromstring(f"<table>{''.join(_plain(*row) for row in _cells(table))}</table>")
        plain.tail = table.tail
        table.getparent().replace(table, plain)
    return str(tostring(root, encoding="unicode"))


def _plain(cells: Sequence[str], marked: bool) -> str:
    tag = "th" if marked else "td"
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _cells(table: Any) -> list[tuple[list[str], bool]]:
    """The rows of a table, all of one width, and whether each is marked as a header."""
    rows = [row for row in table.iter("tr") if next(row.iterancestors("table")) is table]
    texts: dict[tuple[int, int], str] = {}
    marked = []
    for r, row in enumerate(rows):
        c = 0
        cells = row.xpath("./td | ./th")
        for cell in cells:
            while (r, c) in texts:
                c += 1
            text = " ".join(" ".join(cell.xpath(".//text()")).split())
            # Words name all columns that they span, a value stands in the first of them.
            spread = cell.tag == "th" or not is_value(text) or is_year(text)
            columns, deep = _span(cell.get("colspan")), _span(cell.get("rowspan"))
            for at in range(columns):
                texts.update({(r + down, c + at): text if spread or not at else "" for down in range(deep)})
            c += columns
        marked.append(bool(cells) and all(cell.tag == "th" for cell in cells))
    width = max((c for _, c in texts), default=-1) + 1
    return [([texts.get((r, c), "") for c in range(width)], marked[r]) for r in range(len(rows))]


def _span(value: str | None) -> int:
    return max(1, min(int(value), _MAX_SPAN)) if value and value.strip().isdigit() else 1
