"""Separated values: CSV and TSV as a table, with the lines of its title above it."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sliders.documents import sniff
from sliders.documents.builder import DocumentBuilder
from sliders.documents.decode import decode
from sliders.documents.document import Document
from sliders.documents.tables import has_values, table_from_rows
from sliders.errors import DocumentError
from sliders.values.notes import is_note
from sliders.values.printed import is_value

_DELIMITERS = "\t;|,"
_SAMPLE = 100_000
_SAMPLE_ROWS = 200
_MAX_FIELD = 2**20
_LONGEST_LINE = 4 * 2**20
_MAX_TITLES = 12
_SEP_LINE = re.compile(r"[\"']?sep=(.)[\"']?\r?\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SeparatedValues:
    """What a file of separated values holds: its rows that are not blank, with the lines of a title
    above them, and what its reader has to tell.
    """

    rows: list[list[str]]
    titles: list[str]
    warnings: tuple[str, ...]


def separated_values(raw: bytes, name: str) -> SeparatedValues:
    """Returns the rows of a file of separated values. A first line `sep=` names the delimiter
    (comma, semicolon, tab, bar); without it, the delimiter that gives most rows of one width is
    taken.

    Raises:
        DocumentError: the bytes are no text or no CSV, or a line is too long.
    """
    _refuse_endless_lines(raw, name)
    text, warnings = decode(raw, name)
    said = _SEP_LINE.match(text)
    text = text[said.end() :] if said else text
    csv.field_size_limit(_MAX_FIELD)
    delimiter = said[1] if said else _delimiter(text, name)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise DocumentError(
            f"{name}: no readable CSV ({error}); save it again from the program that made it"
        ) from error
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    titles = [delimiter.join(row).strip(f"{delimiter} ") for row in _titles(filled)]
    return SeparatedValues(filled[len(titles) :], titles, warnings)


def read_csv(raw: bytes, name: str) -> Document:
    """Returns the document of separated values.

    Raises:
        DocumentError: the bytes are no text or no CSV, a line is too long, or there are no values.
    """
    values = separated_values(raw, name)
    builder = DocumentBuilder()
    builder.warnings.extend(values.warnings)
    caption, note = add_titles(builder, values.titles)
    header_rows = int(len(values.rows) > 1 and not has_values(values.rows[0]))
    builder.add_table(table_from_rows(values.rows, header_rows), caption=caption, note=note)
    document = builder.build(name, raw, media_type=sniff.CSV)
    if not document.text:
        raise DocumentError(f"{name}: the file holds no rows; add one with values")
    return document


def _refuse_endless_lines(raw: bytes, name: str) -> None:
    end = b"\n" if b"\n" in raw else b"\r"
    at = 0
    while len(raw) - at > _LONGEST_LINE:
        following = raw.find(end, at, at + _LONGEST_LINE)
        if following < 0:
            raise DocumentError(
                f"{name}: a line is longer than {_LONGEST_LINE >> 20} MB, which no table has; save "
                "it again with a line for each row"
            )
        at = following + 1


def _delimiter(text: str, name: str) -> str:
    if name.lower().endswith(".tsv"):
        return "\t"
    sample = text[:_SAMPLE]
    return max(_DELIMITERS, key=lambda delimiter: _score(sample, delimiter))


def _score(sample: str, delimiter: str) -> tuple[int, int, int]:
    """Returns (rows of one width, cells that hold another delimiter as a negative number, that
    width).
    """
    rows = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            rows.append(row)
            if len(rows) == _SAMPLE_ROWS:
                break
    except csv.Error:
        return 0, 0, 0
    if len(sample) == _SAMPLE and 1 < len(rows) < _SAMPLE_ROWS:
        rows.pop()  # cut in its middle
    width, count = _usual_width(rows)
    if width < 2:
        return 0, 0, 0
    others = [other for other in _DELIMITERS if other != delimiter]
    mixed = sum(
        any(other in cell for other in others) and not is_value(cell.strip())
        for row in rows
        if len(row) == width
        for cell in row
    )
    return count, -mixed, width


def _usual_width(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Returns (width, rows): the number of cells that most rows have, and how many rows have it."""
    widths = Counter(len(row) for row in rows if len(row) > 1)
    return max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))


def _titles(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The rows above the table: rows of one cell, or rows that are narrower than the table and
    stand directly above its header.
    """
    width, _ = _usual_width(rows[:_SAMPLE_ROWS])
    count = 0
    while count < min(len(rows), _MAX_TITLES):
        cells = sum(bool(cell.strip()) for cell in rows[count])
        if not rows[count][0].strip() and len(rows[count]) == 2:
            break  # the header of a column of names that has none
        below = rows[count + 1 : count + 2]
        if cells > 1 and not (
            len(rows[count]) < width
            and below
            and not has_values(below[0])
            and len(below[0]) == width
        ):
            break
        count += 1
    if count == len(rows) or width < 2:
        return []  # a list, not lines above a table
    return list(rows[:count])


def add_titles(
    builder: DocumentBuilder, lines: Sequence[str], caption: str = ""
) -> tuple[str, str]:
    """Adds the lines above a table as text. Returns the caption and the unit note of the table."""
    note = ""
    for line in lines:
        note = line if is_note(line) else note
        caption = caption if is_note(line) else line
        builder.add("caption" if is_note(line) else "paragraph", line)
    return caption, note
