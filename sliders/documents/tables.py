"""The one way in which a table becomes text: a Markdown grid, its header once, and what stands around one of its cells.

Words over several columns stand in the header of each of them before " / "; an indented label is printed indented.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sliders.documents.document import Element, TableCell, TableGrid
from sliders.documents.printed_values import closes_value, is_note, is_value, is_year, opens_value, tidy_value

SEPARATOR = " | "
INDENT = "  "
LEVEL = " / "
"""Between the words over several columns and those over one of them."""
_MAX_HEADER_ROWS = 4


@dataclass(frozen=True, slots=True)
class Table:
    """A table before it has a place: `header` and each row have the same number of columns, "" where empty.

    `indents` says how deep each row's label stands (0 is the margin); empty where nobody knows.
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


def table_from_rows(
    rows: Sequence[Sequence[str]], header_rows: int = 1, caption: str = "", *, printed: bool = False
) -> Table:
    """A table of explicit cells (HTML, Word, spreadsheet, text), empty rows and columns dropped.

    Args:
        header_rows: so many leading rows name the columns; a column that several of them name gets the names joined.
        printed: cells are laid out for the eye, as in HTML: a mark such as "$" may have a cell of its own and is joined with its
            value, and a section's name may be written into every column that it spans.
    """
    width = max((len(row) for row in rows), default=0)
    full = [tuple(" ".join(cell.split()) for cell in row) + ("",) * (width - len(row)) for row in rows]
    head, body = full[:header_rows], [_unspread(_join_marks(row)) if printed else row for row in full[header_rows:]]
    notes = [cell for row in head for cell in row if is_note(cell)]
    head = [tuple("" if is_note(cell) else cell for cell in row) for row in head]
    body = [row for row in body if any(row)]
    keep = [c for c in range(width) if any(row[c] for row in body)] or list(range(width))
    header = stack_header([[row[c] for c in keep] for row in head]) or ("",) * len(keep)
    note = " ".join(dict.fromkeys(notes))
    return Table(header, tuple(tuple(row[c] for c in keep) for row in body), caption, note)


def count_header_rows(rows: Sequence[Sequence[str]]) -> int:
    """How many leading rows name the columns: those above the first row with values, none when the first has some.

    A row with a label of its own below one that names every column for itself is data, also without values.
    """
    for n, row in enumerate(rows[:_MAX_HEADER_ROWS]):
        if any(cell and is_value(cell) and not is_year(cell) for cell in row[1:]):
            return n
        label = row[0] if row else ""
        own = n and label and label != rows[0][0]
        if own and (not any(cell and cell != label for cell in row) or _names_each(rows[n - 1][1:])):
            return n  # a section's name over the first rows, or the first row without values
    return min(1, max(len(rows) - 1, 0))


def _names_each(cells: Sequence[str]) -> bool:
    """Whether there are cells, all filled and all different: equal neighbours are words over several columns."""
    return bool(cells) and all(cells) and len(set(cells)) == len(cells)


def render_table(table: Table, offset: int) -> RenderedTable:
    """The table's text, its cells placed as if the text began at `offset` of the document."""
    lines: list[str] = []
    if any(table.header):
        lines = [_line(table.header), _line(["---"] * len(table.header))]
    rows: list[tuple[TableCell, ...]] = []
    starts: list[int] = []
    at = offset + sum(len(line) + 1 for line in lines)
    indents = table.indents or (0,) * len(table.rows)
    for row, indent in zip(table.rows, indents, strict=True):
        if not any(row):
            continue
        starts.append(at)
        line = _line((INDENT * indent + row[0], *row[1:]))
        rows.append(tuple(_cells(row, at + len(INDENT) * indent)))
        lines.append(line)
        at += len(line) + 1
    grid = TableGrid(table.header, tuple(rows), table.caption, table.note)
    return RenderedTable("\n".join(lines) if rows else "", grid, tuple(starts))


def _line(cells: Sequence[str]) -> str:
    return f"| {SEPARATOR.join(cells)} |"


def _cells(row: Sequence[str], at: int) -> Iterator[TableCell]:
    at += 2
    for text in row:
        yield TableCell(text, at, at + len(text))
        at += len(text) + len(SEPARATOR)


def with_context(table: Table, caption: str, note: str) -> Table:
    """The table with the caption of its surroundings, where it has none of its own, and with their note."""
    notes = dict.fromkeys(part for part in (note, table.note) if part)
    return replace(table, caption=table.caption or caption, note=" ".join(notes))


@dataclass(frozen=True, slots=True)
class CellPlace:
    """What a value of a table stands for: its row's label below its sections', its column's header, and the unit note."""

    row: str
    column: str
    note: str


def place_of(element: Element, offset: int) -> CellPlace | None:
    """The place of the cell at a character of the document, None outside the rows of the element's table."""
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
    return tuple(grid.rows[n][0].text for n in (*sections_of(element, number), number)) if grid else ()


def sections_of(element: Element, number: int) -> tuple[int, ...]:
    """The rows that name the sections of a row: rows without values above it, each indented less than the next.

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


def stack_header(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """One name per column out of several header rows: equal neighbours are words over several columns."""
    width = max((len(row) for row in rows), default=0)
    names = []
    for c in range(width):
        name, last = "", ""
        for number, row in enumerate(rows):
            text = row[c]
            if not text or text == last:
                continue
            wide = number + 1 < len(rows) and text in (row[c - 1] if c else "", row[c + 1] if c + 1 < width else "")
            name, last = f"{name}{text}{LEVEL if wide else ' '}", text
        names.append(name.removesuffix(LEVEL).strip())
    return tuple(names)


def _unspread(row: tuple[str, ...]) -> tuple[str, ...]:
    """A section's name that spans several columns stands in the first of them."""
    names = {cell for cell in row if cell}
    if len(names) != 1 or sum(map(bool, row)) < 2 or is_value(next(iter(names))):
        return row
    return (next(iter(names)), *("" for _ in row[1:]))


def _join_marks(row: tuple[str, ...]) -> tuple[str, ...]:
    """Move "$" and "(" into the cell at the right, ")" and "%" into the cell at the left."""
    cells = [tidy_value(cell) for cell in row]
    for c in range(len(cells) - 1):
        following = next((n for n in range(c + 1, min(c + 3, len(cells))) if cells[n]), None)
        if opens_value(cells[c]) and following is not None and is_value(cells[following].rstrip(")%")):
            cells[following], cells[c] = tidy_value(cells[c] + cells[following]), ""
    for c in range(1, len(cells)):
        if closes_value(cells[c]) and not is_value(cells[c]):
            before = next((n for n in range(c - 1, max(c - 3, -1), -1) if cells[n]), None)
            if before is not None and any(ch.isdigit() for ch in cells[before]):
                cells[before], cells[c] = tidy_value(cells[before] + cells[c]), ""
    return tuple(cells)
