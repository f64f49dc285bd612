"""Spreadsheets: CSV, TSV and Excel as tables, one grid per sheet."""

from __future__ import annotations

import csv
import datetime
import io
import re
import zipfile
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from sliders.documents import sniff
from sliders.documents.builder import DocumentBuilder
from sliders.documents.decode import decode
from sliders.documents.document import Document
from sliders.documents.spanned_tables import Spanned, is_title, table_of_spans, without_blanks
from sliders.documents.tables import has_values, table_from_rows
from sliders.errors import DocumentError
from sliders.values.notes import is_note

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
_MAX_FIELD = 2**20
_CURRENCY = re.compile(r"\[\$([^\]-]+)[^\]]*\]|(?<!\[)[$€£¥]")
_NO_RESULT = re.compile(rb"(?:</f>|<f\b[^>]*/>)\s*(?:<v\s*/>|<v></v>)?\s*</c>")


def read_csv(raw: bytes, name: str) -> Document:
    """A document out of separated values; the delimiter (comma, semicolon, tab, bar)
    is found by counting.
    """
    text, warnings = decode(raw, name)
    csv.field_size_limit(_MAX_FIELD)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, name)))
    except csv.Error as error:
        raise DocumentError(
            f"{name}: no readable CSV ({error}); save it again from the program that made it"
        ) from error
    builder = DocumentBuilder()
    builder.warnings.extend(warnings)
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    titles = list(takewhile(lambda row: sum(bool(cell.strip()) for cell in row) == 1, filled))
    if len(titles) == len(filled):
        titles = []  # a list, not lines above a table
    caption, note = _add_titles(builder, ["".join(row).strip() for row in titles])
    filled = filled[len(titles) :]
    header_rows = int(len(filled) > 1 and not has_values(filled[0]))
    builder.add_table(table_from_rows(filled, header_rows), caption=caption, note=note)
    return _checked(builder.build(name, raw, media_type=sniff.CSV))


def read_xlsx(raw: bytes, name: str) -> Document:
    """A document out of an Excel workbook: each sheet a heading and a table.

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
        sheets = load_workbook(io.BytesIO(raw), data_only=True).worksheets
        unknown = _formulas_without_value(raw)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError) as error:
        raise DocumentError(
            f"{name}: the workbook is damaged ({type(error).__name__}); save it again"
        ) from error
    builder = DocumentBuilder()
    if unknown:
        told = f"{unknown} formula{'s' * (unknown > 1)} without a stored value left empty"
        builder.warnings.append(
            f"{told}; open the workbook in its program, save it and add it again"
        )
    for sheet in sheets:
        rows = without_blanks(_cells(sheet))
        if rows:
            builder.add("heading", sheet.title, level=1)
            titles = []
            while is_title(rows[0]):
                titles.append(rows[0][0].text)
                rows = without_blanks(rows[1:])
            caption, note = _add_titles(builder, titles, sheet.title)
            builder.add_table(table_of_spans(rows), caption=caption, note=note)
    return _checked(builder.build(name, raw, media_type=sniff.XLSX))


def _formulas_without_value(raw: bytes) -> int:
    """How many formulas of a workbook were stored without their result."""
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        sheets = (parts.read(part) for part in parts.namelist() if "/worksheets/" in part)
        return sum(len(_NO_RESULT.findall(sheet)) for sheet in sheets)


def _cells(sheet: Any) -> list[list[Spanned]]:
    """The cells of a sheet; a merged one stands in each place that it covers."""
    blank = Spanned()
    printed = (map(_formatted, row) for row in sheet.iter_rows())
    rows = [[Spanned(text) if text else blank for text in row] for row in printed]
    for merged in sheet.merged_cells.ranges:
        cell = rows[merged.min_row - 1][merged.min_col - 1]
        for row in rows[merged.min_row - 1 : merged.max_row]:
            row[merged.min_col - 1 : merged.max_col] = [cell] * (
                merged.max_col - merged.min_col + 1
            )
    return rows


def _checked(document: Document) -> Document:
    if not document.text:
        raise DocumentError(f"{document.name}: the file holds no rows; add one with values")
    return document


def _delimiter(text: str, name: str) -> str:
    if name.lower().endswith(".tsv"):
        return "\t"
    sample = [line for line in text[:200_000].split("\n")[:_SAMPLE_LINES] if line.strip()]

    def score(delimiter: str) -> tuple[int, int]:
        counts = [line.count(delimiter) for line in sample]
        return sum(count > 0 and count == counts[0] for count in counts), counts[0] if counts else 0

    return max(_DELIMITERS, key=score)


def _add_titles(
    builder: DocumentBuilder, lines: Sequence[str], caption: str = ""
) -> tuple[str, str]:
    """Lines of one cell above a table as text; the caption and the unit note that they give it."""
    note = ""
    for line in lines:
        note = line if is_note(line) else note
        caption = caption if is_note(line) else line
        builder.add("caption" if is_note(line) else "paragraph", line)
    return caption, note


def _formatted(cell: Any) -> str:
    """A cell with the percent sign or currency of its number format."""
    value = cell.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _printed(value)
    if "%" in cell.number_format:
        return f"{_printed(round(value * 100, 10))}%"
    currency = _CURRENCY.search(cell.number_format)
    return f"{currency[1] or currency[0]}{_printed(value)}" if currency else _printed(value)


def _printed(value: Any) -> str:
    """A cell as the sheet shows it without its format: 5.0 as 5, dates in ISO
    form, nothing for empty.
    """
    if value is None or value != value:
        return ""
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else " ".join(str(value).split())
