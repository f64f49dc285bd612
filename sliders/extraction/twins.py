"""Two columns that name one fact: where the rows have both, they stand on the same words.

Questions that are asked apart name one fact twice ("purchase date", "receipt date"), and a small model leaves now the
one and now the other empty. Where the rows that have both agree, one may fill the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from sliders.extraction.cell import Absence, Cell, Row
from sliders.schema.types import Column

_FEWEST_ROWS = 8
_SHARE = 0.9


def twins(rows: Sequence[Row], columns: Sequence[Column]) -> list[tuple[str, str]]:
    """Pairs of columns of one type that stand on the same words in nearly all rows that have both.

    Rows whose one column is empty tell nothing against it; pinned columns are the user's, and stay as they are.
    """
    open_columns = [c for c in columns if not c.pinned]
    pairs = []
    for one, other in combinations(open_columns, 2):
        if one.type is not other.type or one.unit != other.unit:
            continue
        both = [
            (a, b) for r in rows if (a := r.cell(one.name)) and (b := r.cell(other.name)) and a.stands and b.stands
        ]
        same = sum(a.span == b.span for a, b in both)
        if len(both) >= _FEWEST_ROWS and same >= _SHARE * len(both) and len({a.value for a, _ in both}) > 1:
            pairs.append((one.name, other.name))
    return pairs


def filled_by_twins(rows: Sequence[Row], columns: Sequence[Column]) -> list[Row]:
    """The rows that a twin fills, each with only the filled cells."""
    pairs = twins(rows, columns)
    out = []
    for row in rows:
        cells = [c for a, b in pairs for c in (_from(row, a, b), _from(row, b, a)) if c is not None]
        if cells:
            out.append(replace(row, cells=tuple({c.column: c for c in cells}.values())))
    return out


_OPEN = (Absence.NOT_STATED, Absence.UNGROUNDED, Absence.NOT_PARSED)


def _from(row: Row, empty: str, twin: str) -> Cell | None:
    cell, other = row.cell(empty), row.cell(twin)
    if cell is None or other is None or cell.absence not in _OPEN:
        return None
    if not other.stands:
        return None
    return replace(other, column=empty, detail=f"the same words as {twin}, as in the other rows")
