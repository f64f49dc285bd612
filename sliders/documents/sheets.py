"""Spreadsheets: CSV, TSV and Excel as tables, one grid per sheet."""

from __future__ import annotations

import csv
import datetime
import io
import zipfile
from collections.abc import Sequence
from typing import Any

from sliders.documents import sniff
from sliders.documents.build import DocumentBuilder
from sliders.documents.decode import decode
from sliders.documents.document import Document
from sliders.documents.printed_values import is_note
from sliders.documents.tables import count_header_rows, table_from_rows
from sliders.errors import DocumentError

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
_MAX_FIELD = 2**20


def read_csv(raw: bytes, name: str) -> Document:
    """A document out of separated values; the delimiter (comma, semicolon, tab, bar) is found by counting."""
    text, warnings = decode(raw, name)
    csv.field_size_limit(_MAX_FIELD)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, name)))
    except csv.Error as error:
        raise DocumentError(f"{name}: no readable CSV ({error}); save it again from the program that made it") from error
    builder = DocumentBuilder()
    builder.warnings.extend(warnings)
    _add_sheet(builder, rows, most_headers=1)
    return _checked(builder.build(name, raw, media_type=sniff.CSV))


def read_xlsx(raw: bytes, name: str) -> Document:
    """A document out of an Excel workbook: each sheet a heading and a table.

    Raises:
        DocumentError: the workbook is damaged, or the package that reads it is not installed.
    """
    import pandas

    try:
        sheets = pandas.read_excel(io.BytesIO(raw), sheet_name=None, header=None, dtype=object, engine="openpyxl")
    except ImportError as error:
        raise DocumentError(f'{name}: reading it needs openpyxl; run: pip install ".[docs]" in the checkout') from error
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError) as error:
        raise DocumentError(f"{name}: the workbook is damaged ({type(error).__name__}); save it again") from error
    builder = DocumentBuilder()
    for sheet, frame in sheets.items():
        rows = [[_printed(value) for value in row] for row in frame.itertuples(index=False)]
        if any(any(row) for row in rows):
            builder.add("heading", str(sheet), level=1)
            _add_sheet(builder, rows, caption=str(sheet))
    return _checked(builder.build(name, raw, media_type=sniff.XLSX))


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


def _add_sheet(builder: DocumentBuilder, rows: Sequence[Sequence[str]], caption: str = "", most_headers: int = 4) -> None:
    """Lines of one cell above the table are text, the rest is one table."""
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    wide = max((sum(bool(cell.strip()) for cell in row) for row in filled), default=0)
    note = ""
    while wide > 1 and filled and sum(bool(cell.strip()) for cell in filled[0]) == 1:
        line = next(cell.strip() for cell in filled[0] if cell.strip())
        note = line if is_note(line) else note
        caption = caption if is_note(line) else line
        builder.add("caption" if is_note(line) else "paragraph", line)
        filled = filled[1:]
    table = table_from_rows(filled, min(most_headers, count_header_rows(filled)))
    if table.rows:
        builder.add_table(table, caption=caption, note=note)
    else:
        builder.add("paragraph", "\n".join(" | ".join(cell for cell in row if cell) for row in filled))


def _printed(value: Any) -> str:
    """A cell as the sheet shows it without its format: 5.0 as 5, dates in ISO form, nothing for empty."""
    if value is None or value != value:
        return ""
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value).strip()
