"""Tables as text: a Markdown grid with its header once; and the labels, header and note that belong
to one of its cells.

Words over several columns stand in the header of each of them before " / "; an indented label is
printed indented.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sliders.documents.document import Element, TableCell, TableGrid
from sliders.values.notes import is_note
from sliders.values.printed import is_value, is_year

SEPARATOR = " | "
INDENT = "  "
_BAR = re.compile(r"(?<!\\)\|")
LEVEL = " / "
"""The mark between words over several columns and words over one of them."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table before it has a place in a document: `header` and each row have the same number of
    columns, "" where empty.

    `indents` says how deep each row's label is indented (0 is the margin); empty where nobody
    knows.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    note: str = ""
    indents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RenderedTable:
    """The text of a table, and its grid and row starts with offsets into the document."""

    text: str
    grid: TableGrid
    row_starts: tuple[int, ...]


def table_from_rows(rows: Sequence[Sequence[str]], header_rows: int = 1) -> TextTable:
    """A table of plain cells (CSV, text), empty rows and columns dropped; at most the first
    row names the columns.
    """
    width = max((len(row) for row in rows), default=0)
    full = [
        tuple(" ".join(cell.split()) for cell in row) + ("",) * (width - len(row)) for row in rows
    ]
    names, body = (
        full[0] if full and header_rows else ("",) * width,
        [row for row in full[header_rows:] if any(row)],
    )
    note = names[0] if width and is_note(names[0]) else ""
    header = ("", *names[1:]) if note else names
    keep = [c for c in range(width) if header[c] or any(row[c] for row in body)]
    return TextTable(
        tuple(header[c] for c in keep),
        tuple(tuple(row[c] for c in keep) for row in body),
        note=note,
    )


def has_values(cells: Sequence[str]) -> bool:
    """True when values stand beside a row's label (or in the only cell of a row): such a row names
    no columns.
    """
    return any(is_value(cell) and not is_year(cell) for cell in cells[1:] or cells)


def render_table(table: TextTable, offset: int) -> RenderedTable:
    """The table's text, its cells placed as if the text began at `offset` of the document."""
    lines: list[str] = []
    if any(table.header):
        lines = [_line(_escaped(table.header)), _line(["---"] * len(table.header))]
    rows: list[tuple[TableCell, ...]] = []
    starts: list[int] = []
    at = offset + sum(len(line) + 1 for line in lines)
    indents = table.indents or (0,) * len(table.rows)
    for row, indent in zip(table.rows, indents, strict=True):
        if not any(row):
            continue
        row = _escaped(row)
        starts.append(at)
        line = _line((INDENT * indent + row[0], *row[1:]))
        rows.append(tuple(_cells(row, at + len(INDENT) * indent)))
        lines.append(line)
        at += len(line) + 1
    grid = TableGrid(table.header, tuple(rows), table.caption, table.note)
    return RenderedTable("\n".join(lines) if rows else "", grid, tuple(starts))


def _line(cells: Sequence[str]) -> str:
    return f"| {SEPARATOR.join(cells)} |"


def _escaped(cells: Sequence[str]) -> tuple[str, ...]:
    """The cells with bars inside them escaped as in Markdown, so that they differ from bars between
    cells.
    """
    return tuple(cell.replace("|", "\\|") for cell in cells)


def _cells(row: Sequence[str], at: int) -> Iterator[TableCell]:
    at += 2
    for text in row:
        yield TableCell(text, at, at + len(text))
        at += len(text) + len(SEPARATOR)


def with_context(table: TextTable, caption: str, note: str) -> TextTable:
    """The table with the caption of its surroundings, where it has none of its own,
    and with their note.
    """
    notes = dict.fromkeys(part for part in (note, table.note) if part)
    return replace(table, caption=table.caption or caption, note=" ".join(notes))


@dataclass(frozen=True, slots=True)
class CellPlace:
    """The meaning of a table's value by its place: its row's label below the labels of its
    sections, its column's header, and the unit note.
    """

    row: str
    column: str
    note: str


def place_of(element: Element, offset: int) -> CellPlace | None:
    """The place of the cell at a character of the document, None outside the rows of
    the element's table.
    """
    grid = element.grid
    if grid is None or not element.row_starts or not element.row_starts[0] <= offset < element.end:
        return None
    number = bisect_right(element.row_starts, offset) - 1
    row = grid.rows[number]
    column = max((c for c, cell in enumerate(row) if cell.start <= offset), default=0)
    header = grid.header[column] if column < len(grid.header) else ""
    own = f" ({grid.header[0]})" if column and grid.header[0] else ""
    return CellPlace(LEVEL.join(row_path(element, number)), header, f"{grid.note}{own}".strip())


def row_path(element: Element, number: int) -> tuple[str, ...]:
    """A row's label after the names of the sections that it stands in, the widest first."""
    grid = element.grid
    return (
        tuple(grid.rows[n][0].text for n in (*sections_of(element, number), number)) if grid else ()
    )


def sections_of(element: Element, number: int) -> tuple[int, ...]:
    """The rows that name the sections of a row: rows without values above it, each
    indented less than the next.

    Where nothing is indented, the last row without values above.
    """
    grid, starts = element.grid, element.row_starts
    if grid is None or not any(cell.text for cell in grid.rows[number][1:]):
        return ()
    found: list[int] = []
    indent = grid.rows[number][0].start - starts[number]
    for above in range(number - 1, -1, -1):
        label, *values = grid.rows[above]
        depth = label.start - starts[above]
        following = grid.rows[above + 1][0].start - starts[above + 1]
        if depth < indent or (depth == indent and not found and following == depth):
            if label.text and not any(cell.text for cell in values):
                found.insert(0, above)
                indent = depth
            elif depth < indent:
                indent = depth
    return tuple(found)


def beside_names(text: str) -> str:
    """A text with the values of its tables beside the names of their columns ("Sales |
    2021: 61 | 2022: 64").

    A small model picks the column of a value by the words beside it more often than by
    its place in a grid.
    """
    lines, names, out = text.split("\n"), list[str](), list[str]()
    for number, line in enumerate(lines):
        below, second = [*lines[number + 1 : number + 3], "", ""][:2]
        if not line.startswith("|"):
            names = []
            out.append(line)
        elif _is_rule(below) and second.startswith("|"):
            names = pipe_cells(line, plain=False)
        elif not names or not _is_rule(line):
            out.append(_beside(names, pipe_cells(line, plain=False)) if names else line)
    return "\n".join(out)


def _is_rule(line: str) -> bool:
    return line.startswith("|") and set(pipe_cells(line)) == {"---"}


def _beside(names: Sequence[str], cells: Sequence[str]) -> str:
    named = zip((*names, *[""] * len(cells)), cells, strict=False)
    return SEPARATOR.join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def pipe_cells(line: str, *, plain: bool = True) -> list[str]:
    """Returns the cells of a line "| a | b |". With `plain`, a bar inside a cell is a plain bar;
    else it stays escaped as printed.
    """
    cells = [cell.strip() for cell in _BAR.split(line.strip().removeprefix("|").removesuffix("|"))]
    return [cell.replace("\\|", "|") for cell in cells] if plain else cells
