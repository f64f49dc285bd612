"""The shapes of a result: from its rows to the bare value (number, text, list or table), to words,
and to the cells of a printed table.
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
    """Says whether the rows hold no value at all."""
    return all(cell is None for row in rows for cell in row)


def value_of(rows: Rows) -> Value:
    """Returns the bare value of a result: a scalar for one cell, a list without NULLs for one
    column, a table for several columns; None for an empty result.
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
    """Returns the value and the text of a yes/no answer. The first cell is 1 or 0; the cells beside
    it are the figures that were compared. None when the result is not one row that begins with 1 or
    0.
    """
    if len(rows) != 1 or not rows[0] or rows[0][0] not in (0, 1):
        return None
    value = YES if rows[0][0] else NO
    parts = _parts(columns, rows, units)[0][1:]
    return value, f"{value.capitalize()}: {', '.join(parts)}" if parts else value.capitalize()


def text_of(columns: Sequence[str], rows: Rows, units: Sequence[str] = ()) -> str:
    """Returns a result in words: a value with its unit, the named parts of a row, or the number of
    rows and the first of them.
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
    """Says whether a result is too long for words, so that it is shown as a table."""
    return bool(rows) and len(rows) > (1 if len(rows[0]) > 1 else SHOWN_ITEMS)


def headline(text: str, rows: Rows) -> str:
    """Returns the words above an answer's table: the number of rows; the answer's text when there
    is no table.
    """
    return f"{len(rows):,} rows" if needs_table(rows) and not empty(rows) else text


def row_name(cells: Sequence[str]) -> str:
    """Returns the first two filled cells of a row, which name it."""
    return ", ".join([cell for cell in cells if cell][:2])


def _listed(head: str, items: Sequence[str], most: int) -> str:
    more = f"; and {len(items) - most} more" if len(items) > most else ""
    return f"{head}: {'; '.join(items[:most])}{more}"


def _sentence(parts: Sequence[str], first: Scalar) -> str:
    """Returns the parts of a row in words; a text in the first cell names the row."""
    if isinstance(first, str):
        return f"{parts[0]}: {', '.join(parts[1:])}"
    return ", ".join(parts)


def _parts(columns: Sequence[str], rows: Rows, units: Sequence[str]) -> list[list[str]]:
    """Returns the cells of each row in words, with units and column names. A lone cell, and a text
    in the first cell, get no name.
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
    """A result as it is printed. `headers` give column and unit, `cells` are texts ("" for NULL),
    `numeric` columns are right-aligned, `units` are the units of the cells ("" for yes and no).
    """

    headers: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    units: tuple[str, ...]


def table_of(columns: Sequence[str], rows: Rows, units: Sequence[str] = ()) -> ResultTable:
    """Returns a result as it is printed: the numbers of a column with equally many decimals, yes
    and no for 1 and 0.

    Args:
        units: the unit of each column; "" or missing for none.
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
    """Returns the cells of one column as texts."""
    numbers = [c for c in cells if isinstance(c, int | float) and not isinstance(c, bool)]
    places = places_of(numbers, unit)
    apart = bool(unit) or any(abs(number) >= 10_000 for number in numbers)

    def text(cell: Scalar) -> str:
        if isinstance(cell, bool) or (unit == YES_NO and cell in (0, 1)):
            return YES if cell else NO
        if isinstance(cell, int | float):
            return figure(cell, places, apart=apart)
        return "" if cell is None else " ".join(str(cell).split())

    return [text(cell) for cell in cells]


_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")
_NOISE, _SMALL = 1e-12, 1e-3
"""Numbers between these sizes keep nine significant digits, since rounding to nine decimals would
leave little or nothing of them.
"""


def no_formula(cell: Scalar) -> Scalar:
    """Returns a cell that no spreadsheet takes for a formula: text that begins like one gets an
    apostrophe before it.
    """
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip()[:1] in _FORMULA else cell


def tidied(cell: Scalar) -> Scalar:
    """Returns a float without the noise of binary fractions, as an int when it is whole."""
    if not isinstance(cell, float):
        return cell
    cell = float(f"{cell:.9g}") if _NOISE < abs(cell) < _SMALL else round(cell, 9)
    return int(cell) if cell.is_integer() and abs(cell) < 1e15 else cell
