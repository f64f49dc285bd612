"""From result rows to the bare value: number, string, list or table, and a
sentence that says it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sliders.answer.turns import Value
from sliders.extraction.cell import Scalar

Rows = Sequence[Sequence[Scalar]]
SHOWN_ROWS = 12


def empty(rows: Rows) -> bool:
    """Whether the rows hold no value at all."""
    return all(cell is None for row in rows for cell in row)


def value_of(rows: Rows) -> Value:
    """One row of one column is a scalar, one column a list without its NULLs,
    anything else a table.
    """
    tidy = [[_tidied(cell) for cell in row] for row in rows]
    if empty(tidy):
        return None
    if len(tidy[0]) > 1:
        return tidy
    items: list[Scalar] = [row[0] for row in tidy if row[0] is not None]
    return items if len(tidy) > 1 else items[0]


YES, NO = "yes", "no"


def yes_or_no(columns: Sequence[str], rows: Rows) -> tuple[str, str] | None:
    """The value and the text of a yes/no answer: the first cell says which, the cells beside it are
    the figures compared.

    None where the rows are not one row that begins with 1 or 0.
    """
    if len(rows) != 1 or not rows[0] or rows[0][0] not in (0, 1):
        return None
    value = YES if rows[0][0] else NO
    beside = ", ".join(
        f"{name} {_said(_tidied(cell))}"
        for name, cell in zip(columns[1:], rows[0][1:], strict=True)
    )
    return value, stopped(f"{value.capitalize()}: {beside}" if beside else value.capitalize())


def stopped(text: str) -> str:
    """A text that ends in one full stop, or in the mark that it ends in already."""
    return text if text.endswith(_ENDS) else f"{text}."


_ENDS = (".", "!", "?", "…", "。", "！", "？", "।")


def text_of(value: Value) -> str:
    """The value in words."""
    if value is None:
        return "Not found in these documents."
    if not isinstance(value, list):
        return stopped(_said(value))
    lines = [
        " | ".join(_said(cell) for cell in item) if isinstance(item, list) else _said(item)
        for item in value
    ]
    if len(lines) == 1:
        return stopped(lines[0])
    more = f"; and {len(lines) - SHOWN_ROWS} more" if len(lines) > SHOWN_ROWS else ""
    return stopped(f"{len(lines)} found: " + "; ".join(lines[:SHOWN_ROWS]) + more)


_NOISE, _SMALL = 1e-12, 1e-3
"""Between them lie numbers of which places behind the point would leave little or nothing."""


def _tidied(cell: Scalar) -> Scalar:
    """A float without the noise of binary fractions, whole where it is whole."""
    if not isinstance(cell, float):
        return cell
    cell = float(f"{cell:.9g}") if _NOISE < abs(cell) < _SMALL else round(cell, 9)
    return int(cell) if cell.is_integer() and abs(cell) < 1e15 else cell


def _said(cell: Scalar) -> str:
    if cell is None:
        return "not stated"
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return f"{cell:,}" if abs(cell) >= 10000 else f"{cell}"
    return str(cell)
