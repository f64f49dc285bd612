"""HTML tables as cells that span columns and rows, as their marks say."""

from __future__ import annotations

from typing import Any

from sliders.documents.spanned_tables import Spanned, table_of_spans
from sliders.documents.tables import TextTable

_MAX_SPAN = 60
_MOST_COVERED = 10_000
_MOST_PER_CELL = 10
"""How many places a cell covers on average, in a table that is no attack."""
_PARTS = ("caption", "thead", "tbody", "tfoot", "tr", "td", "th")
_APART = frozenset(
    (
        "address article blockquote br caption dd div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre "
        "section sup table tbody td tfoot th thead tr ul"
    ).split()
)
"""Elements whose text is printed apart from the words around them; a raised footnote mark is no
digit of the number before it.
"""


def html_table(html: str) -> TextTable:
    """The first table of a piece of HTML; a table inside a cell becomes text of the cell."""
    from lxml.html import document_fromstring  # type: ignore[import-untyped]

    table = document_fromstring(html).find(".//table")
    if table is None:
        return TextTable((), ())
    caption = table.find("caption")
    return table_of_spans(_rows(table), "" if caption is None else _text(caption), printed=True)


def lift_tables(root: Any) -> tuple[str, list[str]]:
    """Returns (HTML, tables): the page with a number in the place of each table, and the HTML of
    the tables in the order of these numbers. A table with fewer cells than a table inside it lays
    out the page: its cells are read as blocks of text.
    """
    from lxml.html import fragment_fromstring, tostring

    for table in list(root.iter("table")):
        own = [
            part
            for part in table.iterdescendants(*_PARTS)
            if next(part.iterancestors("table")) is table
        ]
        cells = sum(part.tag in ("td", "th") for part in own)
        if any(
            len(inner.xpath(".//td | .//th")) > cells for inner in table.iterdescendants("table")
        ):
            for part in (table, *own):
                part.tag = "div"
    tables: list[str] = []
    for table in root.xpath("//table[not(ancestor::table)]"):
        number = fragment_fromstring(f"<table><tr><td>{len(tables)}</td></tr></table>")
        number.tail, table.tail = table.tail, None
        table.getparent().replace(table, number)
        tables.append(str(tostring(table, encoding="unicode")))
    return str(tostring(root, encoding="unicode")), tables


def bound_spans(root: Any) -> list[str]:
    """Removes the spans from tables whose spans cover far more places than the table has cells.
    Returns the warnings.
    """
    told = []
    for table in root.iter("table"):
        rows = [row.xpath("./td | ./th") for row in table.iter("tr")]
        cells = [cell for row in rows for cell in row]
        covered = sum(
            _span(cell.get("colspan")) * min(_span(cell.get("rowspan")), len(rows) - r)
            for r, row in enumerate(rows)
            for cell in row
        )
        if covered > max(_MOST_COVERED, _MOST_PER_CELL * len(cells)):
            for cell in cells:
                cell.attrib.pop("colspan", None)
                cell.attrib.pop("rowspan", None)
            told.append(f"the spans of a table would cover {covered:,} cells and were not read")
    return told


def _rows(table: Any) -> list[list[Spanned]]:
    """The rows of a table, all of one width."""
    rows = [row for row in table.iter("tr") if next(row.iterancestors("table")) is table]
    rows.sort(key=lambda row: {"thead": 0, "tfoot": 2}.get(row.getparent().tag, 1))
    placed: dict[tuple[int, int], Spanned] = {}
    for r, row in enumerate(rows):
        c = 0
        for element in row.xpath("./td | ./th"):
            while (r, c) in placed:
                c += 1
            cell = Spanned(_text(element), element.tag == "th" or row.getparent().tag == "thead")
            columns, deep = _span(element.get("colspan")), _span(element.get("rowspan"))
            places = ((r + down, c + right) for down in range(deep) for right in range(columns))
            placed.update({place: cell for place in places if place not in placed})
            c += columns
    width = max((c for _, c in placed), default=-1) + 1
    return [[placed.get((r, c)) or Spanned() for c in range(width)] for r in range(len(rows))]


def _text(element: Any) -> str:
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: Any) -> list[str]:
    """The printed text of an element, with blanks around the parts that are printed apart."""
    pieces = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str):
            edge = " " if child.tag in _APART else ""
            pieces += [edge, *_pieces(child), edge]
        pieces.append(child.tail or "")
    return pieces


def _span(value: str | None) -> int:
    return max(1, min(int(value), _MAX_SPAN)) if value and value.strip().isdigit() else 1
