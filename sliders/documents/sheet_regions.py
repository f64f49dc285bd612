"""The tables of a sheet: areas between blank rows and columns, each with names of its own."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import dropwhile

from sliders.documents.spanned_tables import Spanned
from sliders.documents.tables import has_values
from sliders.values.printed import is_value, is_year

Range = tuple[int, int, int, int]
"""First row, first column, last row, last column."""


@dataclass(frozen=True, slots=True)
class Area:
    """Filled cells of a sheet, by row and column. A merged cell stands in each place that it covers
    and that has other cells in its row or column.
    """

    texts: dict[tuple[int, int], Spanned]

    @classmethod
    def of(cls, texts: dict[tuple[int, int], str], merged: list[Range]) -> Area:
        """The area of all filled cells."""
        cells = {place: Spanned(text) for place, text in texts.items()}
        rows, columns = sorted({r for r, _ in texts}), sorted({c for _, c in texts})
        for top, left, bottom, right in merged:
            cell = cells.get((top, left))
            if cell is not None:
                cells |= {
                    (r, c): cell
                    for r in rows
                    if top <= r <= bottom
                    for c in columns
                    if left <= c <= right
                }
        return cls(cells)

    def rows(self) -> list[list[Spanned]]:
        """The rows that hold text, without the columns that hold none."""
        blank = Spanned()
        columns = self.columns
        by_row: dict[int, dict[int, Spanned]] = {r: {} for r in self.lines}
        for (r, c), cell in self.texts.items():
            by_row[r][c] = cell
        return [[row.get(c, blank) for c in columns] for row in by_row.values()]

    @property
    def lines(self) -> list[int]:
        """The numbers of the filled rows."""
        return sorted({r for r, _ in self.texts})

    @property
    def columns(self) -> list[int]:
        """The numbers of the filled columns."""
        return sorted({c for _, c in self.texts})

    def pieces(self, axis: int) -> list[Area]:
        """The parts of the area between blank rows (axis 0) or blank columns (axis 1)."""
        numbers = self.lines if axis == 0 else self.columns
        starts = [n for n, before in zip(numbers, [-1, *numbers], strict=False) if n > before + 1]
        parts: list[dict[tuple[int, int], Spanned]] = [{} for _ in starts]
        for place, cell in self.texts.items():
            parts[bisect_right(starts, place[axis]) - 1][place] = cell
        return [Area(part) for part in parts]


def areas(sheet: Area) -> list[Area]:
    """The tables of a sheet from top to bottom, each with its title lines."""
    found: list[Area] = []
    for band in _bands(sheet):
        found.extend(_side_by_side(band))
    return found


def _bands(sheet: Area) -> list[Area]:
    """The parts between blank rows; a part that begins no table of its own belongs to the part
    above.
    """
    pieces = [_SheetPiece(part, part.rows(), part.columns) for part in sheet.pieces(0)]
    bands: list[list[_SheetPiece]] = []
    titles: list[_SheetPiece] = []
    following = None
    tables: list[_SheetPiece | None] = []
    for piece in reversed(pieces):  # of lines, the next table below them
        following = following if _is_lines(piece) else piece
        tables.append(following)
    for piece, following in zip(pieces, reversed(tables), strict=True):
        own = piece is following
        begins = following is not None and (not bands or _begins(following, bands[-1]))
        if begins and not own:
            titles.append(piece)
        elif begins or not bands:
            bands.append([*titles, piece])
            titles = []
        else:
            bands[-1].append(piece)
    return [_joined([piece.area for piece in band]) for band in bands]


@dataclass(frozen=True, slots=True, eq=False)
class _SheetPiece:
    area: Area
    rows: list[list[Spanned]]
    columns: list[int]


def _is_lines(piece: _SheetPiece) -> bool:
    return all(map(_is_line, piece.rows))


def _is_line(row: list[Spanned]) -> bool:
    return len(set(_filled(row))) == 1


def _joined(pieces: list[Area]) -> Area:
    return Area({place: cell for piece in pieces for place, cell in piece.texts.items()})


def _filled(row: list[Spanned]) -> list[Spanned]:
    return [cell for cell in row if cell.text]


def _begins(piece: _SheetPiece, above: list[_SheetPiece]) -> bool:
    """True when a piece below a blank row begins a table. It has names over columns, below its
    title lines; and the table above has values or other columns, is a form, or has the same names.
    """
    rows = list(dropwhile(_is_line, piece.rows))
    first = _filled(rows[0]) if rows else []
    if len(rows) < 2 or len(first) < 2 or has_values([cell.text for cell in first]):
        return False
    names = [cell.text for cell in first]
    tops = [row for part in above[:3] for row in part.rows[:6]]
    if any(names == [cell.text for cell in _filled(row)] for row in tops):
        return True
    if all(piece.columns != part.columns for part in (*above[:3], *above[-3:])):
        return len(first) == len(piece.columns)
    body = any(has_values([cell.text for cell in row]) for row in rows[1:])
    last = [cell.text for cell in above[-1].rows[-1]]
    return body and (has_values(last) or any(text.endswith((":", "：")) for text in last))


def _side_by_side(band: Area) -> list[Area]:
    """The pieces of a band between blank columns that have labels of their own."""
    pieces: list[Area] = []
    for piece in band.pieces(1):
        if pieces and (_meet(pieces[-1], piece) or not _stands_alone(piece, pieces[0])):
            pieces[-1] = _joined([pieces[-1], piece])
        else:
            pieces.append(piece)
    return pieces


def _meet(left: Area, right: Area) -> bool:
    """True when a merged cell, other than a line of its own, reaches from one area into the
    other.
    """
    shared = set(left.texts.values()) & set(right.texts.values())
    cells = [(row, c in shared) for area in (left, right) for (row, _), c in area.texts.items()]
    rows = {row for row, is_shared in cells if is_shared}
    return any(row in rows and not is_shared for row, is_shared in cells)


def _stands_alone(piece: Area, left: Area) -> bool:
    """True when a piece right of a blank column is a table: its first column holds labels, or has
    the same name as the first column of the left table.
    """
    rows = piece.rows()
    if len(rows) < 2 or len(piece.columns) < 2 or len(left.columns) < 2:
        return False
    labels = [row[0].text for row in rows[1:]]
    if any(rows[0][0].text and rows[0][0].text == row[0].text for row in left.rows()[:3]):
        return True
    return all(text and (is_year(text) or not is_value(text)) for text in labels)
