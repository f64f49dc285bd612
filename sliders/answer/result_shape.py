"""From result rows to the bare value (number, string, list or table), to words that say it, and to
the cells of a printed table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sliders.answer.figures import YES_NO, figure, measured, places_of
from sliders.answer.turns import Value
from sliders.extraction.cell import Scalar

Rows = Sequence[Sequence[Scalar]]
SHOWN_ITEMS, SHOWN_ROWS = 12, 5
NOT_FOUND = "Not found in these documents."


def empty(rows: Rows) -> bool:
    """Whether the rows hold no value at all."""
    return all(cell is None for row in rows for cell in row)


def value_of(rows: Rows) -> Value:
    """One row of one column is a scalar, one column a list without its NULLs,
    anything else a table.
    """
    tidy = [[tidied(cell) for cell in row] for row in rows]
    if empty(tidy):
        return None
    if len(tidy[0]) > 1:
        return tidy
    items: list[Scalar] = [row[0] for row in tidy if row[0] is not None]
    return items if len(tidy) > 1 else items[0]


YES, NO = "yes", "no"


def yes_or_no(
    columns: Sequence[str], rows: Rows, units: Sequence[str] = ()
) -> tuple[str, str] | None:
    """The value and the text of a yes/no answer: the first cell says which, the cells beside it are
    the figures compared.

    None where the rows are not one row that begins with 1 or 0.
    """
    if len(rows) != 1 or not rows[0] or rows[0][0] not in (0, 1):
        return None
    value = YES if rows[0][0] else NO
    parts = _parts(columns, rows, units)[0][1:]
    return value, f"{value.capitalize()}: {', '.join(parts)}" if parts else value.capitalize()


def text_of(columns: Sequence[str], rows: Rows, units: Sequence[str] = ()) -> str:
    """A result in words: a value with its unit, the named parts of a row, or how many rows there
    are and the first of them.
    """
    if empty(rows):
        return NOT_FOUND
    parts = _parts(columns, rows, units)
    if len(columns) == 1:
        items = [said[0] for said, row in zip(parts, rows, strict=True) if row[0] is not None]
        return items[0] if len(items) == 1 else _listed(f"{len(items)} found", items, SHOWN_ITEMS)
    lines = [_sentence(said, row[0]) for said, row in zip(parts, rows, strict=True)]
    return lines[0] if len(lines) == 1 else _listed(f"{len(lines)} rows", lines, SHOWN_ROWS)


def needs_table(rows: Rows) -> bool:
    """Whether a result is more than its words say, and is shown as a table."""
    return bool(rows) and len(rows) > (1 if len(rows[0]) > 1 else SHOWN_ITEMS)


def headline(text: str, rows: Rows) -> str:
    """The words of an answer above its table: how many rows there are; without one its text."""
    return f"{len(rows):,} rows" if needs_table(rows) and not empty(rows) else text


def row_name(cells: Sequence[str]) -> str:
    """The first cells of a row, by which it is known again."""
    return ", ".join([cell for cell in cells if cell][:2])


def _listed(head: str, items: Sequence[str], most: int) -> str:
    more = f"; and {len(items) - most} more" if len(items) > most else ""
    return f"{head}: {'; '.join(items[:most])}{more}"


def _sentence(parts: Sequence[str], first: Scalar) -> str:
    """The parts of a row; a name that stands first is what the others are about."""
    if isinstance(first, str):
        return f"{parts[0]}: {', '.join(parts[1:])}"
    return ", ".join(parts)


def _parts(columns: Sequence[str], rows: Rows, units: Sequence[str]) -> list[list[str]]:
    """The cells of each row with their units, behind the names of their columns; a lone cell and
    a text that stands first have no name.
    """
    table = table_of(columns, rows, units)
    out = []
    for row, cells in zip(rows, table.cells, strict=True):
        said = []
        for place, (cell, name) in enumerate(zip(cells, columns, strict=True)):
            bare = len(columns) == 1 or (place == 0 and isinstance(row[0], str))
            unit = table.units[place] if isinstance(row[place], int | float) else ""
            words = "not stated" if row[place] is None else measured(cell, unit)
            named = _PLAIN_NAME.fullmatch(name) and not bare
            said.append(f"{name.replace('_', ' ')} {words}" if named else words)
        out.append(said)
    return out


_PLAIN_NAME = re.compile(r"\w[\w ]*")


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A result as it is printed: `headers` name column and unit, `cells` are texts, "" for NULL.

    `numeric` columns stand to the right; `units` are those of the cells, "" for yes and no.
    """

    headers: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    units: tuple[str, ...]


def table_of(columns: Sequence[str], rows: Rows, units: Sequence[str] = ()) -> ResultTable:
    """A result as it is printed: numbers of a column with the same places, yes and no for 1 and 0.

    Args:
        units: those of the columns; a column that has none of its own is in none.
    """
    known = [units[place] if place < len(units) else "" for place in range(len(columns))]
    texts, numeric = [], []
    for place, unit in enumerate(known):
        cells = [tidied(row[place]) for row in rows]
        numeric.append(unit != YES_NO and _are_numbers(cells))
        texts.append(_column(cells, unit))
    shown = tuple("" if unit == YES_NO else unit for unit in known)
    headers = (
        f"{name} ({unit})" if unit else name for name, unit in zip(columns, shown, strict=True)
    )
    return ResultTable(tuple(headers), tuple(zip(*texts, strict=True)), tuple(numeric), shown)


def _are_numbers(cells: Sequence[Scalar]) -> bool:
    return {type(cell) for cell in cells if cell is not None} in ({int}, {float}, {int, float})


def _column(cells: Sequence[Scalar], unit: str) -> list[str]:
    """The cells of one column as texts."""
    numbers = [c for c in cells if isinstance(c, int | float) and not isinstance(c, bool)]
    places = places_of(numbers)
    apart = bool(unit) or any(abs(number) >= 10_000 for number in numbers)

    def text(cell: Scalar) -> str:
        if isinstance(cell, bool) or (unit == YES_NO and cell in (0, 1)):
            return YES if cell else NO
        if isinstance(cell, int | float):
            return figure(cell, places, apart=apart)
        return "" if cell is None else " ".join(str(cell).split())

    return [text(cell) for cell in cells]


_NOISE, _SMALL = 1e-12, 1e-3
"""Between them lie numbers of which places behind the point would leave little or nothing."""


def tidied(cell: Scalar) -> Scalar:
    """A float without the noise of binary fractions, whole where it is whole."""
    if not isinstance(cell, float):
        return cell
    cell = float(f"{cell:.9g}") if _NOISE < abs(cell) < _SMALL else round(cell, 9)
    return int(cell) if cell.is_integer() and abs(cell) < 1e15 else cell
