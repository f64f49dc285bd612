"""Tables with cells that span columns and rows (HTML, Word, slides, Excel): the cells that name the
columns, and the text of each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sliders.documents.tables import LEVEL, TextTable, has_values
from sliders.values.notes import is_note
from sliders.values.printed import closes_value, is_value, is_year, opens_value, tidy_value

_MAX_HEADER_ROWS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Spanned:
    """A cell, the same object in each place that it covers; `marked` where the file
    itself calls it a header.
    """

    text: str = ""
    marked: bool = False


Row = Sequence[Spanned]
"""One cell a column; all rows of a table have equally many."""
Names = tuple[Spanned, ...]
"""The header cells over a column from top to bottom."""


def table_of_spans(rows: Sequence[Row], caption: str = "", *, printed: bool = False) -> TextTable:
    """Returns the table of the rows. Its header is the rows that the file marks as header, and rows
    below them that their spans show to be header too; without marks it is guessed.

    A title above the header becomes the caption, empty rows and columns are dropped.

    Args:
        printed: True when cells are laid out for the eye, as in HTML. A mark such as "$" may then
            have a cell of its own; it is joined with its value, unless its column has a name that
            the value's column has not.
    """
    rows = without_blanks(rows)
    titles: list[str] = []
    while (
        len(rows) > 1
        and is_title(rows[0])
        and (_is_head(rows[1]) or (_is_section(rows[0]) and not _holds_values(rows[1])))
    ):
        titles.append(rows[0][0].text)
        rows = without_blanks(rows[1:])
    count = _count_heads(rows)
    notes = [text for text in titles if is_note(text)]
    names, lifted = _names(rows[:count], len(rows[0]) if rows else 0)
    body = [_texts(row, names) for row in rows[count:]]
    if printed:
        body = [_join_marks(row, names) for row in body]
        body = _join_columns(body, names)
    keep = _kept(body, names)
    spans = {cell: row.count(cell) for row in rows[:count] for cell in row}
    header = tuple(_name(names[c], [spans[cell] for cell in names[c]]) for c in keep)
    caption = " ".join([caption, *(text for text in titles if not is_note(text))]).strip()
    shown = tuple(tuple(row[c] for c in keep) for row in body)
    return TextTable(header, shown, caption, " ".join(dict.fromkeys([*notes, *lifted])))


def without_blanks(rows: Sequence[Row]) -> list[Row]:
    """The rows without empty rows and empty columns."""
    rows = [row for row in rows if any(cell.text for cell in row)]
    keep = [c for c in range(len(rows[0]) if rows else 0) if any(row[c].text for row in rows)]
    return [[row[c] for c in keep] for row in rows]


def is_title(row: Row) -> bool:
    """True if a row of several columns holds a single cell, and the cell begins at the left
    edge.
    """
    return len(row) > 1 and bool(row[0].text) and len(_filled(row)) == 1


def _is_section(row: Row) -> bool:
    """True when a row is the title of the rows below it, and not a row of column names of which
    only the first is filled.
    """
    return is_title(row) and (len(set(row)) == 1 or not row[0].marked)


def _filled(row: Row) -> set[Spanned]:
    return {cell for cell in row if cell.text}


def _is_head(row: Row) -> bool:
    """True when the file marks every cell beyond the first column as a header."""
    beyond = [cell for cell in row[1:] or row if cell.text or cell.marked]
    return bool(beyond) and all(cell.marked for cell in beyond)


def _count_heads(rows: Sequence[Row]) -> int:
    """The number of leading rows that name the columns; at least one row is left as data."""
    most, count = len(rows) - 1, 0
    if most < 1 or _is_section(rows[0]):
        return 0
    while count < len(rows) and _is_head(rows[count]) and not (count and is_title(rows[count])):
        count += 1
    if 0 < count <= most:
        while (
            count < most
            and _filled(rows[count - 1]) & _filled(rows[count])
            and not _holds_values(rows[count])
        ):
            count += 1
        return count
    if _holds_values(rows[0]) or (not count and rows[0][0].marked):
        return 0
    count = 1
    while count < min(most, _MAX_HEADER_ROWS) and _goes_on(rows[count - 1], rows[count]):
        count += 1
    return count


def _holds_values(row: Row) -> bool:
    return has_values([cell.text for cell in row])


def _goes_on(above: Row, row: Row) -> bool:
    """True when a row below a header row belongs to the header: it names columns without a name so
    far, and has no label.
    """
    if _holds_values(row) or (above[0].text and row[0].text and above[0] is not row[0]):
        return False
    if not above[0].text and not row[0].text:
        return True
    open_places = [c for c in range(1, len(row)) if not above[c].text or above.count(above[c]) > 1]
    return any(row[c].text and row[c] is not above[c] for c in open_places)


def _names(heads: Sequence[Row], width: int) -> tuple[list[Names], list[str]]:
    """Returns the header cells over each column, and the unit notes among them that stand over
    several columns.
    """
    notes = {
        cell: None
        for row in heads
        for cell in row
        if is_note(cell.text) and (cell is row[0] or row.count(cell) > 1 or len(_filled(row)) == 1)
    }
    over = [
        dict.fromkeys(row[c] for row in heads if row[c].text and row[c] not in notes)
        for c in range(width)
    ]
    return [tuple(cells) for cells in over], [cell.text for cell in notes]


def _name(cells: Names, spans: Sequence[int]) -> str:
    """One name made of header cells; a cell that spans more columns than the cell below it stands
    before " / ".
    """
    name = ""
    for number, cell in enumerate(cells):
        wide = number + 1 < len(cells) and spans[number] > spans[number + 1]
        name += f"{cell.text}{LEVEL if wide else ' '}"
    return name.strip()


def _texts(row: Row, names: Sequence[Names]) -> list[str]:
    """The text of each column: words in every column that they span; a value, or the only cell of
    its row, in the first.
    """
    lone = len(_filled(row)) == 1
    texts = []
    for c, cell in enumerate(row):
        spread = not lone and not (is_value(cell.text) and not is_year(cell.text))
        goes_on = c > 0 and row[c - 1] is cell
        texts.append(
            "" if goes_on and (not spread or names[c] == names[c - 1] != ()) else cell.text
        )
    return texts


def _join_marks(row: Sequence[str], names: Sequence[Names]) -> list[str]:
    """Join "$" and "(" with the value at the right, ")" and "%" with the one at the left, in the
    column that has the name.
    """
    cells = [tidy_value(cell) for cell in row]
    for c in range(len(cells) - 1):
        n = next((n for n in range(c + 1, min(c + 3, len(cells))) if cells[n]), c)
        if (
            n > c
            and opens_value(cells[c])
            and is_value(cells[n].rstrip(")%"))
            and _meet(names[c], names[n])
        ):
            joined, place = (
                tidy_value(cells[c] + cells[n]),
                n if set(names[c]) <= set(names[n]) else c,
            )
            cells[c] = cells[n] = ""
            cells[place] = joined
    for c in range(1, len(cells)):
        b = next((b for b in range(c - 1, max(c - 3, -1), -1) if cells[b]), c)
        closes = (
            closes_value(cells[c])
            and not is_value(cells[c])
            and any(ch.isdigit() for ch in cells[b])
        )
        if b < c and closes and _meet(names[b], names[c]):
            joined, place = (
                tidy_value(cells[b] + cells[c]),
                b if set(names[c]) <= set(names[b]) else c,
            )
            cells[b] = cells[c] = ""
            cells[place] = joined
    return cells


def _meet(left: Names, right: Names) -> bool:
    return set(left) <= set(right) or set(right) <= set(left)


def _join_columns(body: list[list[str]], names: Sequence[Names]) -> list[list[str]]:
    """Columns below the very same header cells as one, where no row has something in both."""
    into = 0
    for c in range(1, len(names)):
        if names[c] and names[c] == names[into] and not any(row[into] and row[c] for row in body):
            for row in body:
                row[into], row[c] = row[into] or row[c], ""
        else:
            into = c
    return body


def _kept(body: Sequence[Sequence[str]], names: Sequence[Names]) -> list[int]:
    """The columns that hold text, and the columns whose name no column with text has."""
    full = {c for c in range(len(names)) if any(row[c] for row in body)}
    named = {cell for c in full for cell in names[c]}
    for c, cells in enumerate(names):
        if c not in full and not named.issuperset(cells):
            full.add(c)
            named.update(cells)
    return sorted(full)
