"""A presentation rewritten as a reader needs it: notes below their slide, hidden slides marked,
charts as tables, raised digits with a mark.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from sliders.documents.rewritten import LeftOut, write_raised

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_NO = (None, "0", "false")
_FAR = 2**30
"""A distance in English metric units (914,400 to the inch) that is below everything on a slide."""


def rewritten_slides(raw: bytes) -> tuple[bytes, list[str], list[str]]:
    """Returns (the file to read, warnings, the HTML of its tables) of a .pptx. In the file, a
    number stands in the place of each table.

    Raises:
        KeyError: a part of the file is missing.
        ValueError: a part is damaged.
        zipfile.BadZipFile: the file is no zip file, or damaged.
    """
    from pptx import Presentation

    deck = Presentation(BytesIO(raw))
    left, hidden, tables = LeftOut(), [], list[str]()
    for number, slide in enumerate(deck.slides, 1):
        _leave_out_struck(slide, left)
        for paragraph in slide.element.iter(_A + "p"):
            write_raised((t, _is_raised(t.getparent())) for t in paragraph.iter(_A + "t"))
        for chart in list(_charts(slide.shapes)):
            _write_chart(slide, chart)
        for table in slide.element.iter(_A + "tbl"):
            tables.append(_table_html(table))
            _write_number(table, len(tables) - 1)
        if slide.element.get("show") in ("0", "false"):
            hidden.append(number)
            _mark_hidden(slide)
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        if notes is not None and notes.text.strip():
            _add_box(slide, f"Notes: {notes.text.strip()}", _FAR)
    told = left.warnings()
    if hidden:
        told.append(f"hidden slides were read and marked: {', '.join(map(str, hidden))}")
    target = BytesIO()
    deck.save(target)
    return target.getvalue(), told, tables


def _table_html(table: Any) -> str:
    """A table as HTML, with the spans of its cells."""
    rows = []
    for row in table.iter(_A + "tr"):
        cells = ""
        for cell in row.iterchildren(_A + "tc"):
            if cell.get("hMerge") not in _NO or cell.get("vMerge") not in _NO:
                continue
            spans = f'colspan="{cell.get("gridSpan", "1")}" rowspan="{cell.get("rowSpan", "1")}"'
            lines = ("".join(_texts(paragraph)) for paragraph in cell.iter(_A + "p"))
            cells += f"<td {spans}>{html.escape(' '.join(lines))}</td>"
        rows.append(f"<tr>{cells}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _texts(paragraph: Any) -> Iterator[str]:
    for node in paragraph.iter(_A + "t", _A + "br"):
        yield node.text or "" if node.tag == _A + "t" else " "


def _write_number(table: Any, number: int) -> None:
    """Writes a number in the place of a table's text."""
    for node in table.iter(_A + "t"):
        node.text = ""
    first = next(table.iter(_A + "p"), None)
    if first is not None:
        for node in list(first.iterchildren(_A + "r", _A + "br", _A + "fld")):
            first.remove(node)
        run = first.makeelement(_A + "r", {})
        leaf = run.makeelement(_A + "t", {})
        leaf.text = str(number)
        run.append(leaf)
        first.insert(int(first.find(_A + "pPr") is not None), run)


def _leave_out_struck(slide: Any, left: LeftOut) -> None:
    for run in list(slide.element.iter(_A + "r")):
        properties = run.find(_A + "rPr")
        if properties is not None and properties.get("strike", "noStrike") != "noStrike":
            left.add("struck-out text", run.findtext(_A + "t", ""))
            run.getparent().remove(run)


def _is_raised(run: Any) -> bool:
    properties = run.find(_A + "rPr")
    return properties is not None and properties.get("baseline", "0")[:1] in "123456789"


def _charts(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if shape.shape_type == 6:  # a group
            yield from _charts(shape.shapes)
        elif getattr(shape, "has_chart", False):
            yield shape


def _write_chart(slide: Any, shape: Any) -> None:
    """The numbers behind a chart as a table in its place."""
    chart = shape.chart
    series = [each for plot in chart.plots for each in plot.series]
    labels = [str(label) for label in chart.plots[0].categories]
    if chart.has_title and chart.chart_title.has_text_frame:
        _add_box(slide, chart.chart_title.text_frame.text, shape.top)
    if not series or not labels:
        return
    rows = [["", *(each.name for each in series)]]
    for at, label in enumerate(labels):
        values = [each.values[at] if at < len(each.values) else None for each in series]
        rows.append([label, *("" if value is None else f"{value:.15g}" for value in values)])
    size = (shape.left, shape.top, shape.width, shape.height)
    table = slide.shapes.add_table(len(rows), len(rows[0]), *size).table
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            table.cell(r, c).text = text


def _mark_hidden(slide: Any) -> None:
    title = slide.shapes.title
    if title is not None and title.has_text_frame and title.text_frame.text.strip():
        title.text_frame.paragraphs[0].add_run().text = " (hidden slide)"
    else:
        _add_box(slide, "(hidden slide)", 0)


def _add_box(slide: Any, text: str, top: int) -> None:
    slide.shapes.add_textbox(0, top, 1, 1).text_frame.text = text
