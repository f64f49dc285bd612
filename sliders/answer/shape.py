"""From result rows to the bare value: number, string, list or table, and a sentence that says it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from sliders.answer.question import asks_list, decimals
from sliders.answer.values import Value
from sliders.extraction.cell import Scalar

Rows = Sequence[Sequence[Scalar]]
SHOWN_ROWS = 12


def empty(rows: Rows) -> bool:
    """Whether the rows hold no value at all."""
    return all(cell is None for row in rows for cell in row)


def value_of(question: str, rows: Rows) -> Value:
    """The answer's value; rounded where the question says so."""
    places = decimals(question)
    rounded = [[_round(cell, places) for cell in row] for row in rows]
    if not rounded:
        return None
    if len(rounded[0]) == 1:
        items: list[Scalar] = [row[0] for row in rounded if row[0] is not None]
        listed = len(items) > 1 or asks_list(question)
        return items if listed else items[0] if items else None
    return rounded


def text_of(value: Value) -> str:
    """The value in words."""
    if value is None:
        return "Not found in these documents."
    if not isinstance(value, list):
        return f"{_said(value)}."
    lines = [" | ".join(_said(cell) for cell in item) if isinstance(item, list) else _said(item) for item in value]
    if not lines:
        return "None."
    if len(lines) == 1:
        return f"{lines[0]}."
    more = f"; and {len(lines) - SHOWN_ROWS} more" if len(lines) > SHOWN_ROWS else ""
    return f"{len(lines)} found: " + "; ".join(lines[:SHOWN_ROWS]) + more + "."


def _round(cell: Scalar, places: int | None) -> Scalar:
    if isinstance(cell, float):
        if places is not None:
            return float(Decimal(repr(cell)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))  # 10.625 is 10.63
        cell = round(cell, 9)
        return int(cell) if cell.is_integer() and abs(cell) < 1e15 else cell
    return cell


def _said(cell: Scalar) -> str:
    if cell is None:
        return "not stated"
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return f"{cell:,}" if abs(cell) >= 10000 else f"{cell}"
    return str(cell)
