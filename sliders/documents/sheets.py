"""Excel workbooks: each sheet becomes a heading and its tables, with the text that the
cells show.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sliders.documents import sniff
from sliders.documents.builder import DocumentBuilder
from sliders.documents.document import Document
from sliders.documents.number_formats import formatted, printed
from sliders.documents.rewritten import LeftOut, raised, with_parts
from sliders.documents.separated import add_titles
from sliders.documents.sheet_regions import Area, areas
from sliders.documents.spanned_tables import is_title, table_of_spans, without_blanks
from sliders.errors import DocumentError

_NO_RESULT = re.compile(rb"(?:</f>|<f\b[^>]*/>)\s*(?:<v\s*/>|<v></v>)?\s*</c>")
_MERGE = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"\s*/>')
_MOST_MERGED = 50_000


def read_xlsx(raw: bytes, name: str) -> Document:
    """A document out of an Excel workbook: each sheet a heading and its tables. Hidden sheets,
    rows and columns are read and marked.

    Raises:
        DocumentError: the workbook is damaged, or the package that reads it is not installed.
    """
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise DocumentError(
            f'{name}: reading it needs openpyxl; run: pip install "sliders[docs]"'
        ) from error
    try:
        book = load_workbook(
            io.BytesIO(_without_endless_merges(raw)), data_only=True, rich_text=True
        )
        unknown = _formulas_without_value(raw)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError) as error:
        raise DocumentError(
            f"{name}: the workbook is damaged ({type(error).__name__}); save it again"
        ) from error
    builder = DocumentBuilder()
    _add_book(builder, book, unknown)
    document = builder.build(name, raw, media_type=sniff.XLSX)
    if not document.text:
        raise DocumentError(f"{document.name}: the file holds no rows; add one with values")
    return document


def _add_book(builder: DocumentBuilder, book: Any, unknown: int) -> None:
    """Adds the sheets of a workbook; `unknown` is the number of formulas that are stored without a
    value.
    """
    if unknown:
        told = f"{unknown} formula{'s' * (unknown > 1)} without a stored value left empty"
        builder.warnings.append(
            f"{told}; open the workbook in its program, save it and add it again"
        )
    hidden: dict[str, list[str]] = {}
    left = LeftOut()
    for sheet in book.worksheets:
        _add_sheet(builder, _Sheet.of(sheet, left), hidden)
    builder.warnings.extend(left.warnings())
    for what, where in hidden.items():
        builder.warnings.append(f"hidden {what} were read and marked: {', '.join(where[:5])}")
    if book.chartsheets:
        titles = ", ".join(sheet.title for sheet in book.chartsheets[:5])
        builder.warnings.append(f"sheets of charts were not read: {titles}")


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The content of a sheet: the text of each filled cell by row and column, from 1."""

    title: str
    hidden: bool
    area: Area
    comments: list[tuple[str, str]] = field(default_factory=list)
    hidden_rows: int = 0
    hidden_columns: int = 0

    @classmethod
    def of(cls, sheet: Any, left: LeftOut) -> _Sheet:
        """Reads a sheet; only filled cells are visited, however far apart they stand."""
        texts: dict[tuple[int, int], str] = {}
        comments = []
        for place, cell in sorted(sheet._cells.items()):
            if cell.comment is not None:
                comments.append((cell.coordinate, " ".join(cell.comment.text.split())))
            if text := _shown(cell, left):
                texts[place] = text
        merged = [(r.min_row, r.min_col, r.max_row, r.max_col) for r in sheet.merged_cells.ranges]
        rows, columns = {r for r, _ in texts}, {c for _, c in texts}
        gone = {r for r in rows if _is_hidden_row(sheet.row_dimensions, r)}
        away = _hidden_columns(sheet.column_dimensions, columns)
        firsts = {r: (r, c) for r, c in sorted(texts, reverse=True)}
        tops = {c: (r, c) for r, c in sorted(texts, reverse=True)}
        for r in gone:
            texts[firsts[r]] += " (hidden row)"
        for c in away:
            texts[tops[c]] += " (hidden column)"
        return cls(
            sheet.title,
            sheet.sheet_state != "visible",
            Area.of(texts, merged),
            comments,
            len(gone),
            len(away),
        )


def _shown(cell: Any, left: LeftOut) -> str:
    """A cell as the sheet shows it; struck-out words are left out with a warning."""
    value = cell.value
    if isinstance(value, list):  # text in pieces, each set in its own way
        words = ""
        for piece in value:
            font, text = getattr(piece, "font", None), str(piece)
            if font is not None and font.strike:
                left.add("struck-out text", text)
            else:
                up = font is not None and font.vertAlign == "superscript"
                words += raised(words, text) if up else text
        return printed(words)
    shown = formatted(value, cell.number_format)
    if shown and cell.font is not None and cell.font.strike:
        left.add("struck-out text", shown)
        return ""
    return shown


def _is_hidden_row(dimensions: Any, row: int) -> bool:
    if row not in dimensions:
        return False
    return bool(dimensions[row].hidden) or dimensions[row].height == 0


def _hidden_columns(dimensions: Any, columns: set[int]) -> set[int]:
    ranges = [(d.min, d.max) for d in dimensions.values() if d.hidden or d.width == 0]
    return {c for c in columns if any(low and low <= c <= high for low, high in ranges)}


def _add_sheet(builder: DocumentBuilder, sheet: _Sheet, hidden: dict[str, list[str]]) -> None:
    if not sheet.area.texts:
        return
    heading = sheet.title + " (hidden sheet)" * sheet.hidden
    if sheet.hidden:
        hidden.setdefault("sheets", []).append(sheet.title)
    if sheet.hidden_rows:
        hidden.setdefault("rows", []).append(f"{sheet.hidden_rows} of {sheet.title}")
    if sheet.hidden_columns:
        hidden.setdefault("columns", []).append(f"{sheet.hidden_columns} of {sheet.title}")
    builder.add("heading", heading, level=1)
    for area in areas(sheet.area):
        _add_area(builder, area, sheet.title)
    for place, words in sheet.comments:
        builder.add("paragraph", f"Comment at {place}: {words}")


def _add_area(builder: DocumentBuilder, area: Area, caption: str) -> None:
    rows = without_blanks(area.rows())
    titles = []
    while is_title(rows[0]):
        titles.append(rows[0][0].text)
        rows = without_blanks(rows[1:])
    caption, note = add_titles(builder, titles, caption)
    builder.add_table(table_of_spans(rows), caption=caption, note=note)


def _formulas_without_value(raw: bytes) -> int:
    """How many formulas of a workbook were stored without their result."""
    return sum(len(_NO_RESULT.findall(sheet)) for _, sheet in _sheet_parts(raw))


def _sheet_parts(raw: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        for part in parts.namelist():
            if "/worksheets/" in part and part.endswith(".xml"):
                yield part, parts.read(part)


def _without_endless_merges(raw: bytes) -> bytes:
    """The workbook without merged areas that cover a whole sheet, since the reader would create
    each of their cells.
    """

    def kept(match: re.Match[bytes]) -> bytes:
        across = _column(match[3]) - _column(match[1]) + 1
        return b"" if across * (int(match[4]) - int(match[2]) + 1) > _MOST_MERGED else match[0]

    changed = {
        part: new for part, old in _sheet_parts(raw) if (new := _MERGE.sub(kept, old)) != old
    }
    return with_parts(raw, changed) if changed else raw


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
