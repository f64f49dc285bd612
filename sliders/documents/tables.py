"""The one way in which a table becomes text: every row a line that can be read alone.

`row label | Header: value | Header: value` when the first column names the rows and the others hold values, otherwise
`Header: value` for every column; empty cells are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sliders.documents.document import TableCell, TableGrid
from sliders.documents.values import closes_value, is_note, is_period, is_value, opens_value, tidy_value

SEPARATOR = " | "
_VALUE_SHARE = 0.6
_MAX_LABEL_NAME = 24


@dataclass(frozen=True, slots=True)
class Table:
    """A table before it has a place: `header` and each row have the same number of columns, "" where empty."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class RenderedTable:
    """The text of a table, and its grid and row starts with offsets into the document."""

    text: str
    grid: TableGrid
    row_starts: tuple[int, ...]


def table_from_rows(rows: Sequence[Sequence[str]], header_rows: int = 1, caption: str = "") -> Table:
    """A table of explicit cells (HTML, Word, spreadsheet): marks joined, empty rows and columns dropped.

    `header_rows` leading rows name the columns; a column that several of them name gets the names joined.
    """
    width = max((len(row) for row in rows), default=0)
    full = [tuple(" ".join(cell.split()) for cell in row) + ("",) * (width - len(row)) for row in rows]
    head, body = full[:header_rows], [_join_marks(row) for row in full[header_rows:]]
    notes = [cell for row in head for cell in row if is_note(cell)]
    head = [tuple("" if is_note(cell) else cell for cell in row) for row in head]
    head = [_spread(row) for row in head[:-1]] + head[-1:]
    body = [_unspread(row) for row in body if any(row)]
    keep = [c for c in range(width) if any(row[c] for row in body)] or list(range(width))
    header = tuple(_stacked([row[c] for row in head]) for c in keep)
    note = " ".join(dict.fromkeys(notes))
    return Table(header, tuple(tuple(row[c] for c in keep) for row in body), caption, note)


def render_table(table: Table, offset: int) -> RenderedTable:
    """The table's text, its cells placed as if the text began at `offset` of the document."""
    labelled, prefix = _label_style(table)
    common = len(_common_words(table.header))
    names = tuple(name[common if c else 0 :].strip(" :,") for c, name in enumerate(table.header))
    pieces: list[str] = []
    rows: list[tuple[TableCell, ...]] = []
    starts: list[int] = []
    at = offset
    for row in table.rows:
        if not any(row):
            continue
        if pieces:
            pieces.append("\n")
            at += 1
        starts.append(at)
        line, cells = _render_row(names, row, at, labelled, prefix)
        pieces.append(line)
        at += len(line)
        rows.append(cells)
    grid = TableGrid(table.header, tuple(rows), table.caption, table.note)
    return RenderedTable("".join(pieces), grid, tuple(starts))


def move_grid(grid: TableGrid, by: int) -> TableGrid:
    """The grid with all its places moved by `by` characters."""
    rows = tuple(tuple(TableCell(c.text, c.start + by, c.end + by) for c in row) for row in grid.rows)
    return replace(grid, rows=rows)


def with_context(table: Table, caption: str, note: str) -> Table:
    """The table with caption and note from its surroundings, where it has none of its own."""
    return replace(table, caption=table.caption or caption, note=table.note or note)


def header_note(table: Table) -> str:
    """What the header says once for all rows: over the label column ("December 31,") or over all value columns."""
    labelled, prefix = _label_style(table)
    over_labels = table.header[0] if labelled and not prefix and table.header else ""
    return " ".join(part for part in (over_labels, _common_words(table.header)) if part)


def _common_words(header: tuple[str, ...]) -> str:
    """The words that all value columns begin with ("Year Ended December 31,"), if what follows still tells them apart.

    They are said once above the table: repeated in each cell they would be most of its text.
    """
    names = [name.split() for name in header[1:]]
    if len(names) < 2:
        return ""
    same = 0
    while all(len(name) > same + 1 for name in names) and len({name[same] for name in names}) == 1:
        same += 1
    while same and not names[0][same - 1].endswith((",", ":", "ended", "ending", "Ended", "ENDED", "of", "at")):
        same -= 1
    words = " ".join(names[0][:same])
    rest = {" ".join(name[same:]) for name in names}
    return words if len(words) >= 8 and len(rest) == len(names) else ""


def _stacked(parts: Sequence[str]) -> str:
    kept: list[str] = []
    for part in parts:
        if part and part not in kept:
            kept.append(part)
    return " ".join(kept)


def _spread(row: tuple[str, ...]) -> tuple[str, ...]:
    """A period that stands alone in an upper header row is meant for all value columns."""
    names = [cell for cell in row[1:] if cell]
    return (row[0], *(names[0] for _ in row[1:])) if len(names) == 1 and is_period(names[0]) else row


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


def _label_style(table: Table) -> tuple[bool, bool]:
    """(the first column labels the rows, its header is printed before the label)."""
    if len(table.header) < 2:
        return True, bool(table.header and table.header[0])
    labels = [row[0] for row in table.rows if row[0]]
    others = [cell for row in table.rows for cell in row[1:] if cell]
    textual = sum(not is_value(label) for label in labels) * 2 > len(labels)
    valued = sum(is_value(cell) for cell in others) >= _VALUE_SHARE * len(others)
    name = table.header[0]
    proper = not name.endswith((",", ":")) and not any(ch.isdigit() for ch in name) and not is_period(name)
    return textual and valued, proper and len(name) <= _MAX_LABEL_NAME


def _render_row(
    names: tuple[str, ...], row: tuple[str, ...], at: int, labelled: bool, prefix: bool
) -> tuple[str, tuple[TableCell, ...]]:
    parts: list[str] = []
    cells: list[TableCell] = []
    start = at
    section = sum(1 for cell in row if cell) == 1 and bool(row[0])
    for column, cell in enumerate(row):
        if not cell:
            cells.append(TableCell("", at, at))
            continue
        if parts:
            parts.append(SEPARATOR)
            at += len(SEPARATOR)
        name = names[column] if column < len(names) else ""
        bare = (column == 0 and labelled and not prefix) or (section and column == 0 and len(row) > 1)
        if name and not bare:
            parts.append(f"{name}: ")
            at += len(name) + 2
        cells.append(TableCell(cell, at, at + len(cell)))
        parts.append(cell)
        at += len(cell)
    line = "".join(parts)
    # An empty cell must not point outside its row, whatever follows it.
    end = start + len(line)
    return line, tuple(TableCell(c.text, min(c.start, end), min(c.end, end)) for c in cells)
